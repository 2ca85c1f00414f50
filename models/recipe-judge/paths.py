"""paths.py - which files of a repository count as its own, hand-written code: no tests, examples, copies, output."""

import re

TESTS = re.compile(
    r"(^|/)(tests?|testing|testsuite|test[_-]\w+|"
    r"\w+[_-]tests?|specs?|__tests__|__mocks__|mocks?|fixtures?|testdata|e2e|"
    r"examples?|samples?|demos?|bench(es|marks?)?|perf|fuzz(ing|ers?)?|docs?|documentation|tutorials?|regress|contrib|"
    r"man|cookbook|playground|experimental|src/test)(/|$)|"
    r"(^|/)(test_[^/]*|[^/]*_tests?|[^/]*[.-](test|spec)|conftest|[^/]*Tests?|[^/]*IT|[^/]*TestCase|t?test\w{0,2}|"
    r"fuzz[^/]*|bench[^/]*|example[^/]*|setup)\.\w+$"
)
COPIES = re.compile(
    r"(^|/)(third[_-]?party|3rd[_-]?party|vendor(ed)?|external|extern|externals|deps|node_modules|bundled|"
    r"submodules|"
    r"compat|openbsd-compat|libbsd|imported|packages/vendor|site-packages|_vendor|"
    r"curl|lua|luajit|sympy|cjson|requests|redis|sqlite3?|zlib|libuv|libgit2|jq|kilo|hiredis|linenoise|sds|"
    r"jansson|mbedtls|libevent|lz4|zstd|bzip2|openssl|libffi|ncurses|readline|jquery|bootstrap)(/|$)|"
    r"(^|/)(sqlite3|cJSON|jsmn|miniz|stb_\w+|uthash|linenoise|sds|khash"
    r"|kseq|queue|getopt\w*|strl(cpy|cat)|lua\w*)\.[ch]$",
    re.I,
)
OUTPUT = re.compile(
    r"(^|/)(generated|gen|autogen|dist|build|out|target|migrations|locales?|po|static/js)(/|$)|"
    r"\.(min|bundle|pb|generated|gen|tab|yy|d)\.\w+$|_pb2(_grpc)?\.py$|(^|[._/])(zz_)?generated[._]|_generated\.\w+$|"
    r"\.(lex|parse)\.c$|(^|/)(configure|jquery[^/]*|bootstrap[^/]*)\.\w+$",
    re.I,
)


COPYLEFT = re.compile(rb"GNU (Lesser |Library |Affero )?General\s+Public|\b[AL]?GPL(v?[23])?\b|Mozilla Public", re.I)
PERMISSIVE = re.compile(
    rb"Redistributions? (of|and use)|Permission is hereby granted|Apache License|\bBSD\b|\bMIT\b", re.I
)


def is_copyleft(data):
    """Whether the head of a file speaks of a copyleft licence and of no permissive one beside it."""
    return bool(COPYLEFT.search(data[:4000])) and not PERMISSIVE.search(data[:4000])


def is_own_code(path):
    return not (TESTS.search(path) or COPIES.search(path) or OUTPUT.search(path))
