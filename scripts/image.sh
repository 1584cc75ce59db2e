#!/usr/bin/env bash
# Builds a container image with the command: contrib/container/Containerfile, a small Debian image with the package of scripts/deb.sh.
#
#   scripts/image.sh              with the package of the release, which is built first
#   scripts/image.sh --deb FILE   with the given package
#
# BUILDER names the builder (default: the first of docker, podman and buildah that works), BASE the base image (default:
# docker.io/library/debian:trixie-slim). The image is tagged tileiras:VERSION.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
fail() { echo "image: $*" >&2; exit 1; }

case $# in
    0) package= ;;
    2) [[ $1 == --deb ]] || fail "usage: scripts/image.sh [--deb FILE]"; package=$2 ;;
    *) fail "usage: scripts/image.sh [--deb FILE]" ;;
esac

# The docker client needs a running daemon.
works() {
    command -v "$1" > /dev/null || return 1
    case $1 in docker) docker info > /dev/null 2>&1 ;; esac
}
if [[ -z ${BUILDER:-} ]]; then
    for BUILDER in docker podman buildah none; do works "$BUILDER" && break; done
    [[ $BUILDER != none ]] || fail "found no docker with a daemon, no podman and no buildah; set BUILDER=PROGRAM to use another builder"
fi
if [[ -z $package ]]; then package=$(scripts/deb.sh); fi
[[ -f $package ]] || fail "package '$package' does not exist"
version=$(dpkg-deb -f "$package" Version)

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$package" "$context/tileiras.deb"
"$BUILDER" build ${BASE:+--build-arg "BASE=$BASE"} -t "tileiras:$version" -f contrib/container/Containerfile "$context" >&2
echo "tileiras:$version"
