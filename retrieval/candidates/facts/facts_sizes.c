/* facts_sizes.c - facts about numbers that somebody outside chose, signed bytes, numbers of another unit, structs that
 * are half set, and counts that may stay zero (facts.h). They read the text around an event, in all languages. */
#include "facts_span.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT = MYTH_SPAN_TEXT, WORD = MYTH_SPAN_WORD };

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool ends_in_one(const char *text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ends_in(text, list[i]))
            return true;
    return false;
}

static TSNode parent_of_type(TSNode node, const char *part, int most)
{
    TSNode n = ts_node_parent(node);
    for (int i = 0; i < most && !is_null(n); i++, n = ts_node_parent(n))
        if (strstr(ts_node_type(n), part))
            return n;
    return (TSNode){0};
}

/* ---- numbers out of a packet or a file ---- */

enum { WIRE_NO, WIRE_SHORT, WIRE_LONG };

/* How many bytes the number has that a value is read from; unpack with letters that say so. */
static int read_as(span s)
{
    static const char *const lng[] = {"Uint32(",       "Uint64(",      "ReadUvarint(",       "ntohl(",
                                      "be32toh(",      "le32toh(",     "be64toh(",           "le64toh(",
                                      "ReadVarint(",   "readInt()",    "readLong()",         "readInt32BE(",
                                      "readUInt32BE(", "getInt()",     "readUInt32LE(",      "readInt32LE(",
                                      "getUint32(",    "getInt32(",    "u32::from_be_bytes", "u32::from_le_bytes",
                                      "read_u32",      "u64::from_be", "u64::from_le",       "i32::from_be",
                                      "i32::from_le",  "get_u32",      "read_u64",           "readUint32",
                                      "read_i32",      "get_u64",      "readBigUInt64",      "readUInt32()"};
    static const char *const less[] = {"u16::from_be", "u16::from_le", "read_u16", "get_u16"};
    if (s.n == 0 || s.n > TEXT || has_text(s, "min(") || has_text(s, ".min") || has_text(s, "&") || has_text(s, "%") ||
        has_text(s, "Min(") || has_text(s, "MIN(") || has_text(s, ">>") || has_text(s, "clamp"))
        return has_text(s, "&") && s.n && s.n <= TEXT && has_text(s, "ntohl(*") ? WIRE_LONG : WIRE_NO;
    if (has_one(s, lng, N_OF(lng)))
        return WIRE_LONG;
    if (has_text(s, "int.from_bytes("))
        return has_text(s, "(1)") || has_text(s, "(2)") || has_text(s, "(2,") || has_text(s, ", 2)") ||
                       has_text(s, ":2]") || has_text(s, ", 1)")
                 ? WIRE_SHORT
                 : WIRE_LONG;
    if (has_text(s, "unpack(") || has_text(s, "unpack_from(")) {
        for (uint32_t i = 0; i + 1 < s.n; i++) {
            const char quote = s.p[i];
            if (quote != '"' && quote != '\'')
                continue;
            for (i++; i < s.n && s.p[i] != quote; i++)
                if (strchr("ILQilq", s.p[i]))
                    return WIRE_LONG;
        }
        return WIRE_SHORT;
    }
    return has_one(s, less, N_OF(less)) ? WIRE_SHORT : WIRE_NO;
}

/* Whether a condition says only that the number is not zero, or not below: n == 0, n < 0. */
static bool is_about_zero(const myth_flow *f, const myth_event *t, const char *word)
{
    char text[TEXT];
    put_tight(text, node_span(f, t->node));
    const size_t n = strlen(word);
    if (strncmp(text, word, n) != 0)
        return false;
    const char *p = text + n + strspn(text + n, "=!<>");
    return *p == '\0' || strcmp(p, "0") == 0 || strcmp(p, "-1") == 0 || strcmp(p, "1") == 0 || strcmp(p, "0U") == 0 ||
           strcmp(p, "nil") == 0;
}

/* Whether a function looks at what it is given, or makes it small, by its name. */
static bool checks(const char *name)
{
    static const char *const word[] = {"check", "Check", "ensure", "valid", "Valid",   "limit",  "Limit",
                                       "clamp", "min",   "Min",    "MIN",   "require", "assert", "Assert",
                                       "verif", "bound", "fits",   "range", "Range",   "max",    "Max"};
    return myth_flow_has_one_of(name, word, N_OF(word));
}

/* Whether something between two places of the function compares the word with anything but zero, or checks it. */
static bool is_limited(const myth_flow *f, const char *word, uint32_t from, uint32_t to, int deep)
{
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->off < from || x->off >= to)
            continue;
        const bool has = has_word(begin_of(node_span(f, x->node), TEXT), word);
        if (x->kind == MYTH_EVENT_TEST && has && !is_about_zero(f, x, word))
            return true;
        if (x->kind == MYTH_EVENT_CALL && has && checks(f->names + x->name))
            return true;
        const bool is_other = x->kind == MYTH_EVENT_DEFINE && deep < 2 && x->path && !f->path[x->path].base &&
                              strcmp(last_word(f, x->path), word) != 0;
        if (is_other && has_word(begin_of(definition_span(f, x), TEXT), word) &&
            is_limited(f, last_word(f, x->path), x->end, to, deep + 1))
            return true;
    }
    return false;
}

/* Whether a call wrote a number of four bytes or more through an address: binary.Read(r, order, &n), fread(&n, ...). */
static bool is_read_into(const myth_flow *f, const myth_event *d)
{
    static const char *const reads[] = {"binary.Read", "fread"};
    static const char *const type[] = {"uint32", "uint64", "int32", "int64", "size_t", "u32", "unsigned int", "int"};
    static const char *const part[] = {"int8", "int16"};
    const span s = span_of(f, f->path[d->path].type_off, f->path[d->path].type_end);
    return d->value == MYTH_VALUE_OUT && myth_flow_is_one_of(f->names + d->name, reads, N_OF(reads)) &&
           !f->path[d->path].is_pointer && !f->path[d->path].is_array && has_one(s, type, N_OF(type)) &&
           !has_one(s, part, N_OF(part));
}

/* What a piece of an expression says of a size: the number of bytes of an unlimited number in it. */
static int wire_of(myth_facts *k, span s, uint32_t e)
{
    const myth_flow *f = k->flow;
    char word[WORD];
    int best = read_as(s);
    if (s.n == 0 || s.n > TEXT || has_text(s, "min") || has_text(s, "MIN") || has_text(s, "Min") || has_text(s, "&") ||
        has_text(s, "?") || has_text(s, "%") || has_text(s, "\"") || has_text(s, "'"))
        return best;
    for (uint32_t i = 0, n; i < s.n; i += n ? n : 1) {
        n = word_at(s, i, word);
        if (n == 0 || (i > 0 && s.p[i - 1] == '.') ||
            (i + n < s.n && (s.p[i + n] == '(' || s.p[i + n] == '.' || s.p[i + n] == '[' || s.p[i + n] == ':')))
            continue;
        for (uint32_t d = e; d-- > 0;) {
            const myth_event *x = &f->event[d];
            if (x->kind != MYTH_EVENT_DEFINE || !x->path || f->path[x->path].base ||
                strcmp(last_word(f, x->path), word) != 0 || !myth_flow_reaches(f, d, e))
                continue;
            const int is = is_read_into(f, x)         ? WIRE_LONG
                         : x->value == MYTH_VALUE_OUT ? WIRE_NO
                                                      : read_as(definition_span(f, x));
            if (is > best && !is_limited(f, word, x->end, f->event[e].off, 0)) {
                k->at_line = x->line;
                best = is;
            }
            break;
        }
    }
    return best;
}

/* Whether the file is a program that a user starts for files of his own, or passes objects on inside of one system. */
static bool is_of_own_data(const myth_flow *f)
{
    static const char *const main_of[] = {"func main()", "static void main(", "fn main()", "__main__"};
    static const char *const link[] = {"\"net\"", "net/http", "ocket", "onn", "isten"};
    const span all = span_of(f, 0, f->n_text);
    return has_text(all, "Externaliz") || has_text(all, "android.os.Parcel") ||
           (has_one(all, main_of, N_OF(main_of)) && !has_one(all, link, N_OF(link)));
}

/* Whether the size of a call, or of the array that a definition makes, is a number out of a packet or file. */
int myth_fact_wire(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    int best = WIRE_NO;
    if (is_of_own_data(f))
        return WIRE_NO;
    if (at->kind == MYTH_EVENT_DEFINE) { /* new byte[n], vec![0; n] */
        const span s = definition_span(f, at);
        uint32_t from = 0, to = s.n;
        for (uint32_t i = 0; i < s.n && from == 0; i++)
            from = s.p[i] == '[' ? i + 1 : 0;
        for (uint32_t i = from; i < s.n; i++)
            from = s.p[i] == ';' ? i + 1 : from;
        while (to > from && s.p[to - 1] != ']')
            to--;
        return from && to > from ? wire_of(k, (span){s.p + from, to - 1 - from}, e) : WIRE_NO;
    }
    for (uint32_t i = 0; at->kind == MYTH_EVENT_CALL && i < 3; i++) {
        const TSNode a = inner_argument(k, e, i);
        const int is = is_null(a) ? WIRE_NO : wire_of(k, node_span(f, a), e);
        best = is > best ? is : best;
    }
    return best;
}

/* ---- structs of which a part is set ---- */

/* Whether a call gets a struct of this function of which members were set one by one, and one that it reads was not. */
int myth_fact_half_set(myth_facts *k, uint32_t e)
{
    static const struct {
        const char *call, *type;
        uint32_t index;
        const char *member[4];
    } row[] = {
        {"getaddrinfo", "addrinfo", 2, {"ai_flags", "ai_family", "ai_socktype", "ai_protocol"}},
        {"sigaction", "sigaction", 1, {"sa_flags", "sa_mask", NULL, NULL}},
        {"mktime", "tm", 0, {"tm_isdst", "tm_sec", "tm_min", "tm_hour"}},
        {"timegm", "tm", 0, {"tm_sec", "tm_min", "tm_hour", "tm_mday"}},
    };
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char text[TEXT];
    for (size_t r = 0; at->kind == MYTH_EVENT_CALL && r < N_OF(row); r++) {
        if (strcmp(myth_flow_last_word(f->names + at->name), row[r].call) != 0)
            continue;
        const TSNode a = myth_facts_argument(k, e, row[r].index);
        put_tight(text, node_span(f, a));
        if (is_null(a) || text[0] != '&')
            continue;
        uint32_t path = 0;
        for (uint32_t p = 1; p < f->n_path; p++)
            if (!f->path[p].base && strcmp(f->names + f->path[p].text, text + 1) == 0)
                path = p;
        const myth_path *p = &f->path[path];
        if (!path || p->is_pointer || p->is_array || p->type_off < f->off || p->type_end > at->off ||
            myth_facts_is_static(f, p) || !has_word(span_of(f, p->type_off, p->type_end), row[r].type))
            continue;
        const span s = span_of(f, p->type_end, at->off);
        const size_t n = strlen(text + 1);
        bool is_first = true, is_part = false, has[4] = {false};
        for (uint32_t j = 0; j + n < s.n; j++) {
            if (memcmp(s.p + j, text + 1, n) != 0 || (j > 0 && myth_is_word(s.p[j - 1])) || myth_is_word(s.p[j + n]))
                continue;
            uint32_t q = j + (uint32_t)n;
            while (q < s.n && isspace((unsigned char)s.p[q]))
                q++;
            const char c = q < s.n ? s.p[q] : '\0';
            if (is_first ? c != ';' && c != ',' : c != '.')
                return 0;
            if (!is_first && j > 0 && s.p[j - 1] == '>')
                return 0;
            is_part |= c == '.';
            is_first = false;
            for (int m = 0; m < 4; m++)
                has[m] |=
                    row[r].member[m] && c == '.' && has_word(begin_of((span){s.p + q, s.n - q}, 20), row[r].member[m]);
        }
        for (int m = 0; m < 4 && is_part; m++)
            if (row[r].member[m] && !has[m])
                return 1;
    }
    return 0;
}

/* ---- counts that may stay zero ---- */

static bool is_in_loop(const myth_flow *f, uint32_t s, bool *is_chosen)
{
    *is_chosen = false;
    for (; s; s = f->scope[s].parent) {
        const uint8_t kind = f->scope[s].kind;
        if (kind == MYTH_SCOPE_LOOP)
            return true;
        *is_chosen |= kind == MYTH_SCOPE_THEN || kind == MYTH_SCOPE_ELSE || kind == MYTH_SCOPE_CASE;
    }
    return false;
}

/* Whether a definition makes a list without elements. */
static bool is_empty_list(const myth_flow *f, const myth_event *d, const char *text)
{
    const size_t n = strlen(text);
    return d->value == MYTH_VALUE_NOTHING || strcmp(text, "[]") == 0 ||
           (strncmp(text, "[]", 2) == 0 && n > 2 && strcmp(text + n - 2, "{}") == 0) ||
           (strncmp(text, "make([]", 7) == 0 && has_text(definition_span(f, d), ", 0"));
}

/* Whether a definition counts one more: n++, n += 1. */
static bool is_one_more(const myth_flow *f, const myth_event *d)
{
    char text[TEXT];
    put_tight(text, begin_of(span_of(f, d->end, f->end), 12));
    return strncmp(text, "++", 2) == 0 || (strncmp(text, "+=1", 3) == 0 && !isdigit((unsigned char)text[3])) ||
           (d->off > 2 && memcmp(f->text + d->off - 2, "++", 2) == 0);
}

enum { COUNTED_NO, COUNTED_NUMBER, COUNTED_LIST };

/* Whether a divisor is a number that starts at zero and grows only where a condition in a loop holds, or the length of
 * a list that is made so, and nothing in the function asks for it before. */
int myth_fact_counted(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    bool is_chosen, has_begin = false, has_step = false, is_list = false;
    if (at->kind != MYTH_EVENT_DIVIDE || !at->path || f->path[at->path].base || f->is_file)
        return COUNTED_NO;
    if (at->value == MYTH_VALUE_CALL)
        return COUNTED_NO;
    const char *word = last_word(f, at->path);
    is_list = at->value == MYTH_VALUE_SIZE;
    for (uint32_t i = 0; i < f->n_event && f->event[i].off < at->off; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_CALL && is_list && d->path == at->path) {
            const bool is_added = ends_in(f->names + d->name, "append") || ends_in(f->names + d->name, "add");
            if (!is_added || !is_in_loop(f, d->scope, &is_chosen) || !is_chosen)
                return COUNTED_NO;
            has_step = true;
        }
        if (d->kind != MYTH_EVENT_DEFINE || d->path != at->path)
            continue;
        char text[TEXT];
        put_tight(text, begin_of(definition_span(f, d), TEXT - 1));
        const bool is_filter = is_list && text[0] == '[' && has_text(definition_span(f, d), " for ") &&
                               has_text(definition_span(f, d), " if ") && !has_text(definition_span(f, d), " else ");
        const bool is_empty = is_list ? is_empty_list(f, d, text) : *text && strspn(text, "0,.") == strlen(text);
        if (is_filter || (is_empty && !has_step)) {
            has_begin = true;
            has_step |= is_filter;
            k->at_line = d->line;
            continue;
        }
        if (!is_in_loop(f, d->scope, &is_chosen) || !is_chosen || d->value == MYTH_VALUE_PARAMETER)
            return COUNTED_NO;
        if (is_list ? !has_text(definition_span(f, d), "append(") : !is_one_more(f, d))
            return COUNTED_NO;
        has_step = true;
    }
    if (!has_begin || !has_step)
        return COUNTED_NO;
    for (uint32_t t = 0; t < f->n_test; t++) /* any question for it, wherever it is */
        if (has_word(begin_of(span_of(f, f->test[t].off, f->test[t].end), TEXT), word))
            return COUNTED_NO;
    for (TSNode n = at->node; !is_null(n) && role_of(f, n) != MYTH_ROLE_FUNCTION; n = ts_node_parent(n)) {
        const span s = begin_of(node_span(f, n), TEXT);
        if (role_of(f, n) == MYTH_ROLE_TRY || role_of(f, n) == MYTH_ROLE_CHOICE ||
            (role_of(f, n) == MYTH_ROLE_BINARY && (has_text(s, "max(") || has_text(s, " or ") || has_text(s, " and "))))
            return COUNTED_NO;
    }
    return is_list ? COUNTED_LIST : COUNTED_NUMBER;
}

/* ---- signed bytes ---- */

enum { BYTE_NO, BYTE_LENGTH, BYTE_PART };

/* Whether a variable of the function, or of the file, holds signed bytes: byte[] of Java, plain char of C. */
static bool is_signed_bytes(myth_flow *f, const char *name, bool is_java)
{
    char want[WORD + 32];
    if (is_java) {
        snprintf(want, sizeof(want), "byte[] %s", name);
        return has_word(span_of(f, f->off, f->end), want);
    }
    if (myth_facts_is_declared_unsigned(f, name))
        return false;
    for (uint32_t i = 0; i < f->n_event; i++) { /* letters of a text have no sign */
        const char *callee = f->names + f->event[i].name;
        if (f->event[i].kind == MYTH_EVENT_CALL && (strstr(callee, "str") || strstr(callee, "print")) &&
            has_word(begin_of(node_span(f, f->event[i].node), TEXT), name))
            return false;
        const span test = f->event[i].kind == MYTH_EVENT_TEST ? node_span(f, f->event[i].node) : (span){"", 0};
        if (test.n < TEXT && has_word(test, name) && has_text(test, "'"))
            return false;
    }
    for (uint32_t i = 1; i < f->n_path; i++) {
        const myth_path *p = &f->path[i];
        if (p->base || strcmp(f->names + p->text, name) != 0 || !(p->is_pointer || p->is_array))
            continue;
        const span type = span_of(f, p->type_off, p->type_end);
        return has_word(type, "char") && !has_word(type, "unsigned");
    }
    return false;
}

/* Whether a function asks whether a number is below zero, or masks it. */
static bool is_made_positive(span rest, const char *name)
{
    static const char *const then[] = {"<0", "&0x", "&=0x", "+256", "+=256", "<=0", "<1", ">0", "&255", ">=0"};
    for (uint32_t i = 0; i < rest.n; i++) {
        char word[WORD], text[TEXT];
        const uint32_t n = word_at(rest, i, word);
        if (n == 0 || strcmp(word, name) != 0)
            continue;
        put_tight(text, begin_of((span){rest.p + i + n, rest.n - i - n}, 12));
        if (myth_flow_begins_with(text, then, N_OF(then)))
            return true;
    }
    return false;
}

/* Whether a piece of a text is in the brackets of a call. */
static bool is_in_call(span s, uint32_t i)
{
    for (int deep = 0; i-- > 0;) {
        deep += s.p[i] == ')' || s.p[i] == ']' ? 1 : s.p[i] == '(' || s.p[i] == '[' ? -1 : 0;
        if (deep < 0 && s.p[i] == '(' && i > 0 && myth_is_word(s.p[i - 1]))
            return true;
        deep = deep < 0 ? 0 : deep;
    }
    return false;
}

/* The greatest number of bits that something is shifted by to the left. */
static int greatest_shift(const char *text)
{
    int most = 0;
    for (const char *p = text; (p = strstr(p, "<<")) != NULL; p += 2) {
        const long by = strtol(p + 2, NULL, 10);
        most = by > most && by < 64 ? (int)by : most;
    }
    return most;
}

/* The text that character `at` is put together with: that between the square brackets around it, else all, without what
 * is in square brackets of its own, where an element is chosen. */
static void put_level(char dst[TEXT], span s, uint32_t at)
{
    uint32_t n = 0, deep = 0, from = at;
    for (; from > 0 && (deep || s.p[from - 1] != '['); from--)
        deep += s.p[from - 1] == ']' ? 1 : s.p[from - 1] == '[' ? (uint32_t)-1 : 0;
    for (uint32_t i = from, in = 0; i < s.n && n + 1 < TEXT && (in || s.p[i] != ']'); i++) {
        in -= s.p[i] == ']';
        if (in == 0)
            dst[n++] = s.p[i];
        in += s.p[i] == '[';
    }
    dst[n] = '\0';
}

/* Whether a text speaks of a table of hashes. */
static bool names_buckets(const char *text)
{
    static const char *const word[] = {"hash", "Hash", "HASH", "bucket", "Bucket", "BUCKET"};
    return myth_flow_has_one_of(text, word, N_OF(word));
}

/* Whether an unsigned variable only chooses a bucket of a table of hashes, which any number does as well as long as it
 * is always the same: v of return v % HASH_SIZE, table[(v ^ w) & hash_mask]. */
static bool is_for_bucket(const myth_flow *f, uint32_t d)
{
    const uint32_t path = f->event[d].path;
    const bool is_unsigned = path && !f->path[path].base && myth_facts_is_declared_unsigned(f, last_word(f, path));
    uint32_t n_use = 0;
    for (uint32_t i = d + 1; is_unsigned && i < f->n_event && i < d + MYTH_FACTS_NEAR; i++) {
        if (f->event[i].path != path)
            continue;
        if (f->event[i].kind != MYTH_EVENT_USE)
            return false;
        char text[TEXT] = "";
        TSNode n = ts_node_parent(f->event[i].node);
        for (int up = 0; up < 4 && !is_null(n) && !text[0]; up++, n = ts_node_parent(n)) {
            const bool is_rest = myth_flow_is_operator(f, n, "%") || myth_flow_is_operator(f, n, "&");
            if (is_rest)
                put_tight(text, node_span(f, child_of(f, n, MYTH_SLOT_RIGHT)));
            else if (role_of(f, n) != MYTH_ROLE_BINARY && role_of(f, n) != MYTH_ROLE_GROUP)
                break;
        }
        if (!text[0] || !(names_buckets(text) || names_buckets(f->names + f->name)) || is_null(n) ||
            role_of(f, n) == MYTH_ROLE_BINARY)
            return false;
        n_use++;
    }
    return n_use > 0;
}

static bool is_joined(const char *text) { return strstr(text, "<<") && (strchr(text, '|') || strchr(text, '+')); }

/* Whether a byte that may be negative is taken for a length, or put together with others: b[i] << 8 | b[i + 1]. */
int myth_fact_signed_byte(myth_facts *k, uint32_t e)
{
    static const char *const size[] = {"len", "length", "Len", "Length", "size", "Size", "count", "Count"};
    myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char text[TEXT], word[WORD];
    TSNode node = {0};
    if (at->kind == MYTH_EVENT_DEFINE)
        put_tight(text, definition_span(f, at));
    else if (at->kind == MYTH_EVENT_LEAVE) {
        node = ts_node_named_child(at->node, 0);
        put_tight(text, node_span(f, node));
    } else
        return BYTE_NO;
    const span s = {text, (uint32_t)strlen(text)};
    if (!strchr(text, '[') ||
        (!is_joined(text) && text[s.n - 1] != ']')) /* before the whole function is looked through */
        return BYTE_NO;
    const bool is_java = strstr(text, "byte[]") || has_text(span_of(f, f->off, f->end), "byte[]");
    if (!is_java && !is_joined(text))
        return BYTE_NO;
    for (uint32_t i = 0, n; i < s.n; i += n ? n : 1) {
        n = word_at(s, i, word);
        if (n == 0 || i + n >= s.n || s.p[i + n] != '[' || (i > 0 && strchr(".>", s.p[i - 1])) || is_in_call(s, i) ||
            !is_signed_bytes(f, word, is_java))
            continue;
        uint32_t j = i + n, deep = 0;
        do
            deep += s.p[j] == '[' ? 1 : s.p[j] == ']' ? (uint32_t)-1 : 0;
        while (deep && ++j < s.n);
        const char *after = s.p + (j < s.n ? j + 1 : s.n);
        const bool is_cast = i > 1 && s.p[i - 1] == ')' && !is_java; /* (unsigned char)p[i] */
        if (at->kind == MYTH_EVENT_DEFINE && i == 0 && *after == '\0' && is_java) {
            if (at->off < 4 || memcmp(f->text + at->off - 4, "int ", 4) != 0 ||
                !ends_in_one(last_word(f, at->path), size, N_OF(size)))
                return BYTE_NO;
            return is_made_positive(span_of(f, at->end, f->end), last_word(f, at->path)) ? BYTE_NO : BYTE_LENGTH;
        }
        char level[TEXT];
        put_level(level, s, i);
        if (!is_joined(level) || is_cast)
            continue;
        while (*after == ')')
            after++;
        const int shift = strncmp(after, "<<", 2) == 0 ? (int)strtol(after + 2, NULL, 10) : 0;
        const long right = strncmp(after, ">>", 2) == 0 ? strtol(after + 2, NULL, 10) : 0;
        const char *behind = shift || right ? after + 2 + strspn(after + 2, "0123456789)") : after;
        const long mask = *behind == '&' ? strtol(behind + 1, NULL, 0) : 0; /* 0: no number */
        const bool lets_sign = right > 0 && right < 8 && mask > 0xff >> right;
        const bool is_masked =
            (*behind == '&' && !lets_sign) || (i > 0 && s.p[i - 1] == '&') || (i > 1 && s.p[i - 2] == '&');
        const bool is_plain = *after == '\0' || *after == '|' || *after == '+' || *after == '<' || *after == '>';
        if (!is_masked && is_plain && shift < greatest_shift(level) && !strchr(text, '^'))
            return at->kind == MYTH_EVENT_DEFINE && is_for_bucket(f, e) ? BYTE_NO : BYTE_PART;
    }
    return BYTE_NO;
}

/* ---- units ---- */

enum { UNIT_NONE, UNIT_MS, UNIT_SECOND, UNIT_MINUTE, UNIT_HOUR };

/* The unit of time that the end of a name speaks of. */
static int unit_of(const char *name)
{
    static const struct {
        const char *end;
        int unit;
    } row[] = {
        {"Millis", UNIT_MS},      {"Milliseconds", UNIT_MS},   {"_ms", UNIT_MS},
        {"_millis", UNIT_MS},     {"_milliseconds", UNIT_MS},  {"Ms", UNIT_MS},
        {"MS", UNIT_MS},          {"Seconds", UNIT_SECOND},    {"Secs", UNIT_SECOND},
        {"Sec", UNIT_SECOND},     {"_seconds", UNIT_SECOND},   {"_secs", UNIT_SECOND},
        {"_sec", UNIT_SECOND},    {"expires_in", UNIT_SECOND}, {"Minutes", UNIT_MINUTE},
        {"Mins", UNIT_MINUTE},    {"_minutes", UNIT_MINUTE},   {"_mins", UNIT_MINUTE},
        {"Hours", UNIT_HOUR},     {"_hours", UNIT_HOUR},       {"milliseconds", UNIT_MS},
        {"seconds", UNIT_SECOND}, {"minutes", UNIT_MINUTE},    {"hours", UNIT_HOUR},
    };
    for (size_t i = 0; i < N_OF(row); i++)
        if (ends_in(name, row[i].end))
            return row[i].unit;
    return UNIT_NONE;
}

/* The operand beside a node in a sum or product; null = it is in none. */
static TSNode beside(const myth_flow *f, TSNode node, const char *operator)
{
    TSNode up = ts_node_parent(node);
    if (is_null(up) || role_of(f, up) != MYTH_ROLE_BINARY || !myth_flow_is_operator(f, up, operator))
        return (TSNode){0};
    const TSNode left = child_of(f, up, MYTH_SLOT_LEFT), right = child_of(f, up, MYTH_SLOT_RIGHT);
    const TSNode around = ts_node_parent(up);
    if (!is_null(around) && role_of(f, around) == MYTH_ROLE_BINARY && !myth_flow_is_operator(f, around, "+") &&
        !myth_flow_is_operator(f, around, "<") && !myth_flow_is_operator(f, around, ">"))
        return (TSNode){0};
    return ts_node_eq(left, node) ? right : left;
}

/* Whether a node is one name or member, whose end says its unit. */
static int unit_of_node(const myth_flow *f, TSNode node)
{
    char text[TEXT];
    if (is_null(node))
        return UNIT_NONE;
    put_tight(text, node_span(f, node));
    for (const char *p = text; *p; p++)
        if (!myth_is_word(*p) && *p != '.')
            return UNIT_NONE;
    return unit_of(text);
}

/* Whether a time is put together with a number whose name says another unit: time.Duration(runMinutes) * time.Second,
 * Date.now() + expires_in. */
int myth_fact_unit(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const char *name = f->names + at->name;
    if (at->kind == MYTH_EVENT_CALL && strcmp(name, "time.Duration") == 0) {
        const int is = unit_of_node(f, inner_argument(k, e, 0));
        const TSNode by = beside(f, at->node, "*");
        char text[TEXT];
        put_tight(text, node_span(f, by));
        const int want = strcmp(text, "time.Millisecond") == 0 ? UNIT_MS
                       : strcmp(text, "time.Second") == 0      ? UNIT_SECOND
                       : strcmp(text, "time.Minute") == 0      ? UNIT_MINUTE
                       : strcmp(text, "time.Hour") == 0        ? UNIT_HOUR
                                                               : UNIT_NONE;
        return is && want && is != want;
    }
    if (at->kind == MYTH_EVENT_CALL) {
        const bool is_ms = strcmp(name, "Date.now") == 0 || strcmp(name, "System.currentTimeMillis") == 0;
        const int is = unit_of_node(f, beside(f, at->node, "+"));
        return is && ((is_ms && is != UNIT_MS) || (strcmp(name, "time.time") == 0 && is != UNIT_SECOND));
    }
    if (at->kind != MYTH_EVENT_DEFINE && at->kind != MYTH_EVENT_FIELD)
        return 0;
    const char *to = at->kind == MYTH_EVENT_FIELD ? name : at->path ? last_word(f, at->path) : "";
    const TSNode value = myth_facts_value_node(f, at);
    if (!unit_of(to) || is_null(value) || role_of(f, value) != MYTH_ROLE_BINARY ||
        !(myth_flow_is_operator(f, value, "+") || myth_flow_is_operator(f, value, "-")))
        return 0;
    const int left = unit_of_node(f, child_of(f, value, MYTH_SLOT_LEFT)),
              right = unit_of_node(f, child_of(f, value, MYTH_SLOT_RIGHT));
    return (left && left != unit_of(to)) || (right && right != unit_of(to));
}

/* ---- the next element of the last one ---- */

/* Whether a list is what the program was started with, where a missing argument only ends the program: sys.argv,
 * os.Args, argv, args of main, String[] args of Java. */
static bool is_command_line(const myth_flow *f, uint32_t list)
{
    static const char *const known[] = {"sys.argv", "os.Args"}, *const own[] = {"argv", "args"};
    const char *name = f->names + f->path[list].text;
    const span type = span_of(f, f->path[list].type_off, f->path[list].type_end);
    if (myth_flow_is_one_of(name, known, N_OF(known)))
        return true;
    const bool is_main = strcmp(f->names + f->name, "main") == 0 || strcmp(name, "argv") == 0;
    return myth_flow_is_one_of(name, own, N_OF(own)) && (has_text(type, "String") || (type.n == 0 && is_main));
}

/* Whether an index is one more than a loop's variable, which goes through all of the same list: for i in
 * range(len(x)): x[i + 1]. */
int myth_fact_next_of(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char text[TEXT], want[TEXT], head[TEXT];
    if (at->kind != MYTH_EVENT_INDEX || !at->path || !at->other || at->value != MYTH_VALUE_SUM ||
        is_command_line(f, at->other))
        return 0;
    const char *i = f->names + f->path[at->path].text, *x = f->names + f->path[at->other].text;
    put_tight(text, node_span(f, at->node));
    snprintf(want, sizeof(want), "%.60s[%.40s+1]", x, i);
    if (strcmp(text, want) != 0)
        return 0;
    for (TSNode n = ts_node_parent(at->node); !is_null(n) && role_of(f, n) != MYTH_ROLE_FUNCTION;
         n = ts_node_parent(n)) {
        const myth_role role = role_of(f, n);
        if (role == MYTH_ROLE_TRY || role == MYTH_ROLE_CHOICE)
            return 0;
        if (role == MYTH_ROLE_BINARY && (myth_flow_is_operator(f, n, "and") || myth_flow_is_operator(f, n, "&&") ||
                                         myth_flow_is_operator(f, n, "or") || myth_flow_is_operator(f, n, "||"))) {
            char all[TEXT];
            put_tight(all, node_span(f, n));
            if (!*all || strstr(all, "len") || strstr(all, "size") || strstr(all, "!=-1"))
                return 0;
            for (const char *p = all; (p = strstr(p, i)) != NULL; p += strlen(i))
                if ((p == all || !myth_is_word(p[-1])) && strchr("<>!=", p[strlen(i)]) && p[strlen(i)])
                    return 0;
        }
        if (role != MYTH_ROLE_FOR_EACH && strcmp(ts_node_type(n), "for_statement") != 0)
            continue;
        const TSNode body = child_of(f, n, MYTH_SLOT_BODY);
        const uint32_t end = is_null(body) ? ts_node_end_byte(n) : ts_node_start_byte(body);
        put_tight(head, span_of(f, ts_node_start_byte(n), end));
        char python[TEXT], from[TEXT], below[TEXT], go[TEXT];
        snprintf(python, sizeof(python), "for%.40sinrange(len(%.60s)):", i, x);
        snprintf(from, sizeof(from), "for%.40sinrange(1,len(%.60s)):", i, x);
        snprintf(below, sizeof(below), ";%.40s<%.60s.length;", i, x);
        snprintf(go, sizeof(go), ";%.40s<len(%.60s);", i, x);
        if (strchr(head, ';') && (!strstr(head, "++") || strstr(head, "+=")))
            continue; /* two at a time */
        if (!strstr(head, python) && !strstr(head, from) && !strstr(head, below) && !strstr(head, go)) {
            if (has_word(span_of(f, ts_node_start_byte(n), end), i))
                return 0; /* another loop of the same variable */
            continue;
        }
        for (uint32_t t = 0; t < f->n_event; t++) { /* a question for the place, before or around */
            const myth_event *q = &f->event[t];
            char asked[TEXT];
            if (q->kind != MYTH_EVENT_TEST || q->off < end || q->off >= at->off || q->end >= at->end)
                continue;
            put_tight(asked, node_span(f, q->node));
            if (strncmp(asked, i, strlen(i)) == 0 && asked[strlen(i)] != '\0' && !myth_is_word(asked[strlen(i)]) &&
                asked[strlen(i)] != '[')
                return 0;
            if (strstr(asked, "len") || strstr(asked, "size"))
                return 0;
        }
        return 1;
    }
    return 0;
}

/* ---- the only copy ---- */

/* Whether a call in a block hands the word to what copies it somewhere, by its name. */
static bool is_copied(const myth_flow *f, TSNode block, const char *word)
{
    static const char *const copies[] = {"copy",   "upload",  "store", "archive", "backup", "send",
                                         "export", "publish", "save",  "put",     "push",   "transfer"};
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_CALL && x->off >= ts_node_start_byte(block) && x->end <= ts_node_end_byte(block) &&
            myth_flow_has_one_of(f->names + x->name, copies, N_OF(copies)) && !strstr(f->names + x->name, "nowait") &&
            has_word(node_span(f, x->node), word))
            return true;
    }
    return false;
}

/* Whether a handler lets the function go on, and what was to be copied is removed behind it. */
int myth_fact_goes_on(myth_facts *k, uint32_t e)
{
    static const char *const leaves[] = {"return", "raise", "throw", "continue", "break", "exit", "abort"};
    static const char *const removes[] = {"unlink", "remove", "rmtree", "delete", "rm", "unlinkSync", "rmSync"};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const TSNode tried = at->kind == MYTH_EVENT_CATCH ? myth_facts_tried(k, e) : (TSNode){0};
    static const char *const unreadable[] = {"ProtocolBuffer", "Parse", "JSON", "Json", "Decode", "Syntax"};
    if (is_null(tried) || has_one(node_span(f, at->node), leaves, N_OF(leaves)) ||
        has_one(begin_of(node_span(f, at->node), 60), unreadable, N_OF(unreadable)))
        return 0;
    TSNode next = parent_of_type(at->node, "try_statement", 2);
    for (int i = 0; i < 4 && !is_null(next); i++) {
        next = ts_node_next_named_sibling(next);
        if (is_null(next) || strcmp(ts_node_type(next), "expression_statement") != 0)
            return 0;
        char text[TEXT], word[WORD];
        put_tight(text, node_span(f, next));
        const char *open = strchr(text, '(');
        if (!open)
            continue;
        const size_t n = (size_t)(open - text);
        char callee[TEXT];
        snprintf(callee, sizeof(callee), "%.*s", (int)n, text);
        if (!myth_flow_is_one_of(myth_flow_last_word(callee), removes, N_OF(removes)))
            continue;
        const bool is_own = open[1] == ')'; /* path.unlink() */
        const span s = {is_own ? text : open + 1, (uint32_t)strlen(is_own ? text : open + 1)};
        if (is_own && ends_in(callee, "remove"))
            continue; /* of an iterator */
        if (!is_own && ends_in(callee, ".delete") && strncmp(callee, "this.", 5) == 0)
            continue; /* a map's entry */
        if (word_at(s, 0, word) && !strstr(word, "tmp") && !strstr(word, "temp") && is_copied(f, tried, word)) {
            k->at_line = ts_node_start_point(next).row + 1;
            return 1;
        }
    }
    return 0;
}

/* ---- lengths that are smaller than what is taken from them ---- */

/* Whether a definition of Rust takes a number from a length, and nothing before asks how long it is. */
int myth_fact_len_less(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char text[TEXT], base[TEXT], want[TEXT];
    if (at->kind != MYTH_EVENT_DEFINE)
        return 0;
    put_tight(text, definition_span(f, at));
    const char *len = strstr(text, ".len()-");
    if (!len || len == text || len - text > 60)
        return 0;
    snprintf(base, sizeof(base), "%.*s", (int)(len - text), text);
    for (const char *p = base; *p; p++)
        if (!myth_is_word(*p) && *p != '.')
            return 0;
    const char *by = len + 7;
    if (!islower((unsigned char)*by))
        return 0; /* a number, of which the caller knows */
    for (const char *p = by; *p; p++)
        if (!myth_is_word(*p))
            return 0;
    const span before = span_of(f, f->off, at->off);
    snprintf(want, sizeof(want), "%.60s.len()", base);
    return !has_text(before, want) && !has_word(before, "is_empty") && !has_text(before, ".max(") &&
           !has_text(before, "min(") && !has_text(before, "assert");
}
