#!/usr/bin/env bash
# Builds the Python package: a wheel with the module and the programs, for Python 3.10 or newer on this platform.
#
#   scripts/wheel.sh              with the release of scripts/dist.sh, which is built first
#   scripts/wheel.sh --dist DIR   with an existing release in DIR
#   scripts/wheel.sh --from DIR   with the programs in DIR, such as target/debug; these may need libraries of this machine.
#                                 The C library is taken from DIR/../lib, as in a tree of scripts/install.sh
#
# Writes the wheel to target/wheel and prints its name. Needs pip, which downloads the build backend unless scripts/setup.sh has
# installed it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
fail() { echo "wheel: $*" >&2; exit 1; }

from=
dist=
case "$# ${1:-}" in
    "0 ") ;;
    "2 --from") from=$2 ;;
    "2 --dist") dist=$2 ;;
    *) fail "usage: scripts/wheel.sh [--from DIR | --dist DIR]" ;;
esac
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
mkdir -p target/wheel
stage=$(mktemp -d target/wheel/stage.XXXXXX)
trap 'rm -rf "$stage"' EXIT
cp -r python/pyproject.toml python/README.md python/tag.py python/src "$stage"
cp LICENSE "$stage"
find "$stage" -name __pycache__ -prune -exec rm -r {} +
echo "__version__ = \"$version\"" > "$stage/src/tileiras/_version.py"
bin=$stage/src/tileiras/bin
mkdir "$bin"

if [[ -n $from ]]; then
    for program in tileiras tileiras-core tileirdisasm tile-run tileiras-lsp-server; do
        [[ -x $from/$program ]] || fail "'$from' does not contain $program"
        strip -o "$bin/$program" "$from/$program"
        chmod 755 "$bin/$program"
    done
    library=$from/../lib/libtileiras.so
else
    if [[ -z $dist ]]; then
        scripts/dist.sh >&2
        dist=target/dist/tileiras-$version
    fi
    [[ -x $dist/bin/tileiras ]] || fail "'$dist' does not contain a release"
    install -m 755 "$dist/bin/tileiras" "$bin/tileiras"
    # One program under all names. Wheels cannot contain links, and a copy for each name would be too large.
    for program in tileirdisasm tile-run tileiras-lsp-server; do
        printf '#!/bin/sh\nexec "$(dirname "$0")/tileiras" --called-as=%s "$@"\n' "$program" > "$bin/$program"
        chmod 755 "$bin/$program"
    done
    library=$dist/lib/libtileiras.so
fi
# The module compiles in its process if the library is at hand, and in a child process otherwise.
[[ ! -e $library ]] || strip -o "$bin/libtileiras.so" "$library"

# The oldest glibc that the programs run with. Scripts among them are skipped.
mapfile -t binaries < <(find "$bin" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
glibc=$(objdump -T "${binaries[@]}" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -1)
[[ -n $glibc ]] || fail "the programs do not require a version of glibc"
platform=manylinux_2_${glibc##*.}_$(uname -m)
if PYTHONPATH=$root/.tools/python python3 -c 'import hatchling' 2> /dev/null; then
    export PYTHONPATH=$root/.tools/python
    isolation=--no-build-isolation
fi
# shellcheck disable=SC2086 # expands to no word if empty
TILEIRAS_WHEEL_PLATFORM=$platform python3 -m pip wheel ${isolation:-} --quiet --disable-pip-version-check --no-deps --wheel-dir target/wheel "$stage" >&2
echo "target/wheel/tileiras-$version-py3-none-$platform.whl"
