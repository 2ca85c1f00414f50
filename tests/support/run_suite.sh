#!/bin/sh
# run_suite.sh NAME DIR [OPTION ...] - runs ctest over the build folder DIR and keeps what summary.py reads: the log and
# the counts, as build/suites/NAME.log and NAME.xml.
mkdir -p build/suites || exit 1
kept=$PWD/build/suites/$1
dir=$2
shift 2
rm -f "$kept.log" "$kept.xml"
ctest --output-on-failure --no-tests=error -j "$(nproc)" --test-dir "$dir" --output-junit "$kept.xml" "$@"
code=$?
cp "$dir/Testing/Temporary/LastTest.log" "$kept.log"
exit $code
