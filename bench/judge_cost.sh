#!/bin/sh
# judge_cost.sh - what questions about the places of a function cost beside reading it: `mythos candidates --judge` on a
# function that this script writes, with 40 places and more.
#
# MYTHOS     the program (build/mythos)
# MODELS     models (random:gemma3-270m:q8_0 random:gemma3-1b:q8_0)
# TOKENIZER  a tokenizer.json for random: models; without it their tokens are bytes
# REPEAT     runs of each model (3), of which the median of the share is printed
#
# Prints     model,places,prompt_tokens,question_tokens,prompt_s,question_s,share   share: question_s / prompt_s
set -eu
cd "$(dirname "$0")/.."
MYTHOS=${MYTHOS:-build/mythos}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

{
    echo '#include <stdio.h>'
    echo '#include <stdlib.h>'
    echo '#include <string.h>'
    echo 'int f(const char *s, int n, char *cmd)'
    echo '{'
    echo '    char buf[16], other[32];'
    for i in 0 1 2 3; do
        cat <<CODE
    char *p$i = malloc(n * $((i + 4)));
    memcpy(p$i, s, n);
    strcpy(buf, s);
    sprintf(other, "%s-%d", s, $i);
    FILE *f$i = fopen(s, "r");
    if (n == $i)
        return $i;
    fread(buf, 1, n, f$i);
    if (cmd[$i] == 'x' && n > $i) {
        system(cmd);
        printf(s);
    }
    for (int i = 0; i <= n; i++)
        buf[i] = s[i];
    free(p$i);
    p${i}[0] = 'x';
    char *q$i = realloc(p$i, n + $i);
    strcat(q$i, cmd);
CODE
    done
    echo '    return n;'
    echo '}'
} >"$dir/many.c"

echo model,places,prompt_tokens,question_tokens,prompt_s,question_s,share
for model in ${MODELS:-random:gemma3-270m:q8_0 random:gemma3-1b:q8_0}; do
    for _ in $(seq "${REPEAT:-3}"); do
        "$MYTHOS" candidates "$dir/many.c" --judge -m "$model" ${TOKENIZER:+--tokenizer "$TOKENIZER"} --format json \
            2>"$dir/said" || { cat "$dir/said" >&2 && exit 1; }
    done | python3 -c '
import json, statistics, sys
decoder, text, runs = json.JSONDecoder(), sys.stdin.read().strip(), []
while text:
    report, end = decoder.raw_decode(text)
    runs.append(report["judged"])
    text = text[end:].strip()
runs.sort(key=lambda r: r["question_seconds"] / r["prompt_seconds"])
r = runs[(len(runs) - 1) // 2]
print(sys.argv[1], r["places"], r["prompt_tokens"], r["question_tokens"], round(r["prompt_seconds"], 3),
      round(r["question_seconds"], 3), round(r["question_seconds"] / r["prompt_seconds"], 3), sep=",")' "$model"
done
