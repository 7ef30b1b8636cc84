#!/bin/sh
# Prints the path of the Python of the tests of crates/operator-ansible: a virtual environment with ansible-core, the Python client of
# Kubernetes and the collection kubernetes.core, which is beside it in `collections`. It is made once from requirements.txt, whose hashes
# pip checks where it has them, and kept in the cache until that changes.
#
#   ANSIBLE_PYTHON=$(tests/ansible/build.sh)
#   tests/ansible/build.sh lock      # writes requirements.txt anew
#
# ANSIBLE_PYTHON wins if it is set. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"
# The collection is in no other registry than Ansible Galaxy, but in the wheel of this package of PyPI.
collections='ansible==12.3.0 --hash=sha256:cd156f82fa87f7a899212b0efa9f7ca3a24d609212de9f78428a572eb01e5414'

if [ -n "${ANSIBLE_PYTHON:-}" ] && [ "${1-}" != lock ]; then
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
scratch=
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

if [ "${1-}" = lock ]; then
    scratch=$(mktemp -d)
    python3 -m venv "$scratch/lock"
    "$scratch/lock/bin/pip" install --quiet --disable-pip-version-check pip-tools==7.6.2 >&2
    # The hashes of all files of a package, for any system.
    "$scratch/lock/bin/pip-compile" --quiet --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --strip-extras \
        --output-file requirements.txt requirements.in >&2
    exit 0
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge
made=$cache/ansible-$(cat requirements.txt build.sh | cksum | cut -d' ' -f1)-$version
if [ ! -x "$made/bin/python" ]; then
    echo "making a virtual environment with ansible-core (a minute, the first time)" >&2
    mkdir -p "$cache"
    scratch=$made.$$
    rm -rf "$scratch"
    python3 -m venv "$scratch" >&2
    # The lock has the hashes of the files for this system. Others get the same versions.
    case $version-$(uname -s)-$(uname -m) in
        3.11-Linux-x86_64) "$scratch/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.txt >&2 ;;
        *)
            sed -n 's/^\([^ ]*==[^ ]*\).*/\1/p' requirements.txt >"$scratch/versions.txt"
            "$scratch/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$scratch/versions.txt" >&2
            ;;
    esac
    echo "$collections" >"$scratch/collections.txt"
    "$scratch/bin/pip" download --quiet --disable-pip-version-check --no-deps --require-hashes --dest "$scratch/wheel" \
        -r "$scratch/collections.txt" >&2
    python3 - "$scratch" <<'END'
import glob, sys, zipfile
place = sys.argv[1]
with zipfile.ZipFile(glob.glob(f"{place}/wheel/ansible-*.whl")[0]) as wheel:
    names = [name for name in wheel.namelist() if name.startswith("ansible_collections/kubernetes/core/")]
    wheel.extractall(f"{place}/collections", names)
END
    rm -rf "$scratch/wheel"
    # Two runs at once both make one; the first rename wins.
    mv -T "$scratch" "$made" 2>/dev/null || [ -x "$made/bin/python" ]
fi
echo "$made/bin/python"
