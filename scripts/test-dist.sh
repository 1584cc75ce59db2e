#!/usr/bin/env bash
# Tests the result of scripts/dist.sh: its dependencies, its exported symbols, and that programs link with it and run.
#
#   scripts/test-dist.sh [PREFIX]     default: target/dist/tileiras-VERSION in the checkout
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
prefix=${1:-$root/target/dist/tileiras-$version}
llvm=${LLVM_PREFIX:-/usr/lib/llvm-21}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test-dist: $*" >&2; exit 1; }
check() { echo "test-dist: $*"; }

# The only shared libraries are those of glibc.
glibc='^(linux-vdso|libc|libm|libdl|libpthread|librt|ld-linux-x86-64|/lib64/ld-linux-x86-64)[.]so'
for file in bin/tileiras lib/libtileiras.so; do
    others=$(ldd "$prefix/$file" | awk '{ print $1 }' | grep -vE "$glibc" || true)
    [[ -z $others ]] || fail "$file needs $others"
    if readelf -d "$prefix/$file" | grep -qE 'RPATH|RUNPATH'; then fail "$file contains a search path of the build machine"; fi
    if readelf -SW "$prefix/$file" | grep -qE ' \.(symtab|debug_info) '; then fail "$file is not stripped"; fi
    check "$file: $(stat -c %s "$(readlink -f "$prefix/$file")") bytes, needs only glibc, stripped"
done

# Exported symbols.
functions=$(sed -n 's/^[a-z].*\b\(tileiras[A-Z][A-Za-z]*\)(.*/\1/p' include/tileiras.h | sort -u)
shown=$(nm -D --defined-only "$prefix/lib/libtileiras.so" | awk '{ print $3 }' | sort -u)
[[ $shown == "$functions" ]] || fail "libtileiras.so exports: $(comm -3 <(echo "$shown") <(echo "$functions") | tr -s '\n\t' ' ')"
shown=$(readelf -sW "$prefix/lib/libtileiras.a" | awk '$5 == "GLOBAL" && $7 != "UND" { print $8 }' | sort -u)
[[ $shown == "$functions" ]] || fail "libtileiras.a exports: $(comm -3 <(echo "$shown") <(echo "$functions") | tr -s '\n\t' ' ' | head -c 400)"
check "both libraries export the $(wc -w <<< "$functions") functions of the header"

# The command, in a directory without other files, with ptxas only on PATH.
ptxas=$root/.tools/cuda/bin
[[ -x $ptxas/ptxas ]] || ptxas=$(dirname "$(command -v ptxas)")
ln -s "$prefix/bin/tileiras" "$work/tileiras"
cp examples/vadd_f32_div16.tileirbc "$work/kernel.bc"
(cd "$work" && env -i PATH="$ptxas" ./tileiras kernel.bc --gpu-name=sm_90 -o kernel.cubin)
[[ $(head -c 4 "$work/kernel.cubin") == $'\x7fELF' ]] || fail "no cubin"
status=0
head -c 100 examples/vadd_f32_div16.tileirbc > "$work/short.bc"
env -i PATH="$ptxas" "$work/tileiras" "$work/short.bc" -o "$work/short.cubin" 2> "$work/words" || status=$?
[[ $status == 3 && ! -e $work/short.cubin ]] || fail "a truncated module exited with $status: $(cat "$work/words")"
"$prefix/bin/tileirdisasm" examples/vadd_f32_div16.tileirbc | grep -q 'entry @vadd' || fail "tileirdisasm prints no kernel"
[[ $("$prefix/bin/tileiras" --called-as=tileirdisasm examples/vadd_f32_div16.tileirbc) == "$("$prefix/bin/tileirdisasm" examples/vadd_f32_div16.tileirbc)" ]] ||
    fail "--called-as and the link behave differently"
"$prefix/bin/tile-run" examples/twice.mlir --quiet --gpu-name=sm_90 --grid 8 zeros:f32:4096:ptr || fail "tile-run runs no kernel"
env -i PATH="$ptxas" "$work/tileiras" tune examples/twice.mlir --gpu-name=sm_90 '--launch=--grid 8 zeros:f32:4096:ptr' |
    grep -q '^1 variant, 0 failed' || fail "tune does not time a kernel"
env -i PATH="$ptxas" "$prefix/bin/tileiras" doctor > "$work/doctor" || fail "doctor: $(cat "$work/doctor")"
check "the command compiles, rejects, disassembles; $(tail -1 "$work/doctor")"
if [[ -x target/debug/tileiras ]]; then
    target/debug/tileiras "$work/kernel.bc" --gpu-name=sm_90 --emit=ptx -o "$work/shared.ptx"
    "$prefix/bin/tileiras" "$work/kernel.bc" --gpu-name=sm_90 --emit=ptx -o "$work/static.ptx"
    cmp "$work/shared.ptx" "$work/static.ptx" || fail "the release and the development build generate different PTX"
    check "the same PTX as from the development build"
fi

# C programs.
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
static_libraries() {
    # pkg-config cannot select the archive if both libraries exist.
    pkg-config --static --libs tileiras | sed "s|-ltileiras|$prefix/lib/libtileiras.a|"
}
for compiler in gcc "$llvm/bin/clang"; do
    # shellcheck disable=SC2046 # flags are meant to be split
    "$compiler" -std=c11 -D_GNU_SOURCE -Wall -Werror -o "$work/shared" tests/capi/table.c $(pkg-config --cflags --libs tileiras)
    # shellcheck disable=SC2046
    "$compiler" -std=c11 -D_GNU_SOURCE -Wall -Werror -o "$work/static" tests/capi/table.c $(pkg-config --cflags tileiras) $(static_libraries)
    for kind in shared static; do
        cache=$work/cache-$(basename "$compiler")-$kind
        mkdir "$cache"
        said=$(LD_LIBRARY_PATH=$prefix/lib "$work/$kind" "$work/kernel.bc" "$(dirname "$ptxas")" "$work/tileiras" \
            examples/twice.mlir "$cache" 2> "$work/words") ||
            fail "$compiler, $kind library: $(cat "$work/words")"
        [[ $said == ok ]] || fail "$compiler, $kind library: $said"
    done
    if ldd "$work/static" | grep -qE 'tileiras|MLIR|LLVM'; then fail "the static program needs one of our shared libraries"; fi
    # shellcheck disable=SC2046
    "$compiler" -std=c11 -Wall -Wextra -Werror -o "$work/example" examples/c/compile.c $(pkg-config --cflags tileiras) $(static_libraries)
    "$work/example" examples/twice.mlir 90 "$work/example.ptx" 2> "$work/words" > /dev/null || fail "examples/c: $(cat "$work/words")"
    grep -q '\.visible \.entry twice' "$work/example.ptx" || fail "examples/c wrote no kernel"
    check "$(basename "$compiler"): examples/c, tests/capi/table.c with the shared and the static library"
done
mkdir "$work/project"
cat > "$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
find_package(Tileiras 0.1 REQUIRED CONFIG)
add_executable(user user.c)
target_link_libraries(user PRIVATE Tileiras::static)
EOF
printf '#include <stdio.h>\n#include <tileiras.h>\nint main(void) { puts(tileirasVersionString()); return 0; }\n' > "$work/project/user.c"
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" > "$work/words" || fail "$(cat "$work/words")"
cmake --build "$work/project/build" > "$work/words" || fail "$(cat "$work/words")"
[[ $("$work/project/build/user") == "tileiras $version "* ]] || fail "the CMake program prints something else"
check "CMake's Tileiras::static"
