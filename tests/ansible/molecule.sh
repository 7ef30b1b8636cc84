#!/bin/sh
# Takes the operator in tests/operator-sdk/memcached over, and runs its Molecule tests as they are: kustomize deploys the operator, which runs
# in a Pod of process-node, from an image with the files of the Dockerfile.
#
#   KUBEBUILDER_ASSETS=… tests/ansible/molecule.sh
#
# Needs Go and Python. CARGO_TARGET_DIR is where the operator is compiled.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=$repository/target/debug
cargo build --quiet --manifest-path "$repository/Cargo.toml" --target-dir "$repository/target" --workspace --all-features --bins
GOBIN=$work/bin go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.0

mkdir "$work/project"
cd "$work/project"
"$tools/operator-forge" init --quiet --vcs none --from-operator-sdk "$here/../operator-sdk/memcached" || [ $? = 3 ]
image=$work/image
mkdir -p "$image/operator"
sh ansible/install.sh "$image/opt/ansible"
ANSIBLE_PYTHON=$image/opt/ansible/bin/python
export ANSIBLE_PYTHON ANSIBLE_COLLECTIONS_PATH="$image/opt/ansible/collections"
cargo run --quiet --bin manifests
cargo build --quiet --bin caches
cp "${CARGO_TARGET_DIR:-target}/debug/caches" "$image/program"
cp -R roles playbooks "$image/operator"
# process-node has no variables of an image.
cat >"$image/manager" <<'END'
#!/bin/sh
export ANSIBLE_COLLECTIONS_PATH=/opt/ansible/collections ANSIBLE_GATHERING=explicit ANSIBLE_PYTHON=/opt/ansible/bin/python
export HOME=/tmp PYTHONDONTWRITEBYTECODE=1
cd /operator
exec /program "$@"
END
chmod +x "$image/manager"
# A Python that is not the system's is a part of the image.
prefix=$("$ANSIBLE_PYTHON" -c 'import sys; print(sys.base_prefix)')
case $prefix in
/usr) ;;
*) mkdir -p "$image$(dirname "$prefix")" && cp -a "$prefix" "$image$prefix" ;;
esac

"$image/opt/ansible/bin/pip" --quiet --disable-pip-version-check install molecule==26.10.0
export OPERATOR_IMAGE=controller:latest OPERATOR_PULL_POLICY=Never KUSTOMIZE_PATH="$work/bin/kustomize"
export PATH="$image/opt/ansible/bin:$PATH" HOME="$work" NO_COLOR=1
"$tools/process-node" run --image "controller:latest=$image,/manager" -- sh -c '
    molecule test || {
        tail -n 40 "$PROCESS_NODE_DIR"/logs/osdk-test/*/*
        exit 1
    }'
