#!/bin/sh
# Deploys the operator of examples/etcd-operator to a node of processes, and runs a proof there:
#
#   tests/etcd/run.sh story            create, grow, back up, lose the majority, restore
#   tests/etcd/run.sh story --whole    with five members, an upgrade, and a snapshot in a bucket
#   tests/etcd/run.sh faults           faults under load; a table
#   tests/etcd/run.sh steps            the operator ended before each of its writes
#
# It builds what it needs. KUBEBUILDER_ASSETS has to name a control plane; tests/control-plane/build.sh makes one.
set -eu

cd "$(dirname "$0")/../.."
root=$PWD
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge
images=$(sh tests/etcd/build.sh)

# The tests of this repository have built both.
if [ -z "${PROCESS_NODE:-}" ]; then
    cargo build --quiet --package process-node --package etcd-faults
    PROCESS_NODE=${CARGO_TARGET_DIR:-$root/target}/debug/process-node
    ETCD_FAULTS=${CARGO_TARGET_DIR:-$root/target}/debug/etcd-faults
fi
# A project of its own, with its own lock file, so it has a target directory of its own, too.
export CARGO_TARGET_DIR="$cache/etcd-target"
cargo build --quiet --locked --manifest-path examples/etcd-operator/Cargo.toml --bin etcd-operator
operator=$(mktemp -d)
trap 'rm -rf "$operator"' EXIT
trap 'exit 1' HUP INT TERM
cp "$CARGO_TARGET_DIR/debug/etcd-operator" "$operator/manager"

old=$(cat "$images/3.6/version")
new=$(cat "$images/3.7/version")
etcd=gcr.io/etcd-development/etcd
bucket=
case " $* " in *" --whole "*) bucket=--image=versitygw=$(sh tests/etcd/s3.sh) ;; esac
export PROCESS_NODE
"$PROCESS_NODE" run --image "controller:latest=$operator,/manager" \
    --image "$etcd:v$old=$images/3.6" --image "$etcd:v$new=$images/3.7" ${bucket:+"$bucket"} -- \
    "$ETCD_FAULTS" --project examples/etcd-operator --versions "$old" "$new" "$@"
