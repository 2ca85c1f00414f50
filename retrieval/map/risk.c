/* risk.c - see risk.h. One pass over the text: it skips comments, recognises strings, and looks up names together
 * with what comes before and after them. */
#include "risk.h"

#include "retrieval/scan/languages.h"
#include "engine/base/chars.h"

#include <string.h>
#include <xxhash.h>

/* ---- languages ---- */

/* Language families as bits: a rule of risk.def may apply to several. */
enum {
    C = 1 << MYTH_FAMILY_C,
    PY = 1 << MYTH_FAMILY_PYTHON,
    JS = 1 << MYTH_FAMILY_JS,
    GO = 1 << MYTH_FAMILY_GO,
    JVM = 1 << MYTH_FAMILY_JVM,
    NET = 1 << MYTH_FAMILY_NET,
    RB = 1 << MYTH_FAMILY_RUBY,
    PHP = 1 << MYTH_FAMILY_PHP,
    RUST = 1 << MYTH_FAMILY_RUST,
    SH = 1 << MYTH_FAMILY_SHELL,
    SQL = 1 << MYTH_FAMILY_SQL,
    OTHER = 1 << MYTH_FAMILY_OTHER,
    CONF = 1 << MYTH_FAMILY_CONFIG,
    ALL = C | PY | JS | GO | JVM | NET | RB | PHP | RUST | SH | SQL | OTHER
};
enum {
    SLASH = MYTH_MARK_SLASH,
    HASH = MYTH_MARK_HASH,
    DASH = MYTH_MARK_DASH,
    TRIPLE = MYTH_MARK_TRIPLE,
    BACKTICK = MYTH_MARK_BACKTICK,
    SEMICOLON = MYTH_MARK_SEMICOLON,
    PERCENT = MYTH_MARK_PERCENT,
    ANGLE = MYTH_MARK_ANGLE
};

/* ---- rules ---- */

enum { PARTS_MAX = 4, WEAK = 0, STRONG = 1 };

static const struct {
    uint8_t tag, is_strong;
    uint16_t family;
    const char *patterns;
} rules[] = {
#define RISK(tag, family, strength, patterns) {MYTH_RISK_##tag, strength, family, patterns},
#include "risk.def"
#undef RISK
};
enum { N_RULE = sizeof(rules) / sizeof(rules[0]) };

typedef enum { USE, NAME, DEFINITION, STRING, IMPORT, KIND } pattern_kind;

typedef struct {
    const char *part[PARTS_MAX]; /* the names of a use, or the words of a pattern; each begins with its length */
    uint8_t n_part, len[PARTS_MAX];
    uint8_t tag, kind;
    uint16_t family;
    bool is_strong, is_call, is_method;
    uint32_t next; /* next rule with the same key: index + 1 */
} pattern;

typedef struct {
    uint8_t rank; /* rank of the reason: 0 none, else lower is better */
    uint32_t line;
    uint32_t weak_line, weak; /* line of the first weak reason, and its rule as index + 1 */
} reason;

struct myth_risks {
    myth_mem *mem;
    pattern *pattern;
    uint32_t n_pattern, n_slot;
    uint32_t *use, *word; /* hash tables of rules: by last name; by first word in lower case */
    uint32_t *import;     /* indexes of the rules for imports */
    uint32_t n_import;
    uint64_t lengths[26]; /* lengths of the words to look for, as bits, by first letter */
    uint16_t family, marks;
    reason reason[MYTH_RISK_N];
};

const char *myth_risk_name(myth_risk tag)
{
    static const char *const name[] = {"auth",       "crypto",          "sql",        "filesystem", "network",
                                       "subprocess", "deserialization", "user-input", "secrets",    "permissions"};
    return name[tag];
}

static bool is_letter(unsigned char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static uint32_t hash_of(const char *s, size_t n) { return (uint32_t)XXH3_64bits(s, n); }

static void split(pattern *p, const char *s, size_t n, char separator)
{
    while (n > 0 && p->n_part < PARTS_MAX) {
        const char *end = memchr(s, separator, n);
        size_t len = end ? (size_t)(end - s) : n;
        p->part[p->n_part] = s;
        p->len[p->n_part++] = (uint8_t)len;
        s += len + (end != NULL);
        n -= len + (end != NULL);
    }
}

static void parse(pattern *p, const char *s, size_t n)
{
    switch (s[0]) {
    case '<':
        p->kind = IMPORT;
        p->part[0] = s + 1;
        p->len[0] = (uint8_t)(n - 2);
        p->n_part = 1;
        return;
    case '=':
    case '$':
        p->kind = s[0] == '=' ? DEFINITION : NAME;
        split(p, s + 1, n - 1, '_');
        return;
    case '"':
        p->kind = STRING;
        split(p, s + 1, n - 1, '+');
        return;
    case '%':
        p->kind = KIND;
        p->n_part = 1;
        return;
    default:
        p->kind = USE;
        p->is_method = s[0] == '.';
        p->is_call = s[n - 1] == '(';
        split(p, s + p->is_method, n - p->is_method - p->is_call, '.');
    }
}

static void put_slot(myth_risks *r, uint32_t *slot, uint32_t i, const char *key, size_t n)
{
    uint32_t *at = &slot[hash_of(key, n) & (r->n_slot - 1)];
    r->pattern[i].next = *at;
    *at = i + 1;
}

static void put_pattern(myth_risks *r, uint32_t i)
{
    const pattern *p = &r->pattern[i];
    if (p->kind == IMPORT)
        r->import[r->n_import++] = i;
    else if (p->kind == USE)
        put_slot(r, r->use, i, p->part[p->n_part - 1], p->len[p->n_part - 1]);
    else if (p->kind != KIND) {
        put_slot(r, r->word, i, p->part[0], p->len[0]);
        if (p->kind != STRING && is_letter((unsigned char)p->part[0][0]))
            r->lengths[p->part[0][0] - 'a'] |= 1ull << p->len[0];
    }
}

uint64_t myth_risks_version(void)
{
    enum { READER = 1 }; /* raised by hand when the same rules find other things */
    uint64_t h = READER;
    for (int i = 0; i < N_RULE; i++) {
        h = XXH3_64bits_withSeed(rules[i].patterns, strlen(rules[i].patterns), h);
        h ^= (uint64_t)rules[i].family << 16 | (uint64_t)rules[i].tag << 8 | rules[i].is_strong;
    }
    return h;
}

myth_status myth_risks_open(myth_risks **out, myth_mem *mem, myth_error *err)
{
    uint32_t n = 0;
    for (int i = 0; i < N_RULE; i++)
        for (const char *s = rules[i].patterns; *s; s++)
            n += *s == ' ';
    n += N_RULE;
    myth_risks *r = myth_alloc(mem, MYTH_MEM_OTHER, "map", sizeof(*r));
    *out = r;
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the rules of risks");
    *r = (myth_risks){.mem = mem, .n_slot = 4096};
    r->pattern = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", n, sizeof(*r->pattern));
    r->import = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", n, sizeof(*r->import));
    r->use = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", r->n_slot, sizeof(*r->use));
    r->word = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", r->n_slot, sizeof(*r->word));
    if (!r->pattern || !r->import || !r->use || !r->word) {
        myth_risks_close(r);
        *out = NULL;
        return myth_fail(err, MYTH_ENOMEM, "no memory for the rules of risks");
    }
    for (int i = 0; i < N_RULE; i++)
        for (const char *s = rules[i].patterns; *s;) {
            size_t len = strcspn(s, " ");
            pattern *p = &r->pattern[r->n_pattern];
            *p = (pattern){.tag = rules[i].tag, .is_strong = rules[i].is_strong, .family = rules[i].family};
            parse(p, s, len);
            put_pattern(r, r->n_pattern++);
            s += len + (s[len] == ' ');
        }
    return MYTH_OK;
}

void myth_risks_close(myth_risks *r)
{
    if (!r)
        return;
    myth_free(r->mem, r->pattern);
    myth_free(r->mem, r->import);
    myth_free(r->mem, r->use);
    myth_free(r->mem, r->word);
    myth_free(r->mem, r);
}

/* ---- reasons ---- */

enum { BY_USE = 1, BY_DEFINITION, BY_IMPORT, BY_TWO };

static void put_reason(myth_risks *r, uint32_t i, uint8_t rank, uint32_t line)
{
    const pattern *p = &r->pattern[i];
    reason *w = &r->reason[p->tag];
    if (!p->is_strong) {
        rank = BY_TWO;
        if (!w->weak || line < w->weak_line)
            w->weak_line = line;
        if (w->weak == i + 1)
            return;
        if (!w->weak) {
            w->weak = i + 1;
            return;
        }
        line = w->weak_line;
    }
    if (!w->rank || rank < w->rank || (rank == w->rank && line < w->line)) {
        w->rank = rank;
        w->line = line;
    }
}

/* ---- words of names ---- */

enum { WORDS_MAX = 12, WORD_BYTES = 24 };

/* Splits a name into words: HTTPServer_v2 gives http, server, v, 2. A long word is cut; a name with too many words
 * ends early. */
static int split_words(char word[WORDS_MAX][WORD_BYTES], uint8_t len[WORDS_MAX], const char *s, size_t n)
{
    int n_word = 0;
    for (size_t i = 0; i < n && n_word < WORDS_MAX;) {
        size_t at = i;
        if (!is_letter((unsigned char)s[i]) && !is_digit((unsigned char)s[i])) {
            i++;
            continue;
        }
        bool is_upper = s[i] >= 'A' && s[i] <= 'Z';
        for (i++; i < n && (is_letter((unsigned char)s[i]) || is_digit((unsigned char)s[i])); i++) {
            bool up = s[i] >= 'A' && s[i] <= 'Z', is_next_low = i + 1 < n && s[i + 1] >= 'a' && s[i + 1] <= 'z';
            if (up && (!is_upper || is_next_low))
                break; /* a new word, or the last capital of several */
            is_upper = up || (is_upper && is_digit((unsigned char)s[i]));
        }
        len[n_word] = 0;
        for (; at < i && len[n_word] < WORD_BYTES; at++)
            word[n_word][len[n_word]++] = s[at] >= 'A' && s[at] <= 'Z' ? (char)(s[at] + 'a' - 'A') : s[at];
        n_word++;
    }
    return n_word;
}

static void find_words(myth_risks *r, const char *s, size_t n, pattern_kind kind, uint8_t rank, uint32_t line)
{
    char word[WORDS_MAX][WORD_BYTES];
    uint8_t len[WORDS_MAX];
    int n_word = split_words(word, len, s, n);
    for (int w = 0; w < n_word; w++) {
        bool may = !is_letter((unsigned char)word[w][0]) || (r->lengths[word[w][0] - 'a'] >> len[w] & 1);
        for (uint32_t i = may ? r->word[hash_of(word[w], len[w]) & (r->n_slot - 1)] : 0; i;
             i = r->pattern[i - 1].next) {
            const pattern *p = &r->pattern[i - 1];
            bool fits = p->kind == kind && (p->family & r->family) && p->n_part <= n_word - w;
            for (int k = 0; fits && k < p->n_part; k++)
                fits = p->len[k] == len[w + k] && memcmp(p->part[k], word[w + k], len[w + k]) == 0;
            if (fits)
                put_reason(r, i - 1, rank, line);
        }
    }
}

/* ---- what a parser found ---- */

bool myth_risks_begin(myth_risks *r, const char *language)
{
    memset(r->reason, 0, sizeof(r->reason));
    r->family = 0;
    const myth_language *l = myth_language_get(language);
    if (l->family == MYTH_FAMILY_NONE)
        return false;
    r->family = (uint16_t)(1u << l->family);
    r->marks = l->marks;
    return true;
}

void myth_risks_import(myth_risks *r, const char *module, uint32_t line)
{
    for (uint32_t k = 0; k < r->n_import; k++) {
        const pattern *p = &r->pattern[r->import[k]];
        if (!(p->family & r->family) || strncmp(module, p->part[0], p->len[0]) != 0)
            continue;
        char next = module[p->len[0]];
        if (next == '\0' || strchr("/.:\\; {,", next))
            put_reason(r, r->import[k], BY_IMPORT, line);
    }
}

void myth_risks_define(myth_risks *r, const char *name, myth_symbol_kind kind, uint32_t line)
{
    if (kind == MYTH_SYMBOL_ROUTE)
        for (uint32_t i = 0; i < r->n_pattern; i++)
            if (r->pattern[i].kind == KIND && (r->pattern[i].family & r->family))
                put_reason(r, i, BY_DEFINITION, line);
    if (kind != MYTH_SYMBOL_ROUTE && kind != MYTH_SYMBOL_TEST)
        find_words(r, name, strlen(name), DEFINITION, BY_DEFINITION, line);
}

/* ---- the text ---- */

typedef enum { NOTHING, AFTER_NAME, AFTER_DOT, AFTER_OTHER_DOT } place;

typedef struct {
    myth_risks *r;
    const char *text, *end, *p;
    uint32_t line;
    bool is_script;              /* inside a script of a page */
    const char *name[PARTS_MAX]; /* the qualified name so far; the current name is last */
    size_t len[PARTS_MAX];
    int n_name;
    place place;
    bool has_receiver, is_declared;
    char quote;                     /* quote of the current string; 0 = outside of strings */
    bool is_long, is_like_name;     /* is_long: the string ends with three quotes; is_like_name: it looks like a name */
    uint32_t first_word, word_line; /* rule + 1 of a two-word pattern whose first word was found, and that line */
    const char *word_at;
} lexer;

static bool starts(const lexer *x, const char *s)
{
    size_t n = strlen(s);
    return (size_t)(x->end - x->p) >= n && memcmp(x->p, s, n) == 0;
}

static void skip_line(lexer *x)
{
    const char *end = memchr(x->p, '\n', (size_t)(x->end - x->p));
    x->p = end ? end : x->end;
}

static void skip_to(lexer *x, const char *close)
{
    while (x->p < x->end && !starts(x, close)) {
        x->line += *x->p == '\n';
        x->p++;
    }
    x->p += x->p < x->end ? strlen(close) : 0;
}

/* In a page only scripts are code, so skips to the next one. */
static void skip_to_script(lexer *x)
{
    for (; x->p < x->end && !x->is_script; x->p++) {
        x->line += *x->p == '\n';
        x->is_script = *x->p == '<' && (starts(x, "<script") || starts(x, "<%") || starts(x, "<?"));
    }
}

static bool skip_comment(lexer *x)
{
    uint16_t m = x->r->marks;
    char c = *x->p;
    bool is_page = (m & ANGLE) && x->r->family == JS;
    bool is_word_start = x->p == x->text || x->p[-1] == ' ' || x->p[-1] == '\t' || x->p[-1] == '\n';
    if (c == '#' && x->r->family == C && is_word_start &&
        (starts(x, "#include") || starts(x, "# include") || starts(x, "#  include")))
        skip_line(x); /* the parser has reported it already */
    else if (is_page && !x->is_script)
        skip_to_script(x);
    else if (is_page && (starts(x, "</script") || starts(x, "%>") || starts(x, "?>"))) {
        x->is_script = false;
        x->p++;
    } else if ((m & SLASH) && c == '/' && starts(x, "/*"))
        skip_to(x, "*/");
    else if ((m & ANGLE) && c == '<' && starts(x, "<!--"))
        skip_to(x, "-->");
    else if (((m & SLASH) && c == '/' && starts(x, "//")) || ((m & DASH) && c == '-' && starts(x, "--")) ||
             ((m & HASH) && c == '#' && (is_word_start || x->r->family != SH)) || ((m & SEMICOLON) && c == ';') ||
             ((m & PERCENT) && c == '%'))
        skip_line(x);
    else
        return false;
    return true;
}

/* A quote begins a string only if the string ends on its line, or may span lines. */
static bool open_string(lexer *x)
{
    char c = *x->p;
    uint16_t m = x->r->marks;
    if (c != '"' && c != '\'' && !(c == '`' && (m & BACKTICK)))
        return false;
    x->is_long = (m & TRIPLE) && x->end - x->p >= 3 && x->p[1] == c && x->p[2] == c;
    x->is_like_name = false;
    if (!x->is_long && c != '`') {
        const char *q = x->p + 1;
        bool like = true;
        for (; q < x->end && *q != c && *q != '\n'; q++) {
            like &= myth_is_name((unsigned char)*q) || *q == '-' || *q == '.';
            q += *q == '\\' && q + 1 < x->end && q[1] != '\n';
        }
        if (c == '\'' && (q >= x->end || *q != c))
            return false; /* a lifetime, an apostrophe */
        x->is_like_name = like && q > x->p + 1;
    }
    x->quote = c;
    x->p += x->is_long ? 3 : 1;
    return true;
}

/* Words after which a name can be a call (in a shell, a command). After any other name it is a declaration or an
 * argument. */
static bool is_before_call(const char *s, size_t n, bool is_shell)
{
    static const char *const calls[] = {"return", "else",     "await", "new",    "yield", "throw",  "in",     "and",
                                        "or",     "not",      "case",  "do",     "echo",  "print",  "if",     "while",
                                        "until",  "unless",   "when",  "with",   "as",    "from",   "elif",   "then",
                                        "defer",  "go",       "try",   "assert", "raise", "delete", "typeof", "is",
                                        "lambda", "co_await", "puts",  "local",  "my",    "async",  NULL};
    static const char *const commands[] = {"then", "do",  "else", "elif",  "if",    "while",   "until", "sudo",
                                           "time", "env", "exec", "xargs", "nohup", "command", "eval",  NULL};
    for (const char *const *word = is_shell ? commands : calls; *word; word++)
        if (strlen(*word) == n && memcmp(*word, s, n) == 0)
            return true;
    return false;
}

/* In a shell a name is a command only where a command begins, not as an argument or part of a path or flag. */
static bool is_shell_command(const lexer *x)
{
    const char *at = x->name[x->n_name - 1];
    return !x->is_declared && (at == x->text || strchr(" \t\n;|&(`", at[-1])) &&
           (x->p == x->end || strchr(" \t\r\n;|&)`", *x->p));
}

static void look_up_use(lexer *x)
{
    const char *q = x->p;
    int last = x->n_name - 1;
    while (q < x->end && (*q == ' ' || *q == '\t' || *q == '!'))
        q++;
    bool is_call = q < x->end && *q == '(', is_command = x->r->family != SH || is_shell_command(x);
    for (uint32_t i = x->r->use[hash_of(x->name[last], x->len[last]) & (x->r->n_slot - 1)]; i;
         i = x->r->pattern[i - 1].next) {
        const pattern *p = &x->r->pattern[i - 1];
        bool fits = (p->family & x->r->family) && p->n_part <= x->n_name && (is_call || !p->is_call) &&
                    !(x->is_declared && p->is_call) && is_command;
        if (p->n_part == 1 && p->is_method != x->has_receiver)
            fits = false;
        for (int k = 1; fits && k <= p->n_part; k++)
            fits = p->len[p->n_part - k] == x->len[x->n_name - k] &&
                   memcmp(p->part[p->n_part - k], x->name[x->n_name - k], x->len[x->n_name - k]) == 0;
        if (fits)
            put_reason(x->r, i - 1, BY_USE, x->line);
    }
}

static void take_name(lexer *x)
{
    const char *at = x->p;
    while (x->p < x->end && myth_is_name((unsigned char)*x->p))
        x->p++;
    size_t n = (size_t)(x->p - at);
    x->is_declared =
        x->place == AFTER_NAME && !is_before_call(x->name[x->n_name - 1], x->len[x->n_name - 1], x->r->family == SH);
    x->has_receiver = x->place == AFTER_DOT || x->place == AFTER_OTHER_DOT;
    if (x->place != AFTER_DOT)
        x->n_name = 0;
    if (x->n_name == PARTS_MAX) {
        memmove(x->name, x->name + 1, (PARTS_MAX - 1) * sizeof(x->name[0]));
        memmove(x->len, x->len + 1, (PARTS_MAX - 1) * sizeof(x->len[0]));
        x->n_name--;
    }
    x->name[x->n_name] = at;
    x->len[x->n_name++] = n;
    x->place = AFTER_NAME;
    look_up_use(x);
    find_words(x->r, at, n, NAME, BY_USE, x->line);
}

/* Handles a word in a string, which may be the first or second of a two-word pattern. */
static void take_string_word(lexer *x)
{
    enum { APART = 400 };
    const char *at = x->p;
    while (x->p < x->end && myth_is_name((unsigned char)*x->p))
        x->p++;
    size_t n = (size_t)(x->p - at);
    if (x->is_like_name)
        find_words(x->r, at, n, NAME, BY_USE, x->line);
    if (x->first_word && at - x->word_at <= APART) {
        const pattern *p = &x->r->pattern[x->first_word - 1];
        if (p->len[1] == n && memcmp(p->part[1], at, n) == 0) {
            put_reason(x->r, x->first_word - 1, BY_USE, x->word_line);
            x->first_word = 0;
        }
    }
    for (uint32_t i = x->r->word[hash_of(at, n) & (x->r->n_slot - 1)]; i; i = x->r->pattern[i - 1].next) {
        const pattern *p = &x->r->pattern[i - 1];
        if (p->kind != STRING || !(p->family & x->r->family) || p->len[0] != n || memcmp(p->part[0], at, n) != 0)
            continue;
        x->first_word = i;
        x->word_at = at;
        x->word_line = x->line;
    }
}

static void step_string(lexer *x)
{
    char c = *x->p;
    if (myth_is_name((unsigned char)c)) {
        take_string_word(x);
        return;
    }
    bool is_end = c == x->quote && (!x->is_long || (x->end - x->p >= 3 && x->p[1] == c && x->p[2] == c));
    if (is_end || (c == '\n' && !x->is_long && x->quote != '`')) {
        x->p += is_end ? (x->is_long ? 3 : 1) : 0;
        x->quote = 0;
        x->place = NOTHING;
        return;
    }
    x->p += c == '\\' && x->p + 1 < x->end && x->p[1] != '\n' ? 2 : 1;
    x->line += c == '\n';
}

static void step(lexer *x)
{
    char c = *x->p;
    if (x->quote) {
        step_string(x);
        return;
    }
    if (skip_comment(x) || open_string(x))
        return;
    if (is_digit((unsigned char)c)) {
        while (x->p < x->end && (myth_is_name((unsigned char)*x->p) || *x->p == '.'))
            x->p++;
        x->place = NOTHING;
        return;
    }
    if (myth_is_name((unsigned char)c)) {
        take_name(x);
        return;
    }
    if (c == '.' || starts(x, "->") || starts(x, "::")) {
        x->place = x->place == AFTER_NAME ? AFTER_DOT : AFTER_OTHER_DOT;
        x->p += c == '.' ? 1 : 2;
        return;
    }
    x->line += c == '\n';
    if (c == '\n' && x->place == AFTER_NAME && x->r->family != C)
        x->place = NOTHING; /* the end of a line ends a statement */
    else if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '?')
        x->place = NOTHING;
    x->p++;
}

/* Finds the offsets of the reasons' lines. */
static uint32_t find_lines(myth_risk_found found[MYTH_RISK_N], const reason *w, const char *text, uint64_t n)
{
    uint32_t n_found = 0;
    for (int t = 0; t < MYTH_RISK_N; t++) {
        const char *p = text, *end = text + n;
        if (!w[t].rank)
            continue;
        for (uint32_t line = 1; line < w[t].line && p < end; line++) {
            const char *next = memchr(p, '\n', (size_t)(end - p));
            p = next ? next + 1 : end;
        }
        const char *stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        found[n_found++] =
            (myth_risk_found){(myth_risk)t, w[t].line, (uint64_t)(p - text), (uint64_t)((stop ? stop : end) - p)};
    }
    return n_found;
}

uint32_t myth_risks_find(myth_risks *r, myth_risk_found found[MYTH_RISK_N], const unsigned char *text, uint64_t n)
{
    lexer x = {.r = r, .text = (const char *)text, .end = (const char *)text + n, .p = (const char *)text, .line = 1};
    while (r->family && x.p < x.end)
        step(&x);
    return find_lines(found, r->reason, (const char *)text, n);
}
