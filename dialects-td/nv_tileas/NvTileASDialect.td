// nv_tileas: assembler-near tiles. Dialect, attributes, types.
#ifndef NV_TILEAS_DIALECT_TD
#define NV_TILEAS_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def NvTileAS_Dialect : Dialect {
  let name = "nv_tileas";
  let cppNamespace = "::nv_tileas";
  let summary = "Assembler-near tiles: layouts, memory spaces and synchronisation are explicit";
  let description = [{
    Every decision that code generation needs is visible here: tensors carry
    `#nv_tileas.layout`, shared memory is a `memdesc` with its own layout, accesses say
    how wide they are and how bounds are checked, barriers are ops.
  }];
  let dependentDialects = ["::nv_tileaa::NvTileAADialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttrs();

    // Says whether a product's instruction exists and its operands lie as it takes them (see capi/nv_tileas.h).
    // Set before programs are verified; without it the layouts of products are taken as they are.
    void setProductCheck(TileirProductCheck check) { productCheck = check; }
    ::mlir::LogicalResult checkProduct(::mlir::Operation *op) const;

  private:
    TileirProductCheck productCheck = nullptr;
  }];
}

class NvTileAS_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nv_tileas";
  let genSpecializedAttr = 0;
}

def NvTileAS_Bounds : NvTileAS_Enum<"Bounds", "how an access of a view is kept inside it", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Vector", 1, "vector">,
    I32EnumAttrCase<"Split", 2, "split">]>;
def NvTileAS_BoundsAttr : EnumAttr<NvTileAS_Dialect, NvTileAS_Bounds, "bounds"> {
  let summary = "`none`: proved inside; `vector`: one test per vector is exact; `split`: tiles that are "
                "inside as a whole take vectors, the others one element at a time";
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAS_MmaKind : NvTileAS_Enum<"MmaKind", "what multiplies matrices", [
    I32EnumAttrCase<"Fma", 0, "fma">,
    I32EnumAttrCase<"Sync", 1, "sync">,
    I32EnumAttrCase<"BlockScale", 2, "block_scale">,
    I32EnumAttrCase<"Warpgroup", 3, "warpgroup">,
    I32EnumAttrCase<"Tensor", 4, "tensor">,
    I32EnumAttrCase<"TensorPair", 5, "tensor_pair">]>;

def NvTileAS_MemorySpace : NvTileAS_Enum<"MemorySpace", "where a tensor in memory is", [
    I32EnumAttrCase<"Shared", 0, "shared">,
    I32EnumAttrCase<"Tensor", 1, "tensor">]>;

class NvTileAS_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<NvTileAS_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def NvTileAS_LayoutAttr : NvTileAS_Attr<"Layout", "layout"> {
  let summary = "linear layout over F2 of a tensor's elements over registers, lanes, warps and blocks";
  let description = [{
    Each list holds one basis per input bit, least significant first: the row-major index of
    the element that the bit alone selects. The element held by (register, lane, warp, block) is the XOR
    of the bases of their set bits. A zero basis means that the bit selects a copy.

    ```mlir
    // 4 consecutive elements a thread, 32 lanes side by side, 4 warps
    #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "bases of the register bits">:$registers,
    ArrayRefParameter<"int64_t", "bases of the lane bits, five of them">:$lanes,
    ArrayRefParameter<"int64_t", "bases of the warp bits">:$warps,
    ArrayRefParameter<"int64_t", "bases of the block bits of a cluster">:$blocks);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_SharedLayoutAttr : NvTileAS_Attr<"SharedLayout", "shared_layout"> {
  let summary = "linear layout of a tensor in shared memory";
  let description = [{
    One basis per bit of the element offset, least significant first: the row-major index of
    the element stored there. Swizzles are bases that are not powers of two.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "bases of the offset bits">:$offsets);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_MmaAttr : NvTileAS_Attr<"Mma", "mma"> {
  let summary = "instruction of a matrix product: `#nv_tileas.mma<sync, [16, 8, 16]>`";
  let description = [{
    `fma` is scalar arithmetic and has no shape. `sync` is `mma.sync` of one warp; `block_scale` is its form with
    scales; `warpgroup` is `wgmma` of four warps; `tensor` and `tensor_pair` are `tcgen05.mma` of one block and of two.
    The shape is M, N and K of one instruction. Which element types are multiplied follows from the operands; which
    instructions exist, where they take operands from and which of them are generated is in
    `docs/reference/matrix-instructions.md`.
  }];
  let parameters = (ins
    EnumParameter<NvTileAS_MmaKind>:$kind,
    OptionalArrayRefParameter<"int64_t", "M, N and K">:$shape);
  let assemblyFormat = "`<` $kind (`,` `[` $shape^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def NvTileAS_AsyncTokenType : TypeDef<NvTileAS_Dialect, "AsyncToken"> {
  let mnemonic = "async_token";
  let summary = "asynchronous work that has been started";
}

def NvTileAS_PipelineType : TypeDef<NvTileAS_Dialect, "Pipeline"> {
  let mnemonic = "pipeline";
  let summary = "barriers of a ring of stages, `!nv_tileas.pipeline<4>`";
  let description = [{
    A producer fills stages and a consumer empties them, in turn. For each stage one barrier says that it is full and one
    that it is empty.
  }];
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` $stages `>`";
  let genVerifyDecl = 1;
}

def NvTileAS_PipelineIteratorType : TypeDef<NvTileAS_Dialect, "PipelineIterator"> {
  let mnemonic = "pipeline_iterator";
  let summary = "a stage of a pipeline, and whether the ring has been gone round an odd number of times";
}

def NvTileAS_PingPongType : TypeDef<NvTileAS_Dialect, "PingPong"> {
  let mnemonic = "ping_pong";
  let summary = "the order in which warpgroups of an agent take turns, `!nv_tileas.ping_pong<2>`";
  let parameters = (ins "int64_t":$groups);
  let assemblyFormat = "`<` $groups `>`";
  let genVerifyDecl = 1;
}

def NvTileAS_ProducerTokenType : TypeDef<NvTileAS_Dialect, "ProducerToken"> {
  let mnemonic = "producer_token";
  let summary = "a stage that is empty and belongs to the producer";
}

def NvTileAS_ConsumerTokenType : TypeDef<NvTileAS_Dialect, "ConsumerToken"> {
  let mnemonic = "consumer_token";
  let summary = "a stage that is full and belongs to the consumer";
}

def NvTileAS_TmaFill : NvTileAS_Enum<"TmaFill", "what a tensor copy writes for elements outside of the view", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"Nan", 1, "nan">]>;

def NvTileAS_TmaDescType : TypeDef<NvTileAS_Dialect, "TmaDesc"> {
  let mnemonic = "tma_desc";
  let summary = "tensor map of a view in global memory";
  let description = [{
    What one instruction copies: a box of the view. All lists begin with the innermost dimension of the map: `dims` are
    the view's dimensions, `box` counts elements of the view, `steps` is the distance of the elements that are copied.
    `swizzle` is the span in bytes over which 16-byte chunks are permuted in shared memory; 16 means none.

    ```mlir
    // 128 rows of 64 columns of a row-major view
    !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 128], steps = [1, 1], swizzle = 128, fill = zero>
    ```
  }];
  let parameters = (ins
    "::mlir::Type":$elementType,
    ArrayRefParameter<"int64_t", "dimensions of the view">:$dims,
    ArrayRefParameter<"int64_t", "extents of the box">:$box,
    ArrayRefParameter<"int64_t", "distances of elements">:$steps,
    "int64_t":$swizzle,
    EnumParameter<NvTileAS_TmaFill>:$fill);
  let assemblyFormat = [{
    `<` $elementType `,` `dims` `=` `[` $dims `]` `,` `box` `=` `[` $box `]` `,` `steps` `=` `[` $steps `]` `,`
    `swizzle` `=` $swizzle `,` `fill` `=` $fill `>`
  }];
  let genVerifyDecl = 1;
}

def NvTileAS_MemDescType : TypeDef<NvTileAS_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "tensor in memory, `!nv_tileas.memdesc<32x32xf32, #nv_tileas.shared_layout<...>>`";
  let description = [{
    In the block's shared memory, or with `space = tensor` in tensor memory, which no target uses yet. With `stages = n`
    behind the layout there are `n` such tensors, one after the other, used in turn.

    ```mlir
    !nv_tileas.memdesc<64xf32, #s, stages = 3>
    !nv_tileas.memdesc<64xf32, #s, space = tensor>
    !nv_tileas.memdesc<64x64xf16, #s, align = 1024>
    ```

    Each stage starts at a multiple of `align` bytes, a power of two of at least 128, which is the default. Layouts
    that the hardware swizzles over 128 bytes need 1024.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents, powers of two">:$shape,
    "::mlir::Type":$elementType,
    "::nv_tileas::SharedLayoutAttr":$layout,
    "int64_t":$stages,
    EnumParameter<NvTileAS_MemorySpace>:$space,
    "int64_t":$alignment);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_RegisterArrayType : TypeDef<NvTileAS_Dialect, "RegisterArray"> {
  let mnemonic = "register_array";
  let summary = "a thread's registers of a tensor as an array in local memory, `!nv_tileas.register_array<tensor<..>>`";
  let description = [{
    Element `r` of the array is register `r` of the thread in the layout of the tensor.
  }];
  let parameters = (ins "::mlir::Type":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
  let genVerifyDecl = 1;
}

#endif
