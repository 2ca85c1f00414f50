#!/bin/sh
# prefill_skip.sh - measures how much faster --kv-skip makes a prompt (tok/s with the skip on and off, alternating), and
# checks that the logits are the same bit for bit.
#
#   bench/prefill_skip.sh [model ...]     a .gguf file, or random:SIZE:TYPE; default: random:gemma4-e2b:q8_0
#
# MYTHOS   the command (build/mythos)
# THREADS  2
# PROMPT   tokens of the prompt (512)
# ROUNDS   how often on off off on is run (3, which is six fresh processes for each side)
# WORK     folder for the file of a random: model, which is written once and kept (bench/out)
# FLOOR    the smallest ratio that passes (2.5)
# NICE     prefix of every measuring command, such as "chrt -f 5" on a machine that others use
# OUT      file for one JSON line per model (none)
#
# Expected Gemma 4 E2B has 35 layers, of which 15 make keys; their feed-forwards are half as wide as those of the other
#          20. Of the 30 layers of Gemma 3n E2B, 20 make keys
# Rules    every measurement is a fresh process, in the order A B B A; results are medians. The load average is printed:
#          figures of a loaded machine mean little
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
