#!/bin/sh
# Puts the newest and an older cuTile Python, taken from PyPI, into .tools/cutile/<version>: the tests call our compiler
# through them. NVIDIA's compiler is not among them, so that PATH decides which one they call.
#
# Usage: scripts/fetch-cutile.sh
# Prints the folder. Running it again costs nothing: each version leaves a stamp.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dest="$root/.tools/cutile"
python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')

for version in 1.7.0 1.4.0; do
    wanted="cuda-tile==$version typing-extensions numpy"
    if [ -f "$dest/$version/.versions" ] && [ "$(cat "$dest/$version/.versions")" = "$wanted python$python" ]; then continue; fi
    # Staged beside its destination, so that an interrupted run leaves no half-filled folder.
    mkdir -p "$dest"
    staging=$(mktemp -d "$dest/staging.XXXXXX")
    trap 'rm -rf "$staging"' EXIT
    # shellcheck disable=SC2086 # the list is meant to be split into words
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$staging/new" $wanted >&2
    printf '%s' "$wanted python$python" > "$staging/new/.versions"
    rm -rf "${dest:?}/$version"
    mv "$staging/new" "$dest/$version"
    rm -rf "$staging"
done
echo "$dest"
