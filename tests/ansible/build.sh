#!/bin/sh
# Prints the path of a Python with Ansible, for the tests: in a virtual environment that the script of generated projects makes, once. It is
# kept in the cache until the script or its lock changes. The collections are beside it in `collections`.
#
#   ANSIBLE_PYTHON=$(tests/ansible/build.sh)
#   tests/ansible/build.sh lock      # writes the lock anew, with the hashes for several systems
#
# ANSIBLE_PYTHON wins if it is set. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"
project=../../templates/ansible/project/ansible
lock=$project/requirements.txt

if [ "${1-}" = lock ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    python3 -m venv "$scratch/lock"
    pip="$scratch/lock/bin/pip --quiet --disable-pip-version-check"
    $pip install pip-tools==7.6.2 >&2
    "$scratch/lock/bin/pip-compile" --quiet --no-header --no-annotate --no-emit-index-url --no-emit-find-links --strip-extras \
        --output-file "$scratch/versions.txt" requirements.in >&2
    for python in 3.11 3.12 3.13 3.14; do
        for platforms in \
            "manylinux2014_x86_64 manylinux_2_28_x86_64 manylinux_2_34_x86_64" \
            "manylinux2014_aarch64 manylinux_2_28_aarch64 manylinux_2_34_aarch64" \
            "macosx_11_0_arm64 macosx_10_13_universal2"; do
            # Their words have no spaces.
            # shellcheck disable=SC2046,SC2086
            $pip download --no-deps --only-binary=:all: $(printf ' --platform %s' $platforms) --python-version $python \
                --dest "$scratch/wheels" --requirement "$scratch/versions.txt" >&2
        done
    done
    python3 - "$scratch" >"$scratch/requirements.txt" <<'END'
import hashlib, pathlib, re, sys

scratch = pathlib.Path(sys.argv[1])
hashes = {}
for wheel in sorted((scratch / "wheels").iterdir()):
    name, version = wheel.name.split("-")[:2]
    line = f"{re.sub('[-_.]+', '-', name).lower()}=={version}"
    hashes.setdefault(line, set()).add(hashlib.sha256(wheel.read_bytes()).hexdigest())
print("# ansible-core and the Python client of Kubernetes, with all that they need: the versions, and the hashes of the wheels for Python 3.11 to")
print("# 3.14 on Linux (x86-64, arm64) and macOS (arm64).")
for line in (scratch / "versions.txt").read_text().split():
    print(" \\\n".join([line, *(f"    --hash=sha256:{hash}" for hash in sorted(hashes[line]))]))
END
    cp "$scratch/requirements.txt" "$lock"
    exit 0
fi

if [ -n "${ANSIBLE_PYTHON:-}" ]; then
    command -v "$ANSIBLE_PYTHON" || {
        echo "error: ANSIBLE_PYTHON is \`$ANSIBLE_PYTHON\`, which is no program" >&2
        echo "help: unset ANSIBLE_PYTHON to make a virtual environment" >&2
        exit 1
    }
    exit 0
fi

command -v python3 >/dev/null || {
    echo "error: Python is needed to run Ansible, and \`python3\` is not in PATH" >&2
    echo "help: install Python 3.11 or newer, or set ANSIBLE_PYTHON to a Python with ansible-core" >&2
    exit 1
}
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge
made=$cache/ansible-$(cat "$lock" $project/install.sh | cksum | cut -d' ' -f1)-$version
if [ ! -x "$made/bin/python" ]; then
    echo "making a virtual environment with ansible-core (a minute, the first time)" >&2
    mkdir -p "$cache"
    scratch=$made.$$
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 1' HUP INT TERM
    sh $project/install.sh "$scratch" >&2
    # Two runs at once both make one; the first rename wins.
    mv -T "$scratch" "$made" 2>/dev/null || [ -x "$made/bin/python" ]
fi
echo "$made/bin/python"
