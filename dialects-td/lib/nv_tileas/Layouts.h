// Relations between layouts that verifiers of nv_tileas check.
#ifndef TILEIRAS_NV_TILEAS_LAYOUTS_H
#define TILEIRAS_NV_TILEAS_LAYOUTS_H

#include "nv_tileas/NvTileAS.h"

namespace nv_tileas {

// Whether every basis of `to` is the image of the basis of `from` under `map`, and the registers of a thread hold the images
// of the thread's elements in whatever order and number.
bool isImageUpToRegisters(LayoutAttr from, LayoutAttr to, llvm::function_ref<int64_t(int64_t)> map);

// Whether the threads of `to` start at the images of where those of `from` start, and the registers of a thread of `to`
// reach at least the images of what the registers of `from` reach and the elements `also`.
bool coversImage(LayoutAttr from, LayoutAttr to, llvm::ArrayRef<int64_t> also,
                 llvm::function_ref<int64_t(int64_t)> map);

} // namespace nv_tileas

#endif
