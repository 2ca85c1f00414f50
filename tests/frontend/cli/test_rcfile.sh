#!/bin/sh
# The configuration file: what it may say, that the environment and flags stand above it, what is wrong in it is exit 78
# with the line, and that none is taken from the directory that is inspected.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
HOME=$dir/home
export HOME
unset XDG_CONFIG_HOME MYTHOS_CONFIG || true
mkdir -p "$HOME/.config/mythos" "$dir/xdg/mythos" "$dir/r/.config/mythos"
conf=$HOME/.config/mythos/config
# value and source of a flag, as --show-config has them
says() { "$MYTHOS_BIN" "$1" --show-config >"$dir/out" 2>"$dir/err" || fail "$1: exit $?: $(cat "$dir/err")"
    awk -v n="$2" '$1 == n { $1 = ""; sub(/^ /, ""); print }' "$dir/out"; }
is() { [ "$1" = "$2" ] || fail "got '$1', expected '$2'"; }
is "$(says inspect-file fail-level)" "high default"
cat >"$conf" <<'END'
# of every command
threads = 3
  max-new-tokens=77   

[inspect-file]
fail-level = "low"
output = json=a.json
output = sarif=a.sarif
two-pass = on
model = "/a b/m.gguf"
[ search ]
top = 4
END
is "$(says inspect-file threads)" "3 file"
is "$(says scan threads)" "3 file"
is "$(says inspect-file max-new-tokens)" "77 file"
is "$(says inspect-diff max-new-tokens)" "77 file"
is "$(says inspect-file fail-level)" "low file"
is "$(says inspect-diff fail-level)" "high default"
is "$(says inspect-file output)" "json=a.json sarif=a.sarif file"
is "$(says inspect-file two-pass)" "on file"
is "$(says inspect-file model)" "/a b/m.gguf file"
is "$(says search top)" "4 file"
# above it: the environment, then flags; a list of a higher place stands instead
is "$(MYTHOS_FAIL_LEVEL=medium says inspect-file fail-level)" "medium environment"
is "$(MYTHOS_INSPECT_FILE_OUTPUT=html=x.html says inspect-file output)" "html=x.html environment"
"$MYTHOS_BIN" inspect-file --fail-level info --no-two-pass --output jsonl=y --show-config >"$dir/out"
grep -q '^fail-level *info *flag' "$dir/out" && grep -q '^two-pass *off *flag' "$dir/out" &&
    grep -q '^output *jsonl=y *flag' "$dir/out" || fail "flags: $(cat "$dir/out")"
# other places
echo 'threads = 5' >"$dir/xdg/mythos/config"
is "$(XDG_CONFIG_HOME=$dir/xdg says scan threads)" "5 file"
echo 'threads = 6' >"$dir/mine"
is "$(MYTHOS_CONFIG=$dir/mine XDG_CONFIG_HOME=$dir/xdg says scan threads)" "6 file"
is "$(MYTHOS_CONFIG='' says inspect-file fail-level)" "high default"
is "$(XDG_CONFIG_HOME=$dir/none says inspect-file fail-level)" "high default"
# not from a directory that is looked at
echo 'threads = 9' >"$dir/r/.config/mythos/config"
echo 'threads = 9' >"$dir/r/.mythos"
echo 'threads = 9' >"$dir/r/mythos.conf"
(cd "$dir/r" && is "$(says scan threads)" "3 file")
# a file that is named, by flag or variable, stands instead; another spelling of a flag and _ for - are the same
echo 'max_cache_tokens = 123' >"$dir/mine"
is "$("$MYTHOS_BIN" plan --config "$dir/mine" --show-config | awk '$1 == "ctx-size" { print $2, $3 }')" "123 file"
is "$("$MYTHOS_BIN" scan --show-config --config="$dir/mine" | awk '$1 == "threads" { print $2, $3 }')" "0 default"
is "$(MYTHOS_CONFIG=$dir/nowhere "$MYTHOS_BIN" plan --config "$dir/mine" --show-config |
    awk '$1 == "ctx-size" { print $2 }')" 123
is "$("$MYTHOS_BIN" plan --config "$dir/mine" --show-config -c 77 | awk '$1 == "ctx-size" { print $2, $3 }')" "77 flag"
# the same as JSON
cat >"$dir/mine.json" <<'END'
{"threads": 3, "max_memory_gb": 1.5, "max-cache-tokens": 256, "max_parallel_tokens": 4,
 "cpu_moe": true, "kv-skip": "off", "model": "/a \u0062/m.gguf",
 "inspect_file": {"fail-level": "low", "output": ["json=a.json", "sarif=a.sarif"], "two-pass": true},
 "search": {"top": 4}}
END
MYTHOS_CONFIG=$dir/mine.json
export MYTHOS_CONFIG
is "$(says inspect-file threads)" "3 file"
is "$(says plan ctx-size)" "256 file"
is "$(says plan max-memory-gb)" "1.5 file"
is "$(says generate max-parallel-tokens)" "4 file"
is "$(says plan cpu-moe)" "on file"
is "$(says plan kv-skip)" "off file"
is "$(says inspect-file model)" "/a b/m.gguf file"
is "$(says inspect-file fail-level)" "low file"
is "$(says inspect-diff fail-level)" "high default"
is "$(says inspect-file output)" "json=a.json sarif=a.sarif file"
is "$(says inspect-file two-pass)" "on file"
is "$(says search top)" "4 file"
is "$(MYTHOS_THREADS=5 says scan threads)" "5 environment"
# the same as YAML
cat >"$dir/mine.yaml" <<'END'
# limits
threads: 3
max_memory_gb: 1.5   # a comment behind
"max-cache-tokens": 256
max_parallel_tokens: '4'
cpu_moe: True
kv-skip: off
model: "/a \u0062/m#.gguf"

inspect_file:
  fail-level: low
  output:
    - json=a.json
    - "sarif=a: b.sarif"
  two-pass: true
  task: >-
    two
    lines
search: {top: 4}
inspect-diff:
    fail-level: medium
END
# other names and first lines of such a file
{ sed 1,2d "$dir/mine.yaml"; echo 'threads: 3'; } >"$dir/plain"
{ echo '"threads": 3'; sed 1,2d "$dir/mine.yaml"; } >"$dir/quoted"
{ echo '%YAML 1.1'; echo ---; cat "$dir/mine.yaml"; echo ...; } >"$dir/marked"
for form in mine.yaml plain quoted marked; do
    MYTHOS_CONFIG=$dir/$form
    is "$(says inspect-file threads)" "3 file"
    is "$(says plan ctx-size)" "256 file"
    is "$(says plan max-memory-gb)" "1.5 file"
    is "$(says generate max-parallel-tokens)" "4 file"
    is "$(says plan cpu-moe)" "on file"
    is "$(says plan kv-skip)" "off file"
    is "$(says inspect-file model)" "/a b/m#.gguf file"
    is "$(says inspect-file fail-level)" "low file"
    is "$(says inspect-diff fail-level)" "medium file"
    is "$(says inspect-topic fail-level)" "high default"
    is "$(says inspect-file output)" "json=a.json sarif=a: b.sarif file"
    is "$(says inspect-file two-pass)" "on file"
    is "$(says inspect-file task)" "two lines file"
    is "$(says search top)" "4 file"
    is "$(MYTHOS_THREADS=5 says scan threads)" "5 environment"
done
MYTHOS_CONFIG=$dir/flow.yml
echo '{threads: 3, search: {top: 4}, inspect-file: {output: [json=a.json]}}' >"$dir/flow.yml"
is "$(says search threads)" "3 file"
is "$(says search top)" "4 file"
is "$(says inspect-file output)" "json=a.json file"
# a flag that takes ID,ID has one value, or a list
printf 'inspect: {rules: [sql-injection, "weak-hash"], skip-rules: []}\n' >"$dir/flow.yml"
printf 'candidates:\n  rules:\n    - weak-hash\n' >>"$dir/flow.yml"
is "$(says inspect rules)" "sql-injection,weak-hash file"
is "$(says inspect skip-rules)" "- default"
is "$(says candidates rules)" "weak-hash file"
echo '{"rules": ["double-free"], "skip-rules": ["other", "weak-hash"], "tensor_split": [3, 1]}' >"$dir/flow.yml.json"
is "$(MYTHOS_CONFIG=$dir/flow.yml.json says inspect skip-rules)" "other,weak-hash file"
is "$(MYTHOS_CONFIG=$dir/flow.yml.json says candidates rules)" "double-free file"
is "$(MYTHOS_CONFIG=$dir/flow.yml.json says generate tensor-split)" "3,1 file"
printf 'model: "null"\ntask: TRUE story\n' >"$dir/flow.yml"
is "$(says inspect-file model)" "null file"
is "$(says inspect-file task)" "TRUE story file"
for empty in '' '# nothing' '---' '~'; do
    printf '%s\n' "$empty" >"$dir/flow.yml"
    is "$(says search threads)" "0 default"
done
# a line with a colon in its value is no YAML
printf 'output = json=a: b.json\nmodel = x: y\n' >"$dir/plain"
is "$(MYTHOS_CONFIG=$dir/plain says inspect-file model)" "x: y file"
MYTHOS_CONFIG=$dir/mine.json
# the same plan as by flags
M="-m random:gemma3-tiny:q8_0 --device cpu --json"
printf '{"ctx_size": 512, "ubatch-size": 64, "cache_type_k": "q8_0", "max-memory-gb": 1}' >"$dir/p.json"
"$MYTHOS_BIN" plan $M --config "$dir/p.json" >"$dir/a" && MYTHOS_CONFIG='' "$MYTHOS_BIN" plan $M -c 512 -ub 64 \
    -ctk q8_0 --max-memory-gb 1 >"$dir/b" && cmp "$dir/a" "$dir/b" || fail "another plan by file than by flags"
printf 'ctx_size: 512\nubatch-size: 64\ncache_type_k: q8_0\nmax-memory-gb: 1\n' >"$dir/p.yaml"
"$MYTHOS_BIN" plan $M --config "$dir/p.yaml" >"$dir/a" && cmp "$dir/a" "$dir/b" || fail "another plan by YAML"
unset MYTHOS_CONFIG
# what is wrong
wrong() { printf "$1" >"$conf"; code=0; "$MYTHOS_BIN" version >"$dir/out" 2>"$dir/err" || code=$?
    [ $code -eq 78 ] || fail "'$1': exit $code: $(cat "$dir/err")"
    grep -qF "$2" "$dir/err" || fail "'$1' says: $(cat "$dir/err"), expected: $2"
    [ ! -s "$dir/out" ] || fail "'$1': printed"; "$MYTHOS_BIN" version --help >/dev/null || fail "'$1': no help"; }
wrong 'threads = 3\nfail-levle = low\n' "config:2: unknown flag 'fail-levle'; did you mean fail-level?"
wrong '[inspect-fil]\n' "config:1: unknown command 'inspect-fil'"
wrong '[scan]\nfail-level = low\n' "config:2: unknown flag 'fail-level'"
wrong '[scan\n' "config:1: a section is written [COMMAND]"
wrong 'threads\n' "config:1: got 'threads', expected name = value"
wrong 'threads =\n' "config:1: threads has no value"
wrong '\n\nthreads = many\n' "config:3: threads: got 'many', expected a whole number"
wrong 'log-format = xml\n' "config:1: log-format: got 'xml', expected"
wrong 'threads = 3\000\n' "a zero byte"
wrong 'config = x\n' "config:1: a configuration file names no other"
wrong '{"threads": 3,\n "fail_levle": "low"}\n' "config:2: unknown flag 'fail-levle'; did you mean fail-level?"
wrong '{\n\n"inspect-fil": {}}\n' "config:3: unknown command 'inspect-fil'"
wrong '{"scan":\n{"fail-level": "low"}}\n' "config:2: unknown flag 'fail-level'"
wrong '{"scan": {"search": {}}}\n' "config:1: search: an object in that of a command"
wrong '{"threads": "many"}\n' "config:1: threads: got 'many', expected a whole number"
wrong '{"threads": 1.5}\n' "config:1: threads: got '1.5', expected a whole number"
wrong '{"threads":\n null}\n' "config:2: threads has no value"
wrong '{"threads": [3]}\n' "config:1: threads takes one value, not a list"
wrong '{"threads": 3, "threads": 4}\n' "config:1: threads is there twice"
wrong '{"model": "a\\u0000b"}\n' "config:1: model has a zero byte"
wrong '{"threads": 3,\n}\n' "config:2: this is not JSON"
wrong '{"threads": 3} 4\n' "config:1: this is not JSON"
wrong 'threads: 3\nfail_levle: low\n' "config:2: unknown flag 'fail-levle'; did you mean fail-level?"
wrong 'scan:\n  threads: 3\n  fail-level: low\n' "config:3: unknown flag 'fail-level'"
wrong 'inspect-fil:\n  threads: 3\n' "config:2: unknown command 'inspect-fil'"
wrong 'scan:\n  search:\n    top: 3\n' "config:3: search: an object in that of a command"
wrong '# a\n\nthreads: many\n' "config:3: threads: got 'many', expected a whole number"
wrong 'threads:\n' "config:1: threads has no value"
wrong 'threads: ~\n' "config:1: threads has no value"
wrong 'rules: [a, [b]]\n' "config:1: rules has no value; give a text"
wrong '{"rules": ["a",\n null]}\n' "config:2: rules has no value"
wrong '{"rules": ["a\\u0000b"]}\n' "config:1: rules has a zero byte"
wrong 'threads: [3]\n' "config:1: threads takes one value, not a list"
wrong 'threads: 3\nmodel: a\nthreads: 4\n' "config:3: threads is there twice"
wrong 'model: "a\\0b"\n' "config:1: model has a zero byte"
wrong 'config: x\n' "config:1: a configuration file names no other"
wrong 'model: a\n threads: 3\n' "config:2: this is not YAML"
wrong 'threads: 3\nmodel: "a\n' "config:3: this is not YAML"
wrong 'threads: 3\n\tmodel: a\n' "config:2: this is not YAML"
wrong 'threads: &n 3\n' "config:1: anchors, aliases and tags"
wrong 'threads: 3\nmodel: *n\n' "config:2: anchors, aliases and tags"
wrong 'threads: !!int 3\n' "config:1: anchors, aliases and tags"
wrong 'threads: 3\n---\nthreads: 4\n' "config:2: a second document"
wrong '# a\n---\n- threads\n' "config:3: a configuration file has names with values"
wrong 'threads: 3\n? [a, b]\n: 4\n' "config:2: a name is a text"
code=0; "$MYTHOS_BIN" version --config "$dir/nowhere" 2>"$dir/err" >/dev/null || code=$?
[ $code -eq 78 ] && grep -q -- '--config' "$dir/err" || fail "not there: $code $(cat "$dir/err")"
# a value is checked where a flag stands above it, too
printf '{"threads": "many"}' >"$conf"
code=0; "$MYTHOS_BIN" version --threads 2 2>/dev/null >&2 || code=$?
[ $code -eq 78 ] || fail "a bad value below a flag: $code"
head -c 70000 /dev/zero | tr '\0' '#' >"$conf"
code=0; "$MYTHOS_BIN" version 2>"$dir/err" >/dev/null || code=$?
[ $code -eq 78 ] && grep -q '65536 bytes' "$dir/err" || fail "large: $code $(cat "$dir/err")"
code=0; MYTHOS_CONFIG=$dir/nowhere "$MYTHOS_BIN" version 2>"$dir/err" >/dev/null || code=$?
[ $code -eq 78 ] && grep -q 'MYTHOS_CONFIG' "$dir/err" || fail "missing: $code $(cat "$dir/err")"
rm "$conf"
"$MYTHOS_BIN" man | grep -q 'mythos/config' || fail "the manual does not say it"
