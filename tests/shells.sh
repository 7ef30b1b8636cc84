#!/bin/sh
# Types commands into real shells, with a tab in the middle of words, and runs what becomes of them; `man` reads the pages.
# `sh tests/shells.sh bash zsh fish man`, or some of them; operator-forge is the one in PATH.
set -eu

fail() {
    echo "shells.sh: $*" >&2
    exit 1
}
need() {
    command -v "$1" > made || fail "$1 is missing: install it, with the package $2"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME="$scratch" TERM=xterm LC_ALL=C.UTF-8 PS1='$ '
tab=$(printf '\t')

# A project that lacks its Makefile, and has an API and a file that was taken over.
project() {
    cd "$scratch"
    rm -rf demo
    operator-forge init demo -q --domain example.com --vcs none --runtime registry
    cd demo
    operator-forge create api -q --group cache --version v1alpha1 --kind Memcached
    operator-forge own -q src/api.rs
    rm Makefile src/controllers/cache/memcached.rs
    mkdir -p config/crd/bases
    cat > config/crd/bases/cache.example.com_memcacheds.yaml << END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: memcacheds.cache.example.com}
spec:
  group: cache.example.com
  names: {kind: Memcached, plural: memcacheds}
  scope: Namespaced
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
END
}

# What is typed, a line each; nothing of it is whole without completion.
lines() {
    cat << END
operator-fo${tab} rest${tab} Mak${tab}
operator-forge -C ../demo restore src/con${tab}
operator-forge diso${tab} src/a${tab} --no-in${tab}
operator-forge check --crds config/crd --allow field-rem${tab} 2> allowed
operator-forge create api --gr${tab} ca${tab} --version v1 --kind Me${tab} --controller=false --res${tab}
END
}

# What the lines did.
judge() {
    for file in Makefile src/controllers/cache/memcached.rs src/api/cache/v1/memcached.rs; do
        test -f "$file" || fail "$1: $file is missing; it printed: $(cat ../typed)"
    done
    if grep -q 'owned:' PROJECT; then fail "$1: src/api.rs is still taken over; it printed: $(cat ../typed)"; fi
    grep -q 'field-removed' allowed || fail "$1: the rule was not completed: $(cat allowed ../typed)"
    echo "$1: completed"
}

in_bash() {
    need bash bash
    need script util-linux
    project
    { echo 'source <(operator-forge completion bash)'; lines; echo exit; } \
        | script --quiet --command 'bash --norc -i' /dev/null > ../typed 2>&1
    judge bash
}

# Once from a file that zsh loads by itself, as `operator-forge completion --help` has it, once sourced.
in_zsh() {
    need zsh zsh
    need script util-linux
    for how in loaded sourced; do
        project
        mkdir -p ../zfunc
        rm -f ../zfunc/*
        {
            case $how in
            loaded)
                operator-forge completion zsh > ../zfunc/_operator-forge
                # shellcheck disable=SC2016 # zsh expands it.
                echo 'fpath=(~/zfunc $fpath); autoload -Uz compinit; compinit -u -D'
                ;;
            sourced) echo 'autoload -Uz compinit; compinit -u -D; source <(operator-forge completion zsh)' ;;
            esac
            lines
            echo exit
        } | script --quiet --command 'zsh -f -i' /dev/null > ../typed 2>&1
        judge "zsh, $how"
    done
}

in_fish() {
    need fish fish
    project
    operator-forge completion fish > ../completion.fish
    lines | while IFS= read -r line; do
        # fish completes what it is asked for, word by word up to each tab.
        whole=
        while :; do
            case $line in
            *"$tab"*) ;;
            *) break ;;
            esac
            whole=$whole${line%%"$tab"*}
            line=${line#*"$tab"}
            word=$(fish --no-config -c "source ../completion.fish; complete -C '$whole'" | cut -f 1 | head -n 1)
            [ -n "$word" ] || fail "fish: nothing completes \`$whole\`"
            case $whole in
            *' '*) whole="${whole% *} $word" ;;
            *) whole=$word ;;
            esac
        done
        sh -c "$whole$line" >> ../typed 2>&1 || echo "exit code $?" >> ../typed
    done
    judge fish
}

# The pages are where `make install` puts them: beside the directory of the program.
with_man() {
    need man man-db
    need groff groff
    mkdir -p bin
    operator-forge man-pages share/man/man1
    for page in share/man/man1/*; do
        man --warnings -E UTF-8 -l "$page" > text 2> warnings
        [ -s text ] && [ ! -s warnings ] || fail "$page: $(cat warnings)"
    done
    set -- share/man/man1/*
    PATH="$scratch/bin:$PATH" man operator-forge-create-api > text
    grep -q -e '--controller-name' text || fail 'man finds no page of "create api"'
    echo "man: $# pages"
}

for what in "$@"; do
    cd "$scratch"
    case $what in
    man) with_man ;;
    *) "in_$what" ;;
    esac
done
