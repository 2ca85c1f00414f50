#!/bin/sh
# Runs that were ranked by the model (--rerank) or by vectors (--embed-model): the log has the scores, a replay gives
# the same bytes, and what a replay depends on beside the files is said when it is another.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
for m in models/mythos-inspect.gguf models/mythos-embed.gguf; do
    [ -f "$m" ] || { echo "no $m"; exit 77; }
done
MYTHOS_MODEL=$(readlink -f models/mythos-inspect.gguf)
embedder=$(readlink -f models/mythos-embed.gguf)
mythos=$(readlink -f "$MYTHOS_BIN")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
HOME=$dir
XDG_CACHE_HOME=$dir/cache
XDG_STATE_HOME=$dir/state
export MYTHOS_MODEL HOME XDG_CACHE_HOME XDG_STATE_HOME
mkdir -p "$dir/r"
cd "$dir/r"
python3 - <<'END'
for i in range(16):
    open(f"part{i}.py", "w").write(
        f'"""Part {i} of the session store."""\nimport os\n\n\n'
        f'def load_session_{i}(key, rows):\n    """Reads the session of a key."""\n'
        f'    value = rows[key]\n    return eval(value)\n\n\n'
        f'def save_session_{i}(key, rows, value):\n    os.system("store " + key)\n    rows[key] = value\n')
END
run() { code=0; "$mythos" "$@" --fail-level never --format json >"$dir/json" 2>"$dir/err" || code=$?
    [ $code -eq 0 ] || [ $code -eq 3 ] || fail "$*: exit $code: $(cat "$dir/err")"; }
same() { "$mythos" log replay --json >"$dir/replay" || fail "$1: exit $?: $(cat "$dir/replay")"
    grep -q '"result":"equal"\|"result": "equal"' "$dir/replay" || fail "$1: $(cat "$dir/replay")"; }

run inspect-topic "how is the session of a key read" --findings --chunks 5 --lexical --rerank on --context-rounds 0
"$mythos" log show --json >"$dir/record"
python3 - "$dir/record" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
d = d.get("record", d)
[r] = d["reranks"]
scores = [p["score"] for p in r["order"]]
assert r["pieces"] == len(r["order"]) > 5, r
assert scores == sorted(scores, reverse=True) and len(set(scores)) > 1, scores
assert r["question"] == "how is the session of a key read", r
taken = [(c["path"], c["lines"][0]) for c in d["candidates"] if c["fate"] == "taken"]
assert taken == [(p["path"], p["line"]) for p in r["order"][:5]], (taken, r["order"][:5])
print(len(scores), "pieces ranked")
END
same "--rerank, topic"
run inspect-topic "how is the session of a key read" --findings --chunks 5 --lexical --rerank setwise --context-rounds 0
same "--rerank setwise"
run inspect-symbol load_session_3 --rerank on --context-rounds 0
same "--rerank, symbol"

"$mythos" index --embed-model "$embedder" -q . >/dev/null || fail "index: exit $?"
run inspect-topic "how is the session of a key read" --findings --chunks 5 --embed-model "$embedder" --context-rounds 0
"$mythos" log show --json >"$dir/record"
grep -q '"semantic": *"on"' "$dir/record" || fail "the search was not by vectors: $(cat "$dir/err")"
same "--embed-model"
run inspect-topic "how is the session of a key read" --findings --chunks 5 --embed-model "$embedder" --rerank on \
    --context-rounds 0
same "--embed-model and --rerank"
# without the vectors the same command finds by words alone, or not at all: it is said why
code=0
rm -f $(find "$dir/cache" -name '*.vectors*') 
"$mythos" log replay --json >"$dir/replay" || code=$?
[ $code -ne 0 ] || fail "a replay without vectors is equal: $(cat "$dir/replay")"
grep -qE 'vectors|semantic|second run' "$dir/replay" || fail "without vectors: $(cat "$dir/replay")"
echo ok
