#!/bin/sh
# What controller-gen says of Kubernetes' own types, for each version of Kubernetes whose types k8s-openapi has:
#
#   schemas.sh write    writes the data of operator-runtime, and what controller-gen writes for the type of its tests
#   schemas.sh check    fails if these files are not what controller-gen says, or if a type that embeds every type of
#                       k8s-openapi has another schema in Rust than in Go
#
# controller-gen is built once from its Go module and kept in the cache. The versions are those that k8s-openapi was made from
# (its changelog lists them).
set -eu
cd "$(dirname "$0")"
versions="33.13 34.13 35.10 36.6 37.2"
newest=37

root=$(cd ../.. && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/controller-gen
# The modules of the versions have no go.sum of ours: their checksums are Go's, and their content is compared with what we keep.
export GOTOOLCHAIN=local GOFLAGS="-buildvcs=false -mod=readonly" CGO_ENABLED=0

made=$cache/$(cat go.mod go.sum ./*.go | cksum | tr ' ' '-')
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
if [ ! -d "$made" ]; then
    echo "building controller-gen (a minute, the first time)" >&2
    mkdir -p "$scratch/bin" "$cache"
    go build -trimpath -ldflags "-s -w" -o "$scratch/bin/schemas" .
    go build -trimpath -ldflags "-s -w" -o "$scratch/bin/controller-gen" sigs.k8s.io/controller-tools/cmd/controller-gen
    rm -rf "${cache:?}"/*
    mv "$scratch/bin" "$made"
fi

openapi=$(cd "$root" && cargo metadata --format-version 1 --locked | tr ',' '\n' |
    sed -n 's|^"manifest_path":"\(.*/k8s-openapi-[0-9][^/]*\)/Cargo.toml"$|\1|p')

# The names of the definitions of Kubernetes 1.$1 in k8s-openapi, but for WatchEvent, which is generic.
names() {
    grep -rhA 3 'JsonSchema for [A-Za-z0-9]* {' "$openapi/src/v1_$1" | sed -n 's/^ *"\(io\.k8s\.[A-Za-z0-9.-]*\)"\.into()$/\1/p' | sort -u
}

# A Go module that requires Kubernetes 1.$1.$2.
module() {
    mkdir -p "$scratch/$1"
    (
        cd "$scratch/$1"
        export GOFLAGS=-mod=mod
        names "$1" >definitions
        go mod init test.example.com/embedded
        go get "k8s.io/api@v0.$1.$2" "k8s.io/apimachinery@v0.$1.$2" "k8s.io/apiextensions-apiserver@v0.$1.$2" "k8s.io/kube-aggregator@v0.$1.$2"
        # Downloads what these packages need. Where go.mod may change, a package that this version does not have would raise it.
        # shellcheck disable=SC2046 # Each package is a word.
        go list -deps $(sed -n -e 's|^io\.k8s\.\(.*\)\.[A-Za-z0-9]*$|k8s.io/\1|p' definitions | tr . / | sed 's|^k8s/io|k8s.io|' | sort -u)
        grep -q "k8s.io/api v0.$1.$2" go.mod
    ) >"$scratch/go.log" 2>&1 || {
        cat "$scratch/go.log" >&2
        return 1
    }
}

# What controller-gen writes for the package $2 of the module of Kubernetes 1.$1, into the directory $3.
controller_gen() (
    cd "$scratch/$1"
    "$made/controller-gen" crd:maxDescLen=0,generateEmbeddedObjectMeta=true paths="./$2" output:crd:dir="$3"
)

# Compares a type that has a field of every type of Kubernetes 1.$1 in Go and in Rust.
every() {
    mkdir "$scratch/$1/every"
    awk -v go="$scratch/$1/every/types.go" -v rust="$scratch/$1/every/types.rs" '
        BEGIN { print "[" >rust }
        {
            parts = split($0, part, ".")
            path = "k8s.io"
            module = "k8s_openapi"
            for (i = 3; i < parts; i++) {
                path = path "/" part[i]
                module = module "::" part[i]
            }
            gsub("-", "_", module)
            if (!(path in package)) {
                package[path] = "p" length(package)
                imports = imports package[path] " \"" path "\"\n"
            }
            fields = fields "F" NR - 1 " " package[path] "." part[parts] " `json:\"f" NR - 1 "\"`\n"
            print "(\"" $0 "\", schemas::<" module "::" part[parts] ">)," >rust
        }
        END {
            print "]" >rust
            print "// +groupName=test.example.com\npackage v1\nimport (\nmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n" imports ")" >go
            print "type EverySpec struct {\n" fields "}" >go
            print "// +kubebuilder:object:root=true\ntype Every struct {\nmetav1.TypeMeta `json:\",inline\"`" >go
            print "metav1.ObjectMeta `json:\"metadata,omitempty\"`\nSpec EverySpec `json:\"spec\"`\n}" >go
        }' "$scratch/$1/found"
    controller_gen "$1" every "$scratch/$1/crd"
    echo "Kubernetes 1.$1:"
    EMBEDDED_TYPES=$scratch/$1/every/types.rs CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/schemas \
        cargo run --quiet --locked --manifest-path compare/Cargo.toml --features "v1_$1" -- "$scratch/$1/crd/test.example.com_everies.yaml"
}

modules=
for version in $versions; do
    minor=${version%.*}
    module "$minor" "${version#*.}"
    modules="$modules $minor=$scratch/$minor"
done
# shellcheck disable=SC2086
"$made/schemas" $modules >"$scratch/types.json"
mkdir "$scratch/$newest/v1"
cp embedded/types.go "$scratch/$newest/v1"
controller_gen "$newest" v1 "$scratch/crd"

types=$root/crates/operator-runtime/src/manifests/crds/types.json
crd=$root/crates/operator-runtime/tests/runtime/embedded/controller-gen.yaml
case ${1-} in
write)
    cp "$scratch/types.json" "$types"
    mkdir -p "$(dirname "$crd")"
    cp "$scratch/crd/test.example.com_embeddeds.yaml" "$crd"
    ;;
check)
    diff "$types" "$scratch/types.json"
    diff "$crd" "$scratch/crd/test.example.com_embeddeds.yaml"
    for version in $versions; do
        every "${version%.*}"
    done
    ;;
*)
    echo "error: say \`write\` or \`check\`" >&2
    exit 2
    ;;
esac
