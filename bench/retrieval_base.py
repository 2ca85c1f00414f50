"""retrieval_base.py - a plain lexical baseline for files, on Python's sqlite3: what `retrieval_eval.py tasks` stands beside.

One FTS5 row per chunk (cut at top-level definitions, at most 60 lines; C: 50 lines); identifiers and their parts, porter; columns path 4,
names 3, body 1; a file's best four chunks by 1, 1/2, 1/4, 1/8; tests x 0.3."""
import re
import sqlite3

STOP = set("""a about after all also an and any are as at be because been before being but by can could did do does doing for from get had has have
how i if in into is it its just like may me more my no not of on one only or other our out over s should so some such t than that the their them
then there these they this to up use used using very was we were what when where which while who why will with would you your""".split())
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
PYTHON_DEF = re.compile(r"^(?:async\s+def\b|def\b|class\b|@)")
NAME = re.compile(r"^\s*(?:async\s+def|def|class)\s+([A-Za-z_]\w*)|^[A-Za-z_][\w\s\*]*?\b([A-Za-z_]\w*)\s*\(|^\s*#\s*define\s+(\w+)|^(?:typedef\s+)?(?:struct|enum|union)\s+(\w+)")
TEST = re.compile(r"(^|/)(tests?|testing)(/|$)|(^|/)test_[^/]*$|_test\.[a-z]+$|(^|/)conftest\.py$")


def words(text):
    out = []
    for w in WORD.findall(text):
        out.append(w.lower())
        parts = PART.findall(w)
        if len(parts) > 1:
            out += [p.lower() for p in parts]
    return out


def chunks(path, text):
    """(names, body) per chunk."""
    lines, cut, start = text.split("\n"), [], 0
    limit = 60 if path.endswith(".py") else 50
    for i, line in enumerate(lines):
        if i > start and (i - start >= limit or (path.endswith(".py") and PYTHON_DEF.match(line) and not lines[i - 1].startswith("@"))):
            cut.append(lines[start:i])
            start = i
    cut.append(lines[start:])
    for part in cut:
        names = [next(g for g in m.groups() if g) for m in map(NAME.match, part) if m]
        yield " ".join(words(" ".join(names))), " ".join(words("\n".join(part)))


class Base:
    name = "base"

    def __init__(self):
        self.cache = {}

    def open(self, tree):
        """tree: (identity of the content, path, text) of every file."""
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create virtual table t using fts5(path, names, body, tokenize='porter unicode61 remove_diacritics 0')")
        self.files, rows = [], []
        for blob, path, text in tree:
            if blob not in self.cache:
                self.cache[blob] = list(chunks(path, text))
            path_words = " ".join(words(path))
            for names, body in self.cache[blob]:
                rows.append((path_words, names, body))
                self.files.append(path)
        self.db.executemany("insert into t(path, names, body) values(?, ?, ?)", rows)

    def rank(self, query, k):
        terms = [w for w in dict.fromkeys(words(query)) if w not in STOP and len(w) > 1]
        if not terms:
            return []
        sums = {}
        found = self.db.execute("select rowid, bm25(t, 4, 3, 1) from t where t match ? order by 2 limit 2000",
                                (" OR ".join(f'"{w}"' for w in terms),))
        for row, score in found:
            sums.setdefault(self.files[row - 1], []).append(-score)
        total = {f: sum(s / 2 ** i for i, s in enumerate(sorted(v, reverse=True)[:4])) * (0.3 if TEST.search(f) else 1) for f, v in sums.items()}
        return sorted(total, key=lambda f: (-total[f], f))[:k]

    def close(self):
        self.db.close()
