// The device library as one translation unit.
#include "tl.h"

#include "exp.c"
#include "log.c"
#include "trig.c"
#include "hyperbolic.c"
#include "generic.c"
#include "root.c"
#include "convert.c"
#include "directed.c"
#include "maps.c"
#include "console.c"
