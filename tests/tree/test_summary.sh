#!/bin/sh
# What the end of `make test` says, on two small suites of real ctest runs: every count, every reason, and that nothing
# which did not run is taken for passed.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
root=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
expect() # file, line
{
    grep -qxF -- "$2" "$1" || { cat "$1" >&2; fail "no line \"$2\""; }
}

mkdir -p "$dir/one" "$dir/two"
cd "$dir"
cat >one/CTestTestfile.cmake <<'END'
add_test(room/pass "/bin/sh" "-c"
    "echo 'seed 7, from the commit; and so on'; echo 'SKIPPED level amx: the processor lacks it'")
add_test(room/again "/bin/sh" "-c" "for i in 1 2; do echo 'SKIPPED level amx: the processor lacks it'; done")
add_test(room/skip "/bin/sh" "-c" "echo 'skipped: no git'; exit 77")
set_tests_properties(room/skip PROPERTIES SKIP_RETURN_CODE 77)
END
cp one/CTestTestfile.cmake two/
cat >>two/CTestTestfile.cmake <<'END'
add_test(room/fail "/bin/sh" "-c" "exit 3")
add_test(room/slow "/bin/sleep" 30)
set_tests_properties(room/slow PROPERTIES TIMEOUT 1)
add_test(room/crash "/bin/sh" "-c" "kill -SEGV $$")
add_test(room/gone "/nowhere/at_all")
add_test(room/off "/bin/true")
set_tests_properties(room/off PROPERTIES DISABLED TRUE)
END
sh "$root/tests/support/run_suite.sh" good one >/dev/null || fail "a suite without a failure fails"
if sh "$root/tests/support/run_suite.sh" bad two >/dev/null 2>&1; then
    fail "a suite with failures passes"
fi

python3 "$root/tests/support/summary.py" build/suites good >out || fail "the good suite is not good"
[ "$(tail -n 1 out)" = "2 passed, 0 failed, 1 skipped" ] || fail "the last line is $(tail -n 1 out)"
expect out "1 tests were skipped:"
expect out "  no git"
expect out "      good room/skip"
expect out "1 cases, levels or devices were left out by tests that ran:"
expect out "  level amx: the processor lacks it"
expect out "      good room/pass, good room/again"
expect out "seed of random cases: 7 (MYTHOS_TEST_SEED=7 repeats them)"

if python3 "$root/tests/support/summary.py" build/suites good bad >out; then
    fail "failed tests end with 0"
fi
[ "$(tail -n 1 out)" = "4 passed, 4 failed, 3 skipped" ] || fail "the last line is $(tail -n 1 out)"
expect out "  disabled"

if python3 "$root/tests/support/summary.py" build/suites good none >out; then
    fail "a suite that did not run ends with 0"
fi
expect out "none: this suite did not run to its end"
[ "$(tail -n 1 out)" = "2 passed, 0 failed, 1 skipped" ] || fail "the last line is $(tail -n 1 out)"
echo "counts of two suites are added, reasons are named"
