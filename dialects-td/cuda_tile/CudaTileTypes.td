//===- CudaTileTypes.td - Types of the dialect -------------*- tablegen -*-===//
#ifndef CUDA_TILE_TYPES_TD
#define CUDA_TILE_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "cuda_tile/CudaTileDialect.td"
include "cuda_tile/CudaTileEnums.td"

class CudaTile_TypeDef<string name, string typeMnemonic,
                       list<Trait> traits = []>
    : TypeDef<CudaTile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def CudaTile_TokenType : CudaTile_TypeDef<"Token", "token"> {
  let summary = "cuda tile token type";
  let description = [{
    Orders memory accesses: an operation that takes a token happens after the
    operation that produced it. Tokens exist only at compile time.
  }];
}

def CudaTile_FloatNV8E5M3FNUType
    : CudaTile_TypeDef<"FloatNV8E5M3FNU", "fnv8E5M3FNU"> {
  let summary = "8-bit floating-point type without sign";
  let description = [{
    Five exponent bits with bias 15 and three mantissa bits: zero, subnormal
    numbers from 2^-17, numbers up to 114688, no infinity, and NaN if all bits
    are set. The type is only used for elements: `tile<4xfnv8E5M3FNU>`.

    LLVM lacks this format, so attributes cannot hold such numbers. Constants
    hold their bits, as i8.
  }];
}

def CudaTile_PointerType : CudaTile_TypeDef<"Pointer", "ptr"> {
  let summary = "Pointer type";
  let description = [{
    The address of one element in global memory, `ptr<f32>`. A `ptr<f32,
    <multicast>>` addresses a multicast object, which represents the memories of
    several GPUs. A type without the attribute differs from one with `<none>`.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType,
    OptionalParameter<"::std::optional<::cuda_tile::PointerKind>">:$ptrAttr);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType,
        CArg<"::std::optional<::cuda_tile::PointerKind>",
             "::std::nullopt">:$ptrAttr), [{
      return $_get(pointeeType.getContext(), pointeeType, ptrAttr);
    }]>
  ];
}

def CudaTile_TileType
    : CudaTile_TypeDef<"Tile", "tile", [ShapedTypeInterface]> {
  let summary = "Tile type";
  let description = [{
    An array of static shape with power-of-two extents, `tile<4x8xf32>`. A tile
    of rank 0 is a scalar, `tile<f32>`. A tile has at most 2^24 elements.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                        "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType);
    }]>
  ];
  let extraClassDeclaration = [{
    using ::mlir::ShapedType::Trait<TileType>::clone;
    using ::mlir::ShapedType::Trait<TileType>::getElementTypeBitWidth;
    using ::mlir::ShapedType::Trait<TileType>::getRank;
    using ::mlir::ShapedType::Trait<TileType>::getNumElements;

    /// The largest number of elements of one tile.
    static constexpr int64_t kMaxNumElements = int64_t(1) << 24;

    bool hasRank() const { return true; }
    ::mlir::ShapedType
    cloneWith(::std::optional<::llvm::ArrayRef<int64_t>> shape,
              ::mlir::Type elementType) const;

    /// Returns the type of the same elements in another shape.
    TileType withShape(::llvm::ArrayRef<int64_t> shape) const {
      return get(shape, getElementType());
    }
    /// Returns the type of the same shape with other elements.
    TileType withElementType(::mlir::Type elementType) const {
      return get(getShape(), elementType);
    }
  }];
}

def CudaTile_TensorViewType
    : CudaTile_TypeDef<"TensorView", "tensor_view"> {
  let summary = "tensor view type";
  let description = [{
    A strided tensor in global memory, `tensor_view<?x64xf32, strides=[64,1]>`.
    Strides are in elements. `?` marks a dynamic size or stride, which is stored
    as `ShapedType::kDynamic`. The pointer's attribute may follow, as in
    `tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<none>>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType,
    ArrayRefParameter<"int64_t">:$shape, ArrayRefParameter<"int64_t">:$strides,
    OptionalParameter<"::std::optional<::cuda_tile::PointerKind>">:$ptrAttr);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// The number of sizes (strides) that are operands of `make_tensor_view`.
    int64_t getNumDynamicSizes() const;
    int64_t getNumDynamicStrides() const;
  }];
}

class CudaTile_ViewType<string name, string mnemonic>
    : CudaTile_TypeDef<name, mnemonic,
        [DeclareTypeInterfaceMethods<CudaTile_TileViewInterface>]> {
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def CudaTile_PartitionViewType
    : CudaTile_ViewType<"PartitionView", "partition_view"> {
  let summary = "partition view type";
  let description = [{
    Divides a tensor into a grid of disjoint tiles. Entry `d` of `dim_map` is
    the tensor dimension of tile dimension `d`.
  }];
  let parameters = (ins
    ArrayRefParameter<"int32_t">:$tileShape,
    "::cuda_tile::TensorViewType":$tensorView,
    ArrayRefParameter<"int32_t">:$dimMap,
    OptionalParameter<"::std::optional<::cuda_tile::PaddingValue>">:$paddingValue);
}

def CudaTile_GatherScatterViewType
    : CudaTile_ViewType<"GatherScatterView", "gather_scatter_view"> {
  let summary = "gather/scatter view type";
  let description = [{
    An index tile gives the positions of a tile along `sparse_dim` one by one.
    Along the other dimensions, a tile is contiguous.
  }];
  let parameters = (ins
    ArrayRefParameter<"int32_t">:$tileShape,
    "::cuda_tile::TensorViewType":$tensorView,
    "uint32_t":$sparseDim,
    OptionalParameter<"::std::optional<::cuda_tile::PaddingValue>">:$paddingValue);
}

def CudaTile_StridedViewType
    : CudaTile_ViewType<"StridedView", "strided_view"> {
  let summary = "strided view type";
  let description = [{
    Like a partition view, but consecutive tiles are `traversal_strides`
    elements apart, so tiles may overlap or leave gaps.
  }];
  let parameters = (ins
    ArrayRefParameter<"int32_t">:$tileShape,
    ArrayRefParameter<"int32_t">:$traversalStrides,
    "::cuda_tile::TensorViewType":$tensorView,
    ArrayRefParameter<"int32_t">:$dimMap,
    OptionalParameter<"::std::optional<::cuda_tile::PaddingValue>">:$paddingValue);
}

#endif // CUDA_TILE_TYPES_TD
