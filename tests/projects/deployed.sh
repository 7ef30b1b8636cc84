# Runs inside `process-node run`, with the image controller:latest, where config/ of the project is. Each check ends the
# script if it fails.
# shellcheck shell=sh
set -eu

namespace=asked-operator-system
manager=deployment/asked-operator-controller-manager

# Prints the seconds since the start, and what happens.
began=$(date +%s)
step() {
    echo "$(($(date +%s) - began)) s: $*"
}

report() {
    status=$?
    [ $status = 0 ] || {
        kubectl -n $namespace get pods,endpointslices,lease -o wide
        tail -n 50 "$PROCESS_NODE_DIR"/logs/$namespace/*/*
    } >&2
    exit $status
}
trap report EXIT

# Creates a Memcached: create NAME VERSION SPEC
create() {
    printf '{apiVersion: cache.example.com/%s, kind: Memcached, metadata: {name: %s}, spec: %s}' "$2" "$1" "$3" |
        kubectl create -f - 2>&1
}

check() {
    [ "$2" = "$3" ] || {
        echo "error: $1: \`$2\`, not \`$3\`" >&2
        exit 1
    }
}

leader() {
    kubectl -n $namespace get leases -o jsonpath='{.items[*].spec.holderIdentity}'
}

kubectl apply --server-side -k config/default >/dev/null
kubectl -n $namespace rollout status $manager --timeout=60s >/dev/null
check "the replicas" "$(kubectl -n $namespace get $manager -o jsonpath='{.status.readyReplicas}')" 2
step "two replicas are ready"

# The API server asks the webhooks through their Service: without a size, one is filled in.
create first v1alpha1 '{image: memcached}' >/dev/null
check "the default" "$(kubectl get memcacheds.v1alpha1.cache.example.com first -o jsonpath='{.spec.size}')" 3
check "the other version" "$(kubectl get memcacheds.v1.cache.example.com first -o jsonpath='{.spec.replicas}')" 3
if said=$(create wrong v1alpha1 '{size: 0, image: memcached}'); then
    echo "error: accepted: $said" >&2
    exit 1
fi
echo "$said" | grep -F 'spec.size: Invalid value: 0: must be positive' >/dev/null || {
    echo "error: $said" >&2
    exit 1
}
# The condition of a new controller is Unknown.
kubectl wait --for=condition=Ready=Unknown memcached/first --timeout=30s >/dev/null
step "an object is defaulted, converted and reconciled, another is refused"

# While a rollout replaces both replicas, every object is accepted.
old=$(kubectl -n $namespace get pods -o name)
before=$(leader)
(
    while [ ! -e rolled-out ]; do
        number=$((${number:-0} + 1))
        create "during-$number" v1alpha1 '{image: memcached}' >>created || echo "$number" >>refused
    done
) &
kubectl -n $namespace rollout restart $manager >/dev/null
kubectl -n $namespace rollout status $manager --timeout=60s >/dev/null
step "the rollout is complete"
# shellcheck disable=SC2086 # Two names.
kubectl -n $namespace wait --for=delete $old --timeout=60s >/dev/null
touch rolled-out
wait
step "the old replicas have ended; created meanwhile: $(grep -c ' created$' created)"
if [ -e refused ] || [ "$(grep -c ' created$' created)" -lt 3 ]; then
    cat created >&2
    exit 1
fi

# Another replica leads, and has seen all of them.
check "the sizes" "$(kubectl get memcacheds.v1alpha1.cache.example.com -o jsonpath='{.items[*].spec.size}' | tr ' ' '\n' | sort -u)" 3
kubectl wait --for=condition=Ready=Unknown memcached --all --timeout=30s >/dev/null
create last v1 '{image: memcached}' >/dev/null
kubectl wait --for=condition=Ready=Unknown memcached/last --timeout=30s >/dev/null
after=$(leader)
if [ -z "$after" ] || [ "$after" = "$before" ]; then
    echo "error: the leader was $before, and is $after" >&2
    exit 1
fi
step "all are reconciled; the leader was $before, and is $after"
