#!/bin/sh
# Makes tests/upgrades/set-N.bundle: the projects of snapshots/projects as the operator-forge of template set N made them.
#
#   tests/upgrades/make.sh SET COMMIT
#
# COMMIT is a point of this repository's history. Its tool is built with the set's number and runs the sessions that it
# knew. A bundle holds one git commit, tagged set-N, with a directory for each project; it needs the bundles of the sets
# before it that are kept, so that it is as small as what changed. To read them: git fetch FILE 'refs/tags/*:refs/tags/*', in order.
#
#   set  commit   what it was
#   5    75524b1  the runtime is a dependency
set -eu

[ $# -eq 2 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
set=$1 commit=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'git -C "$here" worktree remove --force "$scratch/source" 2>/dev/null; rm -rf "$scratch"' EXIT

git -C "$here" worktree add --quiet --detach "$scratch/source" "$commit"
sed -i "s/^pub const TEMPLATES: u32 = [0-9]*;/pub const TEMPLATES: u32 = $set;/" "$scratch/source/src/project.rs"
CARGO_TARGET_DIR="$here/../../target/upgrades" cargo build --quiet --locked --manifest-path "$scratch/source/Cargo.toml"
PATH="$here/../../target/upgrades/debug:$PATH"
# What the sessions name, as tests/shared/session.rs sets it.
export CRDS="$scratch/source/snapshots/crds" GO="$here/../go-projects"

git init --quiet "$scratch/projects"
cd "$scratch/projects"
# The bytes as they were made, whatever the settings of whoever runs this.
git config core.autocrlf false
printf '* -text\n' > .git/info/attributes
for bundle in "$here"/set-*.bundle; do
	number=${bundle##*/set-}
	[ "${number%.bundle}" -ge "$set" ] 2>/dev/null || ! [ -f "$bundle" ] || git fetch --quiet "$bundle" 'refs/tags/*:refs/tags/*'
done
previous=$(git tag --list 'set-*' --sort=-version:refname | sed 's/^/^/;q')
[ -z "$previous" ] || git reset --quiet --soft "${previous#^}"
for session in "$scratch/source"/snapshots/projects/*.console; do
	mkdir "$(basename "$session" .console)"
	# Exit code 3 is a success with notes.
	sed -n 's/^\$ \(.*\)/\1 || [ $? -eq 3 ]/p' "$session" > "$scratch/commands"
	(cd "$(basename "$session" .console)" && sh -eu "$scratch/commands" > "$scratch/output" 2>&1) || { cat "$scratch/output"; exit 1; }
done
git add --all --force .
GIT_AUTHOR_DATE=$(git -C "$here" log -1 --format=%cI "$commit")
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
GIT_AUTHOR_NAME=operator-forge GIT_AUTHOR_EMAIL=operator-forge@localhost
GIT_COMMITTER_NAME=operator-forge GIT_COMMITTER_EMAIL=operator-forge@localhost
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
git commit --quiet --message "Template set $set, by operator-forge at $commit"
git tag "set-$set"
git repack -adfq --depth=50 --window=250
git bundle create --quiet "$here/set-$set.bundle" "set-$set" ${previous:+"$previous"}
