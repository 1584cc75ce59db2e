#!/usr/bin/env bash
# Installs NVIDIA's assembler and disassemblers (ptxas, nvdisasm, cuobjdump) from PyPI to .tools/cuda/bin, for machines without
# a CUDA toolkit. They do not become part of the repository. A second run with the same version does nothing.
#
#   scripts/fetch-cuda-tools.sh [--check]     --check: download nothing; succeed if the tools are installed
set -euo pipefail

version=13.4.92
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
destination=$root/.tools/cuda
packages=(nvidia-cuda-nvcc nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump)
tools=(ptxas nvdisasm cuobjdump)

complete() {
    [ "$(cat "$destination/version" 2>/dev/null)" = "$version" ] || return 1
    local tool
    for tool in "${tools[@]}"; do [ -x "$destination/bin/$tool" ] || return 1; done
}

if complete; then exit 0; fi
if [ "${1:-}" = --check ]; then exit 1; fi

if ! command -v python3 >/dev/null || ! python3 -m pip --version >/dev/null 2>&1; then
    echo "fetch-cuda-tools: python3 with pip is needed to download the CUDA tools from PyPI." >&2
    echo "  Install it (Debian: apt-get install python3-pip), or set CUDA_HOME to a CUDA toolkit of release 13.0 or newer." >&2
    exit 1
fi

# Files are staged and moved at the end, so that an interrupted run leaves no incomplete directory.
mkdir -p "$root/.tools"
staging=$(mktemp -d "$root/.tools/cuda-staging.XXXXXX")
trap 'rm -rf "$staging"' EXIT

echo "fetch-cuda-tools: downloading ptxas, nvdisasm and cuobjdump $version from PyPI" >&2
if ! python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
        --dest "$staging/wheels" "${packages[@]/%/==$version}"; then
    echo "fetch-cuda-tools: the download failed. Without a network, set CUDA_HOME to a CUDA toolkit of release 13.0 or newer." >&2
    exit 1
fi
for wheel in "$staging"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$staging/unpacked"; done

mkdir -p "$staging/cuda/bin"
for tool in "${tools[@]}"; do
    found=$(find "$staging/unpacked" -type f -path "*/bin/$tool" -print -quit)
    if [ -z "$found" ]; then
        echo "fetch-cuda-tools: the packages of version $version do not contain $tool" >&2
        exit 1
    fi
    install -m 755 "$found" "$staging/cuda/bin/$tool"
done
# Keep the license with the tools.
find "$staging/unpacked" -type f -name 'License.txt' -exec cp {} "$staging/cuda/License.txt" \; -quit
"$staging/cuda/bin/ptxas" --version >/dev/null
echo "$version" > "$staging/cuda/version"
rm -rf "$destination"
mv "$staging/cuda" "$destination"
