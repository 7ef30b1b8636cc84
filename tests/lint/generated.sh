#!/bin/sh
# Runs the linters of the field over every recorded project, and over the workflows and scripts of this repository. Fails at a finding.
#
#   KUBEBUILDER_ASSETS=$(tests/control-plane/build.sh) HELM=$(tests/helm/build.sh) tests/lint/generated.sh
#
# The linters come from PyPI and Go modules, once for each version of this directory. checkmake is missing: the checksum database does not
# have its module. kubeconform is missing, because `cargo test --test projects generated::` lets an API server validate the same manifests
# (`--dry-run=server --validate=strict`), and because its schemas come from the network.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD

# Installs the linters, and puts them first in PATH.
install() {
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/lint
    tools=$cache/$(cat tests/lint/generated.sh tests/lint/requirements.txt | cksum | tr ' ' '-')
    if ! [ -e "$tools/complete" ]; then
        echo "installing the linters in $tools" >&2
        rm -rf "${cache:?}"/*
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement tests/lint/requirements.txt
        export GOBIN="$tools/bin" CGO_ENABLED=0 GOTOOLCHAIN=local
        go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
        go install github.com/zegl/kube-score/cmd/kube-score@v1.20.0
        touch "$tools/complete"
    fi
    PATH=$tools/bin:$PATH
}

failed=0
# Runs a linter, prints what it found, and goes on.
lint() {
    findings=$("$@" 2>&1) || {
        echo "$place: $1:"
        echo "$findings"
        failed=1
    }
}

workflows() {
    lint actionlint .github/workflows/*.yml
    lint zizmor --offline --quiet --config "$here/tests/lint/zizmor.yaml" .github
}

# Every target parses, and uses only variables that are defined.
# shellcheck disable=SC2329 # `lint` calls it.
makefile() {
    for target in $(make --silent help | sed -n 's/^  \([a-z0-9-]*\) .*/\1/p'); do
        output=$(make --dry-run --warn-undefined-variables "$target" "$@" 2>&1 > /dev/null) && [ -z "$output" ] || {
            echo "make $target: $output"
            return 1
        }
    done
}

# kube-score prints a line for each check that it made.
#   container-ephemeral-storage-request-and-limit: the manager writes no files.
#   container-image-pull-policy: Always would ignore the image that `make test-e2e` loads into its cluster.
#   container-security-context-user-group-id: the image has user 65532, and OpenShift sets one of its own.
#   deployment-has-host-podantiaffinity: topologySpreadConstraints have the same effect.
#   deployment-replicas: only one manager reconciles. With webhooks, there are two.
#   pod-networkpolicy: an option of config/default, because it needs a network plugin that enforces policies.
# shellcheck disable=SC2329 # `lint` calls it.
score() {
    lines=$(kube-score score --output-format ci \
        --ignore-test container-ephemeral-storage-request-and-limit \
        --ignore-test container-image-pull-policy \
        --ignore-test container-security-context-user-group-id \
        --ignore-test deployment-has-host-podantiaffinity \
        --ignore-test deployment-replicas \
        --ignore-test pod-networkpolicy \
        "$1") || true
    echo "$lines" | grep -q '^\[OK\]' || { echo "$lines"; return 1; }
    ! echo "$lines" | grep -v -e '^\[OK\]' -e '^\[SKIPPED\]'
}

# A recorded project as its user has it after `make manifests`.
project() {
    workflows
    lint hadolint Dockerfile
    [ ! -e catalog.Dockerfile ] || lint hadolint catalog.Dockerfile
    lint python3 -m json.tool .devcontainer/devcontainer.json
    lint yamllint --strict --config-file "$here/tests/lint/yamllint.yaml" .
    lint makefile TAG=v0.1.0 KUBECTL="$KUBEBUILDER_ASSETS/kubectl"
    "$KUBEBUILDER_ASSETS/kubectl" kustomize config/default | sed 's/image: controller:latest/image: controller:v0.1.0/' > "$scratch/objects.yaml"
    lint score "$scratch/objects.yaml"
    # The templates that `make chart` writes are in tests/cli/chart.rs.
    [ ! -e dist/chart ] || lint "$HELM" lint --strict dist/chart
}

install
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

place="this repository"
workflows
# shellcheck disable=SC2046 # Each name is a word.
lint shellcheck .ci/run $(git ls-files '*.sh' ':!tests/control-plane/build.sh')
# Its function `complete` is no builtin of bash, and $work is the result of mktemp. A comment in it would be a new key of its cache.
lint shellcheck --exclude SC2115,SC3044 tests/control-plane/build.sh
# shellcheck disable=SC2046
lint yamllint --strict --config-file tests/lint/yamllint.yaml $(git ls-files '.github/*.yml')

count=0
for console in snapshots/projects/*.console; do
    place=$(basename "$console" .console)
    mkdir "$scratch/$place"
    # What the projects share is recorded once.
    cp -R snapshots/projects/minimal/. "snapshots/projects/$place/." "snapshots/manifests/$place/." "$scratch/$place"
    rm -rf "$scratch/$place/.operator-forge"
    cd "$scratch/$place"
    project
    cd "$here"
    count=$((count + 1))
done
[ "$failed" -ne 0 ] || echo "$count projects and this repository: no findings"
exit "$failed"
