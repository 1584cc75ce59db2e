#!/usr/bin/env bash
# Builds a release that needs neither MLIR nor LLVM at run time, and installs it below a prefix:
#
#   bin/tileiras            the command and the compiler as one stripped program; the only shared libraries are those of glibc
#   bin/tileirdisasm        a link to it, as are bin/tile-run and bin/tileiras-lsp-server
#   lib/libtileiras.so      the compiler as a library that exports only the functions of include/tileiras.h
#   lib/libtileiras.a       the same as one object file; the C++ library, zlib, zstd and libffi come from the system
#   include/, lib/pkgconfig, lib/cmake
#
#   scripts/dist.sh [PREFIX]     default: target/dist/tileiras-VERSION in the checkout
#
# glibc stays shared, because --backend=libnvvm opens a shared library. Cargo builds in target/dist, because mlir-sys does not
# detect a change between static and shared linking. LLVM's static archives come from LLVM_PREFIX.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
llvm=${LLVM_PREFIX:-/usr/lib/llvm-21}
build=$root/target/dist
prefix=${1:-$build/tileiras-$version}
[[ $prefix == /* ]] || { echo "dist: the prefix must be an absolute path, not '$prefix'" >&2; exit 2; }

# ---- static archives of libraries that are usually shared --------------------------------------------------------

# The linker searches this directory first. It contains no shared libraries.
static=$build/static-libs
mkdir -p "$static"
archive() {
    local file=$1 place
    shift
    for place in "$@"; do
        if [[ -e $place ]]; then ln -sf "$place" "$static/$file"; return; fi
    done
    echo "dist: none of these files exists: $*" >&2
    exit 1
}
# LLVM may have been built against a newer C++ library than the default compiler's. The newest archive works for both.
newest() { printf '%s\n' /usr/lib/gcc/x86_64-linux-gnu/*/"$1" /usr/lib/gcc/x86_64-pc-linux-gnu/*/"$1" | sort -rV; }
mapfile -t cxx < <(newest libstdc++.a)
mapfile -t unwind < <(newest libgcc_eh.a)
archive libstdc++.a "${cxx[@]}"
archive libgcc_s.a "${unwind[@]}"
for name in z zstd ffi; do
    archive "lib$name.a" "$(cc -print-file-name="lib$name.a")" "/usr/lib/x86_64-linux-gnu/lib$name.a" "/usr/lib64/lib$name.a"
done

# ---- cargo -------------------------------------------------------------------------------------------------------

# The C++ objects of the dialects do not depend on how they are linked.
mkdir -p target/cxx
[[ -e $build/cxx ]] || ln -s ../cxx "$build/cxx"

export CARGO_TARGET_DIR=$build MLIR_SYS_LINK_SHARED=0 RUSTFLAGS="-L native=$static"
features=(--features remote-cache)
cargo build --release -p tileiras -p tileiras-capi --lib --bin tileiras-standalone "${features[@]}"
cargo rustc --release -p tileiras-capi --lib --crate-type staticlib "${features[@]}"

# ---- the command, with an optimized layout -----------------------------------------------------------------------

# A compilation executes a seventh of the code, scattered over the whole program, and each page costs a page fault and cold caches.
# The linker therefore places the functions that a few kernels need next to each other, in first-call order, which callgrind
# records. Segments are aligned so that a file system with huge pages in its page cache can map them as such.
link=-Wl,-z,max-page-size=0x200000
programs=(vadd_f32.13.1 softmax_f32.13.1 matmul_f16.13.1 fmha_f16.13.1)
if command -v valgrind > /dev/null; then
    profiles=$(mktemp -d "$build/order.XXXXXX")
    trap 'rm -rf "$profiles"' EXIT
    for program in "${programs[@]}"; do
        valgrind --quiet --tool=callgrind --demangle=no --callgrind-out-file="$profiles/profile" "$build/release/tileiras-standalone" \
            "tests/corpus/$program.tileirbc" --gpu-name=sm_90 -O3 --emit=ptx -o "$profiles/ptx" 2> /dev/null
        # Functions are numbered in first-call order. A suffix of the name gives the recursion depth.
        sed -nE "s/^c?fn=\\(([0-9]+)\\) ([^ ']+).*/\\1 \\2/p" "$profiles/profile" | sort -n | cut -d' ' -f2 >> "$profiles/functions"
    done
    awk '!seen[$0]++' "$profiles/functions" > "$build/functions.order"
    echo "dist: $(wc -l < "$build/functions.order") functions in first-call order"
    link+=,--symbol-ordering-file=$build/functions.order,--no-warn-symbol-ordering
else
    echo "dist: without valgrind the functions are not reordered, and compiling a small kernel takes a seventh longer" >&2
fi
cargo rustc --release -p tileiras --bin tileiras-standalone "${features[@]}" -- -C "link-arg=$link"

# ---- one object file for the static library ----------------------------------------------------------------------

# It contains the parts of LLVM that the library needs, as local symbols: a program may link another LLVM.
work=$(mktemp -d "$build/static-library.XXXXXX")
trap 'rm -rf "$work" ${profiles:+"$profiles"}' EXIT
mapfile -t functions < <(sed -n 's/^[a-z].*\b\(tileiras[A-Z][A-Za-z]*\)(.*/\1/p' include/tileiras.h | sort -u)
printf '%s\n' "${functions[@]}" > "$work/functions"
roots=()
for function in "${functions[@]}"; do roots+=(-u "$function"); done
# shellcheck disable=SC2046 # the lists are meant to be split
ld -r --gc-sections --force-group-allocation -o "$work/tileiras.o" "${roots[@]}" --start-group "$build/release/libtileiras_capi.a" \
    $("$llvm/bin/llvm-config" --link-static --ignore-libllvm --libfiles) --end-group
# llvm-objcopy, because GNU objcopy takes minutes. Remove sections that are useless after linking: address tables, and the bitcode of
# Rust's library, which ar's plugin cannot read.
"$llvm/bin/llvm-objcopy" --strip-unneeded --remove-section=.llvm_addrsig --remove-section=.llvmbc --remove-section=.llvmcmd \
    --keep-global-symbols="$work/functions" "$work/tileiras.o"

# ---- the tree ----------------------------------------------------------------------------------------------------

mkdir -p "$prefix"/{bin,include,lib/pkgconfig,lib/cmake/Tileiras}
# A newly written file gets larger pages in the page cache than one stripped in place.
rm -f "$prefix/bin/tileiras"
strip -o "$prefix/bin/tileiras" "$build/release/tileiras-standalone"
chmod 755 "$prefix/bin/tileiras"
ln -sf tileiras "$prefix/bin/tileirdisasm"
ln -sf tileiras "$prefix/bin/tile-run"
ln -sf tileiras "$prefix/bin/tileiras-lsp-server"
major=${version%%.*}
install -m 755 "$build/release/libtileiras_capi.so" "$prefix/lib/libtileiras.so.$version"
strip --strip-unneeded "$prefix/lib/libtileiras.so.$version"
ln -sf "libtileiras.so.$version" "$prefix/lib/libtileiras.so.$major"
ln -sf "libtileiras.so.$major" "$prefix/lib/libtileiras.so"
rm -f "$prefix/lib/libtileiras.a"
ar rcs "$prefix/lib/libtileiras.a" "$work/tileiras.o"
install -m 644 include/tileiras.h "$prefix/include/tileiras.h"
install -m 644 LICENSE "$prefix/LICENSE"
for file in pkgconfig/tileiras.pc cmake/Tileiras/TileirasConfig.cmake cmake/Tileiras/TileirasConfigVersion.cmake; do
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@VERSION@|$version|g" -e "s|@MAJOR@|$major|g" \
        -e "s|^Libs.private:.*|Libs.private: -lstdc++ -lz -lzstd -lffi -lm -ldl -lpthread|" \
        "cmake/package/$(basename "$file").in" > "$prefix/lib/$file"
done
echo "dist: tileiras $version in $prefix"
