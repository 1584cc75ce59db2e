#!/usr/bin/env bash
# Runs the example of examples/ray on two nodes of a cluster on this machine, of which a worker and a node are lost in the
# middle. Brings Ray from PyPI into .tools/ray. The tools are those of a build (`make build`).
#
#   scripts/test-ray.sh [LATENCIES]     so many of the ten latencies of each load: 10 are a thousand variants (default)
set -euo pipefail

version=2.60.0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
source scripts/progress.sh
tools=${CARGO_TARGET_DIR:-$root/target}/debug
destination=$root/.tools/ray

for tool in tileiras tileiras-core tile-run; do
    if [ ! -x "$tools/$tool" ]; then
        echo "test-ray: there is no $tools/$tool: make build" >&2
        exit 1
    fi
done
if [ "$(cat "$destination/version" 2>/dev/null)" != "$version" ]; then
    rm -rf "$destination"
    progress_expect 30
    progress_step 30 "test-ray: Ray $version" \
        python3 -m pip install --quiet --disable-pip-version-check --target "$destination" "ray==$version" >&2
    echo "$version" > "$destination/version"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Ray's own files too: nothing is left.
export RAY_TMPDIR=$folder PYTHONPATH=$destination RAY_USAGE_STATS_ENABLED=0 PYTHONDONTWRITEBYTECODE=1
mkdir "$folder/search"
python3 examples/ray/test_cluster.py "$folder/search" "$tools" ${1+"$1"}
