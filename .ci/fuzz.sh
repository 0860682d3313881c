#!/usr/bin/env bash
# Runs the fuzz targets. fuzz/README.md says what each of them promises.
#
#   .ci/fuzz.sh                       each target: its corpus, then a burst of SESLOG_FUZZ_SECONDS (10)
#   .ci/fuzz.sh TARGET [OPTION...]    one target, with options of libFuzzer; what it finds stays in fuzz/corpus
#   .ci/fuzz.sh TARGET FILE           one input again
#
# A nightly toolchain is all it needs: the flags below are those that cargo-fuzz gives the compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
    echo "fuzzing: LEFT OUT, since there is no nightly toolchain (rustup toolchain install nightly)"
    exit 0
fi
targets=(frame open_log two_readers salvage event_decode neutral_lines claude_lines codex_lines pi_lines operations)
host="$(rustc +nightly -vV | sed -n 's/^host: //p')"
out="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
bin="$out/$host/release"

python3 fuzz/seeds.py
CARGO_TARGET_DIR="$out" RUSTFLAGS="--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares" \
    cargo +nightly build --quiet --locked --release --manifest-path fuzz/Cargo.toml --target "$host" --bins

# A file may claim a record of 256 MiB and no more; ten seconds for one input are a hang.
limits=(-timeout=10 -malloc_limit_mb=600 -rss_limit_mb=3000 -max_len=8192)
if [ $# -gt 0 ]; then
    target="$1"
    shift
    mkdir -p "fuzz/artifacts/$target"
    case "${1:--}" in
    -*) exec "$bin/$target" "${limits[@]}" -artifact_prefix="fuzz/artifacts/$target/" "$@" "fuzz/corpus/$target" ;;
    *) exec "$bin/$target" "${limits[@]}" "$@" ;;
    esac
fi

seconds="${SESLOG_FUZZ_SECONDS:-10}"
burst="$out/burst"
rm -rf "$burst"

# One target; what it says goes to a file, and is shown if it fails.
run() {
    local target="$1" found="$burst/$1"
    mkdir -p "$found/new"
    if "$bin/$target" "${limits[@]}" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$found/" \
        "$found/new" "fuzz/corpus/$target" >"$found/log" 2>&1; then
        awk -v target="$target" '/number_of_executed_units/ { units = $2 } /INITED/ { seeds = $0; sub(/.*corp: /, "", seeds); sub(/ .*/, "", seeds) }
            END { printf "%s: clean, %d inputs\n", target, units }' "$found/log"
        return
    fi
    tail -n 60 "$found/log"
    for input in "$found"/crash-* "$found"/timeout-* "$found"/oom-* "$found"/leak-* "$found"/slow-unit-*; do
        [ -f "$input" ] || continue
        echo "FOUND by $target. The input, and how to run it again:"
        echo "    echo $(base64 -w0 "$input") | base64 -d >input"
        echo "    .ci/fuzz.sh $target input"
    done
    return 1
}

failed=0
running=()
for target in "${targets[@]}"; do
    # As many at a time as there are processors.
    if [ "${#running[@]}" -ge "$(nproc)" ]; then
        wait "${running[0]}" || failed=1
        running=("${running[@]:1}")
    fi
    run "$target" &
    running+=($!)
done
for job in "${running[@]}"; do
    wait "$job" || failed=1
done
exit "$failed"
