//===- Generated.cpp - The generated bodies of the operations -------------===//
//
// A file of its own: it is by far the largest unit of the dialect and seldom
// needs to be compiled again.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "cuda_tile/CudaTileOps.cpp.inc"
