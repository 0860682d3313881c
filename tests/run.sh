#!/usr/bin/env bash
# Runs all tests. Needs Rust and Python 3 with its venv module; the Python reader's two packages are installed beside the
# build, not into the system.
set -euo pipefail
cd "$(dirname "$0")/.."

python_dir="${CARGO_TARGET_DIR:-$PWD/target}/python"
if ! "$python_dir/bin/python3" -c 'import msgpack, zstandard' 2>/dev/null; then
    python3 -m venv "$python_dir"
    "$python_dir/bin/python3" -m pip install --quiet --disable-pip-version-check 'msgpack>=1.0,<2' 'zstandard>=0.22,<1'
fi
export SESLOG_PYTHON="$python_dir/bin/python3"

# The same random histories each time, so that a change is judged by what it changes. Other ones: name another seed, or
# run `cargo test` by itself, which draws one each time.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261129}"

cargo test --locked "$@"
