#!/usr/bin/env python3
"""dataset.py - WORK/src -> WORK/data/{train.npz, dev.jsonl, test.jsonl}: small files with a few known defects,
as the model sees them.

Files     one or two functions of a package (in training also several), some below a few of its own includes and macros;
          statements that only look like a defect (templates.GOOD) go into faulty and faultless files alike
Prompts   ids come from `mythos prompt --batch`, the builder that inspect-file uses; the answer's text too. Only its
          cutting into tokens is ours: the pieces of vocab.answer_pieces() whole, everything between by the tokenizer.
Splits    by package (packages.tsv): nothing of a dev or test package is in train
"""

import argparse
import json
import pathlib
import pickle
import random
import re
import subprocess
import tempfile

from tokenizers import Tokenizer

import fetch
import inject
import shard
import templates
import units
import vocab

EVIDENCE_BYTES = 40
CLEAN = 0.42
TORN, LONG = 0.3, 0.3  # of training alone: evidence that breaks off; files of many functions
DECISION, EVIDENCE, FORCED = 3.0, 0.5, 0.1
NEWLINE, RULES_END = 107, 108


def load_units(work):
    """[(split, package, file, is_c, preamble, lines)] of all packages, cached."""
    cache = work / "units.pkl"
    if cache.exists():
        return pickle.loads(cache.read_bytes())
    out = []
    for _, name, split, _ in fetch.packages():
        for f in sorted((work / "src" / name).glob("*")):
            text, is_c = f.read_bytes().decode("utf-8", "replace"), f.suffix == ".c"
            above = units.preamble(text, is_c)[:12]
            found = units.c_units(text) if is_c else units.py_units(text)
            out += [(split, name, f.name, is_c, above, u) for u in found]
    cache.write_bytes(pickle.dumps(out))
    return out


def by_split(all_units, split, cap, seed):
    """Units of a split that are not doubtful, in random order, at most cap a package, as {is_c: [...]}."""
    rng = random.Random(seed)
    mine = [u for u in all_units if u[0] == split]
    rng.shuffle(mine)
    count, out = {}, {True: [], False: []}
    for u in mine:
        count[u[1]] = count.get(u[1], 0) + 1
        if count[u[1]] <= cap and not inject.doubtful(u[5], u[3]):
            out[u[3]].append(u)
    return out


def some_path(name, rng):
    parts = name.split("__")
    return "/".join(parts[-rng.choice([1, 1, 1, 2, 3]) :])[-48:]


class Maker:
    """Files of one split, one after another; a unit is not used twice before all were."""

    def __init__(self, pool, seed, long_share=0.0):
        self.pool, self.rng, self.at, self.long_share = pool, random.Random(seed), {True: 0, False: 0}, long_share

    def unit(self, is_c, max_lines):
        for _ in range(200):
            pool = self.pool[is_c]
            u = pool[self.at[is_c] % len(pool)]
            self.at[is_c] += 1
            if len(u[5]) <= max_lines:
                return u
        return u

    def base(self, is_c):
        rng = self.rng
        if rng.random() < self.long_share:
            return self.long_base(is_c, rng.randint(25, 55))
        room = rng.choices([10, 16, 26, 42], [5, 4, 2, 1])[0]
        u = self.unit(is_c, room)
        lines = list(u[5])
        if len(lines) < room - 8 and rng.random() < 0.5:
            more = self.unit(is_c, room - len(lines))
            lines += [""] + list(more[5])
            return u, inject.Code(lines, is_c), sorted({u[1], more[1]})
        return u, inject.Code(lines, is_c), [u[1]]

    def long_base(self, is_c, room):
        """As many short functions as there is room for."""
        u = self.unit(is_c, 16)
        lines, packages = list(u[5]), {u[1]}
        while len(lines) < room - 6:
            more = self.unit(is_c, min(16, room - len(lines)))
            lines += [""] + list(more[5])
            packages.add(more[1])
        return u, inject.Code(lines, is_c), sorted(packages)

    def file(self, rule, n_more=0):
        """(path, code, packages) with one defect of `rule` (None: faultless) and n_more of others.
        None when it did not work out."""
        rng = self.rng
        langs = [k for k, t in ((True, templates.C_BAD), (False, templates.PY_BAD)) if rule is None or rule in t]
        u, code, packages = self.base(rng.choice(langs))
        n_more += rng.randint(0, 2) if n_more and len(code.lines) > 25 else 0
        for r in ([rule] if rule else []) + [rng.choice(templates.RULES) for _ in range(n_more)]:
            if not inject.defect(code, r, rng) and r == rule:
                return None
        for _ in range(rng.choices([0, 1, 2, 3], [3, 4, 2, 1])[0]):
            near = rule if rule and rng.random() < 0.3 else rng.choice(templates.RULES)
            inject.decoy(code, near, rng)
        if u[4] and rng.random() < 0.25:
            above = u[4][: rng.randint(1, 4)]
            code.lines[:0] = above + [""]
            code.marks = [(i + len(above) + 1, r) for i, r in code.marks]
        return some_path(u[2], rng), code, packages


def evidence_of(line):
    text = line.strip()
    if len(text) <= EVIDENCE_BYTES:
        return text
    cut = text[:EVIDENCE_BYTES]
    return cut[: max(cut.rfind(" "), EVIDENCE_BYTES - 12)].rstrip()


def torn(text, rng):
    """Evidence that ends somewhere, as that of an unsure model does: what follows it must not depend on a clean end."""
    cut = text[: rng.randint(8, len(text))].rstrip() if len(text) > 8 and rng.random() < TORN else text
    return cut if len(cut) >= 8 else text


def to_request(path, code, packages, first=1, rng=None):
    """first > 1: the code as a part that begins there, below lines the prompt does not show.
    rng: with some evidence torn."""
    marks = sorted(set(code.marks))
    request = {
        "path": path,
        "packages": packages,
        "code": "\n" * (first - 1) + "\n".join(code.lines) + "\n",
        "within": [first, first + len(code.lines) - 1],
        "findings": [
            {"lines": [i + first, i + first], "rule": r, "evidence": evidence_of(code.lines[i])} for i, r in marks
        ],
    }
    for f in request["findings"] if rng else []:
        f["evidence"] = torn(f["evidence"], rng)
    return request


def ask(mythos, model, requests):
    """The answers of `mythos prompt --batch`, in order; lines that were refused come back as None."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.writelines(json.dumps(r) + "\n" for r in requests)
        f.flush()
        out = subprocess.run(
            [*mythos, "prompt", "-m", str(model), "--prompt-style", "compact", "--batch", f.name],
            stdout=subprocess.PIPE,
        )
    rows = [json.loads(line) for line in out.stdout.splitlines()]
    assert len(rows) == len(requests), f"{len(rows)} answers to {len(requests)} requests"
    bad = [r["error"] for r in rows if "error" in r]
    if bad:
        print(f"{len(bad)} refused, the first: {bad[0]}")
    return [None if "error" in r else r for r in rows]


class Cutter:
    """Cuts an answer into pieces with the weight of each."""

    def __init__(self, tok):
        self.id = tok.get_vocab()
        self.tok = tok
        fixed = sorted(vocab.answer_pieces(), key=len, reverse=True)
        self.fixed = re.compile("(" + "|".join(re.escape(p) for p in fixed) + ")")
        self.rules = {r for r, _ in vocab.rule_ids()}

    def plain(self, text):
        return self.tok.encode(text, add_special_tokens=False).ids

    def cut(self, request, answer):
        ids, weight = [], []

        def add(piece, w):
            new = [self.id[piece]] if piece in self.id else self.plain(piece)
            ids.extend(new)
            weight.extend([w] * len(new))

        add(vocab.OPEN, FORCED)
        text = vocab.OPEN
        path = json.dumps(request["path"])[1:-1]
        for k, f in enumerate(request["findings"]):
            evidence, n = json.dumps(f["evidence"], ensure_ascii=False)[1:-1], str(f["lines"][0])
            severity = dict(vocab.rule_ids())[f["rule"]]
            for piece, w in (
                (vocab.NEXT_FILE if k else vocab.FILE, DECISION),
                (path, FORCED),
                (vocab.LINES, FORCED),
                (n, DECISION),
                (",", FORCED),
                (n, 0.5),
                (vocab.EVIDENCE, FORCED),
                (evidence, EVIDENCE),
                (vocab.RULE, EVIDENCE),
                (f["rule"], DECISION),
                (vocab.TEXTS, FORCED),
                (severity, EVIDENCE),
                (vocab.STATUS, FORCED),
                ("likely", FORCED),
                (vocab.END, FORCED),
            ):
                add(piece, w)
                text += piece
        add(vocab.CLOSE, DECISION)
        assert text + vocab.CLOSE == answer, f"{text + vocab.CLOSE}\n{answer}"
        return ids + [106], weight + [FORCED]


def line_ends(ids, n_line):
    """Places of the newline after each numbered line: those after the rules' empty line
    and the block's own first line."""
    begin = ids.index(RULES_END)
    ends = [i for i in range(begin, len(ids)) if ids[i] == NEWLINE]
    return ends[1 : 1 + n_line]


def write_train(work, mythos, maker, n, max_len):
    tok = Tokenizer.from_file(str(work / "model" / "tokenizer.json"))
    cutter, writer, rng = Cutter(tok), shard.Writer(), maker.rng
    label = {r: 1 + i for i, (r, _) in enumerate(vocab.rule_ids())}
    while len(writer.n_prompt) < n:
        requests = []
        while len(requests) < 2000:
            rule = None if rng.random() < CLEAN else templates.RULES[rng.randrange(len(templates.RULES))]
            made = maker.file(rule, rng.choices([0, 1, 2], [5, 3, 2])[0] if rule else 0)
            if made:
                requests.append(to_request(*made, rng.randint(1, 280) if rng.random() < 0.3 else 1, rng))
        for request, row in zip(requests, ask(mythos, work / "model", requests)):
            if row is None:
                continue
            answer, weight = cutter.cut(request, row["answer"])
            if len(row["ids"]) + len(answer) > max_len:
                continue
            first, last = request["within"]
            ends = line_ends(row["ids"], last - first + 1)
            broken = {f["lines"][0]: label[f["rule"]] for f in request["findings"]}
            writer.add(row["ids"], answer, weight, [(at, broken.get(i + first, 0)) for i, at in enumerate(ends)])
        print(f"train: {len(writer.n_prompt)} files, {writer.start[-1]} tokens", flush=True)
    writer.save(work / "data" / "train.npz")


def write_held_out(work, mythos, maker, name, per_rule, max_len):
    """per_rule files with one defect of each rule and as many without, each within max_len tokens."""
    jobs = [r for r in templates.RULES for _ in range(per_rule)]
    jobs += [None] * len(jobs)
    rows = []
    while jobs:
        made = [(job, maker.file(job)) for job in jobs]
        made = [(job, m) for job, m in made if m and len(m[1].marks) == (job is not None)]
        requests = [to_request(*m) for _, m in made]
        for (job, _), request, row in zip(made, requests, ask(mythos, work / "model", requests)):
            if row and len(row["ids"]) <= max_len - 100:
                rows.append(request | {"ids": row["ids"], "answer": row["answer"]})
                jobs.remove(job)
    (work / "data" / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    print(f"{name}: {len(rows)} files")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch.HERE.parents[1] / "build-model")
    args.add_argument(
        "--mythos", default=str(fetch.HERE.parents[1] / "build" / "mythos"), help="command, may have several words"
    )
    args.add_argument("--files", type=int, default=60_000)
    args.add_argument("--max-len", type=int, default=768)
    args.add_argument("--seed", type=int, default=7)
    args.add_argument("--only", choices=["train", "dev", "test"])
    a = args.parse_args()
    mythos = a.mythos.split()
    (a.work / "data").mkdir(parents=True, exist_ok=True)
    everything = load_units(a.work)
    if a.only in (None, "dev"):
        write_held_out(a.work, mythos, Maker(by_split(everything, "dev", 2000, 1), 11), "dev", 10, a.max_len)
    if a.only in (None, "test"):
        write_held_out(a.work, mythos, Maker(by_split(everything, "test", 2000, 2), 12), "test", 24, a.max_len)
    if a.only in (None, "train"):
        write_train(a.work, mythos, Maker(by_split(everything, "train", 4000, 3), a.seed, LONG), a.files, a.max_len)


if __name__ == "__main__":
    main()
