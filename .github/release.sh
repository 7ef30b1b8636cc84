#!/bin/sh
# Builds the tool for a target and puts the archive of a release into dist/: the binary, completions, man pages, the license, the
# README, the changelog, and the components that the binary is made of (SBOM, CycloneDX).
# `sh .github/release.sh x86_64-unknown-linux-gnu`; without a target, for this machine. The binary has to run here, because it
# writes its own completions and man pages.
set -eu
cd "$(dirname "$0")/.."
target=${1:-$(rustc --print host-tuple)}
version=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"name":"operator-forge","version":"\([^"]*\)".*/\1/')
case ${GITHUB_REF_NAME:-v$version} in
v"$version") ;;
*)
    echo "release.sh: the tag is $GITHUB_REF_NAME, and Cargo.toml has version $version: tag v$version" >&2
    exit 1
    ;;
esac
command -v cargo-cyclonedx > /dev/null || {
    echo "release.sh: cargo-cyclonedx is missing: cargo install cargo-cyclonedx --locked" >&2
    exit 1
}
case $target in
*windows*) suffix=.exe ;;
*) suffix= ;;
esac

cargo build --release --locked --package operator-forge --target "$target"
binary=${CARGO_TARGET_DIR:-target}/$target/release/operator-forge$suffix

name=operator-forge-$target-v$version
mkdir -p dist
rm -rf "dist/$name"
mkdir -p "dist/$name/completions"
cp "$binary" LICENSE README.md docs/changelog.md "dist/$name"
for shell in bash elvish fish powershell zsh; do
    "$binary" completion $shell > "dist/$name/completions/operator-forge.$shell"
done
"$binary" man-pages "dist/$name/man"

# cargo-cyclonedx writes beside Cargo.toml, with the path of this directory.
cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$target" --override-filename sbom
sed "s#$PWD#.#g" sbom.json > "dist/$name/sbom.cdx.json"
rm -f sbom.json crates/*/sbom.json examples/*/sbom.json

case $target in
*windows*) (cd dist && 7z a -bso0 "$name.zip" "$name") ;;
*) tar -czf "dist/$name.tgz" -C dist "$name" ;;
esac
rm -rf "dist/$name"
