// Relations between layouts, for the verifiers of nv_tileas.
#ifndef TILEIRAS_NV_TILEAS_LAYOUTS_H
#define TILEIRAS_NV_TILEAS_LAYOUTS_H

#include "nv_tileas/NvTileAS.h"

namespace nv_tileas {

// Whether every lane, warp and CTA basis of `to` is the image of `from`'s basis under `map`, and the registers of a
// thread hold the images of the thread's elements, in any order and number.
bool isImageUpToRegisters(LayoutAttr from, LayoutAttr to, llvm::function_ref<int64_t(int64_t)> map);

// Whether each thread of `to` starts at the image of the element at which the thread of `from` starts, and the registers
// of a thread of `to` cover at least the images of the elements of `from`'s thread and the elements `also`.
bool coversImage(LayoutAttr from, LayoutAttr to, llvm::ArrayRef<int64_t> also,
                 llvm::function_ref<int64_t(int64_t)> map);

} // namespace nv_tileas

#endif
