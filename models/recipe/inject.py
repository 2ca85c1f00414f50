"""inject.py - puts defects of known rule and line into real functions:
by statements of templates.py and by changing code that is there.

Code     lines and the marks on them: (index of a line, rule). Inserting moves the marks below.
Changes  MUTATIONS take one correct line, or a check and what it guards, and break it;
         the rule and the line follow from the change
Doubtful natural code that may break a rule without anybody having said so is left out of the data (`doubtful`),
         not called clean
"""

import random
import re

import templates
import units

POOL = {
    "b": "buf name path line tmp out key msg data digest hash buffer dest".split(),
    "s": "name path arg input value str user text query filename host msg s data buf url title".split(),
    "s2": "dir base prefix user host ext".split(),
    "n": "n len size count num total nbytes length".split(),
    "i": "i j k idx pos".split(),
    "p": "p ctx self conn node item req s entry cfg session obj".split(),
    "new": "node entry item ctx obj rec elem copy".split(),
    "type": ["struct node", "struct entry", "item_t", "struct ctx", "conn_t", "struct rec"],
    "str": "copy tmp str value dup line name p".split(),
    "field": "len count size flags next state id refs type".split(),
    "name": "name path host user buf".split(),
    "count": "count n len num nitems size".split(),
    "items": "items list entries data table slots".split(),
    "tabv": "table names modes levels".split(),
    "f": "f fp file fh stream out in_file".split(),
    "fd": "fd sock sockfd infd".split(),
    "q": "path filename fname file name dst".split(),
    "r": "ret rc r err res status".split(),
    "v": ["0", "1", "-1", "n", "c", "val"],
    "v2": "sum total acc".split(),
    "k": "key secret salt expected".split(),
    "ctx": "ctx md5ctx c hctx state".split(),
    "md": "md type digest md_type".split(),
    "uid": ["uid", "pw->pw_uid", "getuid()", "user_id"],
    "gid": ["gid", "pw->pw_gid", "getgid()"],
    "cmd": "cmd command cmdline buf".split(),
    "sql": "sql query stmt q buf".split(),
    "sql2": "zSql sql2 text q2".split(),
    "db": "db conn database self.db self.conn".split(),
    "cur": "cursor cur c conn self.cursor self.db db".split(),
    "tab": "users accounts orders sessions items logs files messages products events".split(),
    "col": "id name email token role title status price".split(),
    "col2": "name login uid user_id path state owner".split(),
    "user": "admin root service deploy backup".split(),
    "x": "result value data x out obj res digest content".split(),
    "xs": "items values names rows args entries parts self.items lines".split(),
    "d": "config data options params obj self.config kwargs cfg".split(),
    "key": "name path type user value mode id size timeout format".split(),
    "key2": "label mode kind default_name".split(),
    "m": "m match mo".split(),
    "node": "node elem child tag".split(),
    "line": "line row entry l".split(),
    "lock": "lock self.lock self._lock mutex".split(),
    "sock": "sock conn self.sock s client".split(),
    "ENV": "HOME PATH LANG DISPLAY EDITOR CONFIG_DIR APP_MODE".split(),
    "ENVSECRET": "DB_PASSWORD API_KEY SECRET_KEY AUTH_TOKEN AWS_SECRET ACCESS_TOKEN".split(),
    "secret": "password passwd api_key secret secret_key auth_token token access_key db_password private_key".split(),
    "plain": "utf-8 application/json localhost /var/log/app.log default text/html %Y-%m-%d unknown en_US".split(),
    "regex": [r"(\d+)", r"(\w+)=(.*)", r"^v(.+)$", r"([a-z]+):", r"^\s*(\S+)", r"(\d+)\.(\d+)"],
}
WORDS = "dragon winter summer monkey shadow master hunter falcon silver coffee".split()
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def password(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(WORDS).capitalize() + str(rng.randint(1, 9999)) + rng.choice(["!", "#", "$", ""])
    if kind == 1:
        return rng.choice(["sk_live_", "ghp_", "xoxb-", "AKIA", "glpat-"]) + "".join(
            rng.choices(ALNUM, k=rng.randint(16, 24))
        )
    if kind == 2:
        return "".join(rng.choices("0123456789abcdef", k=rng.choice([16, 24, 32])))
    if kind == 3:
        return rng.choice(["P@ssw0rd", "s3cr3t", "hunter2", "letmein", "changeme", "Tr0ub4dor"]) + rng.choice(
            ["", "1", "123", "!"]
        )
    return "".join(rng.choices(ALNUM, k=rng.randint(10, 20)))


class Code:
    def __init__(self, lines, is_c):
        self.lines, self.is_c, self.marks = list(lines), is_c, []
        self.touched = set()  # lines of a template: nothing is put between them
        text = "\n".join(lines)
        if is_c:
            self.names = {
                "p": re.findall(r"\b(\w+)->", text),
                "n": re.findall(r"\b(?:int|size_t|long|unsigned|u_int)\s+(\w+)\s*[;=,)]", text),
                "s": re.findall(r"\bchar\s*\*\s*(\w+)", text),
                "b": re.findall(r"\bchar\s+(\w+)\[", text),
                "str": re.findall(r"\bchar\s*\*\s*(\w+)", text),
                "field": re.findall(r"->(\w+)\b(?!\()", text),
                "i": re.findall(r"for \((?:int )?(\w+) =", text),
                "r": re.findall(r"\b(ret|rc|err|res|status|r|rv)\b", text),
            }
        else:
            args = re.findall(r"def \w+\(([^)]*)", text)
            args = [a.split("=")[0].split(":")[0].strip(" *") for a in ",".join(args).split(",")]
            local = re.findall(r"^\s+(\w+) = ", text, re.M)
            good = [a for a in args + local if a.isidentifier() and a not in ("self", "cls")]
            self.names = {k: good for k in ("s", "x", "d", "xs", "q")}

    def insert(self, at, new, marks=()):
        self.marks = [(i + len(new) if i >= at else i, r) for i, r in self.marks]
        self.touched = {i + len(new) if i >= at else i for i in self.touched} | {at + k for k in range(1, len(new))}
        self.lines[at:at] = new
        self.marks += [(at + k, r) for k, r in marks]

    def remove(self, at):
        del self.lines[at]
        self.marks = [(i - (i > at), r) for i, r in self.marks]
        self.touched = {i - (i > at) for i in self.touched}

    def mark(self, at, rule):
        self.marks.append((at, rule))

    def is_free(self, *at):
        return all(i not in self.touched for i in at) and not any(abs(i - a) <= 1 for i, _ in self.marks for a in at)


def fill(template, code, rng):
    used = {}

    def choice(m):
        return rng.choice(m.group(1).split("|"))

    def name(m):
        key = m.group(1)
        if key == "pw":
            return password(rng)
        if key not in used:
            near = code.names.get(key)
            pool = near if near and rng.random() < 0.5 else POOL[key]
            free = [v for v in pool if v not in used.values()] or pool
            used[key] = rng.choice(free)
        return used[key]

    text = re.sub(r"<([^<>\n]*\|[^<>\n]*)>", choice, template)
    return re.sub(r"\{(\w+)\}", name, text)


def step_of(code):
    """One level of indentation in this code."""
    if any(s.startswith("\t") for s in code.lines):
        return "\t"
    deep = sorted({len(s) - len(s.lstrip()) for s in code.lines if s.strip()})
    gaps = [b - a for a, b in zip(deep, deep[1:]) if b - a in (2, 3, 4, 8)]
    return " " * (min(gaps) if gaps else 4)


def put(code, rule, table, rng):
    """Inserts one template of the rule; marks it when it is a defect. False when there is no room."""
    options = table["c" if code.is_c else "py"].get(rule)
    slots = [(i, ind) for i, ind in units.statement_slots(code.lines, code.is_c) if code.is_free(i) and i > 0]
    if not options or not slots:
        return False
    at, indent = rng.choice(slots)
    text = fill(rng.choice(options), code, rng)
    if not code.is_c and rng.random() < 0.3:
        text = text.replace('"', "'") if "'" not in text else text
    step, new, marks = step_of(code), [], []
    for k, line in enumerate(text.split("\n")):
        if line.startswith("@"):
            marks.append((k, rule))
            line = line[1:]
        depth = len(line) - len(line.lstrip("\t"))
        new.append(indent + step * depth + line.lstrip("\t"))
    if any(len(s) > units.MAX_LINE_BYTES for s in new):
        return False
    code.insert(at, new, marks)
    return True


# ---- changes of code that is there: (rule, is_c, pattern of one line, function of the match or None) ----

NEGATE_C = [
    (r"^(\s*(?:\} else )?if \()!(\w[\w.>\-\[\]]*)(\) *(?:\{|return.*|goto.*)?)$", r"\1\2\3"),
    (r"^(\s*if \()(\w[\w.>\-\[\]]*) == NULL(\) *(?:\{|return.*|goto.*)?)$", r"\1\2 != NULL\3"),
    (r"^(\s*if \()(\w+) < 0(\) *(?:\{|return.*|goto.*)?)$", r"\1\2 >= 0\3"),
]
NEGATE_PY = [
    (r"^(\s*if )not (\w[\w.]*)(:)$", r"\1\2\3"),
    (r"^(\s*if )not isinstance(\(.*\):)$", r"\1isinstance\2"),
    (r"^(\s*if \w[\w.]*) is None:$", r"\1 is not None:"),
    (r"^(\s*if .{1,40}) not in (\w[\w.]*):$", r"\1 in \2:"),
    (r"^(\s*if )not (os\.path\.\w+\(.*\):)$", r"\1\2"),
]
LINE_C = [
    ("off-by-one", r"^(\s*for \((?:int |size_t |unsigned |unsigned int )?(\w+) = 0; *\2) < (?!=)", r"\1 <= "),
    ("off-by-one", r"\[sizeof\((\w+)\) - 1\]", r"[sizeof(\1)]"),
    ("off-by-one", r"malloc\(strlen\((\w+)\) \+ 1\)", r"malloc(strlen(\1))"),
    ("swapped-arguments", r"memset\(([^,()]+), 0, ([^;]+)\);", r"memset(\1, \2, 0);"),
    ("swapped-arguments", r"(f|l)seek\((\w+), ([^,()]+), (SEEK_\w+)\)", r"\1seek(\2, \4, \3)"),
    ("swapped-arguments", r"\bstr(r?)chr\((\w+), ('.{1,2}')\)", r"str\1chr(\3, \2)"),
    ("missing-bounds-check", r"^(\s*)snprintf\((\w+), sizeof\(?\2\)?, (\"[^\"]*%s[^\"]*\")", r"\1sprintf(\2, \3"),
    ("missing-bounds-check", r"^(\s*)str(?:l|n)cpy\(([^,]+), ([^,]+), [^;]+\);$", r"\1strcpy(\2, \3);"),
    ("format-string", r"^(\s*)((?:f?printf|syslog)\((?:\w+, )?)\"%s(?:\\n)?\", (\w[\w.>\-]*)\);$", r"\1\2\3);"),
    ("weak-hash", r"EVP_sha(?:256|384|512)\(\)", "EVP_md5()"),
]
LINE_PY = [
    ("off-by-one", r"range\(len\((\w[\w.]*)\)\)", r"range(len(\1) + 1)"),
    ("off-by-one", r"\[len\((\w[\w.]*)\) - 1\]", r"[len(\1)]"),
    ("off-by-one", r"^(\s*(?:while|if) \w+) < (len\(\w[\w.]*\):)$", r"\1 <= \2"),
    ("swapped-arguments", r"isinstance\((\w[\w.]*), (\w[\w.]*|\([\w., ]+\))\)", r"isinstance(\2, \1)"),
    ("swapped-arguments", r"(get|has)attr\((\w[\w.]*), ([\"']\w+[\"'])", r"\1attr(\3, \2"),
    ("swapped-arguments", r"re\.(match|search)\((r?[\"'][^\"']+[\"']), (\w[\w.]*)\)", r"re.\1(\3, \2)"),
    ("weak-hash", r"hashlib\.sha(?:256|512)\(", "hashlib.md5("),
    ("unsafe-deserialization", r"yaml\.safe_load\(", "yaml.load("),
    ("unsafe-deserialization", r"json\.loads\(", "pickle.loads("),
]
GUARDED = re.compile(
    r"^\s*(?:[\w *]+ )?\*?(\w[\w>.\-]*) = .*\b(malloc|calloc|strdup|strndup|realloc|fopen|strchr|strrchr|getenv)\("
)


def change_line(code, rule, rng):
    table = [(r, a, b) for r, a, b in (LINE_C if code.is_c else LINE_PY) if r == rule]
    if rule == "inverted-condition":
        table += [(rule, a, b) for a, b in (NEGATE_C if code.is_c else NEGATE_PY)]
    found = [
        (i, a, b)
        for i, line in enumerate(code.lines)
        for _, a, b in table
        if i > 0 and code.is_free(i) and re.search(a, line)
    ]
    if not found:
        return False
    at, a, b = rng.choice(found)
    code.lines[at] = re.sub(a, b, code.lines[at], count=1)
    code.mark(at, rule)
    return True


def drop_null_check(code, rng):
    """p = malloc(...); if (!p) ...; use of p  ->  without the check. Marks the use."""
    if not code.is_c:
        return False
    found = []
    for i, line in enumerate(code.lines[:-3]):
        m = GUARDED.match(line)
        if not m or not line.endswith(";"):
            continue
        p = re.escape(m.group(1))
        head = code.lines[i + 1]
        if not re.match(rf"^\s*if \((?:!{p}|{p} == NULL|NULL == {p})\)", head):
            continue
        if head.endswith("{"):
            end = next((j for j in range(i + 2, min(i + 8, len(code.lines))) if code.lines[j].strip() == "}"), None)
        else:
            end = i + 1 if head.endswith(";") else i + 2
        if end and end + 1 < len(code.lines) and code.is_free(*range(i, end + 2)):
            use = code.lines[end + 1]
            if re.search(rf"(?<!\w){p}(?!\w)", use) and not re.match(r"^\s*(return|if|\}|else)", use):
                found.append((i + 1, end))
    if not found:
        return False
    first, last = rng.choice(found)
    for _ in range(last - first + 1):
        code.remove(first)
    code.mark(first, "missing-null-check")
    return True


def free_before_use(code, rng):
    """free(p); put right before a statement that reads through p. Marks the statement."""
    if not code.is_c:
        return False
    found = []
    for i, indent in units.statement_slots(code.lines, True):
        m = re.match(r"^\s*(?:\w+ = |\w+\()?.*?\b([a-z_]\w*)->\w+.*;$", code.lines[i])
        if m and code.is_free(i) and not re.match(r"^\s*(return|if|for|while)\b.*free", code.lines[i]):
            found.append((i, indent, m.group(1)))
    if not found:
        return False
    at, indent, p = rng.choice(found)
    code.insert(at, [f"{indent}{rng.choice(['free', 'free', 'free', 'xfree', 'g_free', 'kfree'])}({p});"])
    code.touched.add(at + 1)
    code.mark(at + 1, "use-after-free")
    return True


def free_again(code, rng):
    """A free(p) of the code, said twice. Marks the second."""
    again = re.compile(r"^\s+\w*free\([\w>.\-]+\);$")
    found = [i for i, line in enumerate(code.lines) if code.is_c and again.match(line) and code.is_free(i)]
    if not found:
        return False
    at = rng.choice(found)
    code.insert(at + 1, [code.lines[at]], [(0, "double-free")])
    code.touched.add(at + 1)
    return True


def drop_check(code, rng):
    """if (read(...) < 0) ...;  ->  read(...);"""
    call = re.compile(
        r"^(\s*)if \((?:\(?\w+ = )?"
        r"((?:fread|read|write|fwrite|fgets|setuid|setgid|chdir|ftruncate|rename|fseek|fflush|sscanf)\(.*\))\)?"
        r" *(?:<|!=|==|<=) *[-\w]+\)(.*)$"
    )
    if not code.is_c:
        return False
    found = [
        (i, m)
        for i, line in enumerate(code.lines[:-2])
        if (m := call.match(line))
        and code.is_free(i, i + 1)
        and m.group(2).count("(") == m.group(2).count(")")
        and not m.group(3).strip()
        and code.lines[i + 1].endswith(";")
        and not code.lines[i + 2].strip().startswith("else")
    ]
    if not found:
        return False
    at, m = rng.choice(found)
    code.lines[at] = f"{m.group(1)}{m.group(2)};"
    code.remove(at + 1)
    code.mark(at, "unchecked-return")
    return True


SHAPES = {
    "missing-null-check": drop_null_check,
    "use-after-free": free_before_use,
    "double-free": free_again,
    "unchecked-return": drop_check,
}


def defect(code, rule, rng):
    """Breaks `rule` once, by a change where the code offers one (half the time), else by a template.
    False when neither works."""
    if rng.random() < 0.5:
        if SHAPES.get(rule, lambda *_: False)(code, rng) or change_line(code, rule, rng):
            return True
    return put(code, rule, templates.BAD, rng)


def decoy(code, rule, rng):
    return put(code, rule, templates.GOOD, rng)


DOUBT_C = re.compile(
    r"""\b(MD[245]|SHA1)(_\w+)?\(|EVP_(md5|sha1)\(|\bsystem\(\s*[a-z]|popen\(\s*[a-z]|\bgets\(|\bstrc(py|at)\(
    |\bsprintf\(.*%s|\bv?f?printf\(\s*(\w+,\s*)?[a-z_]\w*\s*[,)]|syslog\([^,]+,\s*[a-z_]\w*\s*\)|scanf\(.*%s|<=\s*sizeof
    |^\s*(fread|read|write|setuid|setgid|chdir|fgets|realloc|ftruncate|sscanf|scanf)\(
    |\bif\ \(.*=\ *(fopen|malloc)""",
    re.X,
)
DOUBT_PY = re.compile(
    r"""\b(md5|sha1)\(|hashes\.(MD5|SHA1)|pickle\.loads?\(|yaml\.load\(|marshal\.loads?\(
    |shell=True|os\.system\(|os\.popen\(|getoutput\(
    |execute\(.*(%\ |\+|\bf["'])|["'](SELECT|INSERT|UPDATE|DELETE)\ .*["']\s*(%|\+|\.format)
    |(?<!with\ )(?<!\w)open\(.*\)(?!\ as)|range\(len\(.*\+\ 1\)
    |re\.(match|search)\([^)]*\)\.|\.acquire\(\)|\.get\([^,()]*\)\.""",
    re.X,
)
SECRET = re.compile(
    r"(passw(or)?d|secret|token|api_?key|private_key)\w*[\"']?\]?\s*(=|:|==)\s*[\"'][^\"'\s{%<]{6,}[\"']", re.I
)


def doubtful(lines, is_c):
    """Natural code that a careful reader might report."""
    for i, line in enumerate(lines):
        if (DOUBT_C if is_c else DOUBT_PY).search(line) or SECRET.search(line):
            return True
        m = GUARDED.match(line) if is_c else None
        if m and not any(re.search(rf"\b(if|assert|\?|while)\b.*{re.escape(m.group(1))}", s) for s in lines[i : i + 4]):
            return True
        if is_c and re.match(r"^\s*for \((\w+ )?(\w+) = 0; *\2 <= ", line):
            return True
    return False
