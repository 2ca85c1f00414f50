#!/usr/bin/env python3
"""evaluate.py - asks `mythos inspect-file` about every file of WORK/data/test.jsonl and scores the answers (score.py).

Beside the model stand an empty answer and grep_rules.py. Prints a table and, with --json, writes it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import fetch
import grep_rules
import score

HIDDEN = re.compile(r"\[REDACTED:[^]]*\]")  # what the command prints in the place of a secret
VISIBLE = [
    "hardcoded-secret",
    "weak-hash",
    "shell-injection",
    "sql-injection",
    "format-string",
    "unsafe-deserialization",
]


def stands_in(evidence, line):
    return re.search(".*".join(re.escape(s) for s in HIDDEN.split(evidence)), line)


def inspect(mythos, model, folder, file, threads):
    """[(line, rule)] as the command reports them, and whether it finished."""
    path = folder / file["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file["code"])
    out = subprocess.run(
        [mythos, "inspect-file", file["path"], "-m", str(model), "-t", str(threads), "-q", "--format", "json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if out.returncode not in (0, 1, 3):
        raise SystemExit(f"{file['path']}: exit {out.returncode}\n{out.stderr}")
    report = json.loads(out.stdout)
    lines = file["code"].split("\n")
    for f in report["findings"]:
        first, last = f["lines"]
        assert f["file"] == file["path"] and any(
            stands_in(f["evidence"], s) for s in lines[first - 1 : last]
        ), f"a citation that is not there: {f}"
    return [(f["lines"][0], f["rule"]) for f in report["findings"]], report["complete"]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = fetch.HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-model")
    args.add_argument("--mythos", default=str(root / "build" / "mythos"))
    args.add_argument("--model", type=pathlib.Path, default=root / "models" / "mythos-inspect.gguf")
    args.add_argument("--data", default="test.jsonl")
    args.add_argument("--threads", type=int, default=2)
    args.add_argument("--json", type=pathlib.Path)
    a = args.parse_args()
    mythos, model = str(pathlib.Path(a.mythos).resolve()), a.model.resolve()
    files = [json.loads(line) for line in (a.work / "data" / a.data).read_text().splitlines()]
    found, finished = [], 0
    with tempfile.TemporaryDirectory() as top:
        for i, file in enumerate(files):
            answer, complete = inspect(mythos, model, pathlib.Path(top) / str(i), file, a.threads)
            found.append(answer)
            finished += complete
    tables = {
        "model": found,
        "grep": [grep_rules.findings(f["path"], f["code"]) for f in files],
        "empty": [[] for _ in files],
    }
    rules, (macro, ahead) = score.rules_of(files), score.bootstrap(files, tables)
    per = {k: score.per_rule(score.counts(files, v), rules) for k, v in tables.items()}
    n_clean = sum(not f["findings"] for f in files)
    print(f"{len(files)} files, {n_clean} without a defect, {len(rules)} rules, {finished} answers complete\n")
    print(
        f"{'rule':26s} {'files':>5s} {'model F1':>9s} {'precision':>9s} "
        f"{'recall':>7s} {'grep F1':>8s} {'grep recall':>11s}"
    )
    for r in rules:
        (h, x, m), g = per["model"][r], per["grep"][r]
        print(
            f"{r:26s} {h + m:5d} {score.f1((h, x, m)):9.2f} {h / max(1, h + x):9.2f} {h / max(1, h + m):7.2f} "
            f"{score.f1(g):8.2f} {g[0] / (g[0] + g[2]):11.2f}"
        )
    for name, (value, low, high) in macro.items():
        quiet = sum(not v for v, f in zip(tables[name], files) if not f["findings"]) / max(1, n_clean)
        print(f"\n{name:6s} macro-F1 {value:.3f} [{low:.3f}, {high:.3f}], clean files left alone {quiet:.3f}", end="")
    for name, (low, high) in ahead.items():
        print(f"\nmodel - {name}: [{low:+.3f}, {high:+.3f}]", end="")
    seen = [per["grep"][r] for r in rules if r in VISIBLE]
    print(f"\ngrep recall on the visible rules: lowest {min(c[0] / (c[0] + c[2]) for c in seen):.2f}")
    if a.json:
        a.json.write_text(json.dumps({"n": len(files), "macro": macro, "ahead": ahead, "counts": per}, indent=1))


if __name__ == "__main__":
    main()
