#!/bin/sh
# Packages all crates as `cargo publish` would, and checks that the packages have every source of this checkout, and that the runtime's
# compiles alone. `package.sh build` also builds the packaged tool: it has to make the project that the tool of this checkout makes.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
archive=runtime.json
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$archive"' EXIT
trap 'exit 1' HUP INT TERM

# cargo builds the packaged library alone, without the dev-dependencies that choose a version of Kubernetes.
export K8S_OPENAPI_ENABLED_VERSION=1.37
# As in this workspace, so that what is compiled here shares the dependencies that are compiled already.
export CARGO_PROFILE_DEV_DEBUG=false
# The build script of the tool writes what it embeds of other crates, because cargo leaves the directories of other packages out.
OPERATOR_FORGE_ARCHIVE=$PWD/$archive cargo check --quiet --workspace --all-features --bin operator-forge
# One command, so that cargo finds those that others depend on before a registry has them.
needed="ansible-api builtin-kinds chart-api crd-compat crd-types guarded-yaml helm-render kubebuilder-port"
libraries="ansible-api operator-ansible operator-helm operator-runtime"
# shellcheck disable=SC2046,SC2086 # Names of packages have no spaces.
cargo package --allow-dirty --no-verify $(printf -- '--package %s ' $needed $libraries operator-forge)
unpacked=$target/package/unpacked
rm -rf "$unpacked"
mkdir -p "$unpacked"
for crate in $needed $libraries operator-forge; do
    directory=crates/$crate
    [ -d "$directory" ] || directory=.
    tar -xmzf "$target/package/$crate-0.1.0.crate" -C "$unpacked"
    files=$(git ls-files "$directory/LICENSE" "$directory/README.md" "$directory/build.rs" "$directory/python" "$directory/src" "$directory/templates")
    echo "$files" | while IFS= read -r file; do
        cmp "$file" "$unpacked/$crate-0.1.0/${file#"$directory/"}"
    done
done
cmp "$archive" "$unpacked/operator-forge-0.1.0/$archive"
cargo check --manifest-path "$unpacked/operator-runtime-0.1.0/Cargo.toml" --target-dir "$target"
echo "the packages have the sources of this checkout"
[ "${1-}" = build ] || exit 0

cargo publish --dry-run --allow-dirty --package operator-runtime
cargo build --package operator-forge
cp "$target/debug/operator-forge" "$scratch/here"
rm "$target/debug/operator-forge"
# Cargo would verify the tool with the others as crates of a registry, whose texts never change, and so with what an earlier run
# packaged. Therefore the tool is built here.
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
