#!/usr/bin/env python3
"""short.py - the whole recipe in some minutes, on small repositories that it makes itself: what each program writes is
what the next one reads, and mythos asks the file that comes out.

The repositories (two of train, one each of dev and test) have functions of C and Python that leak a file or use what
may be NULL, a commit that mends each, and functions that nobody touched. The judge that is trained on them is of the
real shape and knows nothing: it shows that the commands work, and no figure of it means anything. All stays in --work.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SPLITS = {"short/one": "train", "short/two": "train", "short/three": "dev", "short/four": "test"}
FIXES, CLEAN_FILES, QUIET_COMMITS = 24, 16, 210  # clean.py leaves out what the newest 200 commits changed
WORDS = "count node item entry block frame record field packet table queue page header token cell group".split()

LEAK = """int %(f)s(const char *path, int %(v)s)
{
    FILE *%(h)s = fopen(path, "rb");
    if (!%(h)s)
        return -1;
    if (fgetc(%(h)s) == %(v)s) {
%(fix)s        return -%(n)d;
    }
    fclose(%(h)s);
    return %(n)d;
}
"""
NULL = """char *%(f)s(int %(v)s)
{
    char *%(h)s = malloc(%(v)s + %(n)d);
%(fix)s    %(h)s[0] = 0;
    memset(%(h)s, 0, %(v)s);
    return %(h)s;
}
"""
NONE = """def %(f)s(%(v)s, limit):
    %(h)s = %(v)s.get("%(n)d")
%(fix)s    if %(h)s.size > limit:
        return limit
    return %(h)s.size + %(n)d
"""
FORMS = [
    (LEAK, "c", "        fclose(%(h)s);\n", "fix file leak on error in %(f)s"),
    (NULL, "c", "    if (!%(h)s)\n        return NULL;\n", "fix NULL pointer dereference in %(f)s"),
    (NONE, "py", "    if %(h)s is None:\n        return 0\n", "do not crash in %(f)s when %(h)s is None"),
]
CLEAN = """int %(f)s(int %(v)s, char *%(h)s)
{
    int total = %(n)d;
    while (%(v)s > 0) {
        total += %(h)s[%(v)s];
        %(v)s -= 2;
    }
    char *copy = strdup(%(h)s);
    copy[0] = (char)total;
    free(copy);
    return total;
}
"""


def names(dice, n):
    word = dice.sample(WORDS, 3)
    return {"f": f"{word[0]}_{word[1]}_{n}", "v": f"{word[2]}{n}", "h": f"{word[1]}{n}", "n": n}


def history(dice, first):
    """(message, {path: text}) of each commit: what is there at first, quiet commits, the fixes."""
    fixes, files = [], {}
    for k in range(FIXES):
        text, suffix, fix, message = FORMS[k % len(FORMS)]
        name = names(dice, first + k)
        path = f"src/{name['f']}.{suffix}"
        files[path] = text % {**name, "fix": ""}
        fixes.append((message % name, {path: text % {**name, "fix": fix % name}}))
    for k in range(CLEAN_FILES):
        functions = [CLEAN % names(dice, first + 100 + 3 * k + i) for i in range(3)]
        files[f"src/quiet{k}.c"] = "\n".join(functions)
    quiet = [(f"note {k}", {}) for k in range(QUIET_COMMITS)]
    return [("first", files), *quiet, *fixes]


def make(folder, commits):
    """A bare repository with these commits; returns its head."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], check=True)
    out = []
    for n, (message, files) in enumerate(commits):
        out.append(f"commit refs/heads/main\ncommitter a <a@example.com> {1_700_000_000 + n} +0000\n")
        out.append(f"data {len(message)}\n{message}\n")
        for path, text in files.items():
            out.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
    git = ["git", f"--git-dir={folder}"]
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(out).encode(), check=True)
    return subprocess.run([*git, "rev-parse", "main"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def make_all(work):
    """The repositories below WORK/upstream, and their table."""
    rows = []
    for n, (repository, split) in enumerate(SPLITS.items()):
        folder = work / "upstream" / f"{repository}.git"
        folder.parent.mkdir(parents=True, exist_ok=True)
        head = make(folder, history(random.Random(n), 1000 * (n + 1)))
        rows.append("\t".join([repository, "MIT", head, "c,python", split]))
    (work / "repositories.tsv").write_text("\n".join(rows) + "\n")


def run(work, program, *words):
    begin = time.time()
    print(f"== {program} {' '.join(words)}", flush=True)
    command = [sys.executable, "-W", "ignore", HERE / program, "--work", work, *words]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(f"short.py: {program} failed")
    print(f"   {time.time() - begin:.1f} s", flush=True)


def want(holds, what):
    if not holds:
        raise SystemExit(f"short.py: {what}")


def rows_of(path):
    return [json.loads(line) for line in path.open()]


def ask(mythos, work, output):
    """What mythos says of a file with this judge, as candidates and as findings."""
    folder = work / "files" / "test" / "pairs"
    command = [mythos, "candidates", "--judge", "-m", output, "--format", "jsonl", "-q", folder]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    judged = [json.loads(line)["probability"] for line in found]
    want(len(judged) > FIXES and all(p is not None and 0 <= p <= 1 for p in judged), "a place was not judged")
    command = [mythos, "inspect", folder, "--find", "candidates", "--judge-model", output, "--no-explain"]
    command += ["--confidence", "0", "--format", "json", "--fail-level", "never", "--no-cache", "-q"]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    want(len(report["findings"]) > 0, "no place became a finding")
    print(f"{len(judged)} places judged, {len(report['findings'])} findings at confidence 0")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, required=True, help="an empty or new folder")
    args.add_argument("--mythos", default=str(HERE.parents[1] / "build" / "mythos"))
    args.add_argument("--minutes", type=float, default=0.6, help="of training")
    a = args.parse_args()
    work, mythos = a.work.resolve(), str(pathlib.Path(a.mythos).resolve())
    table, asks = ["--list", str(work / "repositories.tsv")], ["--mythos", mythos]
    make_all(work)
    run(work, "clones.py", "--base", str(work / "upstream"), *table)
    run(work, "fixes.py", *table)
    run(work, "pairs.py", *table)
    run(work, "clean.py", "--each", "40", *table)
    run(work, "materialise.py")
    run(work, "counts.py")
    for split in ("train", "dev", "test"):
        want(len(rows_of(work / "pairs" / f"{split}.jsonl")) >= FIXES * 3 // 4, f"too few pairs of {split}")
        want(len(rows_of(work / "clean" / f"{split}.jsonl")) >= 20, f"too few clean functions of {split}")
    run(work, "vocabulary.py", *asks)
    run(work, "dataset.py", "--removed", "0.5", *asks)
    run(work, "changes.py")
    run(work, "words.py", "--teach", str(work / "teacher.json"), *asks)
    half = [str(a.minutes / 2), "--every", str(a.minutes / 4), "--workers", "1"]
    run(work, "train.py", "--minutes", *half)
    shutil.copy(work / "run" / "checkpoint.pt", work / "run" / "half.pt")
    run(work, "train.py", "--minutes", str(a.minutes), *half[1:])  # goes on
    run(work, "average.py", "--write", str(work / "run" / "half.pt"), str(work / "run" / "checkpoint.pt"))
    run(work, "calibrate.py")
    run(work, "words.py", "--scores", str(work / "words.json"), *asks)
    run(work, "judged.py")
    output = work / "judge.gguf"
    run(work, "export.py", "--output", str(output), "--removed", "0.5", "--check", "dev", *asks)
    ask(mythos, work, str(output))
    with (work / "places.jsonl").open("w") as places:
        command = [mythos, "candidates", "--judge", "-m", output, "--format", "jsonl", "-q", work / "files" / "dev"]
        subprocess.run(command, stdout=places, check=True)
    run(work, "shares.py", "--places", str(work / "places.jsonl"))
    run(work, "export.py", "--output", str(output), "--removed", "0.5", *asks)
    ask(mythos, work, str(output))
    print("short.py: all of it works")


if __name__ == "__main__":
    main()
