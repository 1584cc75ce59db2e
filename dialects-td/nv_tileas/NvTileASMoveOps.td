// Ops of nv_tileas that move elements: between registers, lanes and warps, and between element widths.
// Included by NvTileASOps.td, whose classes they use.
#ifndef NV_TILEAS_MOVE_OPS_TD
#define NV_TILEAS_MOVE_OPS_TD

//===-- parts of tensors ----------------------------------------------------//

def NvTileAS_CatOp : NvTileAS_Op<"cat", NvTileAA_Concatenation, [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "two tensors side by side along dimension `dim`, whose extent doubles";
  let description = [{
    Let `b` be the bit of the result's element index that tells the halves apart. The operands lie as the result does without
    `b`: every basis loses that bit. A register basis that is nothing but `b` is left out of the operands; without one, the
    operands have as many registers as the result and each thread takes what it needs from either.
  }];
  let arguments = (ins NvTileAS_Tensor:$lhs, NvTileAS_Tensor:$rhs, I64Attr:$dim);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $dim attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ExtractSliceOp : NvTileAS_Op<"extract_slice", NvTileAA_Slicing, [Pure]> {
  let summary = "the slice of a tensor with the given slice numbers";
  let description = [{
    Slices have the shape of the result and tile the source. Source and result may lie in any layouts; when all elements of
    a thread's result lie in registers of the same thread, whatever the slice, nothing moves between threads.
    Otherwise `tileas-materialize-convert-layout` replaces the op.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, Variadic<I32>:$indices);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_InsertSliceOp : NvTileAS_Op<"insert_slice", NvTileAA_Insertion, [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a tensor with the slice with the given slice numbers replaced";
  let description = [{
    Slices have the shape of `slice` and tile `dest`. Nothing moves between threads: `dest` lies as `slice` does, with the bits
    that number the slices in further registers. A tensor that a loop carries and that is used for nothing else is
    changed where it is.
  }];
  let arguments = (ins NvTileAS_Tensor:$slice, NvTileAS_Tensor:$dest, Variadic<I32>:$indices);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$slice `into` $dest `[` $indices `]` attr-dict `:` type($slice) `into` type($dest)";
  let hasVerifier = 1;
}

//===-- element widths ------------------------------------------------------//

class NvTileAS_PackingOp<string mnemonic, string text>
    : NvTileAS_Op<mnemonic, NvTileAA_Packing, [Pure]> {
  let summary = text;
  let description = [{
    One side has 2^q times the elements of the other. Its first q register bases are 1, 2, ... 2^(q-1): a thread holds all
    the parts of an element, or all the elements of a byte. Its other bases are those of the other side, times 2^q.
    Bytes are in little-endian order, and elements of less than eight bits fill a byte from its low end.
  }];
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAS_PackOp : NvTileAS_PackingOp<"pack", "tensor of rank one as its bytes">;
def NvTileAS_UnpackOp : NvTileAS_PackingOp<"unpack", "bytes as a tensor of rank one">;

//===-- movement between threads --------------------------------------------//

def NvTileAS_ShuffleOp : NvTileAS_Op<"shuffle", NvTileAA_ThreadExchange, [Pure]> {
  let summary = "layout conversion, or extraction of a slice, by shuffles inside warps";
  let description = [{
    Every warp holds all the elements that its result needs. With indices the result is the slice with these numbers.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, Variadic<I32>:$indices);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source (`[` $indices^ `]`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_LocalLoadSliceOp : NvTileAS_Op<"local_load_slice", NvTileAA_FixedLayouts> {
  let summary = "slice of a tensor in shared memory to registers, `vector` elements at a time";
  let arguments = (ins NvTileAS_SourceStorage<NvTileAS_MemDescType>:$source, Variadic<I32>:$indices,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `[` $indices `]` `vector` $vector attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ExchangeOp : NvTileAS_SyncOp<"exchange", NvTileAA_ThreadExchange, NvTileAA_SyncScratch, NvTileAA_ScopeAgent> {
  let summary = "layout conversion through storage that is smaller than the tensor, part by part";
  let description = [{
    For each part in turn: all threads meet, store what they hold of the part, meet, and load what they need of it. After the
    op some threads may still be loading the last part.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, NvTileAS_ScratchStorage<NvTileAS_MemDescType>:$storage);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `,` $storage attr-dict `:` type($source) `,` type($storage) `->` type($result)";
  let hasVerifier = 1;
}

#endif
