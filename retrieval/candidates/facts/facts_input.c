/* facts_input.c - facts about numbers that are read out of a file, a packet or another buffer, and about differences
 * that wrap (facts.h).
 *
 * Bytes   a number is read out of bytes where its value is an element of an array of bytes, is shifted together of such
 *         elements, or comes from a function that reads one, by its name: ntohs(x), be32toh(x), get_u16(p)
 * Limit   a comparison that keeps a large number away from what follows; one with zero or with a least does not */
#include "facts_span.h"

#include <stdio.h>

enum { TEXT = MYTH_SPAN_TEXT, WORD = MYTH_SPAN_WORD, NEAR = 400 };

/* ---- numbers out of bytes ---- */

/* Whether a function reads a number of several bytes, by its name. */
static bool reads_number(const char *name)
{
    static const char *const known[] = {"ntohs",   "ntohl",   "ntohll",  "be16toh", "be32toh",
                                        "be64toh", "le16toh", "le32toh", "le64toh"};
    static const char *const width[] = {"16", "24", "32", "u8", "u16"};
    static const char *const reads[] = {"get", "read", "peek", "load", "be", "le", "unpack", "fetch"};
    static const char *const other[] = {"put",  "write", "set",  "store", "to_",   "crc",  "hash", "sha",   "rand",
                                        "base", "min",   "max",  "utf",   "print", "hton", "code", "swap",  "float",
                                        "md5",  "mul",   "mask", "align", "sign",  "bit",  "add",  "count", "size"};
    char low[WORD];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)name[n]);
    low[n] = '\0';
    return myth_flow_is_one_of(low, known, sizeof(known) / sizeof(*known)) ||
           (myth_flow_has_one_of(low, width, sizeof(width) / sizeof(*width)) &&
            myth_flow_has_one_of(low, reads, sizeof(reads) / sizeof(*reads)) &&
            !myth_flow_has_one_of(low, other, sizeof(other) / sizeof(*other)));
}

/* Whether a variable of the function is an array of bytes, or points to one. */
static bool is_of_bytes(myth_flow *f, const char *name)
{
    static const char *const byte[] = {"unsigned char", "uint8_t",  "u8",    "u_char", "uchar", "BYTE",
                                       "guint8",        "u_int8_t", "Uint8", "byte",   "Byte"};
    for (uint32_t i = 1; i < f->n_path; i++) {
        const myth_path *p = &f->path[i];
        if (p->base || strcmp(f->names + p->text, name) != 0 || !(p->is_pointer || p->is_array))
            continue;
        const span type = span_of(f, p->type_off, p->type_end);
        for (size_t b = 0; b < sizeof(byte) / sizeof(*byte); b++)
            if (has_word(type, byte[b]))
                return true;
    }
    return false;
}

/* Whether a value is read out of bytes; `from` gets the name of what it is read from. */
static bool is_out_of_bytes(myth_flow *f, span s, char from[WORD])
{
    char word[WORD];
    const bool is_shifted = has_text(s, "<<");
    from[0] = '\0';
    if (s.n == 0 || s.n > TEXT || has_text(s, "&") || has_text(s, "%") || has_text(s, "?") || has_text(s, "min") ||
        has_text(s, "MIN") || has_text(s, ">>") || has_text(s, "\""))
        return false;
    for (uint32_t i = 0, n; i < s.n; i += n ? n : 1) {
        n = word_at(s, i, word);
        if (n == 0)
            continue;
        const bool is_call = i + n < s.n && s.p[i + n] == '(';
        const bool is_element = i + n < s.n && s.p[i + n] == '[';
        if (is_call && reads_number(word)) {
            uint32_t j = i + n;
            while (j < s.n && !from[0])
                if (!word_at(s, j++, from))
                    from[0] = '\0';
            return true;
        }
        const bool is_target = i > 0 && s.p[i - 1] == '*' && (i == 1 || strchr("(=|+ ", s.p[i - 2]));
        const bool is_member = i > 0 && (s.p[i - 1] == '.' || s.p[i - 1] == '>');
        if ((is_element || is_target) && ((!is_member && is_of_bytes(f, word)) || (is_shifted && is_element))) {
            snprintf(from, WORD, "%s", word);
            return true;
        }
        if (is_call && !is_shifted)
            return false;
    }
    return false;
}

/* ---- limits ---- */

/* A number, sizeof, or a name in capitals. */
static bool is_constant(const myth_flow *f, TSNode node)
{
    const span s = node_span(f, node);
    if (has_text(s, "sizeof"))
        return true;
    for (uint32_t i = 0; i < s.n; i++)
        if (islower((unsigned char)s.p[i]) && (i == 0 || !isdigit((unsigned char)s.p[i - 1])))
            return false;
    return s.n > 0;
}

static bool is_little(const myth_flow *f, TSNode node)
{
    char text[TEXT];
    put_tight(text, node_span(f, node));
    return strcmp(text, "0") == 0 || strcmp(text, "1") == 0 || strcmp(text, "0U") == 0;
}

/* Whether a test keeps the word's value from being large. by_constant: whether it counts that it is equal to a
 * constant; is_made: the value is made of the number, as what is left behind it. */
static bool limits(const myth_flow *f, const myth_event *t, const char *word, bool by_constant, bool is_made)
{
    myth_test_kind how;
    const TSNode left = child_of(f, t->node, MYTH_SLOT_LEFT), right = child_of(f, t->node, MYTH_SLOT_RIGHT);
    if (is_null(left) || is_null(right) || !myth_flow_comparison(f, t->node, &how))
        return t->how == MYTH_TEST_PART;
    const bool is_left = has_word(node_span(f, left), word);
    const TSNode other = is_left ? right : left;
    if (!is_left)
        how = myth_flow_turned(how);
    if (is_little(f, other))
        return is_made && how > MYTH_TEST_NOT_EQUAL;
    if (how <= MYTH_TEST_NOT_EQUAL)
        return by_constant || !is_constant(f, other);
    const bool is_loop = t->test && myth_facts_outermost(f, t)->is_loop;
    if (is_loop && !is_left && (how == MYTH_TEST_MORE || how == MYTH_TEST_AT_LEAST))
        return false; /* while (i < n): says nothing of n */
    const uint32_t then = t->test ? myth_facts_outermost(f, t)->then : 0;
    if ((how == MYTH_TEST_LESS || how == MYTH_TEST_AT_MOST) && then && f->scope[then].leaves && is_constant(f, other))
        return false; /* if (n < 4) return; */
    return true;
}

/* Whether a function looks at what it is given, by its name. */
static bool checks(const char *name)
{
    static const char *const word[] = {"check", "need", "ensure", "room",  "valid",   "limit", "avail",  "has_",
                                       "can_",  "must", "remain", "bound", "require", "grow",  "resize", "reserve",
                                       "CHECK", "NEED", "assert", "left",  "skip",    "alloc", "sure",   "verify",
                                       "Check", "fits", "resv",   "clamp", "range",   "safe",  "space",  "extend"};
    return myth_flow_has_one_of(name, word, sizeof(word) / sizeof(*word));
}

/* Whether the function limits a number before event e: compares it, gives it to what checks it, or makes of it what is
 * compared. */
static bool is_limited(const myth_flow *f, const char *word, uint32_t from, uint32_t e, bool by_constant, int deep)
{
    for (uint32_t i = from; i < f->n_event && f->event[i].off < f->event[e].end; i++) {
        const myth_event *x = &f->event[i];
        if (x->off >= f->event[e].off && x->end <= f->event[e].end)
            continue; /* its own arguments */
        if (x->kind == MYTH_EVENT_TEST && has_word(begin_of(node_span(f, x->node), TEXT), word) &&
            limits(f, x, word, by_constant, deep > 0))
            return true;
        const char *name = x->path ? last_word(f, x->path) : "";
        if (x->kind == MYTH_EVENT_ARG && strcmp(name, word) == 0 && x->call != e) {
            const char *callee = f->names + f->event[x->call].name;
            const bool is_macro = myth_flow_is_constant_name(callee);
            if (is_macro || checks(callee) || f->event[x->call].test || x->is_through)
                return true;
        }
        if (x->kind == MYTH_EVENT_DEFINE && deep < 2 && strcmp(name, word) != 0 &&
            has_word(begin_of(definition_span(f, x), TEXT), word) && *name &&
            is_limited(f, name, i, e, by_constant, deep + 1))
            return true;
    }
    return false;
}

/* The definition that the variable has at event e; NULL = none, or it is a parameter. */
static const myth_event *own_value(const myth_facts *k, uint32_t path, uint32_t e)
{
    uint32_t d;
    if (!path || k->flow->path[path].base || !myth_facts_definition(k, path, e, &d) || k->flow->event[d].path != path ||
        k->flow->event[d].value == MYTH_VALUE_PARAMETER)
        return NULL;
    return &k->flow->event[d];
}

/* ---- sizes ---- */

enum { BYTES_NO, BYTES_FIXED, BYTES_OWN };

/* Which argument a function that copies or reads has its target in. */
static uint32_t target_index(const char *name) { return strstr(name, "read") || strstr(name, "recv"); }

static bool is_fixed_target(const myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const char *name = f->names + f->event[e].name;
    TSNode to = inner_argument(k, e, strstr(name, "fread") ? 0 : target_index(name));
    if (!is_null(to) && role_of(f, to) == MYTH_ROLE_BINARY)
        to = myth_flow_inner(f, child_of(f, to, MYTH_SLOT_LEFT));
    return !is_null(to) && myth_facts_is_fixed(f, myth_flow_path(f, to));
}

/* Whether a number has more than one byte: one byte is within most arrays that it chooses an element of. */
static bool is_long(span value)
{
    return has_text(value, "<<") || has_text(value, "16") || has_text(value, "32") || has_text(value, "ntoh");
}

static int bytes_of_index(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e), *d = own_value(k, at->path, e);
    char from[WORD];
    if (!d || !myth_facts_is_fixed(f, at->other) || at->value != MYTH_VALUE_PATH)
        return BYTES_NO;
    const span value = definition_span(f, d);
    if (!is_out_of_bytes(f, value, from) || !is_long(value) || is_limited(f, last_word(f, at->path), 0, e, true, 0))
        return BYTES_NO;
    k->at_line = d->line;
    return BYTES_FIXED;
}

/* Whether the size that a call gets, or the index of an element, is a number out of bytes that nothing limits: where
 * the target is an array of fixed size, or the source is behind the number in the same bytes. */
int myth_fact_bytes(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind == MYTH_EVENT_INDEX)
        return bytes_of_index(k, e);
    const TSNode size = inner_argument(k, e, 2), source = inner_argument(k, e, 1);
    if (at->kind != MYTH_EVENT_CALL || is_null(size))
        return BYTES_NO;
    char from[WORD], word[WORD];
    const span s = node_span(f, size);
    const bool is_fixed = is_fixed_target(k, e);
    const bool is_copy = target_index(f->names + at->name) == 0;
    span value = s;
    uint32_t path = role_of(f, size) == MYTH_ROLE_NAME ? myth_flow_path(f, size) : 0, line = at->line;
    if (path) {
        const myth_event *d = own_value(k, path, e);
        if (!d)
            return BYTES_NO;
        value = definition_span(f, d);
        line = d->line;
        snprintf(word, sizeof(word), "%s", last_word(f, path));
    }
    if (!is_out_of_bytes(f, value, from))
        return BYTES_NO;
    if (!path) { /* memcpy(to, from, ntohs(p->length)) */
        uint32_t last = 0;
        char w[WORD];
        for (uint32_t i = 0, n; i < s.n; i += n ? n : 1)
            if ((n = word_at(s, i, w)) != 0) {
                snprintf(word, sizeof(word), "%s", w);
                last = i;
            }
        if (last == 0)
            return BYTES_NO;
    }
    k->at_line = line;
    if (is_fixed && is_long(value) && !is_limited(f, word, 0, e, true, 0))
        return BYTES_FIXED;
    if (is_copy && path && from[0] && has_word(node_span(f, source), from) && !is_limited(f, word, 0, e, false, 0))
        return BYTES_OWN;
    return BYTES_NO;
}

/* Whether a variable counts bytes, by its name. */
static bool is_length(const char *name)
{
    static const char *const word[] = {"len", "length", "size", "sz", "cnt", "count", "n", "nbytes", "l", "num"};
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
        const size_t n = strlen(name), m = strlen(word[i]);
        if (n >= m && strcmp(name + n - m, word[i]) == 0 && (m > 2 || n == m))
            return true;
    }
    return false;
}

/* Whether a call gets a place in bytes and a length that was read out of them, and nothing in the function compares the
 * length with what is left. */
int myth_fact_hands(myth_facts *k, uint32_t e)
{
    static const char *const shows[] = {"print", "log", "Log", "LOG", "dump", "debug", "DEBUG", "trace"};
    static const char *const writes[] = {"put", "Put", "enc", "write", "set_num", "store", "send", "Write"};
    static const char *const ends[] = {"left", "remain", "avail", "end", "size", "max", "limit"};
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char from[WORD];
    if (at->kind != MYTH_EVENT_CALL || at->test || myth_flow_has_one_of(f->names + at->name, shows, 8) ||
        checks(f->names + at->name))
        return 0;
    if (myth_flow_has_one_of(f->names + at->name, writes, sizeof(writes) / sizeof(*writes)))
        return 0;
    for (uint32_t i = 1; i < 6; i++) {
        const TSNode a = inner_argument(k, e, i);
        if (is_null(a) || role_of(f, a) != MYTH_ROLE_NAME)
            continue;
        const uint32_t path = myth_flow_path(f, a);
        const myth_event *d = path && is_length(last_word(f, path)) ? own_value(k, path, e) : NULL;
        if (!d || f->path[path].is_pointer || !is_out_of_bytes(f, definition_span(f, d), from) || !from[0])
            continue;
        bool has_place = false, has_end = false;
        for (uint32_t j = 0; j < 8; j++) {
            const TSNode b = inner_argument(k, e, j);
            if (is_null(b) || j == i)
                continue;
            has_place |= has_word(node_span(f, b), from);
            char text[TEXT];
            put_tight(text, node_span(f, b));
            has_end |= myth_flow_has_one_of(text, ends, sizeof(ends) / sizeof(*ends));
        }
        if (has_place && !has_end && !is_limited(f, last_word(f, path), 0, f->n_event - 1, false, 0)) {
            k->at_line = d->line;
            return 1;
        }
    }
    return 0;
}

/* ---- products ---- */

enum { FACTORS_NO, FACTORS_INPUT };

/* Whether the file has a comparison with the member: m > n, m <= n. */
static bool is_compared_in_file(const myth_flow *f, const char *name)
{
    const size_t n = strlen(name);
    const char *const end = f->text + f->n_text;
    for (const char *p = f->text; p + n + 4 < end && (p = memchr(p, *name, (size_t)(end - p - 4))); p++) {
        if (memcmp(p, name, n) != 0 || myth_is_word(p[n]) || (p > f->text && myth_is_word(p[-1])))
            continue;
        const char *q = p + n;
        while (q < end && *q == ' ')
            q++;
        if (q + 1 < end && ((*q == '>' && q[1] != '>') || (*q == '<' && q[1] == '=') || (*q == '<' && q[1] == ' ')))
            if (!(*q == '<' && p > f->text + 4 && memchr(p - 4, ';', 4))) /* for (...; i < width; ...) has it behind */
                return true;
    }
    return false;
}

/* Whether the file gives the member a value out of bytes: x->width = get_le32(p). */
static bool is_member_of_input(myth_flow *f, const char *name)
{
    const size_t n = strlen(name);
    const char *const end = f->text + f->n_text;
    char from[WORD];
    for (const char *p = f->text + 1; p + n + 4 < end && (p = memchr(p, *name, (size_t)(end - p - 4))); p++) {
        if (memcmp(p, name, n) != 0 || !(p[-1] == '.' || p[-1] == '>') || myth_is_word(p[n]))
            continue;
        const char *q = p + n;
        while (q < end && *q == ' ')
            q++;
        if (q + 1 >= end || *q != '=' || q[1] == '=')
            continue;
        const char *close = memchr(q, ';', (size_t)(end - q) < TEXT ? (size_t)(end - q) : TEXT);
        if (close && is_out_of_bytes(f, (span){q + 1, (uint32_t)(close - q - 1)}, from))
            return true;
    }
    return false;
}

typedef struct {
    uint32_t n_input, n_other;
    bool is_wide; /* a cast makes the product one of size_t */
} factors;

static void count_factors(myth_facts *k, TSNode node, uint32_t e, factors *out, int deep)
{
    myth_flow *f = k->flow;
    char word[WORD], from[WORD];
    const span s = node_span(f, node);
    out->is_wide |= has_text(s, "size_t)") || has_text(s, "64") || has_text(s, "long long") || has_text(s, "size_t>");
    node = myth_flow_inner(f, node);
    if (deep < 6 && role_of(f, node) == MYTH_ROLE_BINARY) {
        if (!myth_flow_is_operator(f, node, "*") && deep == 0)
            return;
        count_factors(k, child_of(f, node, MYTH_SLOT_LEFT), e, out, deep + 1);
        count_factors(k, child_of(f, node, MYTH_SLOT_RIGHT), e, out, deep + 1);
        return;
    }
    const uint32_t path = myth_flow_path(f, node);
    if (!path || is_constant(f, node))
        return;
    snprintf(word, sizeof(word), "%s", last_word(f, path));
    const myth_event *d = own_value(k, path, e);
    const bool is_input = d ? is_out_of_bytes(f, definition_span(f, d), from) && !is_limited(f, word, 0, e, true, 0)
                            : f->path[path].base && is_member_of_input(f, word) && !is_compared_in_file(f, word);
    out->n_input += is_input;
    out->n_other += !is_input;
}

/* Whether the size of memory is a product of two or more numbers out of bytes that nothing limits. */
int myth_fact_factors(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind != MYTH_EVENT_CALL)
        return FACTORS_NO;
    for (uint32_t i = 0; i < 2; i++) {
        const TSNode a = inner_argument(k, e, i);
        factors of = {0};
        if (is_null(a) || role_of(k->flow, a) != MYTH_ROLE_BINARY)
            continue;
        count_factors(k, a, e, &of, 0);
        if (of.n_input >= 2 && !of.is_wide)
            return FACTORS_INPUT;
    }
    return FACTORS_NO;
}

/* ---- differences ---- */

enum { WRAPS_NO, WRAPS_LOOP, WRAPS_SIZE };

static bool is_asked(const myth_flow *f, uint32_t off, const char *word, uint32_t own)
{
    for (uint32_t t = 0; t < f->n_test; t++)
        if (f->test[t].off < off && f->test[t].off != own &&
            has_word(begin_of(span_of(f, f->test[t].off, f->test[t].end), TEXT), word))
            return true;
    return false;
}

static bool has_type(const myth_flow *f, uint32_t path, const char *word)
{
    const myth_path *p = &f->path[path];
    return path && p->type_end > 0 && has_text(span_of(f, p->type_off, p->type_end), word);
}

static bool is_unsigned(const myth_flow *f, uint32_t path)
{
    return !f->path[path].is_pointer &&
           (has_type(f, path, "unsigned") || has_type(f, path, "uint") ||
            (has_type(f, path, "size_t") && !has_type(f, path, "ssize_t")) || has_type(f, path, "size_type"));
}

/* Whether a call before event e, on every way to it, puts something into the word's container: all.push_back(x),
 * split(all, text), which gives one part at least. */
static bool is_put_into(const myth_flow *f, uint32_t e, const char *word)
{
    for (uint32_t i = 0; i < e; i++) {
        const myth_event *c = &f->event[i];
        const char *name = f->names + c->name;
        if (c->kind == MYTH_EVENT_CALL && (strstr(name, "split") || strstr(name, "_back") || strstr(name, "insert")) &&
            myth_flow_is_inside(f, f->event[e].scope, c->scope) &&
            has_word(begin_of(node_span(f, c->node), TEXT), word))
            return true;
    }
    return false;
}

/* Whether the first element of the word's container is used before byte `off`: then it has one. */
static bool is_first_used(const myth_flow *f, uint32_t off, const char *word)
{
    const span before = span_of(f, f->off, off);
    char first[WORD + 4];
    snprintf(first, sizeof(first), "%s[0]", word);
    for (uint32_t i = 1; i + strlen(first) <= before.n; i++)
        if (!myth_is_word(before.p[i - 1]) && memcmp(before.p + i, first, strlen(first)) == 0)
            return true;
    return false;
}

/* i < v.size() - n in the condition of a loop, and nothing asks for the size of v before. */
static int wraps_in_loop(myth_facts *k, uint32_t e)
{
    static const char *const measures[] = {".size() - ", ".length() - ", "->size() - ", ".size()-", ".length()-"};
    myth_flow *f = k->flow;
    const myth_event *t = myth_facts_event(k, e);
    const span s = begin_of(node_span(f, t->node), TEXT);
    if (!t->test || !myth_facts_outermost(f, t)->is_loop || has_text(s, "int)") || has_text(s, "cast<") ||
        (t->how != MYTH_TEST_LESS && t->how != MYTH_TEST_AT_MOST) || has_text(s, "+"))
        return WRAPS_NO;
    for (size_t m = 0; m < sizeof(measures) / sizeof(*measures); m++)
        for (uint32_t i = 1; i + strlen(measures[m]) <= s.n; i++) {
            if (memcmp(s.p + i, measures[m], strlen(measures[m])) != 0)
                continue;
            char word[WORD];
            uint32_t from = i;
            while (from > 0 && myth_is_word(s.p[from - 1]))
                from--;
            if (i - from == 0 || i - from >= WORD)
                return WRAPS_NO;
            memcpy(word, s.p + from, i - from);
            word[i - from] = '\0';
            const uint32_t path = myth_flow_path_of_word(f, (uint32_t)(s.p + from - f->text), i - from);
            const bool is_std = has_type(f, path, "vector") || has_type(f, path, "string") ||
                                has_type(f, path, "deque") || is_unsigned(f, t->path);
            return is_std && !is_put_into(f, e, word) && !is_first_used(f, t->off, word) &&
                           !is_asked(f, t->off, word, myth_facts_outermost(f, t)->off)
                     ? WRAPS_LOOP
                     : WRAPS_NO;
        }
    return WRAPS_NO;
}

/* Whether an unsigned difference is a size or the end of a loop, and no condition before speaks of what is larger. */
int myth_fact_wraps(myth_facts *k, uint32_t e)
{
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind == MYTH_EVENT_TEST)
        return wraps_in_loop(k, e);
    const TSNode size = inner_argument(k, e, 2);
    if (at->kind != MYTH_EVENT_CALL || is_null(size) || role_of(f, size) != MYTH_ROLE_BINARY ||
        !myth_flow_is_operator(f, size, "-"))
        return WRAPS_NO;
    const TSNode left = myth_flow_inner(f, child_of(f, size, MYTH_SLOT_LEFT));
    const TSNode right = myth_flow_inner(f, child_of(f, size, MYTH_SLOT_RIGHT));
    if (is_null(left) || is_null(right) || role_of(f, left) != MYTH_ROLE_NAME || !is_constant(f, right))
        return WRAPS_NO;
    const uint32_t path = myth_flow_path(f, left);
    uint32_t d;
    if (!path || !is_unsigned(f, path) || !myth_facts_definition(k, path, e, &d) || f->event[d].path != path ||
        f->event[d].value != MYTH_VALUE_PARAMETER)
        return WRAPS_NO;
    return is_asked(f, at->off, last_word(f, path), UINT32_MAX) ? WRAPS_NO : WRAPS_SIZE;
}
