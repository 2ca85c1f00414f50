#!/bin/sh
# inspect-change.sh BASE [HEAD] - inspects what HEAD changes since it left BASE, in the git checkout of the current
# folder. Where HEAD is a merge that a service made of a request, BASE is its first parent, HEAD^1: of an older commit of
# the base branch what others merged since would count as a change. Writes REPORTS/findings.sarif, findings.json,
# findings.codequality.json and findings.txt, prints annotations where the service reads them. The variables are in
# README.md. The exit code is the inspector's.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: inspect-change.sh BASE [HEAD]" >&2
    exit 2
fi
base=$1
head=${2:-HEAD}
mythos=${MYTHOS:-mythos}
reports=${REPORTS:-mythos-reports}

for commit in "$base" "$head"; do
    if ! git rev-parse -q --verify "$commit^{commit}" >/dev/null; then
        echo "inspect-change.sh: $commit is no commit of this checkout; fetch both sides (fetch-depth: 0)" >&2
        exit 2
    fi
done
mkdir -p "$reports"

# An index makes callers and tests known to the prompt. One that lost something (exit 3) still serves, and where there
# is no place for one (exit 73) or nothing to put into it (66: the change took the last file) the inspection goes on
# without.
code=0
"$mythos" index -q . || code=$?
case $code in 0 | 3 | 66 | 73) ;; *) exit "$code" ;; esac

form=text
[ "${GITHUB_ACTIONS:-}" = true ] && form=github
code=0
"$mythos" inspect-diff --fail-level "${MYTHOS_FAIL_LEVEL:-high}" --format "$form" \
    --output sarif="$reports/findings.sarif" --output json="$reports/findings.json" \
    --output codequality="$reports/findings.codequality.json" --output text="$reports/findings.txt" \
    "$base...$head" || code=$?
if [ "$code" -eq 3 ] && [ "${MYTHOS_ALLOW_INCOMPLETE:-0}" = 1 ]; then
    echo "inspect-change.sh: not everything was inspected; $reports/findings.txt names it" >&2
    code=0
fi
exit "$code"
