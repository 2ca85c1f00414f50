#!/bin/sh
# Every command line of the contract, as it is written, on the shipped fixture repository with the shipped models; with
# MYTHOS_TEST_FULL=1 on this source tree too: exit codes, keys of the JSON, and that each finding's evidence stands in
# the lines it cites, of a file as it is.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
export MYTHOS_FIND=model # the findings that the model that ships writes itself
source=$PWD
[ -f models/mythos-inspect.gguf ] || { echo "no models/mythos-inspect.gguf"; exit 77; }
command -v git >/dev/null || { echo "no git"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
mythos=$(readlink -f "$MYTHOS_BIN")
HOME=$dir
XDG_CACHE_HOME=$dir/cache
XDG_STATE_HOME=$dir/state
GIT_CONFIG_GLOBAL=$dir/gitconfig
export HOME XDG_CACHE_HOME XDG_STATE_HOME GIT_CONFIG_GLOBAL
unset XDG_CONFIG_HOME MYTHOS_MODEL || true
git config --global user.email a@b
git config --global user.name a
git config --global init.defaultBranch main
git config --global core.autocrlf false

cat >"$dir/look.py" <<'END'
"""look.py KIND FILE [ROOT]: whether what was printed is what the contract says of KIND.
ROOT: where the files of findings are."""
import json
import os
import re
import sys

kind, path, root = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "."
d = json.load(open(path))


def keys(row, *names):
    for n in names:
        assert n in row, f"{kind}: no \"{n}\" in {str(row)[:300]}"


def lines_of(name, first, last):
    text = open(os.path.join(root, name), "rb").read().decode("utf-8", "replace").split("\n")
    assert 1 <= first <= last <= len(text), (kind, name, first, last, len(text))
    return text[first - 1:last]


def hits(rows, is_line):
    assert isinstance(rows, list) and rows, f"{kind}: nothing is found"
    for r in rows:
        keys(r, "path", "start_line", "end_line", "symbol", "kind", "score", "parts", "text")
        assert not os.path.isabs(r["path"]) and isinstance(r["parts"], dict), r
        lines = lines_of(r["path"], r["start_line"], r["end_line"])
        assert (r["text"] == lines[0]) if is_line else r["text"].rstrip("\n").split("\n")[0] == lines[0], r
    if not is_line:
        assert all(r["parts"] for r in rows)


def inspection(d):
    keys(d, "model", "prompt_tokens", "max_new_tokens", "finish_reason", "complete", "findings", "missing_context",
         "parts", "budget", "inspected", "context_rounds")
    # of a symbol its context is asked for, which the shipped model does not read
    def is_context(m):
        return d["inspected"].startswith("symbol ") and ("context" in m["why"] or " past the " in m["why"])
    lacks = [m for m in d["not_inspected"] if not is_context(m)]
    assert not lacks and d["complete"] is (not d["not_inspected"]) and d["prompt_tokens"] > 0, str(d)[:300]
    for f in d["findings"]:
        keys(f, "rule", "severity", "status", "file", "lines", "issue", "evidence", "why", "fix", "missing")
        lines = lines_of(f["file"], *f["lines"])
        pieces = [re.escape(x) for x in re.split(r"\[REDACTED[^\]]*\]", f["evidence"])]
        assert any(re.search(".+".join(pieces), line) for line in lines), (f, lines)
    print(f"{d['inspected']}: {len(d['findings'])} findings, each as its file has it")
    assert kind != "found" or d["findings"], "found: nothing is"


if kind == "scan":
    rows = d if isinstance(d, list) else d.get("files", d)
    assert rows, "scan: nothing"
elif kind == "index":
    keys(d, "files", "chunks", "bytes", "seconds", "skipped")
    assert d["files"] > 0 and d["chunks"] >= d["files"] and isinstance(d["skipped"], dict)
elif kind in ("chunks", "files"):
    hits(d, False)
    assert kind == "chunks" or len({r["path"] for r in d}) == len(d)
elif kind == "lines":
    hits(d, True)
elif kind == "batch":
    for r in d:
        keys(r, "query", "ids", "scores")
        assert len(r["ids"]) == len(r["scores"]) > 0 and r["scores"] == sorted(r["scores"], reverse=True), r
    assert [r["ids"][0] for r in d] == ["b", "a"], d
elif kind == "symbols":
    assert d, "symbols: nothing"
    for r in d:
        keys(r, "path", "line", "kind", "name", "signature", "callers", "tests")
        lines_of(r["path"], r["line"], r["line"])
        for c in r["callers"]:
            keys(c, "path", "line", "why")
            lines_of(c["path"], c["line"], c["line"])
    assert any(r["callers"] for r in d), "symbols: nobody calls it"
elif kind == "embedding":
    keys(d, "embedding")
    assert len(d["embedding"]) >= 64 and abs(sum(x * x for x in d["embedding"]) - 1) < 1e-3
elif kind == "eval":
    keys(d, "eval", "n", "k", "configurations", "tasks", "metrics")
    for name in ("retrieval_recall", "retrieval_precision", "prompt_efficiency", "grounding"):
        keys(d["metrics"], name)
elif kind == "topic":
    inspection(d)
    assert d["parts"] >= 1 and len(d["files"]) >= 1
elif kind in ("inspection", "found"):
    inspection(d)
elif kind == "json":
    assert d
else:
    raise SystemExit(f"no such kind: {kind}")
END

# run WANTED-EXITS KIND ARGS...: in the repository; what it prints is looked at
run() { want=$1 kind=$2; shift 2; code=0
    "$mythos" "$@" >"$dir/out" 2>"$dir/err" </dev/null || code=$?
    case " $want " in *" $code "*) ;; *) fail \
        "mythos $*: exit $code, expected one of $want: $(head -c 2000 "$dir/err")" ;; esac
    [ "$kind" = none ] || python3 "$dir/look.py" "$kind" "$dir/out" . || fail "mythos $*"
}

# contract QUESTION NAME PHRASE REGEX FILE KIND: every line of it, in the repository at hand, whose last commit has
# changes
contract() {
    question=$1 name=$2 phrase=$3 regex=$4 file=$5
    run 0 scan scan . --json
    run 0 scan scan . --explain --json
    run "0 3" index index . --no-embed --json
    run "0 3" index index . --check --json
    run 0 chunks search "$question" . -k 10 --json
    run 0 chunks search "$question" . --mode ranked --lexical --explain --json
    run 0 files search "$question" . --files --json
    run 0 chunks search "$name" . --mode symbol --json
    run 0 chunks search "$phrase" . --mode phrase --json
    run 0 lines search "$phrase" . --mode literal --json
    run 0 lines search "$regex" . --mode regex --json
    run 0 symbols symbols "$name" . --json
    run 0 json map . --tokens 2000 --json
    run 0 none map . --tokens 2000
    [ -s "$dir/out" ] || fail "map: nothing"
    run "0 1" inspection inspect-file "$file" --format json
    run "1 3" inspection inspect-symbol "$name" -C . --context-rounds 1 --format json
    run "0 1" topic inspect-topic "$question" --findings -C . --format json
    run "0 1" "$6" inspect-diff HEAD~1 -C . --format json
    run "0 1" none inspect-diff HEAD~1 --format jsonl
    tail -1 "$dir/out" | python3 -c 'import json,sys; assert "summary" in json.load(sys.stdin)' ||
        fail "jsonl: no summary"
    run 0 none log show
    [ -s "$dir/out" ] || fail "log show: nothing"
    run 0 none log why
    [ -s "$dir/out" ] || fail "log why: nothing"
    run 0 none log replay
}

# ---- the fixture: the shop, with its planted regression as the last commit
mkdir "$dir/shop"
cp -R "$source/tests/corpus/shop/tree/." "$dir/shop"
cd "$dir/shop"
git init -q .
git add -A
git commit -qm one
git apply "$source/tests/corpus/shop/regression.patch"
# defects that the shipped model knows
cp "$source"/tests/corpus/inspect/09_* "$source"/tests/corpus/inspect/10_* "$source"/tests/corpus/inspect/17_* .
git add -A
git commit -qm two
contract "Which code runs raw SQL statements?" create_session "list of common passwords" 'def [a-z]+_session' \
    accounts/reporting.py found

# what needs to be run once only
echo '# later' >>accounts/sessions.py
git add -A
run "0 1" inspection inspect-diff --staged --format json
git diff --cached >"$dir/p.diff"
run "0 1" inspection inspect-diff --diff "$dir/p.diff" --format json
run "0 1" inspection inspect-diff HEAD~1..HEAD --filter-mode added --format json
run 0 none inspect-diff --diff - --dry-run
run "0 1" topic inspect-topic "Where are sessions of signed-in users created and stored?" --findings --chunks 5 \
    --rerank on \
    --format json
printf '%s\n' '{"id":"a","text":"def open_file(path): pass"}' \
    '{"id":"b","text":"def close_door(door): pass","path":"door.py","names":"close_door"}' >"$dir/corpus.jsonl"
printf '%s\n' '{"id":"1","text":"close the door"}' '{"id":"2","text":"open a file"}' >"$dir/queries.jsonl"
run 0 batch search --corpus "$dir/corpus.jsonl" --queries "$dir/queries.jsonl" -k 100 --lexical --json
if [ -f "$source/models/mythos-embed.gguf" ]; then
    printf 'where is a session created' >"$dir/text"
    run 0 embedding embed -m "$source/models/mythos-embed.gguf" --json "$dir/text"
    run "0 3" index index . --embed-model "$source/models/mythos-embed.gguf" --json
    run 0 chunks search "where is a session created" . --json
    run 0 batch search --corpus "$dir/corpus.jsonl" --queries "$dir/queries.jsonl" -k 100 --json
fi
cd "$source"
run 0 eval eval shop --part retrieval --every 8 --json

# ---- a real repository: these sources
if [ "${MYTHOS_TEST_FULL:-0}" = 1 ]; then
    mkdir "$dir/own"
    for part in bench cmake engine frontend kernels retrieval shaders tests README.md CMakeLists.txt; do
        cp -R "$source/$part" "$dir/own/"
    done
    cd "$dir/own"
    git init -q .
    git add -A
    git commit -qm one
    printf '\nint clamp_to(int n, int most)\n{\n    return n > most ? most : n;\n}\n' >>retrieval/rank/mend.c
    git add -A
    git commit -qm two
    contract "How is a misspelt word mended?" myth_mend_is_slip "no memory for its terms" 'myth_mend_[a-z]+' \
        retrieval/rank/mend.c inspection
fi
echo "every command of the contract does what it says"
