"""history.py - what the recipe asks of git: messages, short diffs, files; each by one process for a whole repository.

A clone is a directory with or without a work tree; nothing of it is checked out or run.
"""

import os
import pathlib
import re
import subprocess

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
QUIET = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1"}


def clone_of(base, repository):
    """The git directory of owner/name below a base: BASE/owner+name or BASE/owner/name, bare or not; None if absent."""
    for top in (pathlib.Path(base, repository.replace("/", "+")), pathlib.Path(base, repository)):
        for inner in (".", "repo", ".git", "repo/.git"):
            if (top / inner / "objects").is_dir() and (top / inner / "HEAD").is_file():
                return top / inner
    return None


def git(clone, *words, text=None):
    command = ["git", "-c", "core.quotePath=false", "-c", "safe.directory=*", f"--git-dir={clone}", *words]
    done = subprocess.run(command, input=text, capture_output=True, env=QUIET, check=False)
    return done.stdout


def head_of(clone):
    return git(clone, "rev-parse", "HEAD").decode().strip()


def messages(clone):
    """(commit, subject, body) of every commit that is no merge, newest first."""
    out = git(clone, "log", "--no-merges", "--no-color", "--encoding=UTF-8", "--format=%H%x00%s%x00%b%x01", "HEAD")
    for row in out.decode("utf-8", "replace").split("\x01"):
        parts = row.strip("\n").split("\0")
        if len(parts) == 3:
            yield parts


def touched(clone, commits):
    """{commit: [(status, path)]} of those commits, without reading a file."""
    out = git(clone, "diff-tree", "--stdin", "-r", "--raw", "--no-renames", text="\n".join(commits).encode() + b"\n")
    found, at = {}, None
    for line in out.decode("utf-8", "replace").split("\n"):
        if line.startswith(":"):
            found[at].append((line.split("\t")[0].rsplit(" ", 1)[1], line.split("\t", 1)[1]))
        elif len(line) == 40:
            at = line
            found[at] = []
    return found


def diffs(clone, commits):
    """Yields (commit, [(path, old id, new id, hunks)]); a hunk: (old first, old count, new first, new count)."""
    words = ["--stdin", "-r", "-p", "-U0", "-w", "--full-index", "--no-renames", "--no-color", "--no-ext-diff"]
    out = git(clone, "diff-tree", *words, text="\n".join(commits).encode() + b"\n")
    commit, files, skip = None, [], 0
    for line in out.decode("utf-8", "replace").split("\n"):
        if skip and line[:1] in ("+", "-", "\\"):
            skip -= line[0] != "\\"
            continue
        hunk = HUNK.match(line)
        if hunk:
            a, b, c, d = (int(x) if x is not None else 1 for x in hunk.groups())
            files[-1][3].append((a, b, c, d))
            skip = b + d
        elif line.startswith("diff --git "):
            files.append(["", "", "", []])
        elif line.startswith("index ") and files:
            files[-1][1], files[-1][2] = line.split(" ")[1].split("..")
        elif line.startswith("+++ b/") and files:
            files[-1][0] = line[6:].rstrip("\t")
        elif len(line) == 40 and re.fullmatch(r"[0-9a-f]{40}", line):
            if commit:
                yield commit, files
            commit, files = line, []
    if commit:
        yield commit, files


class Files:
    """Contents by object id, read by one process of git."""

    def __init__(self, clone):
        command = ["git", "-c", "safe.directory=*", f"--git-dir={clone}", "cat-file", "--batch"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=QUIET)

    def read(self, name):
        """The bytes of an object, or None where the clone does not have it."""
        self.process.stdin.write(name.encode() + b"\n")
        self.process.stdin.flush()
        head = self.process.stdout.readline().split()
        if len(head) != 3:
            return None
        data = self.process.stdout.read(int(head[2]))
        self.process.stdout.read(1)
        return data if head[1] == b"blob" else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()
