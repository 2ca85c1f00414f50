#!/usr/bin/env python3
"""retrieval_tasks.py OWNER/NAME... --repos DIR --suffixes .c,.h [--tasks 40] > TASKS.jsonl: tasks for
retrieval_repos.py from histories: the message of a commit, the parent's tree, the source files that the commit changed.

Taken    commits with one parent that change one to three files of these suffixes which are no tests, and six at most
         with tests, and rename none; from the newest 6,000, spread evenly, the newest first
Left out messages that name a changed file, of fewer than four words or 25 bytes, or of a release; lines that name
         people or other repositories (Signed-off-by, Reviewed-by, ...)
Use      repositories that nothing was tuned on: fit a weight on some of them and report it on others"""

import argparse
import json
import os
import re
import subprocess

from retrieval_repos import git_dir

TEST = re.compile(
    r"(^|/)(tests?|testing|specs?|t|__tests__|regress|testdata|fuzz)(/|$)|(^|/)test[_A-Z][^/]*$|"
    r"_test\.[a-z]+$|(^|/)conftest\.py$|Test\.java$|\.(test|spec)\.[jt]sx?$"
)
TRAILER = re.compile(
    r"\n(Signed-off-by|Co-authored-by|Reviewed-by|Change-Id|PR-URL|Refs|Fixes|OpenBSD-Commit-ID|Upstream-ID|"
    r"Cherry-picked|git-svn-id)[^\n]*",
    re.I,
)
RELEASE = re.compile(r"(revert|merge|bump|release|version|prepare|update changelog)", re.I)
DEPTH, GOLD, CHANGED, STEP, LEAST_BYTES = 6000, 3, 6, 12, 25


def changes(text):
    """[(status, path)] of `git log --name-status -z`; None: something was renamed."""
    fields = [x.strip("\n") for x in text.split("\0") if x.strip("\n")]
    if any(x[0] in "RC" for x in fields[::2]):
        return None
    return list(zip(fields[::2], fields[1::2]))


def tasks_of(git, repo, suffixes, n):
    log = subprocess.run(
        ["git", "--git-dir", git, "log", "--no-merges", "-n", str(DEPTH), "--name-status", "-z",
         "--format=%x01%H%x02%P%x02%B%x02"], check=True, capture_output=True).stdout.decode("utf-8", "replace")
    rows = []
    for part in log.split("\x01")[1:]:
        commit, parents, message, rest = part.split("\x02", 3)
        changed = changes(rest)
        message = TRAILER.sub("", message.strip()).strip()
        is_short = len(message) < LEAST_BYTES or len(message.split()) < 4
        if len(parents.split()) != 1 or not changed or is_short or RELEASE.match(message):
            continue
        source = [path for _, path in changed if path.endswith(suffixes)]
        gold = [path for status, path in changed if status == "M" and path in source and not TEST.search(path)]
        if not 0 < len(gold) <= GOLD or len(source) > CHANGED or any(os.path.basename(p) in message for p in source):
            continue
        rows.append({"id": f"{repo}@{commit[:12]}", "repo": repo, "base_commit": parents.strip(), "query": message,
                     "gold": [{"file": p} for p in gold]})
    return rows[:: max(1, min(len(rows) // n, STEP))][:n]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("repo", nargs="+")
    p.add_argument("--repos", required=True)
    p.add_argument("--suffixes", required=True)
    p.add_argument("--tasks", type=int, default=40)
    a = p.parse_args()
    for repo in a.repo:
        for row in tasks_of(git_dir(a.repos, repo), repo, tuple(a.suffixes.split(",")), a.tasks):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
