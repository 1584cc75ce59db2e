#!/bin/sh
# Installs NVIDIA's tileiras and the Python front end cuda-tile from PyPI to .tools/tileiras (ignored by git); another release
# than the default to a directory with its number. The GPU kit compiles competitors with them, and tests use the assembler
# and the disassembler as black boxes.
#
# Usage: scripts/fetch-tileiras.sh [RELEASE]
# Prints the directory. The assembler needs a toolkit in CUDA_HOME, for example the one of scripts/fetch-nvcc.sh.
# A second run does nothing: a stamp file records the installed versions.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
usual=13.4.92
release=${1:-$usual}
dest="$root/.tools/tileiras"
[ "$release" = "$usual" ] || dest="$dest-$release"
wanted="nvidia-cuda-tileiras==$release cuda-tile==1.7.0 typing-extensions"
python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')

complete() { [ -x "$dest/nvidia/cu13/bin/tileiras" ] && [ -x "$dest/nvidia/cu13/bin/tileirdisasm" ] && [ "$(cat "$dest/.versions" 2>&1)" = "$wanted python$python" ]; }

if complete; then
    echo "$dest"
    exit 0
fi

# Staged first, so that an interrupted run leaves no incomplete directory.
mkdir -p "$root/.tools"
staging=$(mktemp -d "$root/.tools/tileiras-staging.XXXXXX")
trap 'rm -rf "$staging"' EXIT
# shellcheck disable=SC2086 # the list is meant to be split into words
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$staging/new" $wanted >&2
for program in tileiras tileirdisasm; do
    if [ ! -x "$staging/new/nvidia/cu13/bin/$program" ]; then
        echo "fetch-tileiras: the packages do not contain $program" >&2
        exit 1
    fi
done
printf '%s' "$wanted python$python" > "$staging/new/.versions"
rm -rf "$dest"
mv "$staging/new" "$dest"
echo "$dest"
