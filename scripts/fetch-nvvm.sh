#!/usr/bin/env bash
# Brings NVIDIA's libNVVM from its PyPI package into .tools/nvvm/lib, for `tileiras --backend=libnvvm` and its tests. Nothing of it
# enters the repository. A second run with the same version does nothing.
#
#   scripts/fetch-nvvm.sh [--check]     --check: succeed when the library is already there, fetch nothing
set -euo pipefail

version=13.4.92
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
destination=$root/.tools/nvvm

if [ "$(cat "$destination/version" 2>/dev/null)" = "$version" ] && [ -f "$destination/lib/libnvvm.so.4" ]; then exit 0; fi
if [ "${1:-}" = --check ]; then exit 1; fi

# Staged beside its destination, so that an interrupted run leaves no half-filled folder.
mkdir -p "$root/.tools"
staging=$(mktemp -d "$root/.tools/nvvm-staging.XXXXXX")
trap 'rm -rf "$staging"' EXIT

echo "fetch-nvvm: downloading libNVVM $version from PyPI" >&2
python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
    --dest "$staging/wheels" "nvidia-nvvm==$version"
for wheel in "$staging"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$staging/unpacked"; done
found=$(find "$staging/unpacked" -type f -name libnvvm.so.4 -print -quit)
if [ -z "$found" ]; then
    echo "fetch-nvvm: the package of version $version holds no libnvvm.so.4" >&2
    exit 1
fi
mkdir -p "$staging/nvvm/lib"
install -m 755 "$found" "$staging/nvvm/lib/libnvvm.so.4"
# The licence travels with the library.
find "$staging/unpacked" -type f -name 'License.txt' -exec cp {} "$staging/nvvm/License.txt" \; -quit
echo "$version" > "$staging/nvvm/version"
rm -rf "$destination"
mv "$staging/nvvm" "$destination"
