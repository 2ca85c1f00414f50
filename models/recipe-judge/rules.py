"""rules.py - which fault a commit's message names, and whether the change has the form of such a fix.

A row per rule: `names` are the words that name the fault, `never` words that turn their meaning, `languages` where the
rule applies (empty: everywhere), `form` a test of the change. Two things have to agree, a message and a change, because
each alone is wrong too often: "fix leak" comes with unrelated edits, and a new comparison is not always a guard.
"""

import collections
import difflib
import re

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\w+|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[^\s\w]')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
COMMENT_LINE = re.compile(r"^\s*(//|/\*|\*/|\*\s|\*$|#(?!\s*(if|el|en|de|un|in|pr)\w*)|\"\"\")")
LOGIC = (
    {"!", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "not", "and", "or", "is", "true", "false", "True", "False",
    "(", ")", "!==", "===", "=", "TRUE", "FALSE", "0", "in"}
)
WORDS = {
    "if", "else", "return", "for", "while", "goto", "NULL", "null", "None", "nil", "int", "char", "void", "sizeof",
    "const", "unsigned", "long", "true", "false", "True", "False", "not", "and", "or", "in", "is", "break", "continue",
    "struct", "static", "size_t", "var", "let", "new", "func", "def", "self", "this",
}  # fmt: skip
SKIP = re.compile(
    r"^\s*(revert\b|merge\b|bump\b|release\b|version\b|changelog|update (the )?(changelog|version|copyright|doc)|"
    r"docs?\b|refactor|style\b|clang-format|reformat|fixup|squash|news\b"
    r"|\[?wip\b|test(s|ing)?\b|add(ed|s)? (\w+ )*tests?\b|"
    r"backport changelog|cosmetic|nit\b|indent|whitespace|spelling|chore\b(?!.*(leak|null|overflow)))",
    re.I,
)
FIXES = re.compile(
    r"fix|bug|prevent|avoid|correct|ensure|properly|don'?t|do not|never|crash|leak|overflow|cve|saniti[sz]|coverity|"
    r"valgrind|asan|ubsan|guard|protect|validate|check|handle|wrong|missing|vulnerab|secur|harden|fail|error|issue|"
    r"plug|resolve|repair|stop|silent|should|possible|potential|could|defect|fault",
    re.I,
)


def tokens(text):
    return TOKEN.findall(text)


def code_lines(lines):
    return [s for s in lines if s.strip() and not COMMENT_LINE.match(s)]


def count(pattern, text):
    return len(re.findall(pattern, text))


def grows(pattern):
    return lambda removed, added: count(pattern, added) > count(pattern, removed)


def any_of(*forms):
    return lambda removed, added: any(form(removed, added) for form in forms)


def has(pattern):
    return lambda removed, added: bool(re.search(pattern, removed + "\n" + added))


def difference(removed, added):
    """Tokens that only one side has: (of removed, of added), as counters."""
    a, b = collections.Counter(tokens(removed)), collections.Counter(tokens(added))
    return a - b, b - a


def is_permutation(removed, added):
    """The same tokens in another order, not whole lines moved."""
    if sorted(code_lines(removed.split("\n"))) == sorted(code_lines(added.split("\n"))):
        return False
    a, b = difference(removed, added)
    short = len(code_lines(removed.split("\n"))) <= 3
    return short and "(" in removed and "," in removed and sum(a.values()) + sum(b.values()) == 0


def is_logic_change(removed, added):
    a, b = difference(removed, added)
    both = set(a) | set(b)
    return bool(removed.strip()) and (
        0 < sum(a.values()) + sum(b.values()) <= 6 and both <= LOGIC and both - {"(", ")"} != set()
        and not (both <= {"<", "<="} or both <= {">", ">="})
    )  # fmt: skip


def is_one_apart(removed, added):
    a, b = difference(removed, added)
    both = set(a) | set(b)
    if not removed.strip() or sum(a.values()) + sum(b.values()) > 8:
        return False
    return bool(both & {"1", "<", "<=", ">", ">=", "++", "--", "2", "!=", "=="})


def is_other_name(removed, added):
    """One or two names, and nothing else, are exchanged on as many lines."""
    old, new = code_lines(removed.split("\n")), code_lines(added.split("\n"))
    if not old or len(old) != len(new) or len(old) > 4:
        return False
    a, b = tokens("\n".join(old)), tokens("\n".join(new))
    if len(a) != len(b):
        return False
    pairs = {(x, y) for x, y in zip(a, b) if x != y}
    return 0 < len(pairs) <= 2 and all(re.match(r"[A-Za-z_]", x + y) and {x, y}.isdisjoint(WORDS) for x, y in pairs)


def is_spelling(before, removed, added):
    """Whether an exchange of names mends a spelling and not a mistaken variable: nearly the same letters, and the old
    name stands nowhere else in the function; or no code is changed."""
    for line in code_lines(removed.split("\n")):
        if not re.search(r"[=(\[.]|return|\bif\b", line) or re.match(r"\s*([#:@]|\*)", line):
            return True
    for x, y in zip(tokens(removed), tokens(added)):
        if x != y and difflib.SequenceMatcher(None, x, y).ratio() >= 0.75:
            if len(re.findall(rf"\b{re.escape(x)}\b", before)) <= len(re.findall(rf"\b{re.escape(x)}\b", removed)):
                return True
    return False


NULL_TEST = (
    r"\bNULL\b|nullptr|\bnull\b|\bnil\b|\bNone\b|undefined|![\s(]*[A-Za-z_]"
    r"|\?\.|\?\?|\bif\s*\(?[\w.>\[\]-]+\s*(\)|&&|:|\band\b)|&&|Optional"
    r"|hasattr|\bor\b|\|\||\bif \w+ else|assert\w*\(\w"
)
BRANCH = (
    r"\bif\b|\bwhile\b|\bfor\b|\?|&&|\|\||\bor\b|\band\b|assert|\.get\("
    r"|hasattr|getattr|Optional|try|except|catch|CHECK|require"
)


def is_null_test(removed, added):
    """More tests for a value that is not there, on lines that branch."""
    tests = lambda text: sum(count(NULL_TEST, s) for s in text.split("\n") if re.search(BRANCH, s))
    return tests(added) > tests(removed)


LIMITS = (
    r"[<>]=?(?!>)|sizeof|\bmin\b|\bMIN\b|\bMAX\w*|snprintf|strl(cpy"
    r"|cat)|strn\w+|\blen\b|\w*_len\b|length|size|limit|bound|\bcap\("
    r"|ensure|END|\bend\b|remain|avail"
)
GIVES_BACK = (
    r"(?i)free(?!ze)|close|release|destroy|unref|\bput|_put|delete"
    r"|dispose|clean|\bwith\b|\bdefer\b|finally|\btry\b|unlock|\w*fini\w*"
    r"|clear|remove|unregist|cancel|\bgoto\b|decref|shutdown|\bstop"
    r"|\bdel\b|drop|detach|\brm\b|term\w*\(|reset|end\w*\(|deinit|abort"
    r"|XDECREF"
)
TAKES = r"(?i)alloc|\bdup|strdup|open|\bref|_ref|incref|copy|\bnew\b|create|\bget|retain|asprintf"
CHECKS = (
    r"\bif\b|\berr\w*|\bgoto\b|\breturn\b|raise|throw|assert|<\s*0"
    r"|==|!=|\bret\b|\brc\b|unlikely|CHECK|check|fail|panic|die\("
)
PASSES = (
    r"\breturn\b|raise|throw|\berr\w*|reject|\bgoto\b|errno|\brc\b"
    r"|\bret\b|status|\blog|warn|panic|exit|fail|rv\b|result|callback"
    r"|\bcb\("
)
ESCAPES = r"(?i)escap|encod|sanit|quot|html|entit|textContent|createTextNode|&lt|&amp|isprint|vis\(|isctrl|iscntrl"
TYPES = (
    r"u?int(8|16|32|64|max|ptr)?_t|\bs?size_t|\blong\b|\bunsigned\b"
    r"|\buint\w*|\bu64|\b\w*MAX\b|(?i:overflow|safe|checked)|[<>]|\d(U"
    r"|UL|ULL|LL|L)\b|/|\bdouble\b|off_t|\bint64|\bBigInt|Math\.\w+Exact"
    r"|mul|\blimit"
)
ALLOCS = (
    r"(malloc|calloc|realloc|strdup|strndup|asprintf|alloc\w*|kmalloc"
    r"|fopen|open|fread|fwrite|read|write|mkdir|chdir|setuid|setgid"
    r"|fork|pthread_\w+|snprintf|fcntl|ioctl|stat|dup2?|pipe|socket)"
)
WHAT = (
    r"(variables?|vars?|fields?|members?|pointers?|index(es)?|indices"
    r"|structs?|arguments?|args?|parameters?|objects?|buffers?|arrays?"
    r"|flags?|constants?|identifiers?|names?|iterators?|counters?|macros?"
    r"|enums?|offset|size|length|list|key|attribute|property|type|handle"
    r"|context)"
)

Rule = collections.namedtuple("Rule", "names form never languages", defaults=(None, ()))
C = ("c", "cpp")
RULES = {
    "missing-null-check": Rule(
        r"null[- ]?(pointer|ptr)?[- ]?(de-?ref\w*|check|guard|access|exception)"
        r"|\bNPE\b|NullPointer|de-?ref\w* (of |a |an |the |possibl\w+ "
        r"|potential\w* )*(null|nil|none|undefined)|"
        r"(null|nil) (de-?ref|pointer|ptr|value)|check\w* (for|that|if"
        r"|whether|against) .{0,40}\b(null|nil|none|undefined)\b|"
        r"(is|are|was|be|being|if|when|handle|on|against|unless|not|possibl\w+"
        r"|potential\w*|with) (a )?(null|nil|undefined)\b|NoneType|\bNone (check"
        r"|value)|(is|be|was|when|handle|being) None\b|"
        r"propert\w+ .{0,40}of (undefined|null)|cannot read propert|nil (map"
        r"|panic)|(crash|segfault|segv|panic|exception)\w* .{0,60}\b(null"
        r"|nil|undefined|not set)\b",
        is_null_test, r"double check|never be null|\buse\b.{0,30} if .{0,30}null|\bnone value"
        r"|don'?t free null|free\w* .{0,10}null|null[- ]?termin|nul[- ]?termin"
        r"|NUL byte|null byte|/dev/null|allow\w* null|support null|null character"
        r"|non-null termin",
    ),
    "missing-bounds-check": Rule(
        r"buffer[- ]?over-?(flow|run|read)|out[- ]of[- ]bounds?|\bOOB\b"
        r"|bounds?[- ]check|\bover-?reads?\b|over-?run|heap[- ](buffer[- ])?overflow"
        r"|stack[- ]buffer[- ]overflow|"
        r"index (is )?out of (range|bounds)|(Array|String)?IndexOutOf\w*"
        r"|(read|writ|access|index|runn?|go|overflow)\w* (\w+ ){0,4}(past"
        r"|beyond|before|outside|off) (of )?(the )?(\w+ ){0,3}(end|bounds?"
        r"|buffer|array|limits?|start|beginning|size|length)|"
        r"(check|validate|verify|enforce)\w* (\w+ ){0,5}(length|size|bounds?"
        r"|index|range|len)\b|slice bounds|\bIndexError|buffer (size|length) (check"
        r"|limit)|(length|size|bound|range|index) (check|validation)s?"
        r"|too (long|large) (\w+ ){0,3}(name|string|path|input|packet|header"
        r"|line|length)",
        grows(LIMITS), r"recurs|integer overflow|bounds? checker",
    ),
    "off-by-one": Rule(
        r"off[- ]?by[- ]?(a |an )?(one|1)\b|fence[- ]?post|one[- ](byte"
        r"|element|char\w*|item|entry|slot|row|line|bit|position)? ?(too (many"
        r"|few|far|short|large|small|much|long|early|late)|past|over|beyond"
        r"|short)|\boff[- ]by[- ]1",
        is_one_apart,
    ),
    "use-after-free": Rule(
        r"use[- ](of )?(\w+ )?(after|before)[- ](it |being |was |is |been )*(free"
        r"|freed|delete|deleted|release|released|destroy\w*|destruct\w*"
        r"|return|scope)\b|\bUAF\b|after[- ](it |they |was |is |were |has been "
        r"|had been |being |been )*(freed|free\(\)|deleted|destroyed|deallocat\w+)"
        r"|"
        r"dangling (pointer|reference|ref|ptr)s?|(access|us|read|touch"
        r"|de-?referenc|writ)\w* (\w+ ){0,4}(already |previously |just )?(freed"
        r"|released|deleted|deallocated|destroyed) |freed (memory|pointer"
        r"|object|data|buffer|block)|stale pointer|use-after",
        has(r"\w"), r"double[- ]free", C,
    ),
    "double-free": Rule(
        r"double[- ]?(free|delete|release|unref|put|dispos|frees|freeing"
        r"|freed)\b|(free|freed|freeing|frees|released?|deleted?) (\w+ ){0,3}(twice"
        r"|two times|again|a second time)|\btwice free|multiple free|free\w* .{0,20}already (been"
        r" )?freed",
        any_of(has(r"(?i)free|delete|release|unref|destroy|\bput|clean|clear|close|fini"), grows(r"NULL|nullptr")),
            None, C,
    ),
    "unchecked-return": Rule(
        r"uncheck\w* (\w+ ){0,3}(return|result|error|alloc|call)|(check"
        r"|test|verify|examine|inspect|hono?u?r|ignor|neglect)\w* (the "
        r"|of |for |all |any |some |to |is |a |\w+\(\)'?s? |\w+'s ){0,5}(return"
        r"|result|error)(ed|s)?[ -]?(values?|codes?|status(es)?)?( of| from"
        r"| in| for| by|$|\.|,)|"
        r"return(ed)?[ -]?(values?|codes?|status) (\w+\W+){0,5}(is |was "
        r"|are |were )?(not |un|never )?(check|ignor|test|verif|handl)"
        r"|(check|handl|test|detect|verify)\w* (if |for |that |whether "
        r"|against |the |a |possible |potential )*" + ALLOCS +
        r"(\(\))?('s)? (\w+ ){0,2}(fail|return|result|error|success)|"
        r"(handle|check|missing|detect|test|on|when|if)\w* (\w+ ){0,3}(malloc"
        r"|calloc|alloc\w*|strdup|realloc|memory|out of memory|oom)(\(\))? (allocation )?(fail"
        r"|error)\w*|(missing|lack\w*|add|insufficient|no) (\w+ ){0,2}(error"
        r"|return|return value|return code|failure|result|malloc|alloc\w*"
        r"|strdup) (check|handling|test)\w*|failed (to check|alloc)|CWE-252"
        r"|CHECKED_RETURN",
        grows(CHECKS), r"don'?t check|no need|remove|unnecessar|redundant|useless|spurious",
    ),
    "format-string": Rule(
        r"format[- ]?string|-W(error=)?format|format[- ](security|vuln|attack|bug)|uncontrolled format|%s",
        lambda removed, added: count(r'"%s(\\n)?"', added) > count(r'"%s(\\n)?"', removed) and bool(re.search(
        r"\w+\s*\(", removed)) and len(tokens(added)) - len(tokens(removed)) in range(0, 5),
        r"f-string|old[- ]style|percent|strftime|date", C + ("go", "python"),
    ),
    "sql-injection": Rule(
        r"sql[- _]?inj|inject\w* .{0,20}sql|parameteri[sz]e\w* .{0,30}(sql"
        r"|quer|statement)|(escap|quot|saniti[sz]|bind)\w* .{0,40}(sql"
        r"|query|queries|identifier|table name|column|schema|database)"
        r"|(sql|query|identifier|table name|column|schema)\w* .{0,20}(escap"
        r"|quot|saniti[sz])\w*|prepared statement|security.{0,30}(sql|quer)",
        lambda removed, added: bool(re.search(r"(?i)\b(select|insert|update|delete|from|where|execute\w*|query\w*"
        r"|cursor|sql\w*|create|drop|alter|copy|pragma|grant|notify)\b"
        r"|quote_?ident|appendStringLiteral|PQescape|fmtId", removed + added)) and bool(re.search(
        r"(?i)quot|escap|%s|\?|:\w|params?|bind|literal|ident|valid|fmtId", added)),
    ),
    "shell-injection": Rule(
        r"(shell|command|cmd|argument|option|os|code|remote code)[- ](line )?(inj\w+"
        r"|exec\w*)|inject\w* .{0,20}(shell|command|option)|(avoid|remove"
        r"|without|no|drop|instead of|don'?t use|not use) (using )?shell ?= ?True"
        r"|\b(escape|escaping|quote|quoting|saniti[sz]e|saniti[sz]ing|shellquot\w*"
        r"|shlex)\b .{0,50}(shell|command|cmd)|(shell|command)s? (argument )?(escap"
        r"|quot)(e|ing)\b|avoid (using )?(os\.)?(system|popen)\(|(without"
        r"|avoid) .{0,10}shell|shell (meta|quot|escap)|arbitrary (command"
        r"|code)",
        lambda removed, added: bool(re.search(r"(?i)\bsystem\s*\(|popen|\bexec[lv]?\w*\(|subprocess|shell|spawn"
        r"|\bcmd|command|argv|Process|check_(call|output)|execFile|backtick", removed + added)) and bool(re.search(
        r"(?i)quot|escap|shell|argv|\[|exec|spawn|valid|sanit|'--'|\"--\"|match|isal", added)),
    ),
    "unsafe-deserialization": Rule(
        r"yaml\.?(safe_?)?load|safe_?load|pickl|(un|de)seriali[sz]\w+ .{0,40}(untrusted"
        r"|vuln|attack|gadget|secur|unsafe|safe|arbitrary)|(unsafe|insecure"
        r"|untrusted|secur\w*) .{0,30}(deserial|unserial|yaml|pickl|eval\b"
        r"|marshal)|\beval\b.{0,40}(literal_eval|unsafe|inject|secur|danger"
        r"|avoid|remove|replace|instead)|(avoid|remove|replace|don'?t use"
        r"|no|use of|without) eval\b|literal_eval|allow_pickle|XXE|external entit"
        r"|defusedxml|weights_only",
        lambda removed, added: bool(re.search(
        r"(?i)\bload|pickle|eval|readObject|ObjectInput|new Function|exec\(|parse|xml", removed)) and bool(re.search(
        r"(?i)safe|json|literal_eval|allow_pickle|int\(|float\(|getattr"
        r"|resolve|filter|feature|parse|weights_only|defused", added)),
        None, ("python", "javascript", "typescript", "tsx", "java"),
    ),
    "weak-hash": Rule(
        r"\b(md5|sha-?1|md4)\b.{0,60}(sha-?(2|256|384|512)|blake|weak|insecure"
        r"|deprecat|replace|instead|secure|fips|broken|collision)|(weak"
        r"|insecure|stronger|secure|broken|better|fips|modern) (\w+ ){0,2}(hash"
        r"|digest|cipher|crypto|md5|sha)|(switch|mov|migrat|chang|upgrad"
        r"|replac|avoid|us|drop|remov)\w* (\w+ ){0,4}(md5|sha-?1|sha-?256"
        r"|sha-?512|blake2)|usedforsecurity|sha-?256 (instead|rather|for)",
        lambda removed, added: bool(re.search(r"(?i)md5|sha_?-?1(?!\d)|\bsha\b|md4|crc32|adler", removed)) and bool(re
            .search(r"(?i)sha_?-?(2|224|256|384|512|3)|blake|usedforsecurity|bcrypt|pbkdf|xxh|hmac", added)),
    ),
    "hardcoded-secret": Rule(
        r"hard-?\s?cod\w+ .{0,40}(password|secret|key|token|credential"
        r"|passphrase|salt|iv\b|auth)|(remov|leak|expos|commit|disclos)\w* .{0,30}(api[- ]?key"
        r"|password|secret|access token|credential|private key|token)s?\b"
        r"|(password|secret|token|credential|key)s? .{0,30}(hard-?\s?cod"
        r"|in (the )?(source|code|repo))|default (password|secret|credential)",
        lambda removed, added: bool(re.search(
        r"(?i)(pass\w*|secret|key|token|cred\w*|salt|auth)\w*['\"\]]*\s*[:=,(]+\s*\w*\(?['\"][^'\"\s]{4,}"
        r"['\"]", removed)) and count(r"['\"][^'\"\s]{4,}['\"]", added) <= count(r"['\"][^'\"\s]{4,}['\"]", removed),
    ),
    "swapped-arguments": Rule(
        r"(swap|revers|transpos|invert|switch|mix|flip|exchang)\w*( up)? .{0,30}\b(arg\w*"
        r"|param\w*|operands?|src|dst|source|dest\w*|order|coordinates"
        r"|width|height|row|col\w*|values?)\b|\b(arg\w*|param\w*|operand)s? (\w+ ){0,5}(swapp"
        r"|revers|wrong order|transpos|mixed up|in the wrong|out of order"
        r"|order|invert|switch|flipp)|"
        r"(wrong|incorrect|reversed|inverted|invalid|bad|fix|correct|proper"
        r"|right|mixed)\w* (\w+ ){0,4}(order|sequence)|order of .{0,20}\b(arg"
        r"|param|operand)|memset.{0,30}(arg|param|swap|order|call|usage)"
        r"|calloc.{0,30}(arg|param|swap|order|transpos)|(argument|parameter)s? order",
        is_permutation,
    ),
    "inverted-condition": Rule(
        r"(invert|revers|negat|flipp?|backward|opposite|wrong|incorrect"
        r"|bad|bogus|inverse|invalid|broken|mistaken)\w* (\w+ ){0,3}(condition"
        r"|conditional|check|test|logic|sense|comparison|compare|flag|if"
        r"|if-statement|boolean|bool|predicate|assert\w*|operator|return value"
        r"|expression|polarity)\b|"
        r"(condition|conditional|check|test|logic|comparison|sense|polarity)( \w+){0,3} (was "
        r"|is |were |being )?(invert|revers|negat|backward|flipp|wrong"
        r"|the wrong way|incorrect|broken|inverse)\w*|\binverted\b|(missing"
        r"|extra|forgotten|forgot|stray|lost|missed)( a| the)? ('!'|!|not"
        r"|negation|bang|exclamation)\b|logic (was|is|error|bug|fail)|(fix"
        r"|correct)\w* (the |a |an )?(\w+ ){0,3}(condition|conditional"
        r"|check|test|logic|comparison)\b|&& (instead|vs|should|and not"
        r"|to)|\|\| (instead|vs|should)|(wrong|the other) way (a?round)",
        is_logic_change,
    ),
    "resource-leak": Rule(
        r"leak(s|ed|ing|age|y)?\b|(not|never|without|missing|forgot\w*"
        r"|forget|properly|always) (being |be |to |correctly |properly )*(freed"
        r"|closed|released|free|close|closing|freeing|release|free'd|destroyed"
        r"|cleaned up|disposed)\b|(close|free|releas|unref|destroy|dispos"
        r"|clean ?up|delet)\w* (\w+ ){0,6}(on|in case of|upon|when|in|if"
        r"|for|at) (the |an |all |any |some )?(\w+ )?(error|failure|exit"
        r"|fail|exception)",
        any_of(grows(GIVES_BACK), lambda removed, added: count(TAKES, removed) > count(TAKES, added)),
        r"(info\w*|data|privacy|memory content|secret|password|credential"
        r"|token|address|kernel|header|abstraction|dns|namespace|state"
        r"|scope|global|symbol|variable|fingerprint)[- ]leak|leak(s|ing"
        r"|ed|age)? (of )?(the )?(info\w*|secret|password|credential|private"
        r"|sensitive|into|out|to\b|data|address|token|kernel|state|global"
        r"|user|internal)|leak sanitizer.*ignore|false positive|leaky|doc\w*\b.*leak"
        r"|add.*leak (check|detect|test)",
    ),
    "integer-overflow": Rule(
        r"(integer|int|arithmetic|size_t|signed|unsigned|multiplication"
        r"|addition|subtraction|numeric|32-?bit|64-?bit|counter|size|length"
        r"|offset|calculation|shift)s? (over|under)-?(flow|flows)|(integer"
        r"|arithmetic|counter|sequence|timestamp)[- ]wrap|wrap[- ]?around"
        r"|overflow\w* (of|in|when|the|if|during|on|with|for) (\w+ ){0,3}(int"
        r"|32|size|multipl|calculat|comput|addition|shift|length|arithmetic"
        r"|count|offset|timestamp|time|duration)|"
        r"(check|test|guard) (for|against) (\w+ )?overflows?|overflow check"
        r"|truncat\w+ (of |to |the )*(\w+ )?(32|int|size|64|length|value)"
        r"|2038|INT_MAX|INT_MIN|LONG_MIN|undefined behaviou?r.{0,30}(shift"
        r"|overflow|multipl|negat)|UBSan|(>|over|larger than|more than"
        r"|beyond|exceed\w*|than) ?(2|4) ?(GB|GiB|Gb|G)\b|multiplication result",
        any_of(grows(TYPES), lambda removed, added: is_logic_change(removed, added)),
        r"(buffer|stack|heap|text|content|css|table|queue|log|ring|fifo"
        r"|rx|tx|string|array)[- ]?over-?flow|null|misalign", ("c", "cpp", "go", "java", "javascript", "typescript"),
    ),
    "path-traversal": Rule(
        r"(path|directory|dir|file)[- ]travers|travers\w* (attack|vuln)"
        r"|zip[- ]?slip|(escap|break\w*|read|access|outside|traverse)\w* (out "
        r"|outside |of |above |from )+(the )?(\w+ )?(root|base|dir\w*|folder"
        r"|sandbox|jail|document|tree|prefix|path)|arbitrary (file|path)"
        r"|symlink (attack|follow|travers|race|vuln)|CWE-22\b|unsafe (path"
        r"|file ?name|archive)|absolute path .{0,30}(archive|tar|zip|security"
        r"|attack)",
        lambda removed, added: bool(re.search(r"(?i)\.\.|path|dir|file|name|link", removed + added)) and count(
        r"(?i)\.\.|realpath|abspath|normal|resolve|basename|prefix|starts?_?with"
        r"|secure|sanit|relative|clean|NOFOLLOW|lstat|islink|canonical"
        r"|commonp|filepath\.|'/'|\"/\"|strstr|index|valid|safe|contain", added) > count(
        r"(?i)\.\.|realpath|abspath|normal|resolve|basename|prefix|starts?_?with"
        r"|secure|sanit|relative|clean|NOFOLLOW|lstat|islink|canonical"
        r"|commonp|filepath\.|'/'|\"/\"|strstr|index|valid|safe|contain", removed),
    ),
    "uninitialized-variable": Rule(
        r"un-?initi?ali[sz]ed|\bun-?init\b|not (been |properly |correctly "
        r"|always |being )?initi?ali[sz]ed|be used (un|before|without)"
        r"|used? (\w+ ){0,2}before (being |it is |it's |they are |it was )?(set"
        r"|init\w*|assign\w*|defin\w*)|(missing|forgot\w*|proper\w*|always"
        r"|ensure|explicit\w*) (to )?(\w+ )?initi?ali[sz]\w+|initi?ali[sz]e (\w+ ){0,4}(variables?"
        r"|to (0|zero|null|false)|memory|struct\w*|fields?|members?|buffers?"
        r"|pointers?|locals?)|UnboundLocalError|unbound local|local variable .{0,30}referenced before"
        r"|referenced before assign|\buninit\b",
        any_of(grows(r"(?<![=!<>])=(?!=)"), grows(r"memset|calloc|bzero|ZERO|INIT|zalloc|init")),
        r"silence|quiet|shut up|shut gcc|false (positive|warning|alarm)"
        r"|spurious|bogus|compiler warn|gcc warn|clang warn|suppress|pacify"
        r"|make gcc|happy|\bwarnings?\b|Wmaybe|Wuninit|not initialized\W*$",
        ("c", "cpp", "python", "javascript", "typescript"),
    ),
    "division-by-zero": Rule(
        r"(div\w*|modul\w*|mod)[- ](by[- ])?(a )?(zero|0)\b|ZeroDivision"
        r"|SIGFPE|floating[- ]point exception|\bFPE\b|zero[- ](divi|denominator)"
        r"|DivideByZero|div(id\w+)? (\w+ )?by zero|div-by-0|divbyzero|\bdiv0\b"
        r"|integer divide",
        any_of(grows(r"\b0(\.0)?f?\b|zero|MAX|\bmax|\bif\b|!|>|\|\||\bor\b|&&"), lambda removed, added:
            is_logic_change(removed, added)),
    ),
    "sign-mixing": Rule(
        r"sign(ed)?(ness)?[- ](compar|extension|extend|mismatch|issue|bug"
        r"|error|problem|conver|confusion|promotion)\w*|signed(ness)?[ /]?(vs?\.?"
        r"|and|/|versus)[ ]?unsigned|unsigned[ /]?(vs?\.?|and|/|versus) ?signed"
        r"|signed\/unsigned|unsigned (compar|underflow|integer under|type"
        r"|value|variable|int|char|size)\w*.{0,40}(negative|less|never"
        r"|always|check|fix|bug|wrap|compar|loop|below|< 0)|sign[- ]?exten\w+"
        r"|negative (\w+ ){0,3}(length|size|index|offset|count|number)"
        r"|(is|for|to|ctype|tolower|toupper|space|alpha|digit)\w*\(\).{0,40}(unsigned"
        r"|signed|negative|8-?bit|char)|signed char|char .{0,20}(is|are"
        r"|being|be) (un)?signed|signedness|should be (un)?signed|(make"
        r"|use|chang|cast|convert|treat|declar)\w* .{0,30}\b(un)?signed\b"
        r"|-Wsign",
        any_of(lambda removed, added: {"unsigned", "signed", "ssize_t", "size_t", "int", "long", "uint8_t", "int8_t",
        "uint32_t", "int32_t", "uint64_t", "int64_t", "uint16_t", "int16_t", "u32", "u8", "uchar", "ptrdiff_t",
        "off_t", "guint", "gint", "uint", "char"} & set().union(*map(set, difference(removed, added))) != set(), grows
            (r"<\s*0\b|>=\s*0\b|<=\s*0\b|>\s*0\b|-\s*1\b|0xff\b|0xFF\b|MAX")),
        r"warning|sign(ed|ing)? (key|request|token|commit|url|jwt|cert"
        r"|off|message)|signature|pacify|silence|unsigned (request|driver"
        r"|key)", ("c", "cpp", "java", "go"),
    ),
    "check-use-race": Rule(
        r"toc-?/?tt?ou|time[- ]of[- ]check|check[- ]then[- ](use|act|set)"
        r"|(race|racing|racy) (condition )?(between|in|when|with|if|where"
        r"|on) .{0,60}\b(check\w*|l?stat|access|exist\w*|open|mkdir|makedirs"
        r"|unlink|file|director\w+|existence)\b|(stat|access|open|creat"
        r"|symlink|mkdir|unlink|exist|file|dir|director)\w*\(?\)? .{0,30}\brac(e"
        r"|y|ing)\b|\brace\b.{0,40}\b(l?stat|access|open|symlink|mkdir"
        r"|unlink|exist|file|dir)|atomic\w* .{0,30}(creat|open|renam|replac"
        r"|check|put)\w*|(already|may|might|no longer|if) .{0,20}(exists?"
        r"|vanish\w*|disappear\w*|removed|gone|deleted) .{0,30}(race|meanwhile"
        r"|in between|concurrent|parallel|between)|check .{0,30}(under"
        r"|inside|while hold\w*|after|with|in) (the )?(\w+ )?lock|re-?check .{0,30}(lock"
        r"|after)|putIfAbsent|computeIfAbsent|LoadOrStore|exist_ok",
        has(r"(?i)\bl?stat\b|access\(|open|O_EXCL|NOFOLLOW|exist|mkdir|mkstemp"
        r"|lock|rename|unlink|\btry\b|except|LoadOrStore|IfAbsent|atomic"
        r"|mutex|synchronized|compare|errno|EEXIST|ENOENT"),
    ),
    "missing-unlock": Rule(
        r"(missing|miss|missed|forgot\w*|forget|without|not|never|fail\w*"
        r"|need\w*|add|proper\w*|release|drop|always) (\w+ ){0,4}(unlock\w*"
        r"|releas\w+ (\w+ ){0,3}(lock|mutex|semaphore|spinlock)|(lock|mutex"
        r"|semaphore|spinlock)s?\b.{0,30}(error|fail|return|exit|path|early))"
        r"|unlock\w* .{0,40}(error|fail|return|exit|path|early)|(lock|mutex"
        r"|semaphore|spinlock|rwlock|lock\w*) (leak|not released|never released"
        r"|was not released|is not released|left|still held|imbalance|not unlocked"
        r"|was never|not being)|dead-?lock|leak\w* (of )?(\w+ ){0,3}(lock"
        r"|mutex)|(return|exit)\w* (\w+ ){0,3}(with|holding|while) (\w+ ){0,4}(lock"
        r"|mutex)|missing unlock|double lock|release .{0,30}\b(lock|mutex)\b .{0,20}(error"
        r"|fail|on|in|before)",
        any_of(grows(r"(?i)unlock|release|\bdefer\b|\bwith\b|finally|\bup\(|leave|\bgoto\b"
        r"|_exit\w*\(|rel\(|post\("), lambda removed, added: re.search(r"(?i)unlock|release", removed + added) is not
            None and count(r"return", removed) > count(r"return", added)),
    ),
    "copied-block": Rule(
        r"copy[ -]*(and|&|n|'?n'?|/|\+|'n)?[ -]*pas[ts]|copypast|cut[ -]*(and"
        r"|&|n|'?n'?|/)?[ -]*past|\bc&p\b|pasto\b|paste error|(wrong|incorrect"
        r"|mistaken|bad) (\w+ )?" + WHAT + r"\b|typo.{0,60}|\btypo\b|(us|check|test|refer|pass|return|free"
        r"|set|compar|assign|mix)\w*( up)? (\w+ ){0,4}(wrong|incorrect"
        r"|correct|right|proper) (\w+ ){0,3}" + WHAT +
        r"\b|thinko|braino|variable (name )?(mix|mismatch|confusion)|mixed up",
        is_other_name, r"comment|docs?\b|documentation|message|spelling|readme|grammar"
        r"|log text|in (the )?(error|help|string|man)",
    ),
    "error-swallowed": Rule(
        r"\b(swallow|los(e|t|ing)|mask|hid(e|ing|es|den)?|suppress|discard"
        r"|overwr|shadow|clobber|silent|eat|drop)\w* (\w+ ){0,5}(errors?"
        r"|exceptions?|err|failures?|errno|(return|error|exit|status) (codes?"
        r"|values?|status))\b|(don'?t|do not|not|stop|never|without|instead of"
        r"|was|were|is|are|been|avoid) (\w+ ){0,2}(ignor\w+) (\w+ ){0,4}(errors?"
        r"|exceptions?|err|failures?|errno)|"
        r"(errors?|exceptions?|err|failures?|errno|(return|error|exit) (code"
        r"|status|value))s? (\w+ ){0,4}(swallow|ignored|lost|masked|hidden"
        r"|dropped|discard|silently|overwritten|shadowed|clobbered|eaten)\w*"
        r"|(errors?|exceptions?|failures?)( \w+){0,3} (was |is |were |are )?not (being )?(returned"
        r"|propagated|reported|handled|raised|checked|passed|forwarded"
        r"|set|thrown)|(not|never|fail\w*|forgot|forget|missing|properly"
        r"|correctly|always) (to )?(return|report|rais|propagat|forward"
        r"|surfac|throw)\w* (\w+ ){0,4}(errors?|exceptions?|err|failures?)"
        r"|"
        r"propagat\w+ (\w+ ){0,5}(errors?|exceptions?|failures?|err|return (value"
        r"|code))|bare except|(return|report|rais|forward|pass|surfac|throw)\w* (the "
        r"|any |on |all |proper |correct )+(errors?|err|exceptions?|failures?)( \w+)* (from"
        r"|instead|properly|correctly|to|up)|except(ion)?: pass|silent(ly)? fail\w*"
        r"|(return|exit) (\w+ )?(code|value|status)s? .{0,30}(lost|overwritten"
        r"|wrong|ignored|on (error|fail))|missing error return",
        any_of(grows(PASSES), lambda removed, added: re.search(r"except\s*:|\bpass\b|_ =|catch", removed) is not None,
            lambda removed, added: is_logic_change(removed, added)),
        r"^([\w/.-]+: )?(ignore|suppress|silence|hide|drop|discard|remove)\b"
        r"|(do not|don'?t|never|no longer|not) (raise|return|report|throw"
        r"|fail|error|die|abort)",
    ),
    "unescaped-output": Rule(
        r"\bXSS\b|cross[- ]site scripting|(html|xml|json|attribute|entity"
        r"|entities|csv|latex|markdown)[- ]?(escap|encod|inject|quot|sanit)\w*"
        r"|\b(escape|escaping|html-?encode|quote)s? (\w+ ){0,6}(html|xml"
        r"|output|attributes?|users?|titles?|names?|content|entit\w*|tags?"
        r"|values?|text|headers?|labels?|control|special|ampersands?)\b"
        r"|"
        r"(not|never|without being) (being |properly |correctly )?escaped"
        r"|(missing|forgot\w* to|properly|correctly|always) escap(e|ing)"
        r"|saniti[sz]\w* (\w+ ){0,4}(html|output|user|header)|crlf[- ]inj"
        r"|header inj|log inj|response[- ]splitting|(terminal|ansi) escape"
        r"|(print|output|show|strip|filter)\w* .{0,20}control char\w*|html inj",
        lambda removed, added: count(ESCAPES, added) > count(ESCAPES, removed),
        r"escape (key|sequence)|escaped (newline|quote|char)|bad escape"
        r"|string literal|double quot|pars(e|er|ing)\b|\brepl\b|regex|regular exp"
        r"|support",
    ),
}  # fmt: skip
# Parts of words, one of which stands in every text that a rule's names can match: looking for them costs a hundredth.
STEMS = {
    "missing-null-check": "null npe nil none undefined deref de-ref crash seg panic exception",
    "missing-bounds-check": "buffer bound oob over-read overread overrun over-run overflow indexout indexerror past"
    " beyond before outside off length size index range len too",
    "off-by-one": "off fence one",
    "use-after-free": "use-after after-free uaf after dangling freed stale released deleted destroyed deallocated"
    " before",
    "double-free": "double twice two again second multiple already",
    "unchecked-return": "return result error fail unchecked cwe-252 alloc",
    "format-string": "format %s",
    "sql-injection": "sql quer escap quot sanit bind statement",
    "shell-injection": "shell command cmd argument option inj escap quot sanit system popen code",
    "unsafe-deserialization": "yaml safe pickl seriali eval xxe external weights_only allow_pickle defused insecure",
    "weak-hash": "md5 sha md4 hash digest cipher crypto usedforsecurity",
    "hardcoded-secret": "hard password secret token credential key",
    "swapped-arguments": "swap revers transpos invert switch mix flip exchang arg param operand order sequence",
    "inverted-condition":
    "invert revers negat flip backward opposite wrong incorrect bad bogus inverse invalid broken"
    " mistaken missing extra forgot stray lost missed logic condition check test comparison"
    " && || way",
    "resource-leak": "leak free clos releas unref destroy dispos clean delet",
    "integer-overflow": "flow wrap truncat 2038 int_m long_min undefined ubsan gb gib 2g 4g multiplication",
    "path-traversal": "travers ../ slip root base dir folder sandbox jail document tree prefix path arbitrary"
    " symlink cwe-22 absolute sanit unsafe",
    "uninitialized-variable": "nit unbound referenced used",
    "division-by-zero": "zero div sigfpe fpe floating",
    "sign-mixing": "sign negative",
    "check-use-race": "tou time rac atomic exist vanish disappear removed gone deleted lock absent loadorstore",
    "missing-unlock": "lock mutex semaphore",
    "copied-block":
    "past c&p wrong incorrect mistaken bad typo us check test refer pass return free set compar"
    " assign mix thinko braino variable",
    "error-swallowed": "error exception err failure errno code status value except silent return",
    "unescaped-output": "xss cross-site escap encod inj unescap quot sanit split control escape",
}  # fmt: skip


def small(pattern):
    """A pattern for text of small letters, which is searched faster than one that ignores case."""
    return re.compile(re.sub(r"(\\.)|([A-Z]+)", lambda m: m.group(1) or m.group(2).lower(), pattern), re.A)


COMPILED = {
    rule: (STEMS[rule].split(), small(row.names), small(row.never) if row.never else None)
    for rule, row in RULES.items()
}  # fmt: skip
# Subjects of changes that are often no fixes: a held-out set does without them.
DOUBTFUL = re.compile(
    r"warning|silence|refactor|clean ?-?up|rename|simplif|improve|optimi|\bfeat|support|coding style|typo|comment|"
    r"test|debug|\blog(ging|s)?\b|message|documentation|implement|rewrite|revert|false positive|lint|mypy|pylint|"
    r"type (check|hint|error)|static analy|build|compil|configure|cmake|windows build",
    re.I,
)
MAX_BODY = 800
TRAILER = re.compile(
    r"^\s*((signed-off|reviewed|acked|reported|tested|co-authored|change-id|fixes|closes|bug|cc|see|ref|"
    r"suggested|approved|link|git-svn|pr|issue|cherry)[\w-]*[ :]|\(cherry|https?:)",
    re.I,
)


def names(rule, text):
    """Whether a rule's words stand in a text of small letters."""
    stems, wanted, never = COMPILED[rule]
    return any(s in text for s in stems) and bool(wanted.search(text)) and not (never and never.search(text))


def plain_body(body):
    return "\n".join(s for s in body.split("\n") if s.strip() and not TRAILER.match(s))


def may_be_fix(subject, body):
    """What is worth a look at the change: cheap and generous."""
    if SKIP.search(subject):
        return False
    text = f"{subject}\n{plain_body(body)[:MAX_BODY]}".lower()
    return bool(FIXES.search(text)) and any(names(rule, text) for rule in RULES)


def rules_of(subject, body, removed, added, language):
    """[(rule, where)] of a change of one function; where: subject or body."""
    language = "typescript" if language == "tsx" else language
    body = plain_body(body)
    removed, added = ("\n".join(code_lines(text.split("\n"))) for text in (removed, added))
    found = []
    for where, text in (("subject", subject), ("body", f"{subject}\n{body[:MAX_BODY]}")):
        if where == "body" and not FIXES.search(subject):
            continue
        for rule, row in RULES.items():
            if any(rule == r for r, _ in found) or row.languages and language not in row.languages:
                continue
            if names(rule, text.lower()) and row.form(removed, added):
                found.append((rule, where))
    return found
