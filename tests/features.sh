#!/bin/sh
# Checks operator-runtime without features, with each alone, with the default ones and with all; a warning fails.
# `features.sh every` checks every set of them, which takes ten minutes.
set -eu
cd "$(dirname "$0")/.."
features=$(sed -n '/^\[features\]/,/^$/s/^\([a-z-]*\) = .*/\1/p' crates/operator-runtime/Cargo.toml | grep -vx default)
check() {
    echo "cargo check -p operator-runtime $*"
    # Quiet cargo prints nothing but warnings and errors.
    said=$(cargo check --quiet --package operator-runtime --lib "$@" 2>&1) || true
    if [ -n "$said" ]; then
        echo "$said"
        exit 1
    fi
}
sets=","
for feature in $features; do
    with=
    for set in $sets; do
        if [ "${1-}" = every ] || [ "$set" = , ]; then
            with="$with $set$feature,"
        fi
    done
    sets="$sets$with"
done
for set in $sets; do
    check --no-default-features --features "$set"
done
check
check --all-features
