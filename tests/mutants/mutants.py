#!/usr/bin/env python3
"""mutants.py [-j N] [--nice N] [--any-commit] [--only TEXT] [--check] - does each test of the table notice the error
planted for it?

The tree is copied into build-mutants/tree and built once. Then, for each row of mutants.txt: the one line is changed,
the test's program built and the test run, and the line put back. A test that fails, crashes or does not end has caught
the mutant. Results are kept in build-mutants/results.tsv by row and commit, so that a run goes on where the last one
ended; --any-commit takes over what was caught at an earlier commit. --only runs the rows that contain TEXT.
--check builds nothing: it names the rows that no longer fit the tree.

mutants.txt: rows parted by blank lines, `#` begins a comment.
    FILE [FUNCTION]      where; a file that moved is found by its name
    - TEXT               a part of one line that occurs once in the file, or in the function
    + TEXT               what takes its place; nothing behind the sign deletes it
    test NAME [PATTERN]  the ctest that must notice; PATTERN runs the tests of that name alone
    set NAME=VALUE       more for the test's environment
    why TEXT             what the mutant breaks
    survives TEXT        why no test can notice it

Exit code 1: fewer than 95 % are caught, a survivor has no reason, a row no longer fits the tree, or a test fails
without a mutant."""
import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

SHARE = 0.95
SEED = "1"                  # the same random cases in every run
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, "build-mutants")
TREE = os.path.join(WORK, "tree")
BUILD = os.path.join(TREE, "build")
RESULTS = os.path.join(WORK, "results.tsv")
CONFIGURE = ["cmake", "--preset", "release", "-DMYTH_TESTS=ON", "-DMYTH_CUDA=OFF"]
NO_VULKAN = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}     # most rows are about the CPU
ENGINE_ROOMS = ("engine", "kernels", "base", "fuzz")    # whose tests do not run the command


class Stale(Exception):
    pass


class Row:
    def __init__(self, line_no):
        self.line_no = line_no
        self.file = self.function = self.old = self.new = self.test = self.pattern = None
        self.environment, self.why, self.survives = {}, "", ""

    def key(self):
        text = "\0".join(str(v) for v in (self.file, self.function, self.old, self.new, self.test, self.pattern,
                                          sorted(self.environment.items())))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def name(self):
        return "%s:%d %s: %s -> %s" % (os.path.join("tests/mutants", "mutants.txt"), self.line_no, self.file, self.old,
                                       self.new or "nothing")


def read_table(path):
    rows, row = [], None
    with open(path, encoding="utf-8") as table:
        for line_no, line in enumerate(table, 1):
            line = line.rstrip("\n")
            word, _, rest = line.partition(" ")
            if not line:
                row = None
            elif word.startswith("#"):
                continue
            elif row is None:
                row = Row(line_no)
                row.file, _, row.function = line.partition(" ")
                rows.append(row)
            elif word == "-":
                row.old = rest
            elif word == "+":
                row.new = rest
            elif word == "test":
                row.test, _, row.pattern = rest.partition(" ")
            elif word == "set":
                row.environment.update([rest.split("=", 1)])
            elif word == "why":
                row.why = rest
            elif word == "survives":
                row.survives = rest
            else:
                sys.exit("%s:%d: unknown word %s" % (path, line_no, word))
    for row in rows:
        if not row.old or row.new is None or not row.test or not row.why:
            sys.exit("%s:%d: a row needs -, +, test and why" % (path, row.line_no))
    return rows


# ---- the copy ----

def tracked_files():
    try:
        out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             check=True, capture_output=True).stdout
        names = [name for name in out.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):        # an archive
        names = []
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [f for f in folders if not (folder == ROOT and f.startswith(("build", ".")))]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return [name for name in names if os.path.lexists(os.path.join(ROOT, name))]


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def is_same(source, copy):
    if not os.path.lexists(copy) or os.path.islink(source) != os.path.islink(copy):
        return False
    if os.path.islink(source):
        return os.readlink(source) == os.readlink(copy)
    return os.path.getsize(source) == os.path.getsize(copy) and read_bytes(source) == read_bytes(copy)


def copy_tree():
    """Files that are the same keep their time, so that only what changed is built again."""
    names = tracked_files()
    for name in names:
        source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
        if not is_same(source, copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.lexists(copy):
                os.unlink(copy)
            shutil.copyfile(source, copy, follow_symlinks=False)
            if not os.path.islink(source):
                shutil.copymode(source, copy)
    kept = set(names)
    for folder, folders, files in os.walk(TREE):
        if folder == TREE:
            folders[:] = [f for f in folders if f != "build"]
        for f in files:
            if os.path.relpath(os.path.join(folder, f), TREE) not in kept:
                os.unlink(os.path.join(folder, f))
    shared = os.path.join(os.path.dirname(ROOT), "shared")
    link = os.path.join(WORK, "shared")         # tests look for ../shared
    if os.path.isdir(shared) and not os.path.lexists(link):
        os.symlink(shared, link)
    return names


def commit_of_tree():
    """The commit, and a hash of what is not committed."""
    try:
        def git(*words):
            return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True).stdout
        commit = git("rev-parse", "--short=12", "HEAD").decode().strip()
        changed = git("diff", "HEAD", "--", ".", ":!tests/mutants")
    except (OSError, subprocess.CalledProcessError):
        return "archive"
    return commit + ("+" + hashlib.sha256(changed).hexdigest()[:8] if changed else "")


# ---- building and running ----

def run_quietly(command, log, environment=None, timeout=None):
    with open(log, "wb") as out:
        return subprocess.run(command, cwd=TREE, stdout=out, stderr=subprocess.STDOUT, timeout=timeout,
                              env=dict(os.environ, **(environment or {}))).returncode


def targets_of(test):
    room, _, short = test.partition("/")
    if room == "fuzz":
        return ["fuzz_" + short]
    program = "test_%s_%s" % (room, short)
    targets = [program] if program in ALL_TARGETS else []
    return targets if room in ENGINE_ROOMS else targets + ["mythos"]


def build(targets, jobs):
    return run_quietly(["ninja", "-C", BUILD, "-j", str(jobs), *targets], os.path.join(WORK, "build.log")) == 0


def run_test(row, limit):
    """Seconds and whether the test passed; None for one that did not end."""
    on_vulkan = row.test.startswith("vulkan/") or row.test.endswith("_vulkan")
    environment = dict({} if on_vulkan else NO_VULKAN, MYTHOS_TEST_SEED=SEED, **row.environment)
    if row.pattern:
        environment["MYTHOS_TEST_NAME"] = row.pattern
    began = time.monotonic()
    command = ["ctest", "--test-dir", BUILD, "-R", "^%s$" % re.escape(row.test), "--no-tests=error", "-V"]
    code = run_quietly(command + ["--timeout", str(int(limit))], os.path.join(WORK, "test.log"), environment)
    seconds = time.monotonic() - began
    text = read_bytes(os.path.join(WORK, "test.log"))
    if code != 0 and b"***Timeout" in text:
        return seconds, None
    if code == 0 and (b"***Skipped" in text or b" 0 test(s) run." in text):
        raise Stale("%s %s runs no test here" % (row.test, row.pattern))
    return seconds, code == 0


# ---- one mutant ----

def find_file(name, names):
    if name in names:
        return name
    same = [n for n in names if os.path.basename(n) == os.path.basename(name) and not n.startswith("tests/")]
    if len(same) != 1:
        raise Stale("no file %s, and %d others of that name" % (name, len(same)))
    return same[0]


def find_function(name, text):
    """Where its definition begins and ends."""
    for head in re.finditer(r"^(?![ #/*}]).*\b%s\(" % re.escape(name), text, re.M):
        line_end = text.find("\n", head.end())
        if text[head.start():line_end].endswith("}"):
            return head.start(), line_end
        body = text.find("\n{", head.end())
        if body >= 0 and ";" not in text[head.end():body]:
            return head.start(), text.find("\n}", body)
    raise Stale("no function %s" % name)


def find_line(row, text):
    """Where the old text begins."""
    start, end = find_function(row.function, text) if row.function else (0, len(text))
    n = text.count(row.old, start, end)
    if n != 1:
        raise Stale("the text occurs %d times" % n)
    return text.index(row.old, start)


def judge(row, names, jobs, limit):
    path = os.path.join(TREE, find_file(row.file, names))
    with open(path, encoding="utf-8") as f:
        text = f.read()
    at = find_line(row, text)
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text[:at] + row.new + text[at + len(row.old):])
        if not build(targets_of(row.test), jobs):
            return "broken"
        passed = run_test(row, limit)[1]
        return "hangs" if passed is None else "survived" if passed else "caught"
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def read_results():
    results = {}
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as f:
            for line in f:
                key, commit, verdict = line.rstrip("\n").split("\t")[:3]
                results[key, commit] = results[key, "any"] = verdict
    return results


def keep_result(row, commit, verdict):
    with open(RESULTS, "a", encoding="utf-8") as f:
        f.write("%s\t%s\t%s\t%s\n" % (row.key(), commit, verdict, row.name()))


def list_targets():
    command = ["ninja", "-C", BUILD, "-t", "targets", "all"]
    out = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    return {os.path.basename(line.split(":")[0]) for line in out.splitlines()}


def check_all(rows, options, names, commit):
    """Verdicts by row; a row that does not fit has the reason as its verdict."""
    results = read_results()
    verdicts, seconds = {}, {}
    for i, row in enumerate(rows):
        verdict = results.get((row.key(), commit))
        if not verdict and options.any_commit and results.get((row.key(), "any")) in ("caught", "hangs"):
            verdict = results[row.key(), "any"]
        if verdict and verdict != "broken":
            verdicts[row] = verdict
            continue
        try:
            find_line(row, read_bytes(os.path.join(TREE, find_file(row.file, names))).decode())
            how = (row.test, row.pattern, tuple(sorted(row.environment.items())))
            if how not in seconds:              # without a mutant
                if not build(targets_of(row.test), options.jobs):
                    sys.exit("the tree does not build: %s/build.log" % WORK)
                seconds[how], passed = run_test(row, 600)
                if not passed:
                    raise Stale("the test fails without a mutant")
            verdict = judge(row, names, options.jobs, 60 + 3 * seconds[how])
            keep_result(row, commit, verdict)
        except Stale as reason:
            verdict = "stale row: %s" % reason
        verdicts[row] = verdict
        print("%d/%d %s: %s (%s)" % (i + 1, len(rows), verdict, row.name(), row.test), flush=True)
    return verdicts


def report(rows, verdicts):
    count = collections.Counter(verdicts[row].split(":")[0] for row in rows)
    is_wrong = False
    for row in rows:
        verdict = verdicts[row]
        if verdict == "survived":
            print("survived: %s\n    %s\n    %s" % (row.name(), row.why, row.survives or "NO REASON IS GIVEN"))
            is_wrong = is_wrong or not row.survives
        elif verdict == "broken" or verdict.startswith("stale"):
            print("%s: %s" % ("does not build" if verdict == "broken" else verdict, row.name()))
            is_wrong = True
        elif row.survives:
            print("caught, so its reason to survive is wrong: %s" % row.name())
            is_wrong = True
    n_caught = count["caught"] + count["hangs"]
    share = n_caught / len(rows) if rows else 0
    print("%d mutants: %d caught (%d of them by not ending), %d survived, %d stale, %d do not build; %.1f %% caught" % (
        len(rows), n_caught, count["hangs"], count["survived"], count["stale row"], count["broken"], 100 * share))
    return 1 if is_wrong or share < SHARE else 0


def check_rows(rows):
    """1 when a row does not fit the tree as it is."""
    names, n_stale = set(tracked_files()), 0
    for row in rows:
        try:
            find_line(row, read_bytes(os.path.join(ROOT, find_file(row.file, names))).decode())
        except Stale as reason:
            print("stale row: %s: %s" % (reason, row.name()))
            n_stale += 1
    print("%d rows, %d of them stale" % (len(rows), n_stale))
    return 1 if n_stale else 0


def main():
    global ALL_TARGETS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", dest="jobs", type=int, default=1, choices=(1, 2), help="compilers at a time")
    parser.add_argument("--nice", type=int, default=19)
    parser.add_argument("--any-commit", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = [row for row in read_table(os.path.join(HERE, "mutants.txt"))
            if options.only in "\n".join(map(str, vars(row).values()))]
    if options.check:
        return check_rows(rows)
    os.nice(options.nice)
    os.makedirs(TREE, exist_ok=True)
    names = copy_tree()
    launcher = ["-DCMAKE_%s_COMPILER_LAUNCHER=ccache" % language for language in ("C", "CXX")]
    if run_quietly(CONFIGURE + (launcher if shutil.which("ccache") else []), os.path.join(WORK, "configure.log")) != 0:
        sys.exit("cmake failed: %s/configure.log" % WORK)
    ALL_TARGETS = list_targets()
    rows.sort(key=lambda row: row.test)         # stable: one test's rows stay in the table's order
    return report(rows, check_all(rows, options, names, commit_of_tree()))


if __name__ == "__main__":
    sys.exit(main())
