# Runs inside `process-node run`, with the image controller:latest, where config/ of the project is. Each check ends the
# script if it fails.
# shellcheck shell=sh
set -eu

namespace=shared-operator-system
manager=deployment/shared-operator-controller-manager

# The cache of another cluster at the same address names other versions.
export KUBECACHEDIR="$PWD/kubectl"

# Prints the seconds since the start, and what happens.
began=$(date +%s)
step() {
    echo "$(($(date +%s) - began)) s: $*"
}

report() {
    status=$?
    [ $status = 0 ] || {
        kubectl -n $namespace get pods,leases -o wide
        kubectl -n $namespace get configmaps -o yaml
        tail -n 50 "$PROCESS_NODE_DIR"/logs/$namespace/*/*
    } >&2
    exit $status
}
trap report EXIT

# Repeats a check for a minute: until WHAT COMMAND...
until_passes() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || {
            echo "error: $what" >&2
            exit 1
        }
        sleep 0.2
    done
}

assignment() {
    kubectl -n $namespace get configmaps --selector operator-runtime/members-of -o jsonpath='{.items[*].data.owners}'
}

# Whether these Pods own the slots, each its own, and none moves.
are_owners() {
    pods=$(kubectl -n $namespace get pods -o jsonpath='{range .items[?(@.status.phase=="Running")]}{.metadata.name}{"\n"}{end}' | sort)
    owners=$(assignment | sed 's/_[^:]*:.*//' | sort)
    [ "$(echo "$owners" | wc -l)" = "$1" ] && [ "$owners" = "$pods" ]
}

# Whether each object was reconciled as it is now.
are_reconciled() {
    kubectl get memcacheds -o \
        jsonpath='{range .items[*]}{.metadata.generation} {.status.conditions[0].observedGeneration}{"\n"}{end}' |
        awk '$1 != $2 { late = 1 } END { exit late }'
}

# Creates objects until the file `stop` is there.
create() {
    while [ ! -e stop ]; do
        number=$((${number:-0} + 1))
        printf '{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {name: m%s}, spec: {size: 1}}' $number |
            kubectl create -f - >>created
        sleep 0.1
    done
}

kubectl apply --server-side -k config/default >/dev/null
kubectl -n $namespace rollout status $manager --timeout=60s >/dev/null
until_passes "two replicas do not share the slots" are_owners 2
step "two replicas share the slots"
create &
until_passes "no object is created" [ -s created ]

size=1
for replicas in 1 3 1; do
    kubectl -n $namespace scale $manager --replicas=$replicas >/dev/null
    kubectl -n $namespace rollout status $manager --timeout=60s >/dev/null
    step "$replicas ready"
    until_passes "not $replicas replicas share the slots" are_owners $replicas
    step "$replicas own all slots:"
    assignment
    size=$((size + 1))
    # shellcheck disable=SC2046 # Names.
    kubectl patch $(kubectl get memcacheds -o name) --type merge --patch "{\"spec\": {\"size\": $size}}" >/dev/null
    until_passes "not all objects are reconciled" are_reconciled
    step "$(kubectl get memcacheds -o name | wc -l) objects are reconciled"
done
touch stop
wait
until_passes "not all objects are reconciled" are_reconciled
step "created meanwhile, and reconciled: $(grep -c ' created$' created)"

kubectl -n $namespace get events.events.k8s.io -o jsonpath='{range .items[?(@.action=="DealSlots")]}{.reason}: {.note}{"\n"}{end}' >told
cat told
grep -q '^SlotsDealt: .* joins and gets ' told
grep -q '^SlotsDealt: .* leaves and had ' told
if grep '^ReplicaGone' told; then
    echo "error: a replica was gone before it had passed on its slots" >&2
    exit 1
fi
