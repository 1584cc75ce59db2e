#!/usr/bin/env bash
# Installs the commands, the C library, its header and its package files below a prefix.
#
#   scripts/install.sh PREFIX             builds the release and installs it
#   scripts/install.sh PREFIX --from DIR  installs the build in DIR (such as target/debug), without the static library
#   scripts/install.sh PREFIX --dist DIR  installs the tree that scripts/dist.sh created in DIR
#
# DESTDIR, if set, is prepended to PREFIX, as packagers expect.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

usage() { sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[[ $# -eq 1 || ( $# -eq 3 && ( $2 == --from || $2 == --dist ) ) ]] || usage
prefix=$1
[[ $prefix == /* ]] || { echo "install: the prefix must be an absolute path, not '$prefix'" >&2; exit 2; }
from=
dist=
case ${2:-} in
  --from) from=$3 ;;
  --dist) dist=$3 ;;
esac

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
major=${version%%.*}
to=${DESTDIR:-}$prefix

# Installs a build of this checkout.
install_build() {
  # Cargo leaves test dependencies in deps, and copies only the packages named on its command line. Use the newer file.
  local library=$from/deps/libtileiras_capi.so
  [[ ! $from/libtileiras_capi.so -nt $library ]] || library=$from/libtileiras_capi.so
  [[ -e $library ]] || { echo "install: '$from' does not contain libtileiras_capi.so" >&2; exit 1; }

  mkdir -p "$to"/{bin,include,lib/pkgconfig,lib/cmake/Tileiras}
  local program file llvm=${LLVM_PREFIX:-/usr/lib/llvm-21}
  for program in tileiras tileiras-core tileiras-opt tileiras-translate tileiras-reduce tileiras-query tileiras-lsp-server \
      tileirdisasm tile-run tile-interesting; do
    if [[ -e $from/$program ]]; then install -m 755 "$from/$program" "$to/bin/$program"; fi
  done
  install -m 644 include/tileiras.h "$to/include/tileiras.h"
  install -m 755 "$library" "$to/lib/libtileiras.so.$version"
  ln -sf "libtileiras.so.$version" "$to/lib/libtileiras.so.$major"
  ln -sf "libtileiras.so.$major" "$to/lib/libtileiras.so"
  if [[ -e $from/libtileiras_capi.a ]]; then
    install -m 644 "$from/libtileiras_capi.a" "$to/lib/libtileiras.a"
  fi
  # The archives of MLIR's C interface, which the static library needs.
  local mlir_c
  mlir_c=$(find "$llvm/lib" -name 'libMLIRCAPI*.a' -printf '-l%f ' | sed -e 's|-llib|-l|g' -e 's|\.a||g' | tr ' ' '\n' | sort | tr '\n' ' ')
  for file in pkgconfig/tileiras.pc cmake/Tileiras/TileirasConfig.cmake cmake/Tileiras/TileirasConfigVersion.cmake; do
    sed -e "s|@MLIR_C@|$mlir_c|g" -e "s|@PREFIX@|$prefix|g" -e "s|@VERSION@|$version|g" -e "s|@MAJOR@|$major|g" -e "s|@LLVM_LIB@|$llvm/lib|g" \
      "cmake/package/$(basename "$file").in" > "$to/lib/$file"
  done
}

# Installs a complete tree, and replaces the prefix in its package files.
install_dist() {
  local old file
  old=$(sed -n 's/^prefix=//p' "$dist/lib/pkgconfig/tileiras.pc") || exit 1
  mkdir -p "$to"
  cp -R "$dist/bin" "$dist/include" "$dist/lib" "$to"
  for file in "$to"/lib/pkgconfig/*.pc "$to"/lib/cmake/Tileiras/*.cmake; do sed -i "s|$old|$prefix|g" "$file"; done
}

if [[ -n $dist ]]; then
  install_dist
else
  if [[ -z $from ]]; then
    cargo build --release --bins --features remote-cache
    cargo rustc --release -p tileiras-capi --lib --crate-type cdylib --features remote-cache
    cargo rustc --release -p tileiras-capi --lib --crate-type staticlib --features remote-cache
    from=${CARGO_TARGET_DIR:-target}/release
  fi
  install_build
fi
command=${from:-$dist/bin}/tileiras
for target in bash-completion/completions/tileiras:bash zsh/site-functions/_tileiras:zsh fish/vendor_completions.d/tileiras.fish:fish; do
  mkdir -p "$(dirname "$to/share/${target%:*}")"
  "$command" completions "${target##*:}" > "$to/share/${target%:*}"
done
mkdir -p "$to/share/man/man1"
"$command" man > "$to/share/man/man1/tileiras.1"
echo "install: tileiras $version in $to"
