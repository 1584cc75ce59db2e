//===- CudaTileAttrs.td - Attributes of the dialect --------*- tablegen -*-===//
#ifndef CUDA_TILE_ATTRS_TD
#define CUDA_TILE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "cuda_tile/CudaTileDialect.td"
include "cuda_tile/CudaTileEnums.td"

class CudaTile_AttrDef<string name, string attrMnemonic,
                       list<Trait> traits = []>
    : AttrDef<CudaTile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Predicates of `assume`
//===----------------------------------------------------------------------===//

class CudaTile_AssumePredicate<string name, string mnemonic>
    : CudaTile_AttrDef<name, mnemonic, [
        DeclareAttrInterfaceMethods<CudaTile_AssumePredicateAttrInterface>]> {
  let hasCustomAssemblyFormat = 1;
}

def CudaTile_DivByAttr : CudaTile_AssumePredicate<"DivBy", "div_by"> {
  let summary = "divisibility of integers or addresses";
  let description = [{
    `div_by<16>` or `div_by<16, every 2 along 0>`. Dimension `along` is split
    into groups of `every` elements. The first element of each group is a
    multiple of the divisor, and the following elements count up from it: by one
    for integers, by the size of the pointee for pointers. On a tensor view, the
    predicate applies to the base address.
  }];
  let parameters = (ins "uint64_t":$divisor,
    OptionalParameter<"::std::optional<int64_t>">:$every,
    OptionalParameter<"::std::optional<int64_t>">:$along);
}

def CudaTile_SameElementsAttr
    : CudaTile_AssumePredicate<"SameElements", "same_elements"> {
  let summary = "groups of equal elements";
  let description = [{
    `same_elements<[2, 4]>` divides the tile into blocks of that shape. All
    elements of a block are equal.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$values);
}

def CudaTile_BoundedAttr : CudaTile_AssumePredicate<"Bounded", "bounded"> {
  let summary = "inclusive signed bounds of integers";
  let description = "`bounded<-3, 7>`; `?` leaves a side unbounded.";
  let parameters = (ins
    OptionalParameter<"::std::optional<int64_t>">:$lb,
    OptionalParameter<"::std::optional<int64_t>">:$ub);
}

//===----------------------------------------------------------------------===//
// Optimization hints
//===----------------------------------------------------------------------===//

def CudaTile_OptimizationHintsAttr
    : CudaTile_AttrDef<"OptimizationHints", "optimization_hints"> {
  let summary = "hints by target architecture";
  let description = [{
    `<sm_100 = {occupancy = 2}, default = {occupancy = 1}>` is a dictionary of
    dictionaries. A hint never changes the result of a program.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the value of hint `name` for `arch`: its own entry, or else the
    /// entry of `default`. Values that the language does not permit count as
    /// absent.
    ::std::optional<int64_t> getInteger(::llvm::StringRef arch,
                                        ::llvm::StringRef name) const;
    ::std::optional<bool> getBool(::llvm::StringRef arch,
                                  ::llvm::StringRef name) const;
  }];
}

//===----------------------------------------------------------------------===//
// Debug information
//===----------------------------------------------------------------------===//

def CudaTile_DIFileAttr : CudaTile_AttrDef<"DIFile", "di_file"> {
  let summary = "source file";
  let parameters = (ins "::mlir::StringAttr":$name,
                        "::mlir::StringAttr":$directory);
  let assemblyFormat = "`<` $name `in` $directory `>`";
}

def CudaTile_DICompileUnitAttr
    : CudaTile_AttrDef<"DICompileUnit", "di_compile_unit"> {
  let summary = "compilation unit";
  let description = [{
    Only the bytecode of the specification has a producer and flags. DWARF has them as the producer of the unit.
  }];
  let parameters = (ins "::cuda_tile::DIFileAttr":$file,
    DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr::get($_ctxt)">:$producer,
    DefaultValuedParameter<"uint64_t", "0">:$flags);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CudaTile_DILexicalBlockAttr
    : CudaTile_AttrDef<"DILexicalBlock", "di_lexical_block"> {
  let summary = "nested scope of a subprogram";
  let parameters = (ins
    "::cuda_tile::DILocalScopeAttr":$scope,
    "::cuda_tile::DIFileAttr":$file,
    "uint32_t":$line,
    DefaultValuedParameter<"uint32_t", "0">:$column);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CudaTile_DISubprogramAttr
    : CudaTile_AttrDef<"DISubprogram", "di_subprogram"> {
  let summary = "function of the source program";
  let description = [{
    Only the bytecode of the specification, and of 13.5 for `flags`, has the last three numbers. `spFlags` holds LLVM's
    flags of subprograms. The meaning of the others is not documented; DWARF has them as annotations.
  }];
  let parameters = (ins
    "::cuda_tile::DIFileAttr":$file,
    "uint32_t":$line,
    "::mlir::StringAttr":$name,
    "::mlir::StringAttr":$linkageName,
    "::cuda_tile::DICompileUnitAttr":$compileUnit,
    DefaultValuedParameter<"uint32_t", "0">:$scopeLine,
    DefaultValuedParameter<"uint64_t", "0">:$flags,
    DefaultValuedParameter<"uint64_t", "0">:$purpose,
    DefaultValuedParameter<"uint64_t", "0">:$spFlags);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CudaTile_DILocAttr : LocationAttrDef<CudaTile_Dialect, "DILoc"> {
  let mnemonic = "di_loc";
  let summary = "source position inside a debug scope";
  let description = "`loc(#cuda_tile.di_loc<loc(\"f.py\":4:2) in #scope>)`";
  let parameters = (ins "::mlir::FileLineColLoc":$sourceLoc,
                        "::cuda_tile::DILocalScopeAttr":$scope);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    AttrBuilderWithInferredContext<(ins
        "::mlir::FileLineColLoc":$sourceLoc,
        "::cuda_tile::DILocalScopeAttr":$scope), [{
      return $_get(sourceLoc.getContext(), sourceLoc, scope);
    }]>
  ];
}

#endif // CUDA_TILE_ATTRS_TD
