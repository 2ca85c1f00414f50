/* same_code.c - when two pieces of code are the same and change nothing (contrary.h). */
#include "contrary.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 400, COMMENTS = 32 };

/* A piece of code that is read byte by byte, without its comments; blanks count in quotes only. What is read is the
 * text and not the nodes, which lack words that the grammar does not know. */
typedef struct {
    uint32_t at, end;
    struct {
        uint32_t off, end;
    } comment[COMMENTS];
    uint32_t n_comment, now; /* now: the next of them */
    char quote;
    bool is_too_long;
} reading;

static void comments_of(TSNode node, reading *r, int deep)
{
    for (uint32_t i = 0; i < ts_node_child_count(node) && !r->is_too_long; i++) {
        const TSNode child = ts_node_child(node, i);
        if (ts_node_is_extra(child) && strstr(ts_node_type(child), "comment")) {
            r->is_too_long |= r->n_comment == COMMENTS;
            if (!r->is_too_long) {
                r->comment[r->n_comment].off = ts_node_start_byte(child);
                r->comment[r->n_comment++].end = ts_node_end_byte(child);
            }
        } else if (deep < MYTH_CODE_DEEPEST)
            comments_of(child, r, deep + 1);
        else
            r->is_too_long = true;
    }
}

static bool begin(const myth_flow *f, TSNode node, reading *r)
{
    *r = (reading){.at = ts_node_start_byte(node), .end = ts_node_end_byte(node)};
    comments_of(node, r, 0);
    return r->end <= f->n_text && !r->is_too_long;
}

/* 0 = the end. */
static char next_byte(const myth_flow *f, reading *r)
{
    for (;;) {
        if (r->now < r->n_comment && r->at == r->comment[r->now].off)
            r->at = r->comment[r->now++].end;
        else if (r->at < r->end && !r->quote && isspace((unsigned char)f->text[r->at]))
            r->at++;
        else
            break;
    }
    if (r->at >= r->end)
        return '\0';
    const char c = f->text[r->at++];
    if (r->quote ? c == r->quote : c == '"' || c == '\'' || c == '`')
        r->quote = r->quote ? '\0' : c;
    return c;
}

bool myth_code_same(const myth_flow *f, TSNode a, TSNode b)
{
    static reading x, y; /* large, and the process has one thread */
    char c = '\0';
    if (myth_flow_first_byte(f, a) != myth_flow_first_byte(f, b) || !begin(f, a, &x) || !begin(f, b, &y))
        return false;
    do {
        c = next_byte(f, &x);
        if (c != next_byte(f, &y))
            return false;
    } while (c);
    return true;
}

uint32_t myth_code_letters(const myth_flow *f, TSNode node)
{
    static reading r;
    uint32_t n = 0;
    if (!begin(f, node, &r))
        return 0;
    for (char c = next_byte(f, &r); c; c = next_byte(f, &r))
        n += isalnum((unsigned char)c) != 0;
    return n;
}

/* Whether a function, by its name, only looks at what it is given. */
static bool only_looks(const char *name)
{
    static const char *const whole[] = {
        "strcmp",   "strncmp", "strcasecmp",  "strncasecmp", "memcmp",           "strlen",
        "strstr",   "strchr",  "equals",      "contains",    "startsWith",       "endsWith",
        "includes", "indexOf", "isinstance",  "issubclass",  "hasattr",          "getattr",
        "len",      "size",    "length",      "empty",       "typeof",           "startswith",
        "endswith", "count",   "HasPrefix",   "HasSuffix",   "EqualFold",        "Contains",
        "sizeof",   "defined", "starts_with", "ends_with",   "equalsIgnoreCase", "abs"};
    static const char *const first[] = {"is", "has", "Is", "Has"};
    if (myth_flow_is_one_of(name, whole, sizeof(whole) / sizeof(*whole)))
        return true;
    for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++) {
        const size_t n = strlen(first[i]);
        if (strncmp(name, first[i], n) == 0 && (isupper((unsigned char)name[n]) || name[n] == '_'))
            return !strstr(name, "Next") && !strstr(name, "next"); /* of what is read one after the other */
    }
    return false;
}

const char *myth_code_called(myth_flow *f, TSNode call)
{
    const uint32_t name = myth_flow_callee_name(f, call, child_of(f, call, MYTH_SLOT_CALLEE));
    return myth_flow_last_word(f->names + name);
}

/* Whether a node changes nothing. */
static bool changes_nothing(myth_flow *f, TSNode node, int deep)
{
    const char *type = ts_node_type(node);
    if (deep > MYTH_CODE_DEEPEST || ts_node_is_error(node) || strncmp(type, "await", 5) == 0 ||
        strncmp(type, "yield", 5) == 0 || strstr(type, "macro") || strstr(type, "comprehension") ||
        strstr(type, "receive"))
        return false;
    switch (role_of(f, node)) {
    case MYTH_ROLE_CALL:
        if (!only_looks(myth_code_called(f, node)))
            return false;
        break;
    case MYTH_ROLE_UNARY: /* Go: a value of a channel */
        if (myth_flow_first_byte(f, node) == '<')
            return false;
        break;
    case MYTH_ROLE_ASSIGN:
    case MYTH_ROLE_CHANGE:
    case MYTH_ROLE_NEW:
    case MYTH_ROLE_FUNCTION: return false;
    default: break;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (!changes_nothing(f, ts_node_named_child(node, i), deep + 1))
            return false;
    return true;
}

bool myth_code_is_pure(myth_flow *f, TSNode node)
{
    return ts_node_end_byte(node) - ts_node_start_byte(node) <= LONGEST && changes_nothing(f, node, 0);
}

bool myth_code_is_same(myth_flow *f, TSNode a, TSNode b) { return myth_code_same(f, a, b) && myth_code_is_pure(f, a); }

static bool is_constant_word(const myth_flow *f, TSNode node)
{
    char name[MYTH_FLOW_PATH_BYTES];
    const uint32_t off = ts_node_start_byte(node), n = ts_node_end_byte(node) - off;
    if (n >= sizeof(name) || off + n > f->n_text)
        return false;
    memcpy(name, f->text + off, n);
    name[n] = '\0';
    static const char *const environment[] = {"process.env.", "import.meta.env.", "Bun.env.", "env."};
    return myth_flow_is_constant_name(myth_flow_last_word(name)) &&
           !myth_flow_begins_with(name, environment, sizeof(environment) / sizeof(*environment));
}

/* A number, a text, or a name in capitals: what has the same value each time. */
bool myth_code_is_constant(const myth_flow *f, TSNode node)
{
    switch (role_of(f, node)) {
    case MYTH_ROLE_TEXT: return !myth_flow_is_filled(node);
    case MYTH_ROLE_NUMBER:
    case MYTH_ROLE_CONSTANT: return true;
    case MYTH_ROLE_UNARY: {
        const TSNode base = base_of(f, node);
        return myth_flow_first_byte(f, node) == '-' && !is_null(base) && role_of(f, base) == MYTH_ROLE_NUMBER;
    }
    case MYTH_ROLE_NAME:
    case MYTH_ROLE_MEMBER: return is_constant_word(f, node);
    default: return false;
    }
}

bool myth_code_operands(const myth_flow *f, TSNode node, TSNode *a, TSNode *b)
{
    *a = child_of(f, node, MYTH_SLOT_LEFT);
    *b = child_of(f, node, MYTH_SLOT_RIGHT);
    if (is_null(*a) && ts_node_named_child_count(node) == 2) { /* Python's comparisons */
        *a = ts_node_named_child(node, 0);
        *b = ts_node_named_child(node, 1);
    }
    return !is_null(*a) && !is_null(*b);
}

bool myth_code_has_operator(const myth_flow *f, TSNode node, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (myth_flow_is_operator(f, node, list[i]))
            return true;
    return false;
}

myth_chain myth_code_chain(const myth_flow *f, TSNode node)
{
    static const struct {
        const char *text;
        myth_chain is;
    } all[] = {{"&&", MYTH_CHAIN_AND}, {"and", MYTH_CHAIN_AND},   {"||", MYTH_CHAIN_OR},
               {"or", MYTH_CHAIN_OR},  {"&", MYTH_CHAIN_BIT_AND}, {"|", MYTH_CHAIN_BIT_OR}};
    for (size_t i = 0; role_of(f, node) == MYTH_ROLE_BINARY && i < sizeof(all) / sizeof(*all); i++)
        if (myth_flow_is_operator(f, node, all[i].text))
            return all[i].is;
    return MYTH_CHAIN_NONE;
}

/* a, b and c of a || b || c, in their order. */
static void parts_of(const myth_flow *f, TSNode node, myth_chain of, myth_parts *out, int deep)
{
    TSNode a, b;
    const TSNode in = myth_flow_inner(f, node);
    if (deep < MYTH_CODE_DEEPEST && myth_code_chain(f, in) == of && myth_code_operands(f, in, &a, &b)) {
        parts_of(f, a, of, out, deep + 1);
        parts_of(f, b, of, out, deep + 1);
    } else if (out->n < MYTH_PARTS)
        out->node[out->n++] = in;
}

void myth_code_parts(const myth_flow *f, TSNode node, myth_chain of, myth_parts *out)
{
    out->n = 0;
    parts_of(f, node, of, out, 0);
}
