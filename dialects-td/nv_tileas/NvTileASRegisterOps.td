// Ops of nv_tileas for tensors that do not fit in the registers of a thread: loops over chunks of registers, and
// arrays in local memory. Included by NvTileASOps.td.
#ifndef NV_TILEAS_REGISTER_OPS_TD
#define NV_TILEAS_REGISTER_OPS_TD

//===-- chunks --------------------------------------------------------------//
// A tensor is split into `2^c` chunks by the highest `c` bits of its register number. Chunk `k` is a tensor of its
// own layout, in which these `c` bits number warps instead: the *virtual warps*, which follow the actual warps of the
// CTA. In chunk `k`, a thread of warp `w` acts as a thread of warp `w + k * numWarps`. An op on a chunk is therefore
// an ordinary op, which its verifier checks as usual.

def NvTileAS_RegisterLoopOp
    : NvTileAS_Op<"register_loop", NvTileAA_Program, [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "loop over the chunks of a thread's registers";
  let description = [{
    The body runs once per chunk, in order; its argument is the chunk number. Tensors in the body have layouts over
    virtual warps. Values leave the body only through arrays. The tokens that it yields are joined over all chunks.

    ```mlir
    // 64 registers per thread in two chunks of 32: warp = [.., 4096] is the virtual warp bit
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
  let summary = "fills each register of the result from the source register that holds its element";
  let description = [{
    Source dimensions of extent one are broadcast. With `slice`, the result is the slice with these numbers. With
    `chunk`, it is that chunk of the whole result. No element comes from another thread. A source in registers must
    use the same registers for every chunk; for a source in an array, the index is computed at run time.
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
  let summary = "allocates a thread's array for the registers of a tensor, in local memory";
  let description = [{
    Arrays with the same `slot` share storage. They have the same size and disjoint lifetimes.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$slot);
  let results = (outs NvTileAS_RegisterArrayType:$result);
  let assemblyFormat = "`slot` $slot attr-dict `:` type($result)";
}

def NvTileAS_ArrayLoadOp : NvTileAS_Op<"array_load", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsLocal]>]> {
  let summary = "reads all registers of an array, or one chunk";
  let arguments = (ins NvTileAS_RegisterArrayType:$source, Optional<I32>:$chunk);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source (`[` $chunk^ `]`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayStoreOp : NvTileAS_Op<"array_store", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_WritesLocal]>]> {
  let summary = "overwrites all registers of an array, or one chunk";
  let arguments = (ins NvTileAS_Tensor:$value, NvTileAS_RegisterArrayType:$dest, Optional<I32>:$chunk);
  let assemblyFormat = "$value `,` $dest (`[` $chunk^ `]`)? attr-dict `:` type($value) `,` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayInsertOp : NvTileAS_Op<"array_insert", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_WritesLocal]>]> {
  let summary = "overwrites the slice with the given slice numbers in an array";
  let description = "`insert_slice`, in place in the array.";
  let arguments = (ins NvTileAS_Tensor:$slice, NvTileAS_RegisterArrayType:$dest, Variadic<I32>:$indices);
  let assemblyFormat = "$slice `into` $dest `[` $indices `]` attr-dict `:` type($slice) `into` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayCatOp : NvTileAS_Op<"array_cat", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsLocal]>, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "one chunk of the concatenation of two tensors in arrays along dimension `dim`";
  let description = "Like `cat`. A thread reads both arrays and selects the elements that belong to it.";
  let arguments = (ins NvTileAS_RegisterArrayType:$lhs, NvTileAS_RegisterArrayType:$rhs, I64Attr:$dim, I32:$chunk);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $dim `chunk` $chunk attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ArrayExchangeOp : NvTileAS_SyncOp<"array_exchange", NvTileAA_ThreadExchange, NvTileAA_SyncScratch,
    NvTileAA_ScopeAgent, [MemoryEffects<[NvTileAA_ReadsLocal, NvTileAA_WritesLocal]>]> {
  let summary = "layout conversion from array to array through storage smaller than the tensor, part by part";
  let description = "Like `exchange`, which it replaces, but with a run-time loop over the parts, so both sides are in arrays.";
  let arguments = (ins NvTileAS_RegisterArrayType:$source, NvTileAS_RegisterArrayType:$dest,
      NvTileAS_ScratchStorage<NvTileAS_MemDescType>:$storage);
  let assemblyFormat = [{
    $source `into` $dest `,` $storage attr-dict `:` type($source) `into` type($dest) `,` type($storage)
  }];
  let hasVerifier = 1;
}

#endif
