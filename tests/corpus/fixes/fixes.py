"""Fixes of crashes and holes from the histories of other projects, taken back one by one: what `mythos inspect-diff`
shows of each, and what it reports.

    fixes.py sums  HISTORIES            prints the table with the sums of the patches as this git makes them
    fixes.py check HISTORIES MYTHOS     takes fixes back and inspects the change
        --rows N --seed S               N fixes that the seed chooses; all without it
        --answers N                     answers of a random model for each fix: 0
        --model FILE                    also looks at this model's findings
        --only TEXT                     fixes whose row has this text
        --keep FOLDER                   leaves trees and prompts there

README.md says what a row is and what is checked.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = "repository commit licence kind id file sha256 guard head name".split()
PATCH = (
    "diff-tree -p --no-commit-id --root --full-index --no-renames --no-ext-diff --no-textconv --no-color --text"
    " --unified=3 --inter-hunk-context=0 --diff-algorithm=myers --indent-heuristic --src-prefix=a/ --dst-prefix=b/"
).split()
# The vocabulary of a random model has a token a byte, so its default of 12,000 tokens is a third of what it is to a
# trained model, and a long definition does not fit.
RANDOM = ["-m", "random:gemma3-tiny:q8_0", "--prompt-style", "full", "--context-rounds", "0"]
# Languages that are cut by their text: their definitions have no name in a prompt.
NO_PARSER = (".ex",)


class Failed(Exception):
    pass


def rows():
    with open(os.path.join(HERE, "fixes.tsv"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                yield dict(zip(COLUMNS, line.rstrip("\n").split("\t")))


def git(*args, cwd=None, stdin=None, may_fail=False):
    env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull, LC_ALL="C")
    done = subprocess.run(["git", *args], cwd=cwd, input=stdin, capture_output=True, env=env)
    if done.returncode and not may_fail:
        raise Failed("git %s: %s" % (" ".join(args[:3]), done.stderr.decode("utf-8", "replace").strip()))
    return done.stdout


def history(root, repository):
    """The git folder of a repository below root, or None."""
    flat = repository.replace("/", "+")
    for name in (flat + "/repo", flat, flat + ".git", repository, repository + ".git"):
        for inner in ("", "/.git"):
            path = os.path.join(root, name + inner)
            if os.path.isdir(os.path.join(path, "objects")):
                return os.path.abspath(path)
    return None


def patch_of(repo, row):
    return git("--git-dir", repo, *PATCH, row["commit"], "--", row["file"])


def sum_of(patch):
    """The sum of the patch without what git puts behind the second @@ of a hunk, which depends on its version."""
    return hashlib.sha256(re.sub(rb"(?m)^(@@ [^@]* @@).*$", rb"\1", patch)).hexdigest()


def tree_of(repo, row, path):
    """Makes a work tree of the fixed version that borrows the objects of the history. A history may lack its largest
    files, and pages that were generated take minutes to index: both are left out."""
    def leave_out(names):
        git("update-index", "-z", "--force-remove", "--stdin", cwd=path, stdin=names)

    git("init", "-q", path)
    with open(os.path.join(path, ".git", "objects", "info", "alternates"), "w", encoding="utf-8") as f:
        f.write(os.path.join(repo, "objects") + "\n")
    git("update-ref", "--no-deref", "HEAD", row["commit"], cwd=path)
    git("read-tree", row["commit"], cwd=path)
    leave_out(git("ls-files", "-z", "--", "*.html", cwd=path))
    git("-c", "core.autocrlf=false", "checkout-index", "-a", "-q", cwd=path, may_fail=True)
    leave_out(git("ls-files", "-z", "--deleted", cwd=path))
    git("-c", "user.name=n", "-c", "user.email=e@e", "commit", "-q", "--allow-empty", "-m", "the tree", cwd=path)


def span(text):
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def old_line(patch, line):
    """The number that a line of the fixed version has when the fix is taken back; None when the fix wrote it."""
    shift = 0
    for m in re.finditer(rb"(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*\n((?:[-+ \\].*\n?)*)", patch):
        old, new = int(m[1]), int(m[3])
        if m[4] == b"0":
            new += 1
        if line < new:
            return line + shift
        for text in m[5].split(b"\n")[:-1]:
            if text.startswith(b" "):
                if new == line:
                    return old
                old, new = old + 1, new + 1
            elif text.startswith(b"+"):
                if new == line:
                    return None
                new += 1
            elif text.startswith(b"-"):
                old += 1
        shift = old - new
    return line + shift


def mythos(args, tree, scratch, binary):
    env = dict(os.environ, HOME=scratch, XDG_CACHE_HOME=os.path.join(scratch, "cache"),
               XDG_STATE_HOME=os.path.join(scratch, "state"), GIT_CONFIG_GLOBAL=os.devnull)
    return subprocess.run([binary, *args], cwd=tree, capture_output=True, env=env)


def inspect(args, tree, scratch, binary):
    """Runs inspect-diff; returns its report and the prompts of its parts."""
    log = os.path.join(scratch, "runs.db")
    done = mythos(["inspect-diff", "--no-cache", "--format", "json", "--log", log, "-q", *args], tree, scratch, binary)
    if done.returncode not in (0, 1, 3):
        raise Failed("inspect-diff: exit %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")))
    shown = mythos(["log", "show", "last", "--log", log, "--json"], tree, scratch, binary)
    if shown.returncode:
        raise Failed("log show: exit %d: %s" % (shown.returncode, shown.stderr.decode("utf-8", "replace")))
    record = json.loads(shown.stdout)
    return json.loads(done.stdout), [x["prompt"] for x in record["exchanges"] if "prompt" in x]


class Block:
    """A block of a prompt: `lines` are (number, text) of code, or (None, text) of removed lines."""

    def __init__(self, kind, head):
        self.kind, self.head, self.lines = kind, head, []
        self.path = json.loads('"%s"' % re.search(r' path="((?:[^"\\]|\\.)*)"', head)[1])
        symbol = re.search(r' symbol="((?:[^"\\]|\\.)*)"', head)
        self.symbol = json.loads('"%s"' % symbol[1]) if symbol else ""

    def is_named(self, name):
        return re.split(r"[.:/#]", self.symbol)[-1] == name or (not self.symbol and self.path.endswith(NO_PARSER))


def blocks_of(prompt):
    now, found = None, []
    for line in prompt.split("\n"):
        m = re.match(r"<(file|removed) path=", line)
        if m and not now:
            now = Block(m[1], line)
            found.append(now)
        elif now and line == "</%s>" % now.kind:
            now = None
        elif now:
            number, _, text = line.partition("|")
            now.lines.append((int(number) if number.isdigit() else None, text))
    return found


def has_run(lines, want):
    texts = [text for _, text in lines]
    return any(texts[i:i + len(want)] == want for i in range(len(texts) - len(want) + 1))


def what_is_missing(prompts, row, guard, head_line, head):
    """None when one prompt has the guard among the removed lines of the definition, and the definition's head with it;
    else what the best prompt lacks."""
    best = "no prompt has the removed guard"
    for prompt in prompts:
        blocks, beside = blocks_of(prompt), None
        for b in blocks:
            if b.kind == "file":
                beside = b
            elif b.path == row["file"] and has_run(b.lines, guard):
                if not beside or beside.path != row["file"]:
                    best = "the guard is not beside its file"
                elif not beside.is_named(row["name"]):
                    best = "the guard is beside '%s'" % beside.symbol
                elif not any(x.kind == "file" and x.path == row["file"] and x.is_named(row["name"])
                             and (head_line, head) in x.lines for x in blocks):
                    best = "the prompt with the guard lacks the head of the definition"
                else:
                    return None
    return best


def changed_lines(tree, path):
    """The lines of the work tree that a finding may be about: changed ones, and those next to removed ones."""
    lines = set()
    for m in re.finditer(rb"(?m)^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", git("diff", "-U0", "--", path, cwd=tree)):
        n_old, first, n = int(m[1] or 1), int(m[2]), int(m[3] or 1)
        lines.update(range(first, first + n))
        if n == 0:
            first += 1
        if n_old:
            lines.update((first - 1, first))
    return lines


def look_at_findings(report, lines, row, count):
    for f in report["findings"]:
        if f["rule"] == "regression": # what relied on the change is seldom in the changed lines
            count["regressions"] += 1
            continue
        count["findings"] += 1
        if f["file"] != row["file"] or not lines & set(range(f["lines"][0], f["lines"][1] + 1)):
            raise Failed("a finding of %s is outside of the change: lines %s" % (f["rule"], f["lines"]))
    count["dropped"] += report["unwanted_findings"]


def check(row, repo, tree, scratch, o, count):
    patch = patch_of(repo, row)
    if sum_of(patch) != row["sha256"]:
        raise Failed("the patch has another sum: %s" % sum_of(patch))
    tree_of(repo, row, tree)
    with open(os.path.join(tree, row["file"]), encoding="utf-8", errors="replace", newline="") as f:
        text = [line.rstrip("\r") for line in f.read().split("\n")]
    first, last = span(row["guard"])
    guard, head = text[first - 1:last], text[int(row["head"]) - 1]
    head_line = old_line(patch, int(row["head"]))
    if head_line is None or any(old_line(patch, n) is not None for n in range(first, last + 1)):
        raise Failed("the table is wrong: the fix does not write the guard, or writes the head")
    git("apply", "-R", "-", cwd=tree, stdin=patch)
    with open(os.path.join(tree, row["file"]), encoding="utf-8", errors="replace", newline="") as f:
        if f.read().split("\n")[head_line - 1].rstrip("\r") != head:
            raise Failed("the head has another line")
    lines = changed_lines(tree, row["file"])
    _, prompts = inspect([*RANDOM, "-n", "1"], tree, scratch, o.mythos)
    if o.keep:
        with open(os.path.join(scratch, "prompts.txt"), "w", encoding="utf-8") as f:
            f.write("\n\n========\n".join(prompts))
    lack = what_is_missing(prompts, row, guard, head_line, head)
    if lack:
        raise Failed("%d prompts: %s" % (len(prompts), lack))
    for k in range(o.answers):
        sampling = ["-n", "1500", "--temp", "1", "--seed", str(o.seed + k)]
        look_at_findings(inspect([*RANDOM, *sampling], tree, scratch, o.mythos)[0], lines, row, count)
    if o.model:
        look_at_findings(inspect(["-m", o.model], tree, scratch, o.mythos)[0], lines, row, count)


def run_check(o):
    table = [r for r in rows() if not o.only or o.only in "\t".join(r.values())]
    if o.rows: # among what is there
        table = [r for r in table if history(o.histories, r["repository"])]
    if o.rows and o.rows < len(table):
        table = sorted(random.Random(o.seed).sample(table, o.rows), key=lambda r: r["repository"])
    count, n_good, n_absent = {"findings": 0, "regressions": 0, "dropped": 0}, 0, 0
    base = o.keep or tempfile.mkdtemp()
    try:
        for row in table:
            called = "%s %s %s" % (row["repository"], row["commit"][:8], row["name"])
            repo = history(o.histories, row["repository"])
            if not repo:
                print("SKIPPED %s: its repository is not in %s" % (called, o.histories))
                n_absent += 1
                continue
            scratch = os.path.join(base, row["repository"].replace("/", "+") + "-" + row["commit"][:8])
            shutil.rmtree(scratch, ignore_errors=True)
            os.makedirs(scratch)
            try:
                check(row, repo, os.path.join(scratch, "tree"), scratch, o, count)
                n_good += 1
                if o.keep:
                    print("%s: good" % called, flush=True)
            except Failed as e:
                print("%s: %s" % (called, e), flush=True)
            if not o.keep:
                shutil.rmtree(scratch, ignore_errors=True)
    finally:
        if not o.keep:
            shutil.rmtree(base, ignore_errors=True)
    n = len(table) - n_absent
    if n == 0:
        print("no repository of the table is in %s" % o.histories)
        return 77
    print("%d of %d fixes: the prompt has the removed guard and its definition" % (n_good, n))
    print("%(findings)d findings, all in changed lines or next to removed ones; %(dropped)d about other lines dropped; "
          "%(regressions)d regressions" % count)
    if (o.answers or o.model) and not o.rows and not o.only and not count["dropped"]:
        print("no finding was dropped, so nothing shows that one would be")
        return 1
    return 0 if n_good == n else 1


def run_sums(o):
    print("#" + "\t".join(COLUMNS))
    for row in rows():
        repo = history(o.histories, row["repository"])
        if not repo:
            sys.exit("%s is not in %s" % (row["repository"], o.histories))
        row["sha256"] = sum_of(patch_of(repo, row))
        print("\t".join(row[c] for c in COLUMNS))
    return 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["sums", "check"])
    p.add_argument("histories")
    p.add_argument("mythos", nargs="?")
    p.add_argument("--rows", type=int, default=0)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--answers", type=int, default=0)
    p.add_argument("--model")
    p.add_argument("--only", default="")
    p.add_argument("--keep", default="")
    o = p.parse_args()
    if o.what == "check":
        if not o.mythos:
            p.error("check needs the program")
        o.mythos = os.path.abspath(o.mythos)
        o.model = o.model and os.path.abspath(o.model)
    return run_sums(o) if o.what == "sums" else run_check(o)


if __name__ == "__main__":
    sys.exit(main())
