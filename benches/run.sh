#!/usr/bin/env bash
# Builds the speed benches and prints their tables as Markdown: all parts, or those that are named; `--quick` is a look of a
# minute. What is measured lies in TMPDIR, which has to be on a real disk with 8 GB to spare.
#
#   bash benches/run.sh                     everything, under fifteen minutes without the build
#   bash benches/run.sh append resume       two parts
#   bash benches/run.sh --quick
set -euo pipefail
cd "$(dirname "$0")/.."
export TMPDIR="${TMPDIR:-${CARGO_TARGET_DIR:-$PWD/target}/speed}"
mkdir -p "$TMPDIR"
cargo build --release --locked --manifest-path benches/peers/Cargo.toml --bin speed
cargo build --release --locked --bin seslog
export SESLOG_PROGRAM="${CARGO_TARGET_DIR:-$PWD/target}/release/seslog"
exec "${CARGO_TARGET_DIR:-$PWD/benches/peers/target}/release/speed" "$@"
