#!/bin/sh
# The HTML report in a browser (html_page.py): filters, keys, no console errors, at three widths. Full runs only:
# they have Chromium.
if [ "${MYTHOS_TEST_FULL:-}" != 1 ]; then
    echo "needs a browser: runs with MYTHOS_TEST_FULL=1"
    exit 77
fi
if ! command -v chromium >/dev/null; then
    echo "chromium is missing: ./setup.sh full installs it"
    exit 1
fi
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=${MYTHOS_TEST_SHOTS:-$dir}

# Code that closes tags and turns text, so that the page shows it rather than does it.
{
    cat tests/corpus/inspect/10_tty.c tests/corpus/demo.c
    printf 'const char *s = "</script><script>throw 1</script><img src=x onerror=throw>\342\200\256";\n'
    printf 'char b[4];\nvoid f(char *p) { printf(p); strcpy(b, p); }\n'
} >"$dir/page.c"
code=0
"$MYTHOS_BIN" inspect-file -q "$dir/page.c" --split --format html >"$dir/page.html" || code=$?
[ "$code" -eq 1 ] || { echo "exit $code, expected findings"; exit 1; }
python3 tests/frontend/inspect/report/html_page.py "$dir/page.html" "$out"
for name in desktop phone; do
    [ "$(wc -c <"$out/$name.png")" -gt 10000 ] || { echo "$name.png is empty"; exit 1; }
done
