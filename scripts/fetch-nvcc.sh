#!/bin/sh
# Installs NVIDIA's nvcc from PyPI to .tools/nvcc (ignored by git). Another release than the default is installed to a
# directory with its number, without the runtime's headers.
#
# Usage: scripts/fetch-nvcc.sh [RELEASE]
# Prints the path of the compiler. A second run does nothing: a stamp file
# records the installed versions.
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

# All wheels unpack to nvidia/cu13, so that together they form an ordinary
# toolkit: bin/nvcc, nvvm/bin/cicc, include.
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
    echo "fetch-nvcc: the installation in $dest does not contain nvcc" >&2
    exit 1
fi
printf '%s' "$wanted" > "$stamp"
echo "$nvcc"
