#!/bin/sh
# What inspect-file writes as SARIF holds against the official schema, which is not part of the tree: ../shared/schemas,
# or where MYTHOS_SCHEMAS says. Files with findings and without, one that is refused, one with suppressions, secrets and
# a baseline.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
schema=${MYTHOS_SCHEMAS:-../shared/schemas}/sarif-schema-2.1.0.json
[ -f "$schema" ] || schema=../../shared/schemas/sarif-schema-2.1.0.json
if [ ! -f "$schema" ]; then
    echo "skipped: no sarif-schema-2.1.0.json in ../shared/schemas"
    exit 77
fi
if ! python3 -c 'import jsonschema' 2>/dev/null; then
    echo "skipped: python3 has no jsonschema"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
inspect() { "$MYTHOS_BIN" inspect-file --quiet --fail-level never "$@"; }

for file in 12_buffers.py 17_fdforkpty.c 18_tty.c 10_tty.c; do
    inspect "tests/corpus/inspect/$file" --format sarif >"$dir/$file.sarif"
done
cat >"$dir/odd name,%.py" <<'END'
AWS = "AKIAIOSFODNN7EXAMPLE"  # mythos:ignore[hardcoded-secret] an example from the manual
def run(cmd):
    os.system("sh -c " + cmd)
def get(cur, name):
    cur.execute("select * from t where n = '" + name + "'")  # mythos:ignore[nonsense]
END
inspect "$dir/odd name,%.py" --format sarif --baseline "$dir/base.json" --update-baseline >"$dir/odd.sarif"
inspect "$dir/odd name,%.py" --format sarif --baseline "$dir/base.json" >"$dir/known.sarif"
for file in 10_tty.c 15_jv_aux.c 17_fdforkpty.c; do                  # a comment above the first finding
    line=$(inspect "tests/corpus/inspect/$file" --format rdjsonl | sed -n '1s/.*"start":{"line":\([0-9]*\).*/\1/p')
    sed "${line:-1}i // mythos:ignore[*] known and wanted" "tests/corpus/inspect/$file" >"$dir/$file"
    inspect "$dir/$file" --format sarif >"$dir/suppressed_$file.sarif"
done
inspect "$dir/odd name,%.py" --format text --output "sarif=$dir/refused.sarif" --max-prompt-tokens 50 >/dev/null &&
    exit 1 || [ $? = 3 ]

python3 - "$schema" "$dir" <<'END'
import glob, json, sys, warnings
warnings.simplefilter("ignore")
import jsonschema
schema = json.load(open(sys.argv[1]))
check = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
n_file = n_result = n_suppressed = n_known = n_token = n_refused = bad = 0
for name in sorted(glob.glob(sys.argv[2] + "/*.sarif")):
    document = json.load(open(name))
    for e in check.iter_errors(document):
        print(name, list(e.path), e.message)
        bad += 1
    run = document["runs"][0]
    n_file += 1
    n_result += len(run["results"])
    n_suppressed += sum(len(r["suppressions"]) for r in run["results"])
    n_known += sum(r.get("baselineState") == "unchanged" for r in run["results"])
    n_token += len(run["redactionTokens"])
    n_refused += not run["invocations"][0]["executionSuccessful"]
print(f"{n_file} documents: {n_result} results, {n_suppressed} suppressed, {n_known} known, {n_token} redaction tokens, {n_refused} refused")
sys.exit(bad or not (n_file == 10 and n_result and n_suppressed and n_known and n_token and n_refused == 1))
END
