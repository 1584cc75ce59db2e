// Ops of nv_tileas for tensors that do not fit into the registers of a thread: loops over chunks of registers, and arrays in
// local memory. NvTileASOps.td includes this file.
#ifndef NV_TILEAS_REGISTER_OPS_TD
#define NV_TILEAS_REGISTER_OPS_TD

//===-- chunks --------------------------------------------------------------//
// Chunk `k` of `2^c` of a tensor is what its registers with the number `k` in their highest `c` bits hold. As a tensor it
// has a layout of its own, in which these `c` bits number warps instead: behind the actual warps of the block there are
// *virtual warps*, and in chunk `k` a thread plays its part of warp `w + k * numWarps`. So an op on a chunk is an op like any
// other, and its verifier applies.

def NvTileAS_RegisterLoopOp
    : NvTileAS_Op<"register_loop", NvTileAA_Program, [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "for each chunk of a thread's registers";
  let description = [{
    The body runs once for each of `chunks` chunks, in order; its argument is the number of the chunk. Tensors inside lie in
    virtual warps. Nothing that the body computes leaves it but through arrays; tokens that it yields come out joined over all
    chunks.

    ```mlir
    // 64 registers a thread in two chunks of 32: warp = [.., 4096] is the virtual one
    %t = nv_tileas.register_loop 2 -> !nv_tileaa.mem_token {
    ^bb0(%k: i32):
      %c = nv_tileas.array_load %a[%k] : !nv_tileas.register_array<tensor<8192xf32, #l>> -> tensor<8192xf32, #chunk>
      %e = math.exp2 %c : tensor<8192xf32, #chunk>
      %t1 = nv_tileas.tiled_store <weak> %e, %v[%i] vector 4 bounds <none> : tensor<8192xf32, #chunk>, !view[i32]
      nv_tileas.yield %t1 : !nv_tileaa.mem_token
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$chunks);
  let results = (outs Variadic<NvTileAA_MemTokenType>:$tokens);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$chunks attr-dict-with-keyword (`->` type($tokens)^)? $body";
  let hasRegionVerifier = 1;
}

def NvTileAS_GatherRegistersOp : NvTileAS_Op<"gather_registers", NvTileAA_FixedLayouts,
    [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsLocal]>]> {
  let summary = "each register of the result from the register of the source that holds its element";
  let description = [{
    Dimensions of the source with extent one repeat. With `slice` the result is the slice with these numbers instead. With
    `chunk` it is that chunk of the whole result. No element comes from another thread. A source in registers must give
    the same registers in every chunk; which register of an array is read is computed.
  }];
  let arguments = (ins NvTileAS_TensorOrArray:$source, Optional<I32>:$chunk, Variadic<I32>:$indices);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = [{
    $source (`chunk` $chunk^)? (`slice` `[` $indices^ `]`)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===-- arrays --------------------------------------------------------------//

def NvTileAS_AllocArrayOp : NvTileAS_Op<"alloc_array", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_AllocatesLocal]>]> {
  let summary = "a thread's array for the registers of a tensor, in local memory";
  let description = [{
    Arrays with one `slot` share the bytes. They are in use at different times, and take as many bytes.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$slot);
  let results = (outs NvTileAS_RegisterArrayType:$result);
  let assemblyFormat = "`slot` $slot attr-dict `:` type($result)";
}

def NvTileAS_ArrayLoadOp : NvTileAS_Op<"array_load", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsLocal]>]> {
  let summary = "all registers of an array, or one chunk of them";
  let arguments = (ins NvTileAS_RegisterArrayType:$source, Optional<I32>:$chunk);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source (`[` $chunk^ `]`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayStoreOp : NvTileAS_Op<"array_store", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_WritesLocal]>]> {
  let summary = "replaces all registers of an array, or one chunk of them";
  let arguments = (ins NvTileAS_Tensor:$value, NvTileAS_RegisterArrayType:$dest, Optional<I32>:$chunk);
  let assemblyFormat = "$value `,` $dest (`[` $chunk^ `]`)? attr-dict `:` type($value) `,` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayInsertOp : NvTileAS_Op<"array_insert", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_WritesLocal]>]> {
  let summary = "replaces the slice of an array's tensor with the given slice numbers";
  let description = "As `insert_slice`, where the array is.";
  let arguments = (ins NvTileAS_Tensor:$slice, NvTileAS_RegisterArrayType:$dest, Variadic<I32>:$indices);
  let assemblyFormat = "$slice `into` $dest `[` $indices `]` attr-dict `:` type($slice) `into` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayCatOp : NvTileAS_Op<"array_cat", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsLocal]>, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "a chunk of two tensors in arrays side by side along dimension `dim`";
  let description = "As `cat`. A thread reads both and keeps what its place asks for.";
  let arguments = (ins NvTileAS_RegisterArrayType:$lhs, NvTileAS_RegisterArrayType:$rhs, I64Attr:$dim, I32:$chunk);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $dim `chunk` $chunk attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayExchangeOp : NvTileAS_SyncOp<"array_exchange", NvTileAA_ThreadExchange, NvTileAA_SyncScratch,
    NvTileAA_ScopeAgent, [MemoryEffects<[NvTileAA_ReadsLocal, NvTileAA_WritesLocal]>]> {
  let summary = "layout conversion from array to array through storage that is smaller than the tensor, part by part";
  let description = "As `exchange`, which it replaces: parts are counted at run time, so both sides are in arrays.";
  let arguments = (ins NvTileAS_RegisterArrayType:$source, NvTileAS_RegisterArrayType:$dest,
      NvTileAS_ScratchStorage<NvTileAS_MemDescType>:$storage);
  let assemblyFormat = [{
    $source `into` $dest `,` $storage attr-dict `:` type($source) `into` type($dest) `,` type($storage)
  }];
  let hasVerifier = 1;
}

#endif
