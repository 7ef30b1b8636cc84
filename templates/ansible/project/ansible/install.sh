#!/bin/sh
# Installs Ansible in a directory: sh ansible/install.sh DIRECTORY
#
# It makes a virtual environment with the packages of requirements.txt, whose hashes pip checks. The collection kubernetes.core comes from
# the package `ansible` of PyPI, by its hash, too. Other collections are those of requirements.yml in the project, if there is one. PYTHON
# names the interpreter; without it, python3.
set -eu

collections="ansible==12.3.0 --hash=sha256:cd156f82fa87f7a899212b0efa9f7ca3a24d609212de9f78428a572eb01e5414"
directory=$1
here=$(dirname "$0")
pip="$directory/bin/pip --disable-pip-version-check --quiet"

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || {
    echo "error: Ansible needs Python 3.11 to 3.14, and \`$python\` is none" >&2
    echo "help: set PYTHON to one" >&2
    exit 1
}
rm -rf "$directory"
"$python" -m venv "$directory"
$pip install --no-deps --only-binary=:all: --require-hashes --requirement "$here/requirements.txt"

echo "$collections" >"$directory/collections.txt"
$pip download --no-deps --require-hashes --dest "$directory/download" --requirement "$directory/collections.txt"
"$directory/bin/python" - "$directory" <<'END'
import glob, sys, zipfile

directory = sys.argv[1]
with zipfile.ZipFile(glob.glob(f"{directory}/download/ansible-*.whl")[0]) as wheel:
    inside = "ansible_collections/kubernetes/core/"
    wheel.extractall(f"{directory}/collections", [name for name in wheel.namelist() if name.startswith(inside)])
END
rm -r "$directory/download" "$directory/collections.txt"

if [ -e "$here/../requirements.yml" ]; then
    "$directory/bin/ansible-galaxy" collection install --requirements-file "$here/../requirements.yml" \
        --collections-path "$directory/collections"
fi
# The image cannot write bytecode later.
"$directory/bin/python" -m compileall -q "$directory/collections" || true
