#!/bin/sh
# retrieval_hostile.sh - measures how long the indexer takes for each of a list of hostile files, and how it lists them.
#
#   bench/retrieval_hostile.sh [NAME...]     all cases, or those whose names contain one of the words
#
# MYTHOS   the command (build/mythos)
# ROUNDS   runs of each case (3), of which the fastest counts
# FUZZED   how many files with random edits (100)
#
# Case     a folder with eight ordinary files in eight languages and the hostile file. A second process of the same
#          command reads it cold
# Time     processor time of the indexer and its workers, minus that of the folder without the hostile file, so that a
#          busy machine does not matter. Wall time is printed too, for cases that wait instead of using the processor
# Listed   the exit code of mythos index, its note on the file, and the reason that mythos scan --explain gives
# Output   one CSV line per case: name, ms, wall ms, exit, listed
# Exit     1 when a case takes more than LIMIT ms (250), or when its exit code is above 3; 74 is allowed where a pipe or
#          a device is refused by its name
# Source   open brackets, one long line, NUL, UTF-16 and their like; repositories with hostile entries
set -eu
exec python3 - "$@" <<'END'
import json, os, random, resource, shutil, socket, subprocess, sys, tempfile, time

mythos = os.path.abspath(os.environ.get("MYTHOS", "build/mythos"))
rounds = int(os.environ.get("ROUNDS", "3"))
n_fuzzed = int(os.environ.get("FUZZED", "100"))
limit = float(os.environ.get("LIMIT", "250"))
words = sys.argv[1:]
top = tempfile.mkdtemp(prefix="mythos-hostile-")
rng = random.Random(1)

PLAIN = {
    "main.c": "int main(void)\n{\n    return 0;\n}\n", "a.py": "def f(x):\n    return x\n",
    "a.js": "function f(x) { return x; }\n",
    "a.ts": "export function f(x: number) { return x; }\n", "a.go": "package a\nfunc f() {}\n", "a.rs": "fn f() {}\n",
    "a.java": "class A { int f() { return 0; } }\n", "a.json": "{\"a\": 1}\n",
}


def write(path, data):
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def text(name, data):
    return lambda d: write(os.path.join(d, name), data() if callable(data) else data)


def sparse(name, size):
    def make(d):
        with open(os.path.join(d, name), "wb") as f:
            f.write(b"int a;\n")
            f.truncate(size)
    return make


def links_in_a_ring(d):
    os.mkdir(os.path.join(d, "ring"))
    os.symlink("..", os.path.join(d, "ring/up"))
    os.symlink("b", os.path.join(d, "ring/a"))
    os.symlink("a", os.path.join(d, "ring/b"))


def many_files(n):
    def make(d):
        os.mkdir(os.path.join(d, "many"))
        for i in range(n):
            with open(os.path.join(d, f"many/{i}.txt"), "wb"):
                pass
    return make


def long_path(d):
    at = os.open(d, os.O_RDONLY)
    for _ in range(20):
        name = "d" * 250
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("end.c", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def odd_names(d):
    for name in (b"new\nline.c", b"::stop-commands::x.c", b"x\n::error::y.c", b"esc\x1b[31m.c", b"bad\xff\xfe.c",
                 "bidi\u202egpj.c".encode(), b"-rf.c", b"quo\"te'.c", b" .c", b"a" * 250 + b".c"):
        write(os.path.join(d.encode(), name), b"int f(void) { return 1; }\n")


def unreadable(d):
    write(os.path.join(d, "secret.c"), "int a;\n")
    os.chmod(os.path.join(d, "secret.c"), 0)


def sock(d):
    s = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(d)
    s.bind("s")
    os.chdir(here)
    s.close()


def git_file(content):
    def make(d):
        write(os.path.join(d, ".git"), content)
    return make


def submodule(d):
    repository(d)
    write(os.path.join(d, ".gitmodules"), "[submodule \"x\"]\n\tpath = ../out\n\turl = ../../out\n")


def repository(d, config=""):
    subprocess.run(["git", "init", "-q", d], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(d, ".git/config"), "a") as f:
        f.write(config)


def commits(d):
    repository(d)
    env = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
               GIT_COMMITTER_EMAIL="a@b")
    write(os.path.join(d, "bomb.txt"), b"0" * (48 << 20))
    for args in (["add", "-A"], ["commit", "-qm", "first"], ["gc", "-q"]):
        subprocess.run(["git", "-C", d, *args], check=True, env=env, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    write(os.path.join(d, "bomb.txt"), b"1\n")
    subprocess.run(["git", "-C", d, "commit", "-qam", "second"], check=True, env=env, stdout=subprocess.DEVNULL)


def foreign(d):
    repository(d)
    if os.getuid() == 0:
        for folder, dirs, files in os.walk(d):
            for name in dirs + files:
                os.chown(os.path.join(folder, name), 12345, 12345)
        os.chown(d, 12345, 12345)


def ran_marker(d):
    mark = os.path.join(d, "ran")
    repository(d, f"[core]\n\tfsmonitor = touch {mark}\n\tpager = touch {mark}\n"
                  f"[filter \"x\"]\n\tclean = touch {mark}\n\tsmudge = touch {mark}\n")
    write(os.path.join(d, ".gitattributes"), "* filter=x\n")


def patterns(d):
    write(os.path.join(d, ".gitignore"), "".join("*" + "a*" * 40 + "b\n" for _ in range(500)))
    write(os.path.join(d, "a" * 200 + ".c"), "int a;\n")


def many_patterns(d):
    write(os.path.join(d, ".gitignore"), "".join(f"name{i}\n" for i in range(90000)))
    many_files(20000)(d)


def pattern_files(d):
    for i in range(60):
        os.makedirs(os.path.join(d, f"deep/{i}"))
        write(os.path.join(d, f"deep/{i}/.gitignore"), "a\n" * (1 << 19))


def pipe_at(path):
    def make(d):
        repository(d)
        at = os.path.join(d, path)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        if os.path.exists(at):
            os.remove(at)
        os.mkfifo(at)
    return make


def included_pipe(d):
    repository(d, "[include]\n\tpath = pipe\n")
    os.mkfifo(os.path.join(d, ".git/pipe"))


def endless_includes(d):
    repository(d, "[include]\n\tpath = c0\n")
    for i in range(9):
        write(os.path.join(d, f".git/c{i}"), f"[include]\n\tpath = c{i + 1}\n" * 10)


def rows(n, row):
    return lambda: row * n


CASES = [
    ("50,000 open parentheses", text("x.c", rows(50000, "("))),
    ("20,000 open parentheses, a line each", text("x.c", rows(20000, "(\n"))),
    ("1,999 open parentheses, a line each", text("x.c", rows(1999, "(\n"))),
    ("200,000 nested parentheses", text("x.c", "(" * 200000 + ")" * 200000)),
    ("1,999 nested parentheses", text("x.c", "int a = " + "(\n" * 1999 + "1" + ")\n" * 1999 + ";\n")),
    ("66,000 open braces", text("x.c", rows(66000, "{\n"))),
    ("66,000 pairs of braces", text("x.c", rows(66000, "{}\n"))),
    ("66,000 comments", text("x.c", rows(66000, "/* x */\n"))),
    ("100,000 open parentheses of Rust", text("x.rs", rows(100000, "("))),
    ("7 MB in one line", text("x.c", "int a[] = {" + "123," * 1800000 + "};")),
    ("7 MB in one line of JavaScript", text("x.js", "var a = [" + "123," * 1800000 + "];")),
    ("7 MB in one line of JSON", text("x.json", "[" + "123," * 1800000 + "1]")),
    ("one line of 100 MB", text("x.c", rows(25 << 20, "123,"))),
    ("one line of 60 MB", text("x.c", rows(15 << 20, "123,"))),
    ("10.5 MB of C", text("x.c", rows(300000, "int f%(int x) { return x + 1; }\n"))),
    ("2 M numbers, a line each", text("x.c", "int a[] = {\n" + "123,\n" * 2000000 + "};\n")),
    ("1 MB of numbers, a line each", text("x.c", "int a[] = {\n" + "123,\n" * 200000 + "};\n")),
    ("NUL bytes in text", text("x.c", b"int a;\n" * 2000 + b"char s[] = \"\0\0\";\n" +
                               b"int f(void) { return 1; }\n" * 100)),
    ("NUL bytes at the beginning", text("x.c", b"\0" + b"int f(void) { return 1; }\n" * 100)),
    ("5 MB of NUL", text("x.c", b"\0" * (5 << 20))),
    ("lines that end in CRLF", text("x.c", rows(5000, "int f(void)\r\n{\r\n    /* x */\r\n    return 1;\r\n}\r\n"))),
    ("UTF-16", text("x.c", "\ufeff".encode("utf-16-le") + ("int f(void) { return 1; }\n" * 2000).encode("utf-16-le"))),
    ("invalid UTF-8", text("x.c", b"/* \xff\xfe\xc0\x80 */ int f\xff(void) { return 1; }\n" * 5000)),
    ("2 MB of random bytes", text("x.c", lambda: rng.randbytes(2 << 20))),
    ("2 MB of random bytes without NUL", text("x.c", lambda: rng.randbytes(2 << 20).replace(b"\0", b"x"))),
    ("1 MB of random bytes without NUL", text("x.c", lambda: rng.randbytes(1 << 20).replace(b"\0", b"x"))),
    ("0.9 MB of random printable lines",
     text("x.c", lambda: "".join(chr(rng.randrange(32, 127)) if i % 80 else "\n" for i in range(900000)))),
    ("0 bytes", text("x.c", "")),
    ("5 GB, sparse", sparse("x.c", 5 << 30)),
    ("60 MB, sparse", sparse("x.c", 60 << 20)),
    ("unreadable", unreadable),
    ("a pipe", lambda d: os.mkfifo(os.path.join(d, "x.c"))),
    ("a socket", sock),
    ("a device", lambda d: os.mknod(os.path.join(d, "x.c"), 0o600 | 0o20000, os.makedev(1, 5))),
    ("links in a ring", links_in_a_ring),
    ("a link out of the tree", lambda d: (os.symlink("/etc/passwd", os.path.join(d, "x.c")),
                                          os.symlink("/usr", os.path.join(d, "usr")))),
    ("100,000 files in a folder", many_files(100000)),
    ("a path of 5,000 bytes", long_path),
    ("odd names", odd_names),
    ("hard patterns", patterns),
    ("90,000 patterns, 20,000 files", many_patterns),
    ("60 files of 1 MiB of patterns", pattern_files),
    *((f"a pipe as {p}", pipe_at(p)) for p in (
        ".git/config", ".git/index", ".git/HEAD", ".git/refs/heads/x", ".git/info/exclude",
        ".git/objects/info/alternates", ".gitattributes", ".gitignore")),
    ("settings that include a pipe", included_pipe),
    ("settings that include without end", endless_includes),
    (".git is a file to elsewhere", git_file("gitdir: /nowhere/at/all\n")),
    (".git is a file to a device", git_file("gitdir: /dev/zero\n")),
    (".git is a file of no sense", git_file(b"\0\xff" * 4096)),
    ("a submodule outside", submodule),
    ("a large object in the history", commits),
    ("another user's repository", foreign),
    ("programs in the settings", ran_marker),
    ("macros that break C",
     text("x.c", "#define B {\n" + "#if X\nint f(void) B\n#else\nint g(void) B\n#endif\n  x(;\n}\n" * 6000)),
    ("deep else if", text("x.c", "void f(void) {\n" + "if (a) b(); else\n" * 20000 + ";}\n")),
    ("a string without an end", text("x.js", "`" + "${a}\n" * 20000)),
    ("deep indents", text("x.py", "".join(" " * i + "if x:\n" for i in range(1400)))),
    ("a long chain of operators", text("x.py", "a = 1" + " + 1" * 4900 + "\n")),
    ("nested generics", text("x.ts", "type A = " + "B<\n" * 1900 + "C" + ">" * 1900 + ";\n")),
    ("nested arrays of YAML", text("x.yaml", "- " * 9000 + "\n")),
    ("nested lists of Markdown",
     text("x.md", "> " * 9000 + "\n" + "* " * 9000 + "\n" + "[" * 1999 + "\n" + "*a " * 100000)),
    ("nested classes of Java", text("x.java", "class A { " * 1999 + "}" * 1999)),
    ("closures of Kotlin", text("x.kt", "val a = " + "{ b.map " * 1900 + "}" * 1900 + "\n")),
    ("heredocs of Ruby", text("x.rb", "<<A; " * 3000 + "\n" + "A\n" * 3000)),
    ("here documents of bash", text("x.sh", "cat <<A\n$(" * 1900)),
]


def fuzzed(k):
    def make(d):
        name, data = list(PLAIN.items())[k % len(PLAIN)]
        b = bytearray((data * (1 + k * 40)).encode())
        for _ in range(max(1, len(b) // 20)):
            b[rng.randrange(len(b))] = rng.choice(b"(){}[]<>\"'`/*#:;,.\n\t \\$@&|=+-\xff")
        write(os.path.join(d, "fuzzed" + os.path.splitext(name)[1]), bytes(b))
    return make


CASES += [(f"edited at random, {k}", fuzzed(k)) for k in range(n_fuzzed)]


def run(d):
    cache = os.path.join(top, "cache")
    shutil.rmtree(cache, ignore_errors=True)
    os.mkdir(cache)
    env = dict(os.environ, XDG_CACHE_HOME=cache, HOME=cache, XDG_CONFIG_HOME=cache)
    a, t = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    p = subprocess.run([mythos, "index", "-q", "--json", "--no-embed", d], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=env)
    wall, b = time.monotonic() - t, resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime), 1e3 * wall, p


def least(d):
    all = [run(d) for _ in range(rounds)]
    return min(x[0] for x in all), min(x[1] for x in all), all[0][2]


def listed(d, p):
    said = []
    try:
        j = json.loads(p.stdout)
        said += [f"{u['note']}" for u in j["unstructured"]] + [f"{n} {r}" for r, n in j["skipped"].items()]
    except ValueError:
        said.append(p.stderr.decode(errors="replace").strip()[:100])
    s = subprocess.run([mythos, "scan", "-q", "--explain", d], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, HOME=top))
    for line in s.stdout.decode(errors="replace").splitlines():
        part = line.split("\t")
        if len(part) == 3 and part[0] not in ("in", "skipped_dir", "hidden") and len(said) < 6:
            said.append(f"{part[0]}: {part[2]}")
    return "; ".join(dict.fromkeys(said)) or "in"


def folder():
    d = tempfile.mkdtemp(dir=top)
    for name, data in PLAIN.items():
        write(os.path.join(d, name), data)
    return d


is_bad = False
try:
    plain = least(folder())
    print(f"# nothing hostile: {plain[0]:.0f} ms, {plain[1]:.0f} ms wall, exit {plain[2].returncode}")
    print("case,ms,wall_ms,exit,listed", flush=True)
    for name, make in CASES:
        if words and not any(w in name for w in words):
            continue
        d = folder()
        make(d)
        cpu, wall, p = least(d)
        over = cpu - plain[0]
        flag = " SLOW" if over > limit else ""
        is_refused = p.returncode == 74 and b"a pipe or a device" in p.stderr
        if p.returncode not in (0, 3) and not is_refused:
            flag += " FAILED"
        if os.path.exists(os.path.join(d, "ran")):
            flag += " RAN A PROGRAM"
        is_bad |= bool(flag)
        print(f"\"{name}\",{over:.0f},{wall:.0f},{p.returncode},\"{listed(d, p)}\"{flag}", flush=True)
        shutil.rmtree(d, ignore_errors=True)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(is_bad)
END
