#!/bin/sh
# inspect-symbol, inspect-topic, inspect-diff and symbols on a repository with planted regressions, with the shipped
# model: what is shown, from which side, what counts, exit codes, and that every finding cites lines of the new side.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
source=$PWD
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
GIT_CONFIG_GLOBAL=$dir/gitconfig
export MYTHOS_MODEL HOME XDG_CACHE_HOME GIT_CONFIG_GLOBAL
unset XDG_CONFIG_HOME || true
git config --global user.email a@b
git config --global user.name a
git config --global init.defaultBranch main

r=$dir/r
mkdir -p "$r/src" "$r/tests"
cat >"$r/src/store.py" <<'END'
"""A store of sessions."""
import json


class Store:
    """Keeps sessions by key."""

    def __init__(self, rows):
        self.rows = rows

    def load(self, key):
        value = self.rows[key]
        session = json.loads(value)
        if session is None:
            return None
        return session

    def size(self):
        return len(self.rows)


def old_helper(value):
    return eval(value)
END
cat >"$r/src/tty.c" <<'END'
#include <stdlib.h>
#include <string.h>

int tty_width(int n)
{
	return n + 1;
}

void tty_show(const char *filename, char *out, size_t cap)
{
	size_t n = strlen(filename);
	if (n < cap)
		memcpy(out, filename, n + 1);
}
END
cat >"$r/src/app.py" <<'END'
from src.store import Store


def handler(request):
    store = Store(request.rows)
    return store.load(request.key)
END
cat >"$r/tests/test_store.py" <<'END'
from src.store import Store


def test_load():
    store = Store({"a": "1"})
    assert store.load("a") == 1
END
echo 'gone' >"$r/src/gone.txt"
cd "$r"
git init -q
git add -A
git commit -qm one

# what a dry run shows a model that takes context: "path first last symbol" of every block
shown() { "$mythos" "$@" -m random:gemma3-tiny:f32 --prompt-style full --dry-run --format json -q >"$dir/dry" ||
    fail "$*: exit $?"
    python3 -c 'import json,sys
for p in json.load(open(sys.argv[1])).get("parts", []):
    for b in p["blocks"]: print(b["file"], b["first"], b["last"], b["symbol"] or "-")' "$dir/dry" |
        sort -u >"$dir/shown"; }
has() { grep -qx "$1" "$dir/shown" || fail "$2: no block '$1' in: $(cat "$dir/shown")"; }
lacks() { ! grep -q "$1" "$dir/shown" || fail "$2: '$1' is shown: $(cat "$dir/shown")"; }

# nothing changed: nothing to inspect, exit 0, a whole report
"$mythos" inspect-diff --format json -q >"$dir/json" || fail "no change: exit $?"
python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert d["findings"] == [] and d["complete"], d' \
    "$dir/json"

# ---- the working tree: changed functions with their callers and tests; what did not change is not there
python3 - <<'END'
def edit(path, *pairs):
    s = open(path).read()
    for a, b in pairs:
        assert a in s
        s = s.replace(a, b)
    open(path, "w").write(s)
edit("src/store.py", ("import json", "import pickle"), ("json.loads", "pickle.loads"))
edit("src/tty.c", ("\tif (n < cap)\n\t\tmemcpy(out, filename, n + 1);\n",
                   "\tsystem(filename);\n\tstrcpy(out, filename);\n"))
END
git rm -q src/gone.txt
shown inspect-diff
has 'src/store.py 11 16 Store.load' "working tree"
has 'src/app.py 4 6 handler' "working tree"
has 'tests/test_store.py 4 6 test_load' "working tree"
has 'src/tty.c 9 14 tty_show' "working tree"
lacks 'old_helper' "working tree"
lacks 'tty_width' "working tree"
"$mythos" inspect-diff --dry-run 2>"$dir/err" >/dev/null
grep -q '2 of 3 files shown, 2 changed definitions; 4 lines added, 5 removed, 1 file deleted' "$dir/err" ||
    fail "counts: $(cat "$dir/err")"
grep -q 'not shown: src/gone.txt: it is deleted' "$dir/err" || fail "deleted: $(cat "$dir/err")"

# what was removed stands beside the definition that it was removed from, and is counted; the shipped model was trained
# without removed lines and gets none, which is said
python3 -c 'import json,sys
n = {}
for p in json.load(open(sys.argv[1]))["parts"]:
    for b in p["blocks"]: n[b["symbol"]] = (b["removed_lines"], b["removed_hidden"])
assert n["Store.load"] == (1, 0) and n["tty_show"] == (2, 0) and n["handler"] == (0, 0), n' "$dir/dry"
"$mythos" inspect-diff -m random:gemma3-tiny:f32 --prompt-style full -n 1 --log "$dir/runs.db" -q >"$dir/out" || true
"$mythos" log show --log "$dir/runs.db" --prompts >"$dir/shown" 2>"$dir/err" || fail "log show: $(cat "$dir/err")"
grep -q '^regression: the change removes' "$dir/shown" || fail "no rule of a change in: $(cat "$dir/shown")"
"$mythos" inspect-symbol load -m random:gemma3-tiny:f32 --prompt-style full -n 1 --log "$dir/runs.db" -q >"$dir/out" ||
    true
"$mythos" log show --log "$dir/runs.db" --prompts >"$dir/other" 2>"$dir/err" || fail "log show: $(cat "$dir/err")"
grep -q '^other: ' "$dir/other" && ! grep -q '^regression: ' "$dir/other" || fail "rules: $(cat "$dir/other")"
printf '13|\tstrcpy(out, filename);\n14|}\n</file>\n<removed path="src/tty.c" before="12">\n-|\tif (n < cap)\n' \
    >"$dir/want"
tr '\n' '~' <"$dir/shown" >"$dir/line"
grep -qF "$(tr '\n' '~' <"$dir/want")" "$dir/line" || fail "no removed lines in: $(cat "$dir/shown")"
"$mythos" inspect-diff --dry-run 2>"$dir/err" >"$dir/out"
grep -q '4 removed lines are not shown to this model' "$dir/err" || fail "removed: $(cat "$dir/err")"

# the shipped model was trained on one block at a time
"$mythos" inspect-diff --dry-run --format json -q >"$dir/dry"
python3 -c 'import json,sys
for p in json.load(open(sys.argv[1]))["parts"]: assert len(p["blocks"]) == 1, p' "$dir/dry"

# findings cite what is on the new side, inside what counts
code=0
"$mythos" inspect-diff --format json -q >"$dir/json" || code=$?
[ $code -eq 0 ] || [ $code -eq 1 ] || fail "inspect-diff: exit $code"
whole=True # whether the report has to be complete
check() { python3 - "$dir/json" $whole "$@" <<'END'
import json, subprocess, sys
d = json.load(open(sys.argv[1]))
whole, side, want = sys.argv[2] == "True", sys.argv[3], sys.argv[4:]
for f in d["findings"]:
    path, first, last = f["file"], f["lines"][0], f["lines"][1]
    if side == "tree":
        text = open(path).read()
    else:
        text = subprocess.run(["git", "show", side + path], capture_output=True, check=True, text=True).stdout
    lines = text.split("\n")
    assert 1 <= first <= last <= len(lines), f
    assert any(f["evidence"] in l for l in lines[first - 1:last]), (f, lines[first - 1:last])
    assert path in want, f
assert d["complete"] == whole == (not d["not_inspected"]), d
print(len(d["findings"]), "findings, all on the new side")
END
}
check tree src/store.py src/tty.c
for rule in unsafe-deserialization shell-injection; do
    grep -q "\"$rule\"" "$dir/json" || fail "a planted regression is not found, $rule: $(cat "$dir/json")"
done
# findings of changed lines only
"$mythos" inspect-diff --filter-mode added --format json -q >"$dir/json" || true
python3 -c 'import json,sys
changed = {"src/store.py": {2, 13}, "src/tty.c": {12, 13}}
for f in json.load(open(sys.argv[1]))["findings"]:
    assert changed[f["file"]] & set(range(f["lines"][0], f["lines"][1] + 1)), f' "$dir/json"

# ---- the sides differ: the index has the change, the working tree something else
git add -A
cp src/store.py "$dir/store.staged"
sed 's/^import pickle/import pickle\n\n\n# three lines\n# more\n# up here/' "$dir/store.staged" >src/store.py
shown inspect-diff --staged
has 'src/store.py 11 16 Store.load' "staged"
shown inspect-diff
has 'src/store.py 16 21 Store.load' "working tree over the index"
"$mythos" inspect-diff --staged --format json -q >"$dir/json" || true
check : src/store.py src/tty.c
git commit -qm two
echo '# later' >>src/store.py
shown inspect-diff HEAD~1..HEAD
has 'src/store.py 11 16 Store.load' "range"
has 'src/app.py 4 6 handler' "range"
"$mythos" inspect-diff HEAD~1..HEAD --format json -q >"$dir/json" || true
check HEAD: src/store.py src/tty.c
shown inspect-diff HEAD~1
has 'src/store.py 16 21 Store.load' "REV beside the working tree"
git checkout -q src/store.py

# a line that the change did not touch gets no finding, though its definition is shown; it is counted, and said
sed -i 's/= strlen(filename);/= strlen(filename) + 1;/' src/tty.c
"$mythos" inspect-diff --format json >"$dir/json" 2>"$dir/err" || true
"$mythos" inspect-diff --all-lines --format json -q >"$dir/all" || true
python3 - "$dir/json" "$dir/all" <<'END'
import json, sys
own, every = (json.load(open(p)) for p in sys.argv[1:])
touched = lambda f: f["lines"][0] <= 11 <= f["lines"][1]
assert all(touched(f) for f in own["findings"]), own
assert any(not touched(f) for f in every["findings"]), every
assert own["unwanted_findings"] == len(every["findings"]) - len(own["findings"]) > 0, own
assert every["unwanted_findings"] == 0, every
END
grep -q 'about lines that the change did not touch; --all-lines reports them' "$dir/err" || fail "$(cat "$dir/err")"
git checkout -q src/tty.c

# untracked files are counted and named; asked for, they are new, and one that an old file was moved to is not
printf 'def fresh(value):\n    return value\n' >src/fresh.py
echo 'src/ignored.py' >>.git/info/exclude
echo 'x = 1' >src/ignored.py
sed -i 's/return n + 1/return n + 3/' src/tty.c
shown inspect-diff
has 'src/tty.c 4 7 tty_width' "beside untracked"
lacks 'fresh' "untracked"
"$mythos" inspect-diff --dry-run 2>"$dir/err" >"$dir/out"
grep -qF '1 untracked file not inspected (src/fresh.py); --untracked inspects it' "$dir/err" ||
    fail "untracked: $(cat "$dir/err")"
shown inspect-diff --untracked
has 'src/fresh.py 1 2 -' "--untracked"
lacks 'ignored' "--untracked"
"$mythos" inspect-diff --untracked --dry-run 2>"$dir/err" >"$dir/out"
! grep -q 'untracked file' "$dir/err" || fail "--untracked: $(cat "$dir/err")"
shown inspect-diff -C src --untracked
has 'src/fresh.py 1 2 -' "--untracked below"
rm src/fresh.py src/ignored.py
git checkout -q src/tty.c
git config diff.renames false
mv src/tty.c src/moved.c
sed -i 's/return n + 1/return n + 2/' src/moved.c
shown inspect-diff --untracked
has 'src/moved.c 4 7 tty_width' "moved"
lacks 'tty_show' "moved"
git add -A
shown inspect-diff --staged
has 'src/moved.c 4 7 tty_width' "moved, staged"
lacks 'tty_show' "moved, staged"
git config --unset diff.renames
git reset -q --hard

# a function that moved to another file is not new there; what was removed is shown where it was
python3 - <<'END'
s = open("src/store.py").read()
at = s.index("\n\ndef old_helper")
open("src/app.py", "a").write(s[at:])
open("src/store.py", "w").write(s[:at])
END
shown inspect-diff
lacks 'app.py .*old_helper' "moved to another file"
grep -q '^src/store.py' "$dir/shown" || fail "moved: nothing of where it was: $(cat "$dir/shown")"
"$mythos" inspect-diff --dry-run 2>"$dir/err" >"$dir/out"
grep -q '[45] lines were moved from another place of the change, not new' "$dir/err" || fail "moved: $(cat "$dir/err")"
git reset -q --hard

# ---- a patch, from a file and from standard input; in a directory below
git diff HEAD~1 HEAD >"$dir/p.diff"
shown inspect-diff --diff "$dir/p.diff"
has 'src/store.py 11 16 Store.load' "patch"
shown inspect-diff --diff - <"$dir/p.diff"
has 'src/tty.c 9 14 tty_show' "standard input"
shown inspect-diff -C src HEAD~1
has 'src/store.py 11 16 Store.load' "a directory below"
has 'tests/test_store.py 4 6 test_load' "context from outside of a directory below"
shown inspect-diff -C tests HEAD~1
[ ! -s "$dir/shown" ] || fail "a directory without changes: $(cat "$dir/shown")"
# a patch whose paths begin at the folder, or, as git writes them, at the top
git diff --relative=src HEAD~1 HEAD >"$dir/below.diff"
for p in below p; do
    shown inspect-diff -C src --diff "$dir/$p.diff"
    has 'src/store.py 11 16 Store.load' "a patch in a directory below, $p"
done
git mv src/tty.c 'src/t ty.c'
sed -i 's/return n + 1/return n + 2/' 'src/t ty.c'
shown inspect-diff
has 'src/t ty.c 4 7 tty_width' "renamed, with a blank"
git reset -q --hard

# ---- what is refused, and what never leaves the root
expect() { want=$1; shift; code=0; "$mythos" "$@" >"$dir/out" 2>"$dir/err" </dev/null || code=$?
    [ $code -eq "$want" ] || fail "$*: exit $code, expected $want: $(cat "$dir/err")"; }
expect 2 inspect-diff nothing..here
expect 2 inspect-diff HEAD~1..HEAD --staged
expect 2 inspect-diff HEAD --diff "$dir/p.diff"
expect 2 inspect-diff --all-lines --filter-mode added
expect 2 inspect-diff --untracked --staged
expect 2 inspect-diff --untracked HEAD~1..HEAD
expect 2 inspect-diff --untracked --diff "$dir/p.diff"
expect 66 inspect-diff -C "$dir/cache/.." 
expect 66 inspect-diff -C "$dir/nowhere"
printf 'diff --cc a\n@@@ -1 -1 +1 @@@\n++a\n' >"$dir/merge.diff"
expect 65 inspect-diff --diff "$dir/merge.diff"
head -c 200 "$dir/p.diff" >"$dir/cut.diff"
expect 65 inspect-diff --diff "$dir/cut.diff"
echo 'secret' >"$dir/outside.c"
ln -s "$dir/outside.c" src/link.c
for path in src/link.c ../outside.c; do
    printf -- '--- a/%s\n+++ b/%s\n@@ -0,0 +1 @@\n+secret\n' $path $path
done >"$dir/link.diff"
expect 3 inspect-diff --diff "$dir/link.diff" --format json
grep -q 'src/link.c: it is a symbolic link' "$dir/err" && grep -q 'it leaves\|leaves the directory' "$dir/err" ||
    fail "links: $(cat "$dir/err")"
! grep -q secret "$dir/out" || fail "a file outside was shown"
# a diff of another version: said, and not complete
printf -- '--- a/src/app.py\n+++ b/src/app.py\n@@ -90,0 +91 @@\n+x\n' >"$dir/other.diff"
expect 3 inspect-diff --diff "$dir/other.diff"
grep -q 'another version' "$dir/err" || fail "another version: $(cat "$dir/err")"
# so is one of several commits, whose lines are those of the texts in between, and one that was not applied
git checkout -q -b two
sed -i 's/return store.load(request.key)/return eval(request.key)/' src/app.py
git commit -qam 'the fault'
git diff main two >"$dir/first.diff"
sed -i '1i # one\n# two\n# three' src/app.py
git commit -qam 'lines above it'
git diff main two >"$dir/whole.diff"
git format-patch -q --stdout main >"$dir/pull.patch"
expect 0 inspect-diff --diff "$dir/whole.diff" --fail-level never
grep -q '1 of 1 file shown' "$dir/err" || fail "the whole change: $(cat "$dir/err")"
expect 3 inspect-diff --diff "$dir/pull.patch"
grep -q 'src/app.py: the patch changes it more than once' "$dir/err" || fail "several commits: $(cat "$dir/err")"
expect 3 inspect-diff --diff "$dir/first.diff"
grep -q 'differs: the diff is of another version' "$dir/err" || fail "an earlier commit: $(cat "$dir/err")"
git checkout -q main
expect 3 inspect-diff --diff "$dir/first.diff"
grep -q 'differs: the diff is of another version' "$dir/err" || fail "not applied: $(cat "$dir/err")"
# without a place for an index a change is inspected all the same, and a note says what is missing; what is asked of the
# index itself cannot be answered, with one exit code whatever the reason
git diff HEAD~1 HEAD >"$dir/p.diff"
: >"$dir/file"
for place in "$dir/file/x"; do
    code=0
    env -u HOME XDG_CACHE_HOME="$place" "$mythos" inspect-diff --diff "$dir/p.diff" --format json --fail-level never \
        >"$dir/json" 2>"$dir/err" || code=$?
    [ $code -eq 0 ] || fail "no place, $place: exit $code: $(cat "$dir/err")"
    grep -q 'no index, so no callers, callees and tests are context: .*XDG_CACHE_HOME' "$dir/err" ||
        fail "no place, $place: $(cat "$dir/err")"
    grep -q '"complete":true' "$dir/json" || fail "no place, $place: $(cat "$dir/json")"
    (unset HOME; XDG_CACHE_HOME=$place; shown inspect-diff --diff "$dir/p.diff")
    has 'src/store.py 11 16 Store.load' "no place, $place"
    lacks 'tests/test_store.py' "no place, $place"
    for command in index 'symbols load' 'inspect-symbol load'; do
        (unset HOME; XDG_CACHE_HOME=$place; expect 73 $command) || fail "$command, $place"
    done
done
# the repository's own settings run nothing
git config core.fsmonitor "touch $dir/ran"
git config diff.external "touch $dir/ran"
printf '*.py diff=evil filter=evil\n' >.gitattributes
git config diff.evil.textconv "touch $dir/ran; cat"
git config filter.evil.clean "touch $dir/ran; cat"
git config filter.evil.smudge "touch $dir/ran; cat"
echo '# x' >>src/app.py
expect 0 inspect-diff --dry-run
[ ! -e "$dir/ran" ] || fail "a program of the repository was run"
rm .gitattributes
git config --unset core.fsmonitor
git config --unset diff.external
git checkout -q .
rm -f src/link.c

# ---- symbol and topic
shown inspect-symbol Store.load
has 'src/store.py 11 16 Store.load' "symbol"
has 'src/app.py 4 6 handler' "symbol"
has 'tests/test_store.py 4 6 test_load' "symbol"
code=0
"$mythos" inspect-symbol Store.load --format json -q >"$dir/json" || code=$?
whole=False # the shipped model reads one definition at a time: the caller and the test are listed as not inspected
check tree src/store.py src/app.py tests/test_store.py
[ $code -eq 1 ] || [ $code -eq 3 ] || fail "inspect-symbol: exit $code"
for path in src/app.py tests/test_store.py; do
    grep -q "{\"path\":\"$path\",\"lines\":\[4,6\],\"why\":\"it is context" "$dir/json" ||
        fail "not listed: $path: $(cat "$dir/json")"
done
whole=True
expect 66 inspect-symbol Store.laod
grep -q 'near are load (src/store.py)' "$dir/err" || fail "nearest: $(cat "$dir/err")"
shown inspect-topic 'where are sessions loaded from the store' --findings
has 'src/store.py 11 16 load\|src/store.py .*' "topic"
"$mythos" inspect-topic 'where are sessions loaded from the store' --findings --format json >"$dir/json" \
    2>"$dir/err" || true
grep -q 'semantic: ' "$dir/err" || fail "topic does not say whether it is semantic: $(cat "$dir/err")"
check tree src/store.py src/app.py tests/test_store.py src/tty.c
"$mythos" inspect-topic 'where are sessions loaded from the store' --findings --rerank on --format json -q \
    >"$dir/json" ||
    [ $? -eq 1 ] || fail "rerank: exit $?"
check tree src/store.py src/app.py tests/test_store.py src/tty.c
expect 0 inspect-topic 'sessions of the store' --findings --rerank on --dry-run
expect 66 inspect-topic 'qqzzyyxx'
expect 2 inspect-topic 'x' --chunks 13

"$mythos" symbols load --json -q >"$dir/json" || fail "symbols: exit $?"
python3 - "$dir/json" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert len(d) == 1, d
s = d[0]
assert (s["path"], s["line"], s["kind"], s["name"]) == ("src/store.py", 11, "method", "load"), s
assert s["signature"] == "def load(self, key):", s
assert [(c["path"], c["line"]) for c in s["callers"]] == [("src/app.py", 6)] and s["callers"][0]["why"], s
assert [(t["path"], t["line"]) for t in s["tests"]] == [("tests/test_store.py", 6)], s
END
expect 1 symbols nothing_like_it --json
[ "$(cat "$dir/out")" = '[]' ] || fail "unknown: $(cat "$dir/out")"
expect 0 symbols Store.load
grep -q '^    src/app.py:6  handler  imports src.store and calls its method$' "$dir/out" ||
    fail "text: $(cat "$dir/out")"
expect 66 symbols x "$dir/nowhere"
# ---- the files that the model was measured with, as one change: no less is found among others than alone
# (tests/corpus/inspect)
corpus=$(cd "$source" && pwd)/tests/corpus/inspect
mkdir "$dir/c"
cd "$dir/c"
git init -q
git commit -q --allow-empty -m zero
cp "$corpus"/[0-9]* .
git add -A
"$mythos" inspect-diff --staged --format json -q >"$dir/json" || [ $? -eq 1 ] || fail "corpus: exit $?"
python3 - "$dir/json" "$corpus/expected.txt" <<'END'
import json, sys
want, need, most = {}, 0, 0
for line in open(sys.argv[2]):
    w = line.split()
    if line.startswith("hits >="): need = int(w[2])
    elif line.startswith("alarms <="): most = int(w[2])
    elif len(w) == 3 and not line.startswith("#"): want[w[0]] = (w[1], int(w[2]))
hit, alarms = set(), 0
for f in json.load(open(sys.argv[1]))["findings"]:
    rule, line = want[f["file"]]
    if f["rule"] == rule and abs(f["lines"][0] - line) <= 1: hit.add(f["file"])
    else: alarms += 1
assert need > 0 and len(hit) >= need and alarms <= most, (len(hit), need, alarms, most)
print(len(hit), "defects found, at least", need, "expected;", alarms, "alarms, at most", most)
END
# The code in a notebook's cells is not read: a change of one is not clean.
nb=$dir/nb
mkdir "$nb"
git -C "$nb" init -q
printf '{"cells":[{"cell_type":"code","source":["if m is None: return\\n"]}],"nbformat":4}\n' >"$nb/a.ipynb"
git -C "$nb" add -A
git -C "$nb" commit -qm one
sed -i 's/if m is None: return/pass/' "$nb/a.ipynb"
code=0
"$mythos" inspect-diff -C "$nb" --find candidates >"$dir/out" 2>"$dir/err" || code=$?
[ $code = 3 ] && grep -q '^not inspected: a.ipynb' "$dir/out" || fail "a notebook: $code $(cat "$dir/out" "$dir/err")"

# The same two commits, from the work tree, a bare clone and git's own folder; without commits these have no files.
g=$dir/given
mkdir "$g"
git -C "$g" init -q
printf 'int a(int n)\n{\n    return 9 / n;\n}\n' >"$g/a.c"
git -C "$g" add -A
git -C "$g" commit -qm one
printf 'int a(int n)\n{\n    return 8 / n;\n}\n' >"$g/a.c"
git -C "$g" commit -qam two
git clone -q --bare "$g" "$dir/given.git"
for at in "$g" "$dir/given.git" "$g/.git" "$g/.git/refs"; do
    "$mythos" inspect-diff HEAD^..HEAD -C "$at" --find candidates --dry-run >"$dir/two" 2>"$dir/err" || fail "$at: $?"
    grep -q '^1 of 1 file shown, 1 changed definition' "$dir/err" "$dir/two" || fail "$at: $(cat "$dir/err")"
done
for at in "$dir/given.git" "$g/.git"; do
    code=0
    "$mythos" inspect-diff HEAD^ -C "$at" >"$dir/two" 2>"$dir/err" || code=$?
    [ $code = 2 ] && grep -q 'say two commits: A..B' "$dir/err" || fail "$at: $code $(cat "$dir/err")"
done
# A partial clone has no old text of a file, and nothing here fetches one: what does is said.
git -C "$g" config uploadpack.allowFilter true
git clone -q --filter=blob:none "file://$g" "$dir/partial"
code=0
"$mythos" inspect-diff HEAD^ -C "$dir/partial" --find candidates >"$dir/out" 2>"$dir/err" || code=$?
[ $code = 74 ] && grep -q 'a clone made with a filter lacks it until git diff of the same revisions' "$dir/err" ||
    fail "a partial clone: $code $(cat "$dir/err")"
git -C "$dir/partial" diff HEAD^ >"$dir/out"
"$mythos" inspect-diff HEAD^ -C "$dir/partial" --find candidates >"$dir/out" 2>"$dir/err" ||
    fail "a partial clone with the texts: $? $(cat "$dir/err")"
echo "symbol, topic and diff show what they say, from the side they say"
