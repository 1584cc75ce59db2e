#!/usr/bin/env bash
# Compiles passes in one Rust file to a plugin for tileiras, tileiras-opt, tile-run and mlir-opt, against the library of a build that is
# there. That takes seconds, where cargo compiles the whole library again for a crate of another workspace.
#
#   scripts/plugin.sh PASSES.rs [-o LIBRARY.so] [--build DIR]     default: libPASSES.so, and target/debug of the checkout
#
# The file is the root of a crate and may have modules. It needs no dependency but `tileiras`, which has `melior`.
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
[[ -r $source ]] || fail "'$source' cannot be read"
name=$(basename "$source" .rs)
name=${name//-/_}
[[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail "'$name' is no name of a crate"
: "${library:=lib$name.so}"

# The tools take a plugin that was built of the same dialects.
[[ -x $build/tileiras-opt ]] || fail "there is no build in '$build': make build"
identity=$(grep -a -o -m 1 'tileiras dialects [0-9a-f]\{16\}' "$build/tileiras-opt" | head -1) || fail "'$build/tileiras-opt' is too old"
rlib=
while IFS= read -r candidate; do
    if grep -q -a "$identity" "$candidate"; then rlib=$candidate; break; fi
done < <(ls -t "$build"/deps/libtileiras-*.rlib 2> /dev/null)
[[ -n $rlib ]] || fail "'$build/deps' has no library of the dialects that '$build/tileiras-opt' has: make build"
# What the build script of the library said of linking.
said=$(grep -l "TILEIRAS_DIALECTS=${identity##* }\$" "$build"/build/tileiras-*/output 2> /dev/null | head -1) ||
    fail "'$build/build' does not tell how the library is linked: make build"
mapfile -t link < <(sed -n 's/^cargo:rustc-link-search=/-L/p; s/^cargo:rustc-link-arg=/-Clink-arg=/p' "$said")

rustc --edition 2024 --crate-type cdylib --crate-name "$name" -C opt-level=1 --extern tileiras="$rlib" -L dependency="$build/deps" \
    "${link[@]}" -L native="${LLVM_PREFIX:-/usr/lib/llvm-21}/lib" "$source" -o "$library"
