#!/bin/sh
# Installs the newest and an older cuTile Python from PyPI to .tools/cutile/<version>. Tests call our compiler through them.
# NVIDIA's compiler is not installed, so that PATH decides which compiler they call.
#
# Usage: scripts/fetch-cutile.sh
# Prints the directory. A second run does nothing: each version has a stamp file.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dest="$root/.tools/cutile"
python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')

for version in 1.7.0 1.4.0; do
    wanted="cuda-tile==$version typing-extensions numpy"
    if [ -f "$dest/$version/.versions" ] && [ "$(cat "$dest/$version/.versions")" = "$wanted python$python" ]; then continue; fi
    # Staged first, so that an interrupted run leaves no incomplete directory.
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
