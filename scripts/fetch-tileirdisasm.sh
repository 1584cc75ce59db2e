#!/bin/sh
# Puts NVIDIA's disassembler of Tile IR bytecode, taken from its PyPI wheel, into .tools/tileirdisasm (ignored by git). The
# tests use it as a black box.
#
# Usage: scripts/fetch-tileirdisasm.sh
# Prints the path of the program. Running it again costs nothing: a stamp file names the version that is installed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dest="$root/.tools/tileirdisasm"
stamp="$dest/.version"
wanted="nvidia-cuda-tileiras==13.4.92"
program="$dest/tileirdisasm"

if [ -x "$program" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    echo "$program"
    exit 0
fi

# Staged beside its destination and moved at the end, so that an interrupted run leaves nothing half done.
mkdir -p "$root/.tools"
staging=$(mktemp -d "$root/.tools/tileirdisasm-staging.XXXXXX")
trap 'rm -rf "$staging"' EXIT
python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: --dest "$staging/wheels" \
    "$wanted" >&2
for wheel in "$staging"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$staging/unpacked"
done
found=$(find "$staging/unpacked" -type f -path '*/bin/tileirdisasm' | head -n 1)
if [ -z "$found" ]; then
    echo "fetch-tileirdisasm: there is no tileirdisasm in $wanted" >&2
    exit 1
fi
mkdir "$staging/new"
install -m 755 "$found" "$staging/new/tileirdisasm"
# The licence travels with the program.
find "$staging/unpacked" -type f -name 'License.txt' -exec cp {} "$staging/new/License.txt" \;
"$staging/new/tileirdisasm" --version >/dev/null
printf '%s' "$wanted" > "$staging/new/.version"
rm -rf "$dest"
mv "$staging/new" "$dest"
echo "$program"
