//===- Generated.cpp - The generated bodies of the operations -------------===//
//
// A separate file, because it is by far the largest unit of the dialect and seldom
// needs recompilation.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "cuda_tile/CudaTileOps.cpp.inc"
