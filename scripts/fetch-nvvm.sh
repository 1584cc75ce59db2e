#!/usr/bin/env bash
# Installs NVIDIA's libNVVM and libdevice from PyPI to .tools/nvvm, for `tileiras --backend=libnvvm`, `tileiras --libdevice`
# and their tests. They do not become part of the repository. A second run with the same version does nothing.
#
#   scripts/fetch-nvvm.sh [--check]     --check: download nothing; succeed if both are installed
set -euo pipefail

version=13.4.92
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
destination=$root/.tools/nvvm

complete() {
    [ "$(cat "$destination/version" 2>/dev/null)" = "$version" ] && [ -f "$destination/lib/libnvvm.so.4" ] \
        && [ -f "$destination/libdevice/libdevice.10.bc" ]
}

if complete; then exit 0; fi
if [ "${1:-}" = --check ]; then exit 1; fi

# Staged first, so that an interrupted run leaves no incomplete directory.
mkdir -p "$root/.tools"
staging=$(mktemp -d "$root/.tools/nvvm-staging.XXXXXX")
trap 'rm -rf "$staging"' EXIT

echo "fetch-nvvm: downloading libNVVM $version from PyPI" >&2
python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
    --dest "$staging/wheels" "nvidia-nvvm==$version"
for wheel in "$staging"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$staging/unpacked"; done
for wanted in lib/libnvvm.so.4 libdevice/libdevice.10.bc; do
    found=$(find "$staging/unpacked" -type f -name "${wanted##*/}" -print -quit)
    if [ -z "$found" ]; then
        echo "fetch-nvvm: the package of version $version does not contain ${wanted##*/}" >&2
        exit 1
    fi
    install -D -m 755 "$found" "$staging/nvvm/$wanted"
done
# Keep the license with the libraries.
find "$staging/unpacked" -type f -name 'License.txt' -exec cp {} "$staging/nvvm/License.txt" \; -quit
echo "$version" > "$staging/nvvm/version"
rm -rf "$destination"
mv "$staging/nvvm" "$destination"
