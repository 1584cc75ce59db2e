// Tensor memory of nv_tileas: allocation, and moves between it and registers. Included by NvTileASOps.td, which defines
// the classes used here.
#ifndef NV_TILEAS_TENSOR_MEMORY_OPS_TD
#define NV_TILEAS_TENSOR_MEMORY_OPS_TD

//===-- tensor memory -------------------------------------------------------//
// Tensor memory has 128 lanes of 512 columns of 32 bits for each SM. Dots accumulate there, and threads of four warps
// move its contents to registers: warp w reaches the lanes from 32 * (w % 4) on. A kernel allocates columns once, at its
// start, and frees them at its end. `alloc_tensor` with `space = tensor` names a part of these columns.
//
//   nv_tileas.tmem_allocate %slot columns 256     one warp allocates, and stores the address to shared memory
//   nv_tileas.barrier
//   %acc = nv_tileas.alloc_tensor offset 0 : !nv_tileas.memdesc<128x256xf32, #m, space = tensor>
//   ...
//   nv_tileas.tmem_free columns 256               all threads meet, and one warp frees
//
// A fence of the thread that accesses tensor memory, and one of the thread that is notified, order accesses across
// a barrier or a pipeline.

def NvTileAS_TmemAllocateOp : NvTileAS_Op<"tmem_allocate", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "allocates columns of tensor memory for the CTA";
  let description = [{
    The first warp waits until the SM has that many free columns, allocates them and stores their address in `slot`. It
    then gives up the right to allocate, so that another CTA can. A barrier must separate the op from the first use of
    tensor memory. The number of columns is a power of two from 32 to 512; `tileas-optimize-alloc-tensor` sets it.

    With `pair`, the two CTAs of a cluster allocate the same columns, for dots of both. They first wait for each other,
    so the barriers of pipelines that they share may be used after the op.
  }];
  let arguments = (ins NvTileAS_DestStorage<NvTileAS_MemDescType>:$slot,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$columns, UnitAttr:$pair);
  let assemblyFormat = "$slot (`columns` $columns^)? (`pair` $pair^)? attr-dict `:` type($slot)";
  let hasVerifier = 1;
}

def NvTileAS_TmemFreeOp : NvTileAS_Op<"tmem_free", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "frees the CTA's columns of tensor memory, after all of its threads have arrived";
  let description = [{
    The number of columns is that of `tmem_allocate`. The op is at the top level of the kernel. With `pair`, all threads
    of both CTAs of the cluster arrive before.
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$columns, UnitAttr:$pair);
  let assemblyFormat = "(`columns` $columns^)? (`pair` $pair^)? attr-dict";
}

def NvTileAS_TmemSliceOp : NvTileAS_Op<"tmem_slice", NvTileAA_Address, [Pure]> {
  let summary = "columns of an accumulator";
  let description = [{
    The result has the rows of the source, of which there are at most 128, and its columns from `column` on.

    ```mlir
    %s = nv_tileas.tmem_slice %acc column 64
      : !nv_tileas.memdesc<128x256xf32, #m, space = tensor> -> !nv_tileas.memdesc<128x64xf32, #n, space = tensor>
    ```
  }];
  let arguments = (ins NvTileAS_MemDescType:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$column);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source `column` $column attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_TmemLoadOp : NvTileAS_Op<"tmem_load", NvTileAA_FixedLayouts> {
  let summary = "loads a tensor from tensor memory to registers";
  let description = [{
    A warp `w` reads lanes from `32 * (w % 4)` on. The result has the fragments of `mma.sync`, or lane `l` of the warp has
    whole rows of lane `32 * (w % 4) + l` of tensor memory. The op waits for the loads, so the memory may be written again
    after it.

    ```mlir
    %x = nv_tileas.tmem_load %acc : !nv_tileas.memdesc<128x256xf32, #m, space = tensor> -> tensor<128x256xf32, #l>
    ```
  }];
  let arguments = (ins Arg<NvTileAS_MemDescType, "", [NvTileAA_ReadsTensor]>:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_TmemStoreOp : NvTileAS_Op<"tmem_store", NvTileAA_FixedLayouts> {
  let summary = "stores a tensor in registers to tensor memory";
  let description = [{
    The layout of the source is as that of the result of `tmem_load`. The op waits for the stores.

    ```mlir
    nv_tileas.tmem_store %x, %acc : tensor<128x256xf32, #l>, !nv_tileas.memdesc<128x256xf32, #m, space = tensor>
    ```
  }];
  let arguments = (ins NvTileAS_Tensor:$source, Arg<NvTileAS_MemDescType, "", [NvTileAA_WritesTensor]>:$dest);
  let assemblyFormat = "$source `,` $dest attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_TmemScaleOp : NvTileAS_Op<"tmem_scale", NvTileAA_FixedLayouts> {
  let summary = "multiplies each row of a tile in tensor memory by a factor";
  let description = [{
    The factors have one element for each row, in the layout of a row of the registers with which `tmem_load` reads whole
    rows. Factors are often one: a warp whose factors all are leaves its rows unchanged. Does nothing if `predicate` is
    false. The op waits for its stores.

    ```mlir
    nv_tileas.tmem_scale %acc by %factor if %started : !nv_tileas.memdesc<128x128xf32, #m, space = tensor>, tensor<128x1xf32, #l>
    ```
  }];
  let arguments = (ins Arg<NvTileAS_MemDescType, "", [NvTileAA_ReadsTensor, NvTileAA_WritesTensor]>:$memory,
      NvTileAS_Tensor:$factor, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $memory `by` $factor (`if` $predicate^)? attr-dict `:` type($memory) `,` type($factor)
  }];
  let hasVerifier = 1;
}

def NvTileAS_TmemCopyOp : NvTileAS_Op<"tmem_copy", NvTileAA_FixedLayouts> {
  let summary = "starts a copy of scale factors from shared memory to tensor memory";
  let description = [{
    The source has the form that the hardware copies (`tile_layout::ScaleFactors`). One thread issues the op, inside
    `async.elect`. Later dots of the thread read what it copies, and its completion is signaled as that of dots. With
    `pair`, each of the two CTAs of a cluster has the scale factors of its rows and of all columns, and the op copies
    them in both.

    ```mlir
    nv_tileas.tmem_copy %s, %t : !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>, !nv_tileas.memdesc<128x4xf8E8M0FNU, #t, space = scales>
    ```
  }];
  let arguments = (ins NvTileAS_ProxySourceStorage<NvTileAS_MemDescType>:$source,
      Arg<NvTileAS_MemDescType, "", [NvTileAA_WritesTensor]>:$dest, UnitAttr:$pair);
  let assemblyFormat = "$source `,` $dest (`pair` $pair^)? attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_TmemFenceOp : NvTileAS_Op<"tmem_fence", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "orders accesses of tensor memory across a synchronization of threads";
  let description = [{
    Without `after`, accesses of this thread that precede the fence come before what the thread signals next. With
    `after`, accesses that follow the fence come after what the thread has last waited for.
  }];
  let arguments = (ins UnitAttr:$after);
  let assemblyFormat = "(`after` $after^)? attr-dict";
}

#endif
