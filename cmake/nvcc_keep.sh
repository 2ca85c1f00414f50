#!/bin/sh
# nvcc_keep.sh REPORT COMMAND... - runs the command with its standard error kept in REPORT, and shows it when the
# command fails.
report=$1
shift
if "$@" 2>"$report"; then
    exit 0
fi
code=$?
cat "$report" >&2
rm -f "$report"
exit "$code"
