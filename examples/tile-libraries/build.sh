#!/bin/sh
# Makes the tile libraries of this folder from their sources.
#
#   build.sh KIND FOLDER [NAME...]
#
# KIND is the form of the code: ptx, bc or ll by clang; rust-ptx, rust-bc or rust-ll by rustc. The libraries are written
# to FOLDER as NAME.tilelib; by default all of them. `tileiras` and `tileiras-translate` must be in PATH; CLANG and
# RUSTC name other compilers than `clang` and `rustc`.
set -eu
kind=$1
out=$2
shift 2
[ $# -gt 0 ] || set -- sort philox histogram
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"

c_code() {
  "${CLANG:-clang}" --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx70 -O2 "$@"
}

rust_code() {
  # The sources replace the crate `core`, which needs unstable features.
  RUSTC_BOOTSTRAP=1 "${RUSTC:-rustc}" --edition=2024 --crate-type=lib --target=nvptx64-nvidia-cuda \
    -Ctarget-cpu=sm_80 -Copt-level=3 -Cpanic=abort -Ainternal_features -Adead_code "$@"
}

for name; do
  code=$out/$name.code
  case $kind in
    ptx) c_code -S "$here/$name/$name.c" -o "$code" ;;
    bc) c_code -c -emit-llvm "$here/$name/$name.c" -o "$code" ;;
    ll) c_code -S -emit-llvm "$here/$name/$name.c" -o "$code" ;;
    rust-ptx) rust_code --emit=asm="$code" "$here/$name/$name.rs" ;;
    rust-bc) rust_code --emit=llvm-bc="$code" "$here/$name/$name.rs" ;;
    rust-ll) rust_code --emit=llvm-ir="$code" "$here/$name/$name.rs" ;;
    *) echo "build.sh: unknown kind '$kind'" >&2; exit 1 ;;
  esac
  for part in interface catalogue; do
    tileiras-translate --mlir-to-tileirbc --bytecode-version=13.5 "$here/$name/$part.mlir" -o "$out/$name.$part"
  done
  tileiras --preview-create-tile-lib --preview-interface="$out/$name.interface" \
    --preview-implementation="$out/$name.catalogue" --preview-implementation="$code" -o "$out/$name.tilelib"
  rm "$code" "$out/$name.interface" "$out/$name.catalogue"
done
