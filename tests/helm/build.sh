#!/bin/sh
# Prints the path of a program of the tests of charts: Helm, with the argument `oracle` the program of oracle/, which answers what
# Helm's library makes of charts and templates, or with `operator-sdk` the operator of operator-sdk. It is built once from its Go
# module and kept in the cache, until its sources change.
#
#   HELM=$(tests/helm/build.sh)
#   HELM_ORACLE=$(tests/helm/build.sh oracle)
#   HELM_OPERATOR=$(tests/helm/build.sh operator-sdk)
#
# HELM, HELM_ORACLE and HELM_OPERATOR win if they are set. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"
here=$PWD

case ${1-} in
    '') variable=HELM name=helm package=helm.sh/helm/v4/cmd/helm given=${HELM:-} sources= ;;
    oracle) variable=HELM_ORACLE name=oracle package=./oracle given=${HELM_ORACLE:-} sources=$(echo oracle/*.go) ;;
    operator-sdk)
        variable=HELM_OPERATOR name=helm-operator package=github.com/operator-framework/operator-sdk/cmd/helm-operator
        given=${HELM_OPERATOR:-} sources=
        cd operator-sdk
        ;;
    *)
        echo "error: \`$1\` is unknown" >&2
        echo "help: \`oracle\` and \`operator-sdk\` can be asked for, or nothing for Helm" >&2
        exit 1
        ;;
esac

if [ -n "$given" ]; then
    command -v "$given" || {
        echo "error: $variable is \`$given\`, which is no program" >&2
        echo "help: unset $variable to build it" >&2
        exit 1
    }
    exit 0
fi

case $name in
    helm-operator) module=github.com/operator-framework/operator-sdk of=operator-sdk ;;
    *) module=helm.sh/helm/v4 of=Helm ;;
esac
version=$(sed -n "s|^[[:space:]]*\(require \)*$module \(v[0-9.]*\).*|\2|p" go.mod)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/helm
# Their names have no spaces.
# shellcheck disable=SC2086
directory=$cache/$(cat go.mod go.sum "$here/build.sh" $sources | cksum | tr ' ' '-')
# Helm names its field manager after its program.
program=$directory/$name

if [ ! -x "$program" ]; then
    command -v go >/dev/null || {
        echo "error: Go is needed to build $name, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer, or set $variable to the path of $name $version" >&2
        exit 1
    }
    echo "building $name of $of $version (minutes, the first time)" >&2
    mkdir -p "$directory"
    # Two runs at once both build; the last rename wins. Without debug information, the compiler is faster.
    GOTOOLCHAIN=local CGO_ENABLED=0 GOGC=${GOGC:-400} go build -mod=readonly -buildvcs=false -trimpath \
        -gcflags all=-dwarf=false -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" \
        -o "$program.$$" "$package" >&2
    mv "$program.$$" "$program"
fi
echo "$program"
