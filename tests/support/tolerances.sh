#!/bin/sh
# tolerances.sh LOG - per test and device of a ctest log: the cases run and the largest share of the tolerance that one
# used.
exec awk '
function add(device, n, share)
{
    key = test " " device
    if (!(key in cases))
        order[++n_key] = key
    cases[key] += n
    if (share > most[key])
        most[key] = share
}
/^[0-9]+\/[0-9]+ Test: / { test = $3; device = "" }
# kernels: a target, then a line an op
/^target / { device = $2 ($3 == "exact" ? " exact" : "") }
/ cases  worst / { add(device, $2, $7 / 100) }
# engine: models against transformers, types against their own values, vectors
/largest share of the tolerance of / {
    n = $0
    sub(/ models, .*/, "", n)
    device = n
    sub(/: [0-9]+$/, "", device)
    sub(/.*: /, "", n)
    add(device, n, $NF)
}
/ share of the tolerance: / && test ~ /block_types/ {
    device = $2 ($3 == "exact" ? " exact" : "")
    rest = $0
    sub(/.*tolerance: /, "", rest)
    n = split(rest, how, ", ")
    for (i = 1; i <= n; i++) {
        n_word = split(how[i], word, " ")
        add(device, 1, word[n_word] + 0)
    }
}
/ share of the tolerance of / && test ~ /embed/ { add($2 ($3 == "exact" ? " exact" : ""), 1, $NF) }
END {
    if (!n_key)
        exit 1
    printf("%-28s %-16s %6s  %s\n", "test", "device", "cases", "largest share of the tolerance")
    for (i = 1; i <= n_key; i++) {
        test = order[i]
        sub(/ .*/, "", test)
        device = order[i]
        sub(/^[^ ]* /, "", device)
        printf("%-28s %-16s %6d  %.3f\n", test, device, cases[order[i]], most[order[i]])
    }
}' "$1"
