#!/usr/bin/env bash
# AddressSanitizer over the tests that touch the map and the log. It needs a nightly toolchain and no other tool.
#
#   .ci/asan.sh [OPTION...]     options of `cargo test`, in place of the usual tests
set -euo pipefail
cd "$(dirname "$0")/.."

if ! rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
    echo "AddressSanitizer: LEFT OUT, since there is no nightly toolchain (rustup toolchain install nightly)"
    exit 0
fi
host="$(rustc +nightly -vV | sed -n 's/^host: //p')"
tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
    tests=(--lib --test log_reader --test log_survey --test log_group --test session_resume)
fi
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/asan" RUSTFLAGS="-Zsanitizer=address -Cdebuginfo=0" \
    cargo +nightly test --quiet --locked --no-default-features --target "$host" "${tests[@]}"
