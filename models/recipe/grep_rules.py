"""grep_rules.py - the same rules by regular expressions, one line at a time: what a model has to beat.

Each expression knows the usual safe forms and reports a rule once a line.
Defects that no single line shows have no expression.
"""

import re

C = {
    "weak-hash": r"\b(MD[245]|SHA1)(_\w+)?\(|EVP_(md[245]|sha1)\(|GCRY_MD_(MD5|SHA1)\b"
    r"|mbedtls_(md5|sha1)\(|digestbyname\(\"(md5|sha1)\"",
    "hardcoded-secret": r"(?i)(passw(or)?d|passwd|secret|token|api_?key|access_key|private_key)\w*"
    r"(\[\])?\"?\s*(=|,)\s*\"[^\"%\s]{6,}\"",
    "sql-injection": r"(?i)\"\s*(select|insert|update|delete)\b[^\"]*'%s'",
    "shell-injection": r"\b(system|popen)\(\s*[a-z_]|\"-c\",\s*[a-z_]",
    "format-string": r"\bprintf\(\s*[a-z_][\w.>\-]*\s*\)|\bfprintf\(\w+,\s*[a-z_][\w.>\-]*\)|syslog\(\w+,\s*[a-z_]\w*\)"
    r"|\bsn?printf\([^\"]*,\s*[a-z_]\w*\);",
    "missing-bounds-check": r"\bstrc(py|at)\(\w+, [a-z_]|\bgets\(|\bsprintf\([^\"]*\"[^\"]*%s|scanf\([^\"]*\"%s\"",
    "off-by-one": r"for \(.*= 0;.*<= |\[sizeof\(?\s*\w+\)?\]",
    "unchecked-return": r"^\s*(fread|read|write|setuid|setgid|chdir|chroot|ftruncate|fgets|scanf|sscanf|realloc)\(",
    "swapped-arguments": r"memset\([^,]+, sizeof[^,]+, 0\)|seek\(\w+, SEEK_|strr?chr\('",
}
PY = {
    "weak-hash": r"\b(hashlib\.)?(md5|sha1)\((?!.*usedforsecurity)|hashlib\.new\([\"'](md5|sha1|md4)"
    r"|hashes\.(MD5|SHA1)\b|hashlib\.(md5|sha1)\b(?!.*usedforsecurity)",
    "hardcoded-secret": r"(?i)(passw(or)?d|passwd|secret|token|api_?key|access_key|private_key)\w*"
    r"[\"']?\]?\s*(=|:|==)\s*[\"'][^\"'\s{%]{6,}[\"']",
    "sql-injection": r"(?i)[\"'](select|insert|update|delete) .*([\"'] *(%|\+|\.format)|\{\w+\})",
    "shell-injection": r"os\.(system|popen)\(.*([\"'] *(%|\+)|f[\"'])|shell=True|getoutput\(",
    "unsafe-deserialization": r"pickle\.loads?\(|dill\.loads?\(|cPickle\.loads?\(|cloudpickle\.loads?\("
    r"|yaml\.(unsafe_)?load\((?!.*SafeLoader)|marshal\.loads?\(|jsonpickle\.decode",
    "off-by-one": r"range\((0, )?len\(.*\) \+ 1\)|<= len\(|\[len\(\w+\)\]",
    "missing-null-check": r"re\.(match|search)\(.*\)\.group|\.get\([^,()]*\)\.",
    "swapped-arguments": r"isinstance\((str|int|list|dict|bytes|\()"
    r"|(has|get|set)attr\([\"']|open\([\"'](r|w|rb|wb)[\"'],",
    "resource-leak": r"(?<!with )\bopen\(.*\)\.(read|write)|json\.load\(open\(|for \w+ in open\(",
}


def findings(path, code):
    """[(line, rule)]: at most one finding per line and rule."""
    table = C if path.endswith(".c") else PY
    return [
        (n, rule)
        for n, line in enumerate(code.splitlines(), 1)
        for rule, pattern in table.items()
        if re.search(pattern, line)
    ]
