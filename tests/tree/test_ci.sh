#!/bin/sh
# The flow of ci/ against a bare repository of its own: a change that plants a defect fails the run by exit code 1 with
# the finding in every report, a change without one passes, a commit that was not fetched is a usage error.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
command -v git >/dev/null || { echo "skipped: no git here"; exit 77; }
ls models/*.gguf >/dev/null 2>&1 || { echo "skipped: no shipped model here"; exit 77; }
source=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
# libgit2 1.5 loses two list nodes of 16 bytes in a walk over a history with merges: no leaks are looked for here.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
MYTHOS=$MYTHOS_BIN MYTHOS_MODEL=$source/models/mythos-inspect.gguf
HOME=$dir/home XDG_CACHE_HOME=$dir/cache XDG_STATE_HOME=$dir/state
export MYTHOS MYTHOS_MODEL HOME XDG_CACHE_HOME XDG_STATE_HOME
unset GITHUB_ACTIONS || true
mkdir "$HOME"

git -c init.defaultBranch=main init -q --bare "$dir/origin.git"
git clone -q "$dir/origin.git" "$dir/work" 2>/dev/null
cd "$dir/work"
git config user.name test
git config user.email test@example.org
git checkout -q -b main
cat >greet.c <<'END'
#include <stdio.h>

void greet(const char *name)
{
    printf("hello, %s\n", name);
}

int total(const int *v, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum;
}
END
git add greet.c
git commit -q -m base
git push -q origin main
base=$(git rev-parse HEAD)

git checkout -q -b harmless
sed -i 's/hello, /good day, /' greet.c
git commit -q -am harmless
code=0
sh "$source/ci/inspect-change.sh" "$base" >"$dir/out" 2>&1 || code=$?
[ "$code" -eq 0 ] || fail "a harmless change: exit $code: $(cat "$dir/out")"
[ -s mythos-reports/findings.sarif ] || fail "a harmless change: no report"

git checkout -q -b defect main
sed -i 's/printf("hello, %s\\n", name);/printf(name);/' greet.c
git commit -q -am defect
git push -q origin defect
code=0
GITHUB_ACTIONS=true sh "$source/ci/inspect-change.sh" "$base" >"$dir/out" 2>"$dir/err" || code=$?
[ "$code" -eq 1 ] || fail "a planted defect: exit $code: $(cat "$dir/out" "$dir/err")"
grep -q '^::error .*file=greet.c,line=5' "$dir/out" || fail "no annotation: $(cat "$dir/out")"
grep -q '"ruleId":"format-string"' mythos-reports/findings.sarif || fail "not in the SARIF report"
grep -q '"rule":"format-string"' mythos-reports/findings.json || fail "not in the JSON report"
grep -q '"check_name":"format-string"' mythos-reports/findings.codequality.json || fail "not in the report for GitLab"
grep -q 'greet.c:5' mythos-reports/findings.txt || fail "not in the text report"

# What a service checks out of a request is a merge into the base branch as it is now: what others merged there since
# is not its change. Each flow's own lines run, in a checkout with the flow's depth.
git checkout -q main
printf '\nvoid shout(const char *name)\n{\n    printf(name);\n}\n' >>greet.c
git commit -q -am 'a defect of somebody else'
git push -q origin main
git checkout -q -b merge main
git merge -q -m merge harmless
git push -q origin merge:refs/pull/1/merge harmless
sed -n 's/.*fetch-depth: //p' "$source/ci/github.yml" >"$dir/depth"
flow() { # what the line of a flow file does with the checkout of the current folder: its exit code
    sed -n "s/ *- \(run: \)*\(base=.*\|sh mythos-source.*inspect-change.*\)/\2/p" "$source/ci/$1" |
        sed "s|mythos-source|'$source'|" >"$dir/line"
    grep -q inspect-change "$dir/line" || fail "$1 inspects nothing: $(cat "$dir/line")"
    code=0
    sh "$dir/line" >"$dir/out" 2>&1 || code=$?
}
git init -q "$dir/github"
cd "$dir/github"
git fetch -q --depth "$(cat "$dir/depth")" "file://$dir/origin.git" refs/pull/1/merge
git checkout -q FETCH_HEAD
flow github.yml
[ "$code" -eq 0 ] || fail "a request on GitHub beside a change of others: exit $code: $(cat "$dir/out")"
git clone -q "$dir/origin.git" "$dir/gitlab"
cd "$dir/gitlab"
export CI_MERGE_REQUEST_DIFF_BASE_SHA="$base"
git checkout -q harmless
flow gitlab.yml
[ "$code" -eq 0 ] || fail "a request on GitLab: exit $code: $(cat "$dir/out")"
git fetch -q origin refs/pull/1/merge
git checkout -q FETCH_HEAD
CI_MERGE_REQUEST_TARGET_BRANCH_SHA=$(git rev-parse HEAD^1)
export CI_MERGE_REQUEST_TARGET_BRANCH_SHA
flow gitlab.yml
[ "$code" -eq 0 ] || fail "a merged result on GitLab: exit $code: $(cat "$dir/out")"
unset CI_MERGE_REQUEST_TARGET_BRANCH_SHA
flow gitlab.yml
[ "$code" -eq 1 ] || fail "the change of others is no finding, so the lines above say nothing: exit $code"
! grep -v '^ *#' "$source/ci/github.yml" | grep -q 'github.workspace' ||
    fail "github.yml names the host's workspace in a container"
# In a private repository upload-sarif asks which run it is part of.
! grep -q upload-sarif "$source/ci/github.yml" || grep -q '^  actions: read$' "$source/ci/github.yml" ||
    fail "github.yml may not read the run that upload-sarif asks for"
cd "$dir/work"

# Without a place for an index the change is inspected all the same.
git checkout -q defect
: >"$dir/file"
code=0
XDG_CACHE_HOME=$dir/file/x sh "$source/ci/inspect-change.sh" "$base" >"$dir/out" 2>&1 || code=$?
[ "$code" -eq 1 ] && grep -q 'no index, so no callers' "$dir/out" || fail "no place: exit $code: $(cat "$dir/out")"

# A change that takes the last file away leaves nothing to index, and nothing to find fault with.
git checkout -q -b empty main
git rm -q greet.c
git commit -q -m 'nothing is left'
code=0
sh "$source/ci/inspect-change.sh" main >"$dir/out" 2>&1 || code=$?
[ "$code" -eq 0 ] || fail "the last file is gone: exit $code: $(cat "$dir/out")"

code=0
sh "$source/ci/inspect-change.sh" 0123456789012345678901234567890123456789 >"$dir/out" 2>&1 || code=$?
[ "$code" -eq 2 ] && grep -q fetch-depth "$dir/out" || fail "a commit that is not there: exit $code"
MYTHOS=/bin/true sh "$source/ci/install.sh" || fail "install.sh where the command is there"
echo "the flow finds a planted defect and passes a harmless change"
