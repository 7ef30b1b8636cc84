#!/bin/sh
# Packages all crates as `cargo publish` would and builds the packages. The packaged tool has to make the same project as the
# tool of this checkout, so what it embeds of the runtime came along.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
archive=runtime.json
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$archive"' EXIT
trap 'exit 1' HUP INT TERM

# cargo builds the packaged library alone, without the dev-dependencies that choose a version of Kubernetes.
export K8S_OPENAPI_ENABLED_VERSION=1.37
# As in this workspace, so that what verifies the packages shares the dependencies that are compiled already.
export CARGO_PROFILE_DEV_DEBUG=false
cargo publish --dry-run --allow-dirty --package operator-runtime
# Its files are listed, and what they compile to is the crate that the tests compile. One command, so that it finds those that it
# depends on before a registry has them.
cargo package --allow-dirty --no-verify --package chart-api --package helm-render --package operator-runtime --package operator-helm \
    --package operator-ansible

OPERATOR_FORGE_ARCHIVE=$PWD/$archive cargo build --package operator-forge
cp "$target/debug/operator-forge" "$scratch/here"
rm "$target/debug/operator-forge"
# One command, so that the tool finds the others before a registry has them. Cargo would verify the tool with them as crates of a
# registry, whose texts never change, and so with what an earlier run packaged. Therefore the tool is built here.
needed="chart-api crd-compat crd-types guarded-yaml helm-render kubebuilder-port"
# shellcheck disable=SC2046,SC2086 # Names of packages have no spaces.
cargo package --allow-dirty --no-verify $(printf -- '--package %s ' $needed operator-forge)
unpacked=$target/package/unpacked
rm -rf "$unpacked"
mkdir -p "$unpacked"
for crate in $needed operator-forge; do
    tar -xmzf "$target/package/$crate-0.1.0.crate" -C "$unpacked"
done
set --
for crate in $needed; do
    set -- "$@" --config "patch.crates-io.$crate.path='$unpacked/$crate-0.1.0'"
done
cargo build --manifest-path "$unpacked/operator-forge-0.1.0/Cargo.toml" --target-dir "$target" "$@"
cp "$target/debug/operator-forge" "$scratch/packaged"
for tool in here packaged; do
    "$scratch/$tool" -C "$scratch" init -q "of-$tool" --domain example.com --project-name packaged --vcs none
    # With these, it embeds every file of the runtime.
    "$scratch/$tool" -C "$scratch/of-$tool" edit -q --plugins helm,olm
    "$scratch/$tool" -C "$scratch/of-$tool" create api -q --helm-chart "$PWD/tests/helm-charts/memcached"
done
diff -r --exclude local "$scratch/of-here" "$scratch/of-packaged"
echo "the packaged tool makes the project that this checkout's makes"
