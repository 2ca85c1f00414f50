/* fingerprint.c - finds the line that opens the block around a line, from indentation and brackets, and hashes both
 * lines after normalising their white space. One walk down the file keeps the open blocks on a stack. */
#include "fingerprint.h"

#include "frontend/inspect/secrets/sha256.h"

#include "engine/base/chars.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, TAB = 8 };

/* ---- lines ---- */

typedef struct {
    const char *p; /* trimmed */
    uint32_t len, indent;
} line_text;

static line_text line_of(const myth_source *src, uint32_t idx)
{
    line_text l = {0};
    uint32_t off;
    myth_line_trim(src, idx, &off, &l.len);
    l.p = (const char *)src->bytes + off;
    for (uint32_t i = src->line[idx].off; i < off; i++)
        l.indent = src->bytes[i] == '\t' ? (l.indent / TAB + 1) * TAB : l.indent + 1;
    return l;
}

static bool begins(line_text l, const char *word)
{
    size_t n = strlen(word);
    return l.len >= n && !memcmp(l.p, word, n);
}

/* Returns the line without a comment at its end, as far as one line alone shows where a comment begins. */
static line_text without_comment(line_text l)
{
    for (uint32_t i = 1; i + 1 < l.len; i++) {
        bool is_slash = l.p[i] == '/' && (l.p[i + 1] == '/' || l.p[i + 1] == '*') && l.p[i - 1] != ':';
        if (is_slash || (l.p[i] == '#' && l.p[i - 1] == ' ')) {
            for (l.len = i; l.len && (l.p[l.len - 1] == ' ' || l.p[l.len - 1] == '\t'); l.len--) {}
            break;
        }
    }
    return l;
}

static bool is_comment(line_text l)
{
    return begins(l, "//") || begins(l, "/*") || begins(l, "*") || begins(l, "#") || begins(l, "--") ||
           begins(l, "<!--");
}

/* Whether the line opens a block by a word, as in languages whose blocks end with "end". The word is the line's first,
 * or follows a word of visibility such as "private". */
static bool opens_by_word(line_text l)
{
    static const char *const word[] = {"def",       "class", "module", "function", "func",          "fn",    "sub",
                                       "procedure", "begin", "if",     "unless",   "while",         "until", "for",
                                       "do",        "case",  "then",   "repeat",   "local function"};
    for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
        if (begins(l, word[k]) && (l.len == strlen(word[k]) || !myth_is_word(l.p[strlen(word[k])])))
            return l.p[l.len - 1] != ';' && l.p[l.len - 1] != '}';
    return (l.len > 3 && !memcmp(l.p + l.len - 3, " do", 3)) || (l.len > 5 && !memcmp(l.p + l.len - 5, " then", 5));
}

static bool is_opening(line_text l)
{
    char last = l.p[l.len - 1];
    if (last == ':' && (begins(l, "case ") || begins(l, "default") || begins(l, "public") || begins(l, "private") ||
                        begins(l, "protected")))
        return false; /* labels: not indented alike everywhere */
    return last == '{' || last == '(' || last == '[' || last == ':' || opens_by_word(l);
}

static bool is_closing(line_text l)
{
    return l.p[0] == '}' || l.p[0] == ')' || l.p[0] == ']' ||
           (begins(l, "end") && (l.len == 3 || !myth_is_word(l.p[3])));
}

/* The number of '(' in a line minus the number of ')'. */
static int balance(line_text l)
{
    int n = 0;
    for (uint32_t i = 0; i < l.len; i++)
        n += l.p[i] == '(' ? 1 : l.p[i] == ')' ? -1 : 0;
    return n;
}

/* ---- blocks ---- */

typedef struct {
    const myth_source *src;
    struct {
        uint32_t idx, indent;
    } open[DEPTH_MAX];
    uint32_t n_open;
    uint32_t solid, solid_indent; /* the last line with code; a '{' alone on the next line belongs to it */
    uint32_t head, head_indent;   /* the line with the parenthesis that is still open */
    int depth;
} walk;

static void walk_start(walk *w, const myth_source *src)
{
    memset(w, 0, sizeof(*w));
    w->src = src;
    w->solid = w->head = src->n_line;
}

/* Returns the line that opens the block around a line of that indentation. */
static uint32_t around(const walk *w, uint32_t indent)
{
    for (uint32_t i = w->n_open; i-- > 0;)
        if (w->open[i].indent < indent)
            return w->open[i].idx;
    return w->src->n_line;
}

static void open_block(walk *w, uint32_t idx, uint32_t indent)
{
    while (w->n_open && w->open[w->n_open - 1].indent >= indent)
        w->n_open--;
    if (w->n_open < DEPTH_MAX) {
        w->open[w->n_open].idx = idx;
        w->open[w->n_open++].indent = indent;
    }
}

/* Moves the walk over line idx, which is not blank. Returns the line that opens the block around it. */
static uint32_t walk_line(walk *w, uint32_t idx)
{
    line_text full = line_of(w->src, idx);
    uint32_t at = around(w, full.indent);
    if (is_comment(full))
        return at;
    line_text l = without_comment(full);
    if (is_closing(l)) {
        while (w->n_open && w->open[w->n_open - 1].indent >= l.indent)
            w->n_open--;
        at = around(w, l.indent);
    }
    int b = balance(l);
    if (l.len == 1 && l.p[0] == '{' && w->solid < w->src->n_line) {
        bool is_split =
            w->head < w->src->n_line && w->head_indent <= l.indent && w->depth <= 0 && w->solid_indent > l.indent;
        open_block(w, is_split ? w->head : w->solid, l.indent);
    } else if (is_opening(l)) {
        bool is_split = b < 0 && w->head < w->src->n_line && w->head_indent < l.indent;
        open_block(w, is_split ? w->head : idx, is_split ? w->head_indent : l.indent);
    }
    if (b > 0 && w->depth <= 0) {
        w->head = idx;
        w->head_indent = l.indent;
        w->depth = 0;
    }
    w->depth += b;
    w->solid = idx;
    w->solid_indent = l.indent;
    return at;
}

uint32_t myth_enclosing_line(const myth_source *src, uint32_t idx)
{
    walk w;
    uint32_t at = src->n_line;
    walk_start(&w, src);
    for (uint32_t i = 0; i <= idx && i < src->n_line; i++)
        if (src->line[i].text_len)
            at = walk_line(&w, i);
    return at;
}

/* ---- hashes ---- */

static void add_text(myth_sha256 *s, const char *text, size_t len)
{
    myth_sha256_add(s, text, len);
    myth_sha256_add(s, "", 1);
}

/* A line as it is compared: without white space at its ends, and inside with one space for each run, in the second form
 * only between two parts of words. */
typedef struct {
    line_text l;
    uint32_t at;
    bool is_second;
} spelling;

static spelling spell(const myth_source *src, uint32_t idx, bool is_second)
{
    return (spelling){.l = idx < src->n_line ? line_of(src, idx) : (line_text){0}, .is_second = is_second};
}

static bool is_of_word(char c) { return myth_is_word(c) || (unsigned char)c >= 0x80; }

/* The next byte; -1 at the end. */
static int next_byte(spelling *s)
{
    uint32_t to = s->at;
    while (to < s->l.len && myth_is_blank(s->l.p[to]))
        to++;
    const bool is_apart =
        s->at && to < s->l.len && is_of_word(s->l.p[s->at - 1]) && is_of_word(s->l.p[to]); /* a space parts two words */
    const bool is_space = to > s->at && (is_apart || !s->is_second);
    if (!is_space && to == s->l.len)
        return -1;
    s->at = is_space ? to : to + 1;
    return is_space ? ' ' : (unsigned char)s->l.p[to];
}

static void add_line(myth_sha256 *s, const myth_source *src, uint32_t idx, bool is_second)
{
    spelling line = spell(src, idx, is_second);
    for (int c; (c = next_byte(&line)) >= 0;)
        myth_sha256_add(s, &(unsigned char){(unsigned char)c}, 1);
    myth_sha256_add(s, "", 1);
}

static bool same_line(const myth_source *src, uint32_t a, uint32_t b, bool is_second)
{
    spelling x = spell(src, a, is_second), y = spell(src, b, is_second);
    int c;
    if (a >= src->n_line || b >= src->n_line)
        return a >= src->n_line && b >= src->n_line;
    while ((c = next_byte(&x)) == next_byte(&y))
        if (c < 0)
            return true;
    return false;
}

/* Counts the lines above idx that are equal to it and have an equal enclosing line, for either fingerprint. */
static void count_equal(const myth_source *src, uint32_t idx, uint32_t *enclosing, uint32_t n_same[2])
{
    walk w;
    n_same[0] = n_same[1] = 0;
    *enclosing = myth_enclosing_line(src, idx);
    walk_start(&w, src);
    for (uint32_t i = 0; i < idx; i++) {
        if (!src->line[i].text_len)
            continue;
        uint32_t at = walk_line(&w, i);
        for (int k = 0; k < 2; k++)
            n_same[k] += same_line(src, i, idx, k) && same_line(src, at, *enclosing, k);
    }
}

/* Hashes what both fingerprints have. */
static void add_place(myth_sha256 *s, const myth_source *src, uint32_t idx, uint32_t enclosing, uint32_t n_same,
                      uint32_t n_before, bool is_second)
{
    char number[32];
    add_line(s, src, idx, is_second);
    add_line(s, src, enclosing, is_second);
    snprintf(number, sizeof(number), "%u.%u", n_same, n_before);
    add_text(s, number, strlen(number));
}

static void one(myth_fingerprint *out, const myth_source *src, const myth_finding *f, const myth_citation *c,
                uint32_t n_before)
{
    myth_sha256 s;
    unsigned char digest[MYTH_SHA256_BYTES];
    const char *id = myth_rules[f->rule].id;
    uint32_t idx = c->line - 1, enclosing, n_same[2];
    count_equal(src, idx, &enclosing, n_same);
    myth_sha256_start(&s);
    add_text(&s, "mythos/v1", 9);
    add_text(&s, id, strlen(id));
    add_text(&s, src->path, strlen(src->path));
    add_place(&s, src, idx, enclosing, n_same[0], n_before, false);
    myth_sha256_end(&s, digest);
    myth_sha256_hex(out->text, digest, MYTH_FINGERPRINT_LEN);
    myth_sha256_start(&s);
    add_text(&s, "mythos/v2", 9);
    add_text(&s, src->path, strlen(src->path));
    myth_sha256_end(&s, digest);
    myth_sha256_hex(out->second, digest, MYTH_FINGERPRINT_PATH);
    myth_sha256_start(&s);
    add_text(&s, "mythos/v2", 9);
    add_text(&s, id, strlen(id));
    add_place(&s, src, idx, enclosing, n_same[1], n_before, true);
    myth_sha256_end(&s, digest);
    myth_sha256_hex(out->second + MYTH_FINGERPRINT_PATH, digest, MYTH_FINGERPRINT_LEN - MYTH_FINGERPRINT_PATH);
    myth_line_hash(out->line_hash, src, f->first);
}

/* The rule and line (from 1) that a finding is known by. */
static int known_rule(const myth_finding *f) { return f->known_line ? f->known_rule : f->rule; }
static uint32_t known_line(const myth_finding *f, const myth_citation *c)
{
    return f->known_line ? f->known_line : c->line;
}

void myth_fingerprint_of(myth_fingerprint *out, const myth_block *block, const myth_finding *f, const myth_citation *c,
                         uint32_t i)
{
    uint32_t n_before = 0;
    for (uint32_t k = 0; k < i; k++)
        n_before += known_rule(&f[k]) == known_rule(&f[i]) && known_line(&f[k], &c[k]) == known_line(&f[i], &c[i]) &&
                    !strcmp(block[f[k].block].src->path, block[f[i].block].src->path);
    myth_finding known = f[i];
    myth_citation at = c[i];
    known.rule = known_rule(&f[i]);
    at.line = known_line(&f[i], &c[i]);
    one(out, block[f[i].block].src, &known, &at, n_before);
}
