// Ops of nv_tileas that move elements between registers, lanes and warps, or change element widths. Included by
// NvTileASOps.td, which defines their classes.
#ifndef NV_TILEAS_MOVE_OPS_TD
#define NV_TILEAS_MOVE_OPS_TD

//===-- parts of tensors ----------------------------------------------------//

def NvTileAS_CatOp : NvTileAS_Op<"cat", NvTileAA_Concatenation, [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "concatenates two tensors along dimension `dim`, whose extent doubles";
  let description = [{
    Let `b` be the bit of the result's element index that selects the half. The operands have the result's layout with
    `b` removed from every basis. A register basis equal to `b` is dropped from the operands' layout. If there is no
    such basis, the operands have as many registers as the result, and each thread takes the elements that it needs
    from either operand.
  }];
  let arguments = (ins NvTileAS_Tensor:$lhs, NvTileAS_Tensor:$rhs, I64Attr:$dim);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $dim attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ExtractSliceOp : NvTileAS_Op<"extract_slice", NvTileAA_Slicing, [Pure]> {
  let summary = "extracts the slice with the given slice numbers";
  let description = [{
    Slices have the shape of the result and tile the source. The layouts of source and result are arbitrary. If every
    thread already holds the elements of its result, for all slice numbers, no element moves between threads.
    Otherwise `tileas-materialize-convert-layout` replaces the op.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, Variadic<I32>:$indices);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_InsertSliceOp : NvTileAS_Op<"insert_slice", NvTileAA_Insertion, [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "replaces the slice with the given slice numbers";
  let description = [{
    Slices have the shape of `slice` and tile `dest`. No element moves between threads: the layout of `dest` is that
    of `slice`, with additional register bits for the slice numbers. A loop-carried tensor without other uses is
    updated in place.
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
    One side has 2^q times as many elements as the other. Its first q register bases are 1, 2, ... 2^(q-1), so a
    thread holds all parts of an element, or all elements of a byte. Its other bases are the other side's bases times
    2^q. Bytes are in little-endian order. Elements narrower than eight bits fill a byte from the low end.
  }];
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAS_PackOp : NvTileAS_PackingOp<"pack", "the bytes of a tensor of rank one">;
def NvTileAS_UnpackOp : NvTileAS_PackingOp<"unpack", "bytes as a tensor of rank one">;

//===-- movement between threads --------------------------------------------//

def NvTileAS_ShuffleOp : NvTileAS_Op<"shuffle", NvTileAA_ThreadExchange, [Pure]> {
  let summary = "layout conversion, or extraction of a slice, by shuffles within warps";
  let description = [{
    Every warp holds all the elements that its result needs. With indices, the result is the slice with these numbers.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, Variadic<I32>:$indices);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source (`[` $indices^ `]`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_LocalLoadSliceOp : NvTileAS_Op<"local_load_slice", NvTileAA_FixedLayouts> {
  let summary = "loads a slice of a tensor from shared memory, `vector` elements at a time";
  let arguments = (ins NvTileAS_SourceStorage<NvTileAS_MemDescType>:$source, Variadic<I32>:$indices,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `[` $indices `]` `vector` $vector attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ExchangeOp : NvTileAS_SyncOp<"exchange", NvTileAA_ThreadExchange, NvTileAA_SyncScratch, NvTileAA_ScopeAgent> {
  let summary = "layout conversion through storage smaller than the tensor, part by part";
  let description = [{
    For each part, all threads wait at a barrier, store their elements of the part, wait at a second barrier, and load
    the elements that they need. After the op, some threads may still be loading the last part.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, NvTileAS_ScratchStorage<NvTileAS_MemDescType>:$storage);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `,` $storage attr-dict `:` type($source) `,` type($storage) `->` type($result)";
  let hasVerifier = 1;
}

#endif
