#!/bin/sh
# Builds the book of docs/SUMMARY.md into a directory (target/book).
#
#   docs/book/build.sh DIR
#
# mdbook and its preprocessor come from crates.io and are kept in the cache; with them, no network is needed.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/target/book}
tools=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/book
install() {
    name=$1 version=$2
    shift 2
    if ! "$tools/bin/$name" --version 2>/dev/null | grep -qF "$version"; then
        CARGO_TARGET_DIR="$tools/target" cargo install --quiet --locked --root "$tools" "$name@$version" "$@" >&2
    fi
}
install mdbook 0.5.4 --no-default-features --features search
install mdbook-mermaid 0.17.1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$root/docs/." "$work/src"
rm -r "$work/src/book"
mkdir "$work/src/guide"
cp "$root"/crates/operator-runtime/src/guide/*.md "$work/src/guide"
decisions=$root/crates/operator-runtime/decisions
cp "$decisions"/0*.md "$work/src/decisions"
cp "$decisions/README.md" "$work/src/decisions/operator-runtime.md"
cp "$root/README.md" "$work/src/README.md"
cp "$root/CONTRIBUTING.md" "$work/src/contributing.md"
cp "$root/src/template/sets.md" "$work/src/sets.md"
for crate in operator-runtime crd-types; do
    cp "$root/crates/$crate/README.md" "$work/src/$crate.md"
done
cp "$root/crates/operator-runtime/CHANGELOG.md" "$work/src/operator-runtime-changelog.md"

# The links of the repository, as the book has its pages.
find "$work/src" -name '*.md' | while read -r page; do
    case $page in
    "$work/src/guide/"*) up= ;;
    "$work/src/"*/*) up=../ ;;
    *) up= ;;
    esac
    sed -E -i.before \
        -e "s#\]\((\.\./)*crates/operator-runtime/src/guide/#](${up}guide/#g" \
        -e "s#\]\((\.\./)*crates/(operator-runtime|crd-types)/README\.md#](${up}\2.md#g" \
        -e "s#\]\((\.\./)*crates/operator-runtime/decisions/README\.md#](${up}decisions/operator-runtime.md#g" \
        -e "s#\]\((\.\./)*crates/operator-runtime/decisions/#](${up}decisions/#g" \
        -e "s#\]\((\.\./)*docs/decisions/#](${up}decisions/#g" \
        -e "s#\]\((\.\./)*crates/operator-runtime/CHANGELOG\.md#](${up}operator-runtime-changelog.md#g" \
        -e "s#\]\((\.\./)*CONTRIBUTING\.md#](${up}contributing.md#g" \
        -e "s#\]\((\.\./)*src/template/sets\.md#](${up}sets.md#g" \
        -f "$root/docs/book/page.sed" \
        "$page"
    case $page in
    "$work/src/guide/"*)
        sed -E -i.before -e 's#\]\(guide/#](#g' -e ':a' -e 's#(\]\([a-z]+)_([a-z_]+\.md)#\1-\2#' -e 'ta' "$page"
        ;;
    esac
    rm "$page.before"
done
cp "$root/docs/book/book.toml" "$root/docs/book/wide.css" "$work"
(cd "$work" && PATH="$tools/bin:$PATH" && mdbook-mermaid install . && mdbook build --dest-dir "$work/book") >&2
mkdir -p "$out"
rm -rf "$out"
cp -R "$work/book" "$out"
echo "$out/index.html"
