#!/usr/bin/env bash
# Builds a container image with the command: contrib/container/Containerfile, a small Debian with the package of scripts/deb.sh.
#
#   scripts/image.sh              with the package of the release, which is built first
#   scripts/image.sh --deb FILE   with this package
#
# BUILDER names the program that builds (docker, podman or buildah; the first that works otherwise), BASE the image that it
# starts from (docker.io/library/debian:trixie-slim otherwise). The image is called tileiras:VERSION.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
fail() { echo "image: $*" >&2; exit 1; }

case $# in
    0) package= ;;
    2) [[ $1 == --deb ]] || fail "usage: scripts/image.sh [--deb FILE]"; package=$2 ;;
    *) fail "usage: scripts/image.sh [--deb FILE]" ;;
esac

# A client of docker without a daemon builds nothing.
works() {
    command -v "$1" > /dev/null || return 1
    case $1 in docker) docker info > /dev/null 2>&1 ;; esac
}
if [[ -z ${BUILDER:-} ]]; then
    for BUILDER in docker podman buildah none; do works "$BUILDER" && break; done
    [[ $BUILDER != none ]] || fail "there is no docker with a daemon, no podman and no buildah; BUILDER=PROGRAM names another"
fi
if [[ -z $package ]]; then package=$(scripts/deb.sh); fi
[[ -f $package ]] || fail "there is no package '$package'"
version=$(dpkg-deb -f "$package" Version)

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$package" "$context/tileiras.deb"
"$BUILDER" build ${BASE:+--build-arg "BASE=$BASE"} -t "tileiras:$version" -f contrib/container/Containerfile "$context" >&2
echo "tileiras:$version"
