#!/bin/sh
# --since in every inspect command, with the shipped model: findings are about changed lines alone, nothing changed is
# nothing to inspect, a baseline beside it keeps what was not looked at, and a run with it can be replayed.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
model=models/mythos-inspect.gguf
[ -f "$model" ] || { echo "no $model"; exit 77; }
command -v git >/dev/null || { echo "no git"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
MYTHOS_MODEL=$(readlink -f "$model")
mythos=$(readlink -f "$MYTHOS_BIN")
HOME=$dir
XDG_CACHE_HOME=$dir/cache
XDG_STATE_HOME=$dir/state
GIT_CONFIG_GLOBAL=$dir/gitconfig
export MYTHOS_MODEL HOME XDG_CACHE_HOME XDG_STATE_HOME GIT_CONFIG_GLOBAL
unset XDG_CONFIG_HOME || true
git config --global user.email a@b
git config --global user.name a
mkdir -p "$dir/r/src"
cd "$dir/r"
cat >src/tty.c <<'END'
#include <stdlib.h>
#include <string.h>

void tty_title(const char *filename)
{
	char command[256];
	sprintf(command, "title %s", filename);
	system(command);
}

int tty_width(int n)
{
	return n + 1;
}

void tty_show(const char *filename, char *out)
{
	return;
}
END
git init -q
git add -A
git commit -qm one

run() { code=0; "$mythos" "$@" --format json -q >"$dir/json" 2>"$dir/err" || code=$?
    [ $code -le 1 ] || fail "$*: exit $code: $(cat "$dir/err")"; }
# ranges of the findings, as "7-8 17-17"
found() { python3 - "$dir/json" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["complete"], d
print(*sorted("%d-%d" % tuple(f["lines"]) for f in d["findings"]))
END
}
within() { python3 - "$dir/json" "$@" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
changed = set(map(int, sys.argv[2:]))
assert d["since"] == "HEAD", d
assert d["findings"], "nothing is found"
for f in d["findings"]:
    assert changed & set(range(f["lines"][0], f["lines"][1] + 1)), f
END
}

run inspect-file src/tty.c
[ -n "$(found)" ] || fail "the planted defect is not found"

# nothing changed
for what in "inspect-file src/tty.c" "inspect-symbol tty_title" "inspect-topic title --findings"; do
    run $what --since HEAD
    [ $code -eq 0 ] && [ -z "$(found)" ] || fail "$what: findings about what did not change: $(cat "$dir/json")"
done
"$mythos" inspect-file src/tty.c --since HEAD >"$dir/out" 2>"$dir/err"
grep -q 'no inspected line changed since HEAD' "$dir/err" || fail "not said: $(cat "$dir/err")"

# another function changed
sed -i 's/^\treturn;/\tstrcpy(out, filename);\n\tsystem(filename);/' src/tty.c
run inspect-file src/tty.c
all=$(found)
run inspect-file src/tty.c --since HEAD
within 18 19
python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["unwanted_findings"] > 0' "$dir/json" ||
    fail "nothing was left out"
[ $code -eq 1 ] || fail "a new HIGH finding is exit $code"
run inspect-topic "show a title" --findings --since HEAD
within 18 19
run inspect-symbol tty_show --since HEAD
within 18 19
run inspect-symbol tty_title --since HEAD
[ -z "$(found)" ] || fail "inspect-symbol: $(cat "$dir/json")"
run inspect-diff --since HEAD --filter-mode nofilter
within 18 19
git add -A
run inspect-diff --staged --since HEAD
within 18 19
git commit -qm two
run inspect-diff HEAD~1..HEAD --since HEAD~1
[ -n "$(found)" ] || fail "range: nothing found"
run inspect-diff HEAD~1..HEAD --since HEAD
[ -z "$(found)" ] || fail "range beside itself: $(cat "$dir/json")"
"$mythos" inspect-file src/tty.c --since HEAD~1 --no-log >"$dir/out" 2>/dev/null || true
grep -q 'changes since HEAD~1 alone' "$dir/out" || fail "the text does not say so: $(cat "$dir/out")"
"$mythos" inspect-file src/tty.c --since HEAD~1 --no-log --format sarif >"$dir/out" 2>/dev/null || true
grep -q '"since":"HEAD~1"' "$dir/out" || fail "sarif does not say so"

# with a baseline: what is known does not count, and what was not looked at stays known
"$mythos" inspect-file src/tty.c -q --no-log --baseline "$dir/base" --update-baseline >/dev/null ||
    fail "baseline: exit $?"
cp "$dir/base" "$dir/whole"
run inspect-file src/tty.c --since HEAD~1 --baseline "$dir/base"
[ $code -eq 0 ] || fail "known findings count: $(cat "$dir/json")"
run inspect-file src/tty.c --since HEAD~1 --baseline "$dir/base" --update-baseline
cmp "$dir/base" "$dir/whole" || fail "an update beside --since took findings out of the baseline"
rm "$dir/base"
run inspect-file src/tty.c --since HEAD~1 --baseline "$dir/base" --update-baseline
[ "$(grep -c fingerprint "$dir/base")" -lt "$(grep -c fingerprint "$dir/whole")" ] ||
    fail "the baseline has findings that were left out"
run inspect-file src/tty.c
[ -n "$all" ] && [ $code -eq 1 ] || fail "without --since: $code"

# a finding that lines which are gone brought, in an old line far below them
mkdir "$dir/gone"
cd "$dir/gone"
git init -q
cat >f.c <<'END'
#include <stdlib.h>

char *f(int n)
{
	char *p = malloc(n);
	if (!p)
		return p;
	n += 2;
	n *= 3;
	n -= 1;
	p[0] = (char)n;
	return p;
}
END
git add -A
git commit -qm one
sed -i '/if (!p)/,/return p;/{/if (!p)/d;0,/return p;/d}' f.c
for since in '' '--since HEAD'; do
    run inspect-diff --find candidates --confidence 0 --rules missing-null-check --fail-level never $since
    [ "$(found)" = "6-6" ] || fail "a use whose test is gone, with '$since': $(found)"
done
git commit -qam two
run inspect-diff HEAD~1 --find candidates --confidence 0 --rules missing-null-check --fail-level never --since HEAD
[ "$(found)" = "" ] || fail "a use whose test was gone before: $(found)"
cd "$dir/r"

# a replay gives the same bytes; a revision that is another now is said
run inspect-file src/tty.c --since HEAD~1
"$mythos" log replay >"$dir/out" || fail "replay: $(cat "$dir/out")"
git commit -q --allow-empty -m three
git commit -q --allow-empty -m four
code=0
"$mythos" log replay --json >"$dir/out" || code=$?
grep -q 'the since has changed' "$dir/out" || fail "replay beside another revision: exit $code: $(cat "$dir/out")"

# refused
expect() { want=$1; shift; code=0; "$mythos" "$@" >"$dir/out" 2>"$dir/err" </dev/null || code=$?
    [ $code -eq "$want" ] || fail "$*: exit $code, expected $want: $(cat "$dir/err")"; }
expect 2 inspect-file src/tty.c --since nowhere
expect 2 inspect-file - --since HEAD
expect 2 inspect-file src/tty.c --since HEAD~1..HEAD
cp src/tty.c "$dir/lone.c"
(cd "$dir" && expect 66 inspect-file lone.c --since HEAD)
