#!/bin/sh
# run_suite.sh NAME DIR [OPTION ...] - runs ctest over the build folder DIR and keeps what summary.py reads: the log and
# the counts, as build/suites/NAME.log and NAME.xml. Temporary files are kept in memory where TMPDIR is not set and
# memory has room for them: many tests write thousands of small files.
mkdir -p build/suites || exit 1
kept=$PWD/build/suites/$1
dir=$2
shift 2
rm -f "$kept.log" "$kept.xml"
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 {print $4}')" -ge 4194304 ] &&
    [ "$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)" -ge 12582912 ]; then
    TMPDIR=/dev/shm
    export TMPDIR
fi
ctest --output-on-failure --no-tests=error -j "$(nproc)" --test-dir "$dir" --output-junit "$kept.xml" "$@"
code=$?
cp "$dir/Testing/Temporary/LastTest.log" "$kept.log"
exit $code
