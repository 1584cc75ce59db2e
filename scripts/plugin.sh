#!/usr/bin/env bash
# Compiles passes in a Rust file to a plugin for tileiras, tileiras-opt, tile-run and mlir-opt. Uses the library of an existing
# build, which takes seconds. For a crate in another workspace cargo would compile the whole library again.
#
#   scripts/plugin.sh PASSES.rs [-o LIBRARY.so] [--build DIR]     default: libPASSES.so, and target/debug of the checkout
#
# The file is the root of a crate and may have modules. Its only dependency is `tileiras`, which re-exports `melior`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() { echo "plugin: $*" >&2; exit 1; }
usage() { sed -n '5s/^# \{0,1\} *//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
source= library= build=${CARGO_TARGET_DIR:-$root/target}/debug
while [[ $# -gt 0 ]]; do
    case $1 in
        -o) [[ $# -gt 1 ]] || usage; library=$2; shift 2 ;;
        --build) [[ $# -gt 1 ]] || usage; build=$2; shift 2 ;;
        -*) usage ;;
        *) [[ -z $source ]] || usage; source=$1; shift ;;
    esac
done
[[ -n $source ]] || usage
[[ -r $source ]] || fail "cannot read '$source'"
name=$(basename "$source" .rs)
name=${name//-/_}
[[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail "'$name' is not a valid crate name"
: "${library:=lib$name.so}"

# The tools only accept a plugin that was built with the same dialects.
[[ -x $build/tileiras-opt ]] || fail "'$build' does not contain a build: run make build"
identity=$(grep -a -o -m 1 'tileiras dialects [0-9a-f]\{16\}' "$build/tileiras-opt" | head -1) || fail "'$build/tileiras-opt' is too old"
rlib=
while IFS= read -r candidate; do
    if grep -q -a "$identity" "$candidate"; then rlib=$candidate; break; fi
done < <(ls -t "$build"/deps/libtileiras-*.rlib 2> /dev/null)
[[ -n $rlib ]] || fail "'$build/deps' does not contain a library with the dialects of '$build/tileiras-opt': run make build"
# The output of the library's build script contains the linker options.
said=$(grep -l "TILEIRAS_DIALECTS=${identity##* }\$" "$build"/build/tileiras-*/output 2> /dev/null | head -1) ||
    fail "'$build/build' does not contain the linker options of the library: run make build"
mapfile -t link < <(sed -n 's/^cargo:rustc-link-search=/-L/p; s/^cargo:rustc-link-arg=/-Clink-arg=/p' "$said")

rustc --edition 2024 --crate-type cdylib --crate-name "$name" -C opt-level=1 --extern tileiras="$rlib" -L dependency="$build/deps" \
    "${link[@]}" -L native="${LLVM_PREFIX:-/usr/lib/llvm-21}/lib" "$source" -o "$library"
