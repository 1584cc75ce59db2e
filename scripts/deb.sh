#!/usr/bin/env bash
# Builds the Debian package: commands, libtileiras with its header and package files, completions, the manual page.
#
#   scripts/deb.sh              from the release of scripts/dist.sh, which is built first; needs only glibc
#   scripts/deb.sh --dist DIR   from an existing release in DIR
#   scripts/deb.sh --from DIR   from a build in DIR, such as target/debug; needs the LLVM and MLIR packages
#
# Writes the package to target/deb and prints its name. dpkg-shlibdeps (dpkg-dev) determines the dependencies.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
fail() { echo "deb: $*" >&2; exit 1; }

from=
dist=
case "$# ${1:-}" in
    "0 ") ;;
    "2 --from") from=$2 ;;
    "2 --dist") dist=$2 ;;
    *) fail "usage: scripts/deb.sh [--from DIR | --dist DIR]" ;;
esac
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" > /dev/null || fail "$tool was not found; install the Debian package dpkg-dev"
done
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
architecture=$(dpkg --print-architecture)
mkdir -p target/deb
work=$(mktemp -d target/deb/stage.XXXXXX)
trap 'rm -rf "$work"' EXIT
stage=$root/$work/tree

if [[ -n $from ]]; then
    [[ -x $from/tileiras && -x $from/tileiras-core ]] || fail "'$from' does not contain tileiras and tileiras-core"
    DESTDIR=$stage scripts/install.sh /usr --from "$from" >&2
else
    if [[ -z $dist ]]; then
        scripts/dist.sh >&2
        dist=target/dist/tileiras-$version
    fi
    [[ -x $dist/bin/tileiras ]] || fail "'$dist' does not contain a release"
    DESTDIR=$stage scripts/install.sh /usr --dist "$dist" >&2
fi
find "$stage/usr/bin" "$stage/usr/lib" -type f \( -perm -u+x -o -name '*.so.*' \) -exec strip --strip-unneeded {} +
# The static library is larger than everything else. It is available in the release tree.
rm -f "$stage/usr/lib/libtileiras.a"
# The location that Debian's zsh searches.
mkdir -p "$stage/usr/share/zsh/vendor-completions"
mv "$stage/usr/share/zsh/site-functions/_tileiras" "$stage/usr/share/zsh/vendor-completions/"
rmdir "$stage/usr/share/zsh/site-functions"
gzip -9n "$stage"/usr/share/man/man1/*.1
install -D -m 644 LICENSE "$stage/usr/share/doc/tileiras/copyright"
install -D -m 644 README.md "$stage/usr/share/doc/tileiras/README.md"

# ---- dependencies ------------------------------------------------------------------------------------------------

# The tool expects the control file of a source package. -x excludes the package itself from the dependencies.
mkdir "$work/debian"
printf 'Source: tileiras\n\nPackage: tileiras\nArchitecture: any\n' > "$work/debian/control"
# A development build finds LLVM through a link in the package of the headers, so tell the tool which package has the library.
cat /var/lib/dpkg/info/libllvm*.shlibs > "$work/debian/shlibs.local" 2> /dev/null || true
mapfile -t binaries < <(find "$stage/usr/bin" "$stage/usr/lib" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
depends=$(cd "$work" && dpkg-shlibdeps -O -ltree/usr/lib -xtileiras "${binaries[@]}" 2> warnings | sed -n 's/^shlibs:Depends=//p')
[[ -n $depends ]] || fail "dpkg-shlibdeps found no dependency: $(cat "$work/warnings")"

# ---- the package -------------------------------------------------------------------------------------------------

mkdir "$stage/DEBIAN"
cat > "$stage/DEBIAN/control" << EOF
Package: tileiras
Version: $version
Architecture: $architecture
Maintainer: tileiras contributors <nobody@localhost>
Installed-Size: $(du -k -s --exclude=DEBIAN "$stage" | cut -f1)
Depends: $depends
Section: devel
Priority: optional
Description: compiler for CUDA Tile IR
 Compiles tile programs, in bytecode or MLIR's text, to PTX and cubins for
 NVIDIA GPUs, and shows every level in between. With a disassembler, a
 simulator of PTX, a language server for editors, and a C library.
 .
 Cubins need ptxas of a CUDA toolkit of release 13.0 or newer, which is not
 part of this package; PTX needs nothing else.
EOF
# Updates the linker's cache.
echo 'activate-noawait ldconfig' > "$stage/DEBIAN/triggers"
(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$stage/DEBIAN/md5sums"
find "$stage" -type d -exec chmod 755 {} +
package=target/deb/tileiras_${version}_$architecture.deb
# A reproducible timestamp: equal trees give equal packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)} \
    dpkg-deb --root-owner-group -Zzstd -z9 --build "$stage" "$package" >&2
echo "$package"
