#!/usr/bin/env python3
"""pairs.py - WORK/src -> WORK/pairs/PACKAGE.jsonl: functions and classes of Python, functions of C, functions and types
of six more languages (trees.py), each with what was said about it.

Row      {"name", "doc", "head", "body", "c"}: the docstring (or the comment above), the lines up to it, the lines
         behind it; c: the number of the language in trees.LANGUAGES. doc is "" where nothing was said; the name, split
         into words, is then the only question
Limits   PER_PACKAGE rows of a package, chosen at random; those without a docstring are at most a third of them
Dropped  a row of Python that shares more than half of its 5-grams with an entry of the evaluation's corpus, or an
         entry with it, whichever share is larger; words alone count, identifiers split into lower-case parts. The count
         is printed.
         Twins inside a package, and of another one, too
"""

import argparse
import ast
import hashlib
import json
import pathlib
import random
import re
import textwrap

import fetch_more
import trees

PER_PACKAGE, MAX_FILE, MAX_BODY = 600, 200_000, 1600
MIN_WORDS, GRAM, SHARE = 3, 5, 0.5
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
C_HEAD = re.compile(r"^[A-Za-z_][\w\s\*]*?\**\s*\b(\w+)\s*\(")
NOT_C = re.compile(r"^(struct|enum|union|typedef|extern|else|case|default|if|for|while|switch|return)\b")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
NO_DOC = re.compile(
    r"^\s*(:|@|>>>|\.\.|todo|fixme|deprecated|copyright|see\b|test\b|internal|auto-?generated|alias|eslint|istanbul|"
    r"jshint|jslint|prettier|ts-|nolint|go:|rubocop|\{@inheritdoc|:nodoc|\W*$)",
    re.I,
)


def words(text):
    return re.findall(r"[A-Za-z][A-Za-z0-9_'-]*", text)


def usable(doc):
    first = doc.strip().split("\n\n")[0]
    return (
        len(words(first)) >= MIN_WORDS
        and not NO_DOC.match(first)
        and sum(c.isascii() for c in first) > 0.97 * len(first)
    )


# ---- Python ----


def definitions(body, outer=""):
    """Functions and classes, without looking into expressions: (node, name)."""
    for node in body:
        if isinstance(node, FUNCTION + (ast.ClassDef,)):
            name = f"{outer}.{node.name}" if outer else node.name
            yield node, name
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, name)
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from definitions(node.body, outer)


def docstring(node):
    first = node.body[0]
    is_doc = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first if is_doc else None


def of_python(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.splitlines()
    for node, name in definitions(tree.body):
        first, is_class = docstring(node), isinstance(node, ast.ClassDef)
        doc = first.value.value if first else ""
        start = min([node.lineno] + [d.lineno for d in node.decorator_list]) - 1
        head_end = first.lineno - 1 if first else node.body[0].lineno - 1
        body_from = first.end_lineno if first else head_end
        body_to = node.end_lineno if not is_class else min(node.end_lineno, body_from + 12)
        head, body = lines[start : max(head_end, node.lineno)], lines[max(body_from, node.lineno) : body_to]
        if is_class and not usable(doc) or len(body) + is_class < 1:
            continue
        yield {
            "name": name,
            "doc": doc,
            "head": textwrap.dedent("\n".join(head)),
            "body": "\n".join(body)[:MAX_BODY],
            "c": 0,
        }


# ---- C ----


def comment_above(lines, i):
    """Text of the comment that ends right above line i."""
    j = i - 1
    if j >= 0 and lines[j].rstrip().endswith("*/"):
        k = j
        while k > 0 and "/*" not in lines[k] and j - k < 60:
            k -= 1
        block = lines[k : j + 1]
        return "\n".join(re.sub(r"^\s*/?\*+/?\s?|\*+/\s*$", "", s).rstrip() for s in block).strip()
    k = i
    while k > 0 and lines[k - 1].startswith("//"):
        k -= 1
    return "\n".join(s.lstrip("/ ") for s in lines[k:i]).strip()


def of_c(text):
    lines = text.expandtabs(4).splitlines()
    i = 0
    while i < len(lines):
        if not (lines[i].startswith("{") or re.match(r"^[A-Za-z_].*\)\s*\{\s*$", lines[i])):
            i += 1
            continue
        first = i
        while (
            first > 0
            and i - first < 6
            and lines[first - 1].strip()
            and not lines[first - 1].startswith(("#", "}", "/", " *", "*", "{"))
            and not lines[first - 1].rstrip().endswith((";", "*/"))
        ):
            first -= 1
        last = next((j for j in range(i + 1, min(i + 200, len(lines))) if lines[j].startswith("}")), None)
        if last is None:
            i += 1
            continue
        head = "\n".join(lines[first : i + 1])
        m = C_HEAD.match(" ".join(head.split()))
        if m and not NOT_C.match(head) and last > i + 1:
            yield {
                "name": m.group(1),
                "doc": comment_above(lines, first),
                "head": head,
                "body": "\n".join(lines[i + 1 : last + 1])[:MAX_BODY],
                "c": 1,
            }
        i = last + 1


# ---- the other languages ----


def of_file(text, suffix):
    if suffix in trees.GRAMMARS:
        for row in trees.rows(text, suffix):
            if not row.pop("type") or usable(row["doc"]):
                yield row
    else:
        yield from of_c(text) if suffix == ".c" else of_python(text)


# ---- what must not be learned ----


def grams(text):
    """Hashes of the 5-grams of a text's parts."""
    parts = [p.lower() for p in PART.findall(text)]
    return {hash(tuple(parts[i : i + GRAM])) for i in range(len(parts) - GRAM + 1)}


class Kept:
    """Texts that evaluations ask about."""

    def __init__(self, texts):
        self.size, self.entries = [], {}
        for n, text in enumerate(texts):
            mine = grams(text)
            self.size.append(len(mine))
            for g in mine:
                self.entries.setdefault(g, []).append(n)

    def overlap(self, text):
        """The largest share of a text's or an entry's 5-grams that they have in common."""
        mine, common = grams(text), {}
        for g in mine:
            for n in self.entries.get(g, ()):
                common[n] = common.get(n, 0) + 1
        return max((c / max(1, min(len(mine), self.size[n])) for n, c in common.items()), default=0.0)


def text_of(row):
    """As it stands in the file."""
    doc = f'"""{row["doc"]}"""' if row["doc"] else ""
    return "\n".join([doc, row["head"], row["body"]] if row["c"] else [row["head"], doc, row["body"]])


def twin_key(row):
    return hashlib.blake2b(" ".join((row["head"] + row["body"]).split()).encode(), digest_size=8).hexdigest()


def of_package(folder, kept, seen, rng):
    with_doc, without, n_dropped = [], [], 0
    files = sorted(folder.iterdir())
    rng.shuffle(files)
    for path in files:
        if path.stat().st_size > MAX_FILE:
            continue
        if len(with_doc) > 1.2 * PER_PACKAGE:  # enough to choose from: it is the reading that takes the time
            break
        text = path.read_text("utf-8", "replace")
        for row in of_file(text, path.suffix):
            row["doc"] = textwrap.dedent("\n" + row["doc"]).strip()[:2000] if usable(row["doc"]) else ""
            (with_doc if row["doc"] else without).append(row)
    rng.shuffle(with_doc)
    rng.shuffle(without)
    rows = []
    for source, room in ((with_doc, PER_PACKAGE), (without, None)):
        room = min(PER_PACKAGE - len(rows), 200 + len(rows) // 2) if room is None else room
        for row in source:
            if room <= 0:
                break
            key = twin_key(row)
            if key in seen:
                continue
            seen.add(key)
            if row["c"] == 0 and kept.overlap(text_of(row)) > SHARE:
                n_dropped += 1
                continue
            rows.append(row)
            room -= 1
    return rows, n_dropped


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = fetch_more.HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-embed")
    args.add_argument(
        "--corpus", type=pathlib.Path, required=True, help="the evaluation's corpus: code_idx_map.txt of CoSQA"
    )
    args.add_argument("--source", choices=["pypi", "debian", "deb", "npm"], help="packages from there alone")
    a = args.parse_args()
    kept = Kept(json.loads(a.corpus.read_text()))
    out = a.work / "pairs"
    out.mkdir(parents=True, exist_ok=True)
    seen_path, count_path = out / "seen.json", out / "dropped.json"
    seen = set(json.loads(seen_path.read_text())) if seen_path.exists() else set()
    dropped = json.loads(count_path.read_text()) if count_path.exists() else {}
    for source, name, _ in fetch_more.packages():
        name = name.lstrip("@").replace("/", "+")
        path = out / f"{name}.jsonl"
        if a.source not in (None, source) or path.exists() or not (a.work / "src" / name).exists():
            continue
        rows, dropped[name] = of_package(a.work / "src" / name, kept, seen, random.Random(name))
        tmp = path.with_suffix(".tmp")
        tmp.write_text("".join(json.dumps(row) + "\n" for row in rows))
        tmp.replace(path)
        seen_path.write_text(json.dumps(sorted(seen)))
        count_path.write_text(json.dumps(dropped))
        print(
            f"{name}: {len(rows)} rows, {sum(bool(r['doc']) for r in rows)} with a text; "
            f"{dropped[name]} dropped for overlap",
            flush=True,
        )
    print(f"{sum(dropped.values())} rows dropped for their overlap with the evaluation's corpus")


if __name__ == "__main__":
    main()
