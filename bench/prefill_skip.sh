#!/bin/sh
# prefill_skip.sh - what --kv-skip saves of a prompt: tok/s with the skip on and off, alternating, and the same logits
# bit for bit.
#
#   bench/prefill_skip.sh [model ...]         a .gguf file, or random:SIZE:TYPE; default: random:gemma4-e2b:q8_0
#
# Work     of Gemma 4 E2B's 35 layers 15 make keys, with feed-forwards half as wide as the other 20's; of Gemma 3n E2B's
# 30 layers 20 do
# MYTHOS   the command (build/mythos)      THREADS 2      PROMPT 512      ROUNDS pairs on off off on (3 = six fresh
# processes of each)
# WORK     folder for the file of a random: model, written once and kept (bench/out)
# FLOOR    2.5: the least ratio that passes
# NICE     prefix of every measuring command, e.g. "chrt -f 5" on a machine that others use
# OUT      file for one JSON line per model (none)
#
# Rules    fresh process per measurement, order A B B A, medians; the load average is printed, and figures of a loaded
# machine are worth little
# Exit     1 when a ratio is below FLOOR or a logit differs
set -eu
cd "$(dirname "$0")/.."
MYTHOS=${MYTHOS:-build/mythos} THREADS=${THREADS:-2} PROMPT=${PROMPT:-512} ROUNDS=${ROUNDS:-3} WORK=${WORK:-bench/out} \
    FLOOR=${FLOOR:-2.5}
[ $# -gt 0 ] || set -- random:gemma4-e2b:q8_0
mkdir -p "$WORK"
scratch=$(mktemp -d "$WORK/skip-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

# a median of the numbers in a file
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# on or off: tok/s of one process
prefill()
{
    # shellcheck disable=SC2086
    ${NICE:-} "$MYTHOS" bench -m "$file" --device cpu -p "$PROMPT" -n 0 -r 1 -t "$THREADS" --kv-skip "$1" --json |
        sed -n 's/.*"tok_s": *\([0-9.e+]*\).*/\1/p' >>"$scratch/$1"
}

ids=$(awk -v n="$PROMPT" 'BEGIN { for (i = 0; i < n; i++) printf("%s%d", i ? "," : "", 3 + i * 7919 % 200000) }')
for model; do
    file=$model
    case $model in
    random:*)
        size=${model#random:}
        file=$WORK/${size%%:*}-${size##*:}.gguf
        [ -s "$file" ] || "$MYTHOS" convert -m "$model" --type "${size##*:}" -o "$file" --quiet
        ;;
    esac
    cat "$file" >/dev/null                                   # page cache
    for skip in on off; do
        : >"$scratch/$skip"
        "$MYTHOS" logits -m "$file" --device cpu -t "$THREADS" --ids "$ids" --last 1 --fast --kv-skip $skip -o \
            "$scratch/$skip.npy" --quiet
    done
    same=true
    cmp -s "$scratch/on.npy" "$scratch/off.npy" || same=false
    load=$(cut -d' ' -f1 /proc/loadavg)
    round=0
    while [ $round -lt "$ROUNDS" ]; do
        for skip in on off off on; do
            prefill $skip
        done
        round=$((round + 1))
    done
    on=$(median "$scratch/on") off=$(median "$scratch/off")
    ratio=$(awk -v a="$on" -v b="$off" 'BEGIN { printf("%.2f", a / b) }')
    logits=$([ $same = true ] && echo equal || echo DIFFER)
    echo "$model: prefill $PROMPT: skip on $on, off $off tok/s, ratio $ratio;" \
        "logits of the last token $logits; load $load"
    [ -z "${OUT:-}" ] || echo \
        "{\"model\": \"$model\", \"test\": \"pp$PROMPT\", \"tok_s\": $on, \"tok_s_off\": $off, \"ratio\": $ratio," \
        "\"same_logits\": $same, \"runs\": $((2 * ROUNDS)), \"threads\": $THREADS, \"load\": $load}" >>"$OUT"
    [ $same = true ] && awk -v r="$ratio" -v f="$FLOOR" 'BEGIN { exit r >= f ? 0 : 1 }' || failed=1
done
exit $failed
