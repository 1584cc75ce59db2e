#!/bin/sh
# Puts NVIDIA's nvcc, taken from PyPI wheels, into .tools/nvcc (ignored by git).
#
# Usage: scripts/fetch-nvcc.sh
# Prints the path of the compiler. Running it again costs nothing: a stamp file
# names the set of versions that is installed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dest="$root/.tools/nvcc"
stamp="$dest/.versions"
wanted="nvidia-cuda-nvcc==13.4.92 nvidia-nvvm==13.4.92 nvidia-cuda-crt==13.4.92 nvidia-cuda-runtime==13.4.92 nvidia-cuda-cccl==13.3.5.0.6"

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
