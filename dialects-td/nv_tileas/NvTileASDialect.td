// The nv_tileas dialect: its attributes and types.
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
  let summary = "Low-level tiles with explicit layouts, memory spaces and synchronization";
  let description = [{
    Every decision that code generation depends on is explicit. Tensors carry `#nv_tileas.layout`, shared memory is a
    `memdesc` with a layout, accesses specify their vector width and bounds check, and barriers are ops.
  }];
  let dependentDialects = ["::nv_tileaa::NvTileAADialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttrs();

    // Checks whether the instruction of a dot exists and whether its operands have the layouts that the instruction
    // takes (see capi/nv_tileas.h). Set before any program is verified; without it, the layouts of dots are not
    // checked.
    void setDotCheck(TileirDotCheck check) { dotCheck = check; }
    ::mlir::LogicalResult checkProduct(::mlir::Operation *op) const;

  private:
    TileirDotCheck dotCheck = nullptr;
  }];
}

class NvTileAS_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nv_tileas";
  let genSpecializedAttr = 0;
}

def NvTileAS_Bounds : NvTileAS_Enum<"Bounds", "bounds check of an access through a view", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Vector", 1, "vector">,
    I32EnumAttrCase<"Split", 2, "split">]>;
def NvTileAS_BoundsAttr : EnumAttr<NvTileAS_Dialect, NvTileAS_Bounds, "bounds"> {
  let summary = "`none`: proved in bounds; `vector`: one test per vector is exact; `split`: tiles that are "
                "entirely in bounds use vectors, all others access one element at a time";
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAS_MmaKind : NvTileAS_Enum<"MmaKind", "kind of matrix instruction", [
    I32EnumAttrCase<"Fma", 0, "fma">,
    I32EnumAttrCase<"Sync", 1, "sync">,
    I32EnumAttrCase<"BlockScale", 2, "block_scale">,
    I32EnumAttrCase<"Warpgroup", 3, "warpgroup">,
    I32EnumAttrCase<"Tensor", 4, "tensor">,
    I32EnumAttrCase<"TensorPair", 5, "tensor_pair">]>;

def NvTileAS_MemorySpace : NvTileAS_Enum<"MemorySpace", "memory space of a tensor", [
    I32EnumAttrCase<"Shared", 0, "shared">,
    I32EnumAttrCase<"Tensor", 1, "tensor">,
    I32EnumAttrCase<"Scales", 2, "scales">]>;

class NvTileAS_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<NvTileAS_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def NvTileAS_LayoutAttr : NvTileAS_Attr<"Layout", "layout"> {
  let summary = "linear layout over F2 that distributes a tensor over registers, lanes, warps and CTAs";
  let description = [{
    Each list holds one basis per input bit, least significant first: the row-major index of the element that this bit
    alone selects. The element held by (register, lane, warp, block) is the XOR of the bases of their set bits. A zero
    basis means that the bit selects a copy.

    ```mlir
    // 4 consecutive elements per thread, 32 adjacent lanes, 4 warps
    #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "bases of the register bits">:$registers,
    ArrayRefParameter<"int64_t", "bases of the lane bits, five of them">:$lanes,
    ArrayRefParameter<"int64_t", "bases of the warp bits">:$warps,
    ArrayRefParameter<"int64_t", "bases of the CTA bits in a cluster">:$blocks);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_SharedLayoutAttr : NvTileAS_Attr<"SharedLayout", "shared_layout"> {
  let summary = "linear layout of a tensor in shared memory";
  let description = [{
    One basis per bit of the element offset, least significant first: the row-major index of the element stored at the
    offset with only this bit set. Swizzles are bases that are not powers of two.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "bases of the offset bits">:$offsets);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_AgentAttr : NvTileAS_Attr<"Agent", "agent"> {
  let summary = "an agent: a number of warps that run a program of their own";
  let description = [{
    With `registers`, each thread has that many registers while the agent runs. With `rank`, the agent runs only in the
    CTA of that rank in its cluster.

    ```mlir
    #nv_tileas.agent<"consumers", warps = 8, registers = 240>
    #nv_tileas.agent<"matrix", warps = 1 on rank 0>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name, different from those of other agents">:$name,
    "int64_t":$warps,
    OptionalParameter<"std::optional<int64_t>">:$registers,
    OptionalParameter<"std::optional<int64_t>">:$rank);
  let assemblyFormat = [{
    `<` $name `,` `warps` `=` $warps (`,` `registers` `=` $registers^)? (`on` `rank` $rank^)? `>`
  }];
  let genVerifyDecl = 1;
}

def NvTileAS_PlanUnit : EnumParameter<NvTileAS_MmaKind> {
  let defaultValue = "::nv_tileas::MmaKind::Warpgroup";
}

def NvTileAS_DotPlanAttr : NvTileAS_Attr<"DotPlan", "dot_plan"> {
  let summary = "the plan of a kernel's warp-specialized dots";
  let description = [{
    `tileaa-plan-dots` chooses the plan, and the passes that assign layouts to dots, make copies asynchronous and
    divide the work among agents follow it. The first agent consists of the consumers, whose warpgroups divide each
    dot: `groups` gives their number along the rows and along the columns. Each other agent runs the regions that carry
    its name.

    `unit` is the kind of the instructions, by default `warpgroup`. With `tensor`, the agent `matrix` issues the dots,
    and the consumers read finished accumulators from tensor memory. With two `accumulators`, they read one while dots add
    to the other. With `whole_rows`, a thread reads whole rows. Left operands that consumers compute are then stored to
    tensor memory, and resident operands have pipelines. With `issue_ahead`, these left operands have columns of their
    own, and the agent `matrix` issues the first dots of an iteration before the last dots of the previous one.
    With `tensor_pair`, the agent `matrix` of the first CTA of a cluster issues dots for both of its CTAs.
    Each CTA has its own rows of the left operand and of the accumulator, and loads half of the columns of the right
    operand, which must be the same in both. Code after the dots processes accumulators in `slices` of their columns;
    with `whole_rows` only their stores are divided.
    With `sync`, each warp of the consumers reads fragments of the operands and multiplies its part.

    `columns` is the maximum number of columns of an instruction, `stages` the number of stages of each ring,
    `launch_registers` the number of registers of each thread at launch, and `scratch` the bytes of shared memory that
    a layout conversion may use in addition to the rings.

    ```mlir
    #nv_tileas.dot_plan<groups = [2, 1], columns = 256, stages = 4, scratch = 8192, launch_registers = 168,
      agents = [<"consumers", warps = 8, registers = 240>, <"producer", warps = 4, registers = 24>]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "consumer warpgroups along the rows and columns">:$groups,
    "int64_t":$columns, "int64_t":$stages, "int64_t":$scratch, "int64_t":$launch_registers,
    "::mlir::ArrayAttr":$agents,
    NvTileAS_PlanUnit:$unit,
    DefaultValuedParameter<"int64_t", "1", "stages of each accumulator in tensor memory">:$accumulators,
    DefaultValuedParameter<"int64_t", "1", "slices of each accumulator in registers">:$slices,
    DefaultValuedParameter<"bool", "false", "whether a thread reads whole rows of accumulators">:$wholeRows,
    DefaultValuedParameter<"bool", "false", "whether dots are issued an iteration ahead">:$issueAhead);
  let assemblyFormat = [{
    `<` `groups` `=` `[` $groups `]` `,` `columns` `=` $columns `,` `stages` `=` $stages `,` `scratch` `=` $scratch
    `,` `launch_registers` `=` $launch_registers `,` `agents` `=` custom<Agents>($agents)
    (`,` `unit` `=` $unit^)? (`,` `accumulators` `=` $accumulators^)? (`in` $slices^ `slices`)?
    (`with` `whole_rows` `=` $wholeRows^)? (`with` `issue_ahead` `=` $issueAhead^)? `>`
  }];
  let genVerifyDecl = 1;
}

def NvTileAS_MmaAttr : NvTileAS_Attr<"Mma", "mma"> {
  let summary = "instruction of a dot, such as `#nv_tileas.mma<sync, [16, 8, 16]>`";
  let description = [{
    `fma` is scalar arithmetic and has no shape. `sync` is `mma.sync` of one warp; `block_scale` is its block-scaled
    form; `warpgroup` is `wgmma` of four warps; `tensor` and `tensor_pair` are `tcgen05.mma` of one CTA and of a CTA
    pair. The shape is M, N and K of one instruction. The element types follow from the operands.
    `docs/reference/matrix-instructions.md` lists the instructions, where their operands may reside, and which of them
    the compiler emits.
  }];
  let parameters = (ins
    EnumParameter<NvTileAS_MmaKind>:$kind,
    OptionalArrayRefParameter<"int64_t", "M, N and K">:$shape);
  let assemblyFormat = "`<` $kind (`,` `[` $shape^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def NvTileAS_AsyncTokenType : TypeDef<NvTileAS_Dialect, "AsyncToken"> {
  let mnemonic = "async_token";
  let summary = "token of issued asynchronous work";
}

def NvTileAS_PipelineType : TypeDef<NvTileAS_Dialect, "Pipeline"> {
  let mnemonic = "pipeline";
  let summary = "the barriers of a ring of stages, `!nv_tileas.pipeline<4>`";
  let description = [{
    A producer fills the stages and a consumer empties them, in ring order. Each stage has a full barrier and an empty
    barrier.
  }];
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` $stages `>`";
  let genVerifyDecl = 1;
}

def NvTileAS_PipelineIteratorType : TypeDef<NvTileAS_Dialect, "PipelineIterator"> {
  let mnemonic = "pipeline_iterator";
  let summary = "a stage index of a pipeline and the phase parity of its barriers";
}

def NvTileAS_PingPongType : TypeDef<NvTileAS_Dialect, "PingPong"> {
  let mnemonic = "ping_pong";
  let summary = "the barriers that ping-pong the warpgroups of an agent, `!nv_tileas.ping_pong<2>`";
  let parameters = (ins "int64_t":$groups);
  let assemblyFormat = "`<` $groups `>`";
  let genVerifyDecl = 1;
}

def NvTileAS_ProducerTokenType : TypeDef<NvTileAS_Dialect, "ProducerToken"> {
  let mnemonic = "producer_token";
  let summary = "an empty stage that the producer has acquired";
}

def NvTileAS_ConsumerTokenType : TypeDef<NvTileAS_Dialect, "ConsumerToken"> {
  let mnemonic = "consumer_token";
  let summary = "a full stage that the consumer has waited for";
}

def NvTileAS_TmaFill : NvTileAS_Enum<"TmaFill", "value that a TMA load writes for out-of-bounds elements", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"Nan", 1, "nan">]>;

def NvTileAS_TmaDescType : TypeDef<NvTileAS_Dialect, "TmaDesc"> {
  let mnemonic = "tma_desc";
  let summary = "tensor map of a view in global memory";
  let description = [{
    Describes the box of the view that one instruction copies. All lists begin with the innermost dimension of the
    map. `dims` are the dimensions of the view, `box` counts elements of the view, and `steps` is the distance between
    copied elements. `swizzle` is the span in bytes within which units of `unit` bytes are permuted in shared memory; 16
    means no swizzle. `unit` is 16, or 32 for a span of 128 bytes (32-bit operands of tcgen05 that are contiguous along
    M or N).

    By default, `dims` are the dimensions of the view from the last to the first, `steps` are one, `unit` is 16, and
    `fill` is zero.

    ```mlir
    // 128 rows of 64 columns of a row-major view
    !nv_tileas.tma_desc<bf16, box = [64, 128], swizzle = 128>
    // Every second column, with NaN outside of the view
    !nv_tileas.tma_desc<bf16, dims = [1, 0], box = [64, 128], steps = [2, 1], swizzle = 128, fill = nan>
    ```
  }];
  let parameters = (ins
    "::mlir::Type":$elementType,
    ArrayRefParameter<"int64_t", "dimensions of the view">:$dims,
    ArrayRefParameter<"int64_t", "extents of the box">:$box,
    ArrayRefParameter<"int64_t", "distances between copied elements">:$steps,
    "int64_t":$swizzle,
    "int64_t":$unit,
    EnumParameter<NvTileAS_TmaFill>:$fill);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_MemDescType : TypeDef<NvTileAS_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "tensor in memory, `!nv_tileas.memdesc<32x32xf32, #nv_tileas.shared_layout<...>>`";
  let description = [{
    A tensor in the CTA's shared memory, or in tensor memory with `space = tensor`. With `stages = n` after the layout,
    the type denotes a ring of `n` such tensors, stored consecutively. Without a layout, the elements are in row-major
    order.

    ```mlir
    !nv_tileas.memdesc<64xf32, stages = 3>
    !nv_tileas.memdesc<128x64xf32, #s, space = tensor>
    !nv_tileas.memdesc<64x64xf16, #s, align = 1024>
    ```

    Each stage starts at a multiple of `align` bytes, a power of two that is at least 8; the default is 128. Layouts with
    a 128-byte hardware swizzle require 1024.

    In tensor memory an element takes one column of 32 bits of one lane. The seven high bits of the offset are the lane,
    and the others are the column. A bit of the offset for which the layout has a zero is a gap between blocks of rows.

    An element of 4 bits takes a byte, unless the tensor is `packed`: then two neighbors share a byte, as in global
    memory. Only TMA fills packed tensors, and only dots read them.

    With `space = scales` the tensor is in tensor memory too, as the scale factors of a block-scaled dot: bytes, of which
    the five high bits of the offset are the lane. Each quarter of the lanes has a copy.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents, powers of two">:$shape,
    "::mlir::Type":$elementType,
    "::nv_tileas::SharedLayoutAttr":$layout,
    "int64_t":$stages,
    EnumParameter<NvTileAS_MemorySpace>:$space,
    "int64_t":$alignment,
    "bool":$packed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAS_RegisterArrayType : TypeDef<NvTileAS_Dialect, "RegisterArray"> {
  let mnemonic = "register_array";
  let summary = "a thread's part of a tensor as an array in local memory, `!nv_tileas.register_array<tensor<..>>`";
  let description = [{
    Element `r` of the array is the thread's register `r` in the layout of the tensor.
  }];
  let parameters = (ins "::mlir::Type":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
  let genVerifyDecl = 1;
}

#endif
