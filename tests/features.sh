#!/bin/sh
# Checks operator-runtime with each feature alone, with the default ones and with all, by ring and by aws-lc-rs; a warning fails.
# `features.sh every` checks every set of them, which takes ten minutes, and the oldest version of Kubernetes.
set -eu
cd "$(dirname "$0")/.."
# The library alone chooses no version of Kubernetes.
export K8S_OPENAPI_ENABLED_VERSION=1.37
# Of these two, each set has one; they are not among the sets.
crypto="ring aws-lc-rs"
# No other part knows these two modules, so each is checked alone.
alone="bundle chart"
features=$(sed -n '/^\[features\]/,/^$/s/^\([a-z-]*\) = .*/\1/p' crates/operator-runtime/Cargo.toml | grep -vx -e default -e ring -e aws-lc-rs -e bundle -e chart)
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
    check --no-default-features --features "ring$set"
done
for feature in $alone; do
    check --no-default-features --features "ring,$feature"
done
check
check --all-features

# The chosen provider is the only one in the build.
all=$(echo "$features $alone" | tr ' \n' ,)
check --no-default-features --features "aws-lc-rs,$all"
for chosen in $crypto; do
    crates=$(cargo tree --package operator-runtime --edges normal,build --prefix none --no-default-features --features "$chosen,$all" | cut -d' ' -f1)
    for other in $crypto; do
        [ "$other" = "$chosen" ] || ! echo "$crates" | grep -qx "$other" || {
            echo "with $chosen, the build has $other"
            exit 1
        }
    done
done
# Without either, the error names both.
if said=$(cargo check --quiet --package operator-runtime --lib --no-default-features 2>&1); then
    echo "operator-runtime compiles without cryptography"
    exit 1
fi
# shellcheck disable=SC2016
echo "$said" | grep -q 'enable its feature `ring` or `aws-lc-rs`'

if [ "${1-}" = every ]; then
    export K8S_OPENAPI_ENABLED_VERSION=1.33
    check --all-features
fi
