#!/usr/bin/env python3
"""check.py - the recipe on a repository of a few commits that it makes itself: what is found, labelled and left out"""

import io
import json
import os
import pathlib
import subprocess
import tempfile

import fixes
import functions
import history
import materialise
import pairs
import paths

LEAK = """int load(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    if (fgetc(f) == EOF) {
%s        return -1;
    }
    fclose(f);
    return 0;
}
"""
NULL = """def area(shape):
%s    w = shape.width
    return w * shape.height
"""


def commit(top, message, files):
    for name, text in files.items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(text)
    for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", message]):
        subprocess.run(["git", "-C", top, *words], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})


def mined(top):
    out = io.StringIO()
    fixes.mine(history.clone_of(top.parent, "a/b"), "a/b", out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def main():
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder) / "a+b"
        top.mkdir()
        subprocess.run(["git", "init", "-q", top], check=True)
        old = {"load.c": LEAK % "", "shape.py": NULL % "", "tests/t.c": LEAK % ""}
        commit(top, "first", old)
        commit(top, "fix file leak on error", {"load.c": LEAK % "        fclose(f);\n"})
        commit(top, "do not crash when shape is None", {"shape.py": NULL % "    if shape is None:\n        return 0\n"})
        commit(top, "fix leak in test", {"tests/t.c": LEAK % "        fclose(f);\n"})
        commit(top, "fix leak: comment", {"load.c": LEAK % "        /* said */\n        fclose(f);\n"})
        commit(top, "speak of a second thing", {"shape.py": NULL % "    if not shape:\n        return 0\n"})
        rows = mined(top)
    labelled = [pairs.label(row) for row in rows]
    assert [r["subject"] for r in rows] == ["do not crash when shape is None", "fix file leak on error"], rows
    assert [r["rules"] for r in labelled] == [["missing-null-check"], ["resource-leak"]], labelled
    assert all(r["sure"] for r in labelled)
    assert rows[1]["hunks"] == [[6, 0, 7, 1]] and rows[1]["name"] == "load" and rows[1]["before_first"] == 1
    assert materialise.changed_lines(rows[1], "before") == [7] and materialise.changed_lines(rows[1], "after") == [7]
    assert fixes.changed_text(rows[1]) == ("", "        fclose(f);")
    assert pairs.normal("a = b; // c\n") == pairs.normal("a=b;")
    assert paths.is_own_code("src/load.c") and not paths.is_own_code("src/zlib/inflate.c")
    assert functions.language_of("a.h", b"class X {};") == "cpp" and functions.language_of("a.h") == "c"
    print("check.py: all as it should be")


if __name__ == "__main__":
    main()
