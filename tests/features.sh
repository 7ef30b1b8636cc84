#!/bin/sh
# Checks operator-runtime without features, with each alone, with the default ones and with all; a warning fails.
set -eu
cd "$(dirname "$0")/.."
features=$(sed -n '/^\[features\]/,/^$/s/^\([a-z-]*\) = .*/\1/p' crates/operator-runtime/Cargo.toml)
check() {
    echo "cargo check -p operator-runtime $*"
    # Quiet cargo prints nothing but warnings and errors.
    said=$(cargo check --quiet --package operator-runtime --lib "$@" 2>&1) || true
    if [ -n "$said" ]; then
        echo "$said"
        exit 1
    fi
}
check --no-default-features
for feature in $features; do
    [ "$feature" = default ] || check --no-default-features --features "$feature"
done
check
check --all-features
