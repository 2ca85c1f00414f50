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

# The filters leave the summary of a change alone, though it has no findings.
mkdir "$dir/r"
printf 'int door_key_opens(long bit)\n{\n    return bit == 8;\n}\n' >"$dir/r/door.c"
git -C "$dir/r" init -q
git -C "$dir/r" add -A
git -C "$dir/r" -c user.name=n -c user.email=e@e commit -qm 1
printf 'int door_key_opens(long bit)\n{\n    return bit == 8 || bit == 1024;\n}\n' >"$dir/r/door.c"
seed=0
said() { sed '/id="findings"/q' "$1" | grep -q '<section class="place">'; }
while [ $seed -lt 40 ]; do
    seed=$((seed + 1))
    "$MYTHOS_BIN" inspect-diff --summary -q -C "$dir/r" -m "random:gemma3-tiny:q8_0:$seed" -n 600 --temp 1.2 \
        --format html >"$dir/sum.html" || [ $? -le 3 ]
    ! said "$dir/sum.html" || break
done
chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --dump-dom "file://$dir/sum.html" \
    2>/dev/null >"$dir/dom"
said "$dir/dom" || { echo "the page hides the summary"; exit 1; }
for name in desktop phone; do
    [ "$(wc -c <"$out/$name.png")" -gt 10000 ] || { echo "$name.png is empty"; exit 1; }
done
