#!/usr/bin/env bash
# Runs examples/ray on a cluster of two nodes on this machine, and kills a worker and a node during the run. Installs Ray from PyPI
# to .tools/ray. The tools come from a build (`make build`).
#
#   scripts/test-ray.sh [LATENCIES]     the number of latencies for each load, at most 10, which gives a thousand variants (default)
set -euo pipefail

version=2.60.0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
source scripts/progress.sh
tools=${CARGO_TARGET_DIR:-$root/target}/debug
destination=$root/.tools/ray

for tool in tileiras tileiras-core tile-run; do
    if [ ! -x "$tools/$tool" ]; then
        echo "test-ray: $tools/$tool does not exist: run make build" >&2
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
# Includes Ray's own files, so that nothing remains.
export RAY_TMPDIR=$folder PYTHONPATH=$destination RAY_USAGE_STATS_ENABLED=0 PYTHONDONTWRITEBYTECODE=1
mkdir "$folder/search"
python3 examples/ray/test_cluster.py "$folder/search" "$tools" ${1+"$1"}
