#!/bin/sh
# Runs the tests of cryptography and certificates of operator-runtime with aws-lc-rs in FIPS mode. Its build needs Go and CMake, and
# takes some minutes.
set -eu
cd "$(dirname "$0")/.."
FIPS=1 cargo test --package operator-runtime --no-default-features \
    --features aws-lc-rs,conversion,leader-election,metrics,self-signed,webhooks,rustls/fips --lib -- crypto:: certificate
