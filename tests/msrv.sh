#!/bin/sh
# Checks operator-runtime with the oldest Rust that it promises, which rustup fetches if it is not there.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"/\1.0/p' crates/operator-runtime/Cargo.toml)
rustup toolchain list | grep -q "^$version" || rustup toolchain install --profile minimal "$version"
# The library alone chooses no version of Kubernetes.
export K8S_OPENAPI_ENABLED_VERSION=1.37
# What another compiler built is of no use to this one, so it has a directory of its own.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/msrv cargo "+$version" check --locked --package operator-runtime --all-features
