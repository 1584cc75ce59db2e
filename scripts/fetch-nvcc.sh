#!/bin/sh
# Puts NVIDIA's nvcc, taken from PyPI wheels, into .tools/nvcc (ignored by git); another release than the usual one,
# without the runtime's headers, into a folder with its number.
#
# Usage: scripts/fetch-nvcc.sh [RELEASE]
# Prints the path of the compiler. Running it again costs nothing: a stamp file
# names the set of versions that is installed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
usual=13.4.92
release=${1:-$usual}
dest="$root/.tools/nvcc"
wanted="nvidia-cuda-nvcc==$release nvidia-nvvm==$release nvidia-cuda-crt==$release"
if [ "$release" = "$usual" ]; then
    wanted="$wanted nvidia-cuda-runtime==$release nvidia-cuda-cccl==13.3.5.0.6"
else
    dest="$dest-$release"
fi
stamp="$dest/.versions"

# All the wheels unpack into nvidia/cu13, so that one folder becomes an
# ordinary toolkit tree: bin/nvcc, nvvm/bin/cicc, include.
nvcc="$dest/nvidia/cu13/bin/nvcc"

if [ -x "$nvcc" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    echo "$nvcc"
    exit 0
fi

rm -rf "$dest"
mkdir -p "$dest"
# shellcheck disable=SC2086 # the list is meant to be split into words
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$dest" $wanted >&2

if [ ! -x "$nvcc" ]; then
    echo "fetch-nvcc: no nvcc under $dest after the installation" >&2
    exit 1
fi
printf '%s' "$wanted" > "$stamp"
echo "$nvcc"
