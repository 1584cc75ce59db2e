#!/usr/bin/env bash
# Builds the documentation as an HTML book in target/book, with all pages in the order of docs/SUMMARY.md. Uses mdBook from PATH,
# or else compiles it to .tools/.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

version=0.4.52
mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
    mdbook=.tools/mdbook/bin/mdbook
    [ -x "$mdbook" ] || cargo install mdbook --version "$version" --locked --no-default-features --root .tools/mdbook
fi

rm -rf target/book target/book-pages
mkdir -p target/book-pages
cargo xtask docs --copy target/book-pages
cat > target/book-pages/book.toml <<EOF
[book]
title = "tileiras"
src = "."

[build]
build-dir = "$root/target/book"
create-missing = false
EOF
"$mdbook" build target/book-pages
rm -rf target/book-pages
echo "open target/book/index.html"
