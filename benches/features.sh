#!/bin/sh
# What the features of operator-runtime cost: the example `memcached` without features, with the default ones, and with all.
# Each is compiled from nothing, so this takes a quarter of an hour; other work on the machine shows in the seconds.
set -eu
cd "$(dirname "$0")/.."
target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
trap 'exit 1' HUP INT TERM
export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0
seconds() {
    rm -rf "${target:?}"/*
    start=$(date +%s)
    cargo "$@" --quiet --locked --package operator-runtime --example memcached >&2
    echo $(($(date +%s) - start))
}
# Fetching is not measured.
cargo fetch --quiet --locked
echo "features | crates | cargo check | cargo build | cargo build --release | stripped binary"
for features in --no-default-features --features=default --all-features; do
    crates=$(cargo tree --quiet --locked --package operator-runtime --edges normal,build --prefix none "$features" | cut -d' ' -f1,2 | sort -u | wc -l)
    check=$(seconds check "$features")
    build=$(seconds build "$features")
    release=$(seconds build --release "$features" --config 'profile.release.strip=true')
    bytes=$(wc -c <"$target/release/examples/memcached")
    echo "$features | $crates | $check s | $build s | $release s | $((bytes / 100000))00 kB"
done
