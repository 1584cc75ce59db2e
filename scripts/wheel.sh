#!/usr/bin/env bash
# Builds the Python package: a wheel with the module and the programs, for any Python 3.10 or newer on this platform.
#
#   scripts/wheel.sh              with the release of scripts/dist.sh, which is built first
#   scripts/wheel.sh --dist DIR   with the release that is in DIR already
#   scripts/wheel.sh --from DIR   with the programs in DIR, such as target/debug; these may need libraries of this machine
#
# The wheel is put into target/wheel, and its name printed. Needs pip, which brings the tool that builds it unless scripts/setup.sh
# has done so.
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
        [[ -x $from/$program ]] || fail "there is no $program in '$from'"
        strip -o "$bin/$program" "$from/$program"
        chmod 755 "$bin/$program"
    done
else
    if [[ -z $dist ]]; then
        scripts/dist.sh >&2
        dist=target/dist/tileiras-$version
    fi
    [[ -x $dist/bin/tileiras ]] || fail "there is no release in '$dist'"
    install -m 755 "$dist/bin/tileiras" "$bin/tileiras"
    # One program under all names. A wheel has no links, and a copy for each name would be as large again.
    for program in tileirdisasm tile-run tileiras-lsp-server; do
        printf '#!/bin/sh\nexec "$(dirname "$0")/tileiras" --called-as=%s "$@"\n' "$program" > "$bin/$program"
        chmod 755 "$bin/$program"
    done
fi

# The oldest C library that the programs run with. Scripts among them tell nothing.
mapfile -t binaries < <(find "$bin" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
glibc=$(objdump -T "${binaries[@]}" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -1)
[[ -n $glibc ]] || fail "the programs name no version of glibc"
platform=manylinux_2_${glibc##*.}_$(uname -m)
if PYTHONPATH=$root/.tools/python python3 -c 'import hatchling' 2> /dev/null; then
    export PYTHONPATH=$root/.tools/python
    isolation=--no-build-isolation
fi
# shellcheck disable=SC2086 # no word where there is none
TILEIRAS_WHEEL_PLATFORM=$platform python3 -m pip wheel ${isolation:-} --quiet --disable-pip-version-check --no-deps --wheel-dir target/wheel "$stage" >&2
echo "target/wheel/tileiras-$version-py3-none-$platform.whl"
