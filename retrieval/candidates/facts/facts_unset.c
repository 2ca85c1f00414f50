/* facts_unset.c - whether a variable has a value where it is read (facts.h). */
#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

/* Whether a variable of the function outlives it: "static" stands before its type. */
bool myth_facts_is_static(const myth_flow *f, const myth_path *p)
{
    static const char word[] = "static";
    uint32_t at = p->type_off;
    while (at > f->off && f->text[at - 1] != ';' && f->text[at - 1] != '{' && f->text[at - 1] != '\n')
        at--;
    while (at < p->type_off && isspace((unsigned char)f->text[at]))
        at++;
    return p->type_off - at >= sizeof(word) - 1 && memcmp(f->text + at, word, sizeof(word) - 1) == 0;
}

enum { UNSET_NO, UNSET_NEVER, UNSET_SOMETIMES, UNSET_OUT, UNSET_BRANCH, UNSET_LOOP };

static bool has_other_branch(const myth_flow *f, uint32_t scope, uint32_t path, uint32_t from, uint32_t to, int deep);

/* Whether the definition in scope `s` is made whenever control comes to `in`, which is around it. */
static bool is_made_in(const myth_flow *f, uint32_t s, uint32_t in, uint32_t path, uint32_t from, uint32_t to, int deep)
{
    if (!myth_flow_is_inside(f, s, in))
        return false;
    for (; s != in; s = f->scope[s].parent) {
        const uint8_t kind = f->scope[s].kind;
        const bool is_branch = kind == MYTH_SCOPE_THEN || kind == MYTH_SCOPE_ELSE;
        if (is_branch && (deep > 8 || !has_other_branch(f, s, path, from, to, deep + 1)))
            return false;
    }
    return true;
}

/* Whether a macro is called in the scope whose name says that control leaves there: ABORT_FINALIZE(...) */
static bool has_leaving_macro(const myth_flow *f, uint32_t scope)
{
    static const char *const word[] = {"ABORT", "BAIL",  "FINALIZE", "RETURN", "GOTO", "THROW",       "FAIL",
                                       "EXIT",  "PANIC", "FATAL",    "LEAVE",  "BUG",  "UNREACHABLE", "JUMP"};
    for (uint32_t i = 0; i < f->n_event; i++) {
        const char *name = f->names + f->event[i].name;
        if (f->event[i].kind != MYTH_EVENT_CALL || f->event[i].scope != scope || !myth_flow_is_constant_name(name))
            continue;
        if (myth_flow_has_one_of(name, word, sizeof(word) / sizeof(*word)))
            return true;
    }
    return false;
}

/* Whether the other branch of the test that a scope depends on gives the path a value, too, or leaves. */
static bool has_other_branch(const myth_flow *f, uint32_t scope, uint32_t path, uint32_t from, uint32_t to, int deep)
{
    const myth_scope *s = &f->scope[scope];
    if (!s->test)
        return false;
    const myth_test *t = &f->test[s->test - 1];
    const uint32_t other = t->then == scope ? t->other : t->then;
    if (other && (f->scope[other].leaves || has_leaving_macro(f, other)))
        return true;
    for (uint32_t i = from; other && i < to; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == path &&
            is_made_in(f, f->event[i].scope, other, path, from, to, deep))
            return true;
    return false;
}

/* Whether a name is that of a macro which looks at what is given to it: in capitals, or CHKiRet. */
static bool is_checking_macro(const char *name)
{
    static const char *const word[] = {"CHK", "CHECK", "TRY", "RET", "MUST"};
    if (myth_flow_is_constant_name(name))
        return true;
    return myth_flow_begins_with(name, word, sizeof(word) / sizeof(*word));
}

/* Whether call c is an argument of a macro, which looks at its result: CHECK(get(&value)) */
static bool is_in_macro(const myth_flow *f, uint32_t c)
{
    for (uint32_t i = c; i-- > 0 && i + 64 > c;) {
        const myth_event *m = &f->event[i];
        if (m->kind == MYTH_EVENT_CALL && m->off < f->event[c].off && m->end > f->event[c].end &&
            is_checking_macro(f->names + m->name))
            return true;
    }
    return false;
}

/* Whether the result of the call that wrote through an address (event d) is tested. */
static bool is_call_tested(const myth_flow *f, uint32_t d)
{
    uint32_t taker, line;
    for (uint32_t i = d; i-- > 0 && i + 300 > d;) {
        const myth_event *c = &f->event[i];
        if (c->kind == MYTH_EVENT_CALL && c->off <= f->event[d].off && c->end >= f->event[d].end)
            return c->test || is_in_macro(f, i) || myth_flow_is_constant_name(f->names + c->name) ||
                   (myth_facts_taker(f, i, &taker) && myth_facts_checked(f, taker, &line) == MYTH_CHECKED_TESTED);
    }
    return false;
}

static bool is_loop_name(const char *name)
{
    return strstr(name, "for_each") || strstr(name, "foreach") || strstr(name, "FOREACH") || strstr(name, "FOR_EACH");
}

/* Whether classes can be variables here, which their constructors give a value. */
static bool has_classes(TSNode node)
{
    static const char name[] = "class_specifier";
    const TSLanguage *language = ts_node_language(node);
    return ts_language_symbol_for_name(language, name, sizeof(name) - 1, true) != 0;
}

/* Whether the type is one of the language's own, or of the C library. */
static bool is_plain_type(const myth_flow *f, const myth_path *p)
{
    static const char *const word[] = {"int",  "unsigned", "signed", "long",   "short", "char",
                                       "bool", "_Bool",    "float",  "double", "auto",  "wchar_t"};
    char text[64];
    const uint32_t n = p->type_end - p->type_off;
    if (p->type_end <= f->n_text && memchr(f->text + p->type_off, '<', n))
        return false;
    if (p->is_pointer || p->is_array)
        return true;
    if (n == 0 || n >= sizeof(text) || p->type_end > f->n_text)
        return false;
    memcpy(text, f->text + p->type_off, n);
    text[n] = '\0';
    if (strchr(text, '<') || strncmp(text, "auto", 4) == 0)
        return false;
    if (n > 2 && strcmp(text + n - 2, "_t") == 0)
        return true;
    const size_t m = strcspn(text, " ");
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
        if (strlen(word[i]) == m && memcmp(text, word[i], m) == 0)
            return true;
    return false;
}

/* Whether the declaration has a value that the parser did not see: int n __unused = 0. */
static bool has_hidden_value(const myth_flow *f, const myth_event *d)
{
    for (uint32_t i = d->end; i < f->n_text && i < d->end + 200; i++) {
        const char c = f->text[i];
        if (c == '=')
            return true;
        if (c == ';' || c == ',' || c == '{' || c == '}')
            return false;
    }
    return false;
}

/* Whether the word before event x names a kind of type: the parser took a type for a value. */
static bool is_type_name(const myth_flow *f, const myth_event *x)
{
    static const char *const word[] = {"struct", "union", "enum", "const"};
    uint32_t end = x->off;
    while (end > f->off && isspace((unsigned char)f->text[end - 1]))
        end--;
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
        const uint32_t n = (uint32_t)strlen(word[i]);
        if (end < x->off && end >= f->off + n && memcmp(f->text + end - n, word[i], n) == 0)
            return true;
    }
    return false;
}

/* Whether the address of what event x names is taken there, or it is an operand of assembly, or a stream writes it. */
static bool is_written_there(const myth_flow *f, const myth_event *x)
{
    static const char unused[] = "(void)";
    const uint32_t m = sizeof(unused) - 1;
    if (x->off >= f->off + m && memcmp(f->text + x->off - m, unused, m) == 0)
        return true; /* says only that it is not used */
    if (x->off > f->off + 1 && f->text[x->off - 1] == '&' && f->text[x->off - 2] != '&')
        return true; /* the parser takes (type)&x for a bitwise and */
    TSNode n = ts_node_parent(x->node);
    for (int i = 0; i < 3 && !ts_node_is_null(n); i++, n = ts_node_parent(n)) {
        const uint32_t off = ts_node_start_byte(n);
        const myth_role role = myth_roles_of(f->roles, n);
        if (role == MYTH_ROLE_POINTER && off < f->n_text && f->text[off] == '&')
            return true;
        if (strstr(ts_node_type(n), "asm") || strstr(ts_node_type(n), "lambda_capture") || ts_node_is_error(n))
            return true;
        const TSNode op =
            i == 0 && role == MYTH_ROLE_BINARY ? myth_roles_child(f->roles, n, MYTH_SLOT_OPERATOR) : (TSNode){0};
        if (!ts_node_is_null(op) && ts_node_end_byte(op) - ts_node_start_byte(op) == 2 && x->off > off &&
            memcmp(f->text + ts_node_start_byte(op), ">>", 2) == 0 && has_classes(n))
            return true;
    }
    return false;
}

/* Whether event x names the variable where it may get a value that no definition shows: by a macro, by its address. */
static bool may_set(const myth_flow *f, const myth_event *x)
{
    const bool is_read = x->kind == MYTH_EVENT_USE || x->kind == MYTH_EVENT_DEREF;
    return x->kind == MYTH_EVENT_ARG ? !x->is_through : is_read && is_written_there(f, x);
}

/* Whether the call that event x is an argument of may well be what gives it a value: a macro, a loop over a list,
 * typeof, or with references as parameters any call that is the first to see it. */
static bool is_for_result(const myth_flow *f, const myth_event *x, bool is_never)
{
    if (x->kind != MYTH_EVENT_ARG)
        return false;
    const char *name = f->names + x->name;
    return is_loop_name(name) || strstr(name, "typeof") || myth_flow_is_constant_name(name) ||
           (is_never && has_classes(x->node));
}

/* Whether a macro that loops over a list, which the parser did not see as a call, sets the path: each(item, list) */
static bool is_set_by_loop_macro(const myth_flow *f, uint32_t d, uint32_t e)
{
    const char *path = f->names + f->path[f->event[e].path].text;
    const uint32_t n = (uint32_t)strlen(path);
    for (uint32_t i = f->event[d].end; i + n + 1 < f->event[e].off; i++) {
        if (f->text[i] != '(' || memcmp(f->text + i + 1, path, n) != 0 || f->text[i + 1 + n] != ',')
            continue;
        char name[64];
        uint32_t from = i;
        while (from > f->event[d].end && i - from + 1 < sizeof(name) && myth_is_word(f->text[from - 1]))
            from--;
        memcpy(name, f->text + from, i - from);
        name[i - from] = '\0';
        if (is_loop_name(name))
            return true;
    }
    return false;
}

/* Whether event e is run between the rounds of a loop whose body sets the path: for (; p; p = next) { next = ... } */
static bool is_set_in_round(const myth_flow *f, const myth_event *at, uint32_t e)
{
    for (uint32_t t = 0; t < f->n_test; t++) {
        const myth_test *test = &f->test[t];
        if (!test->is_loop || at->off < test->next || at->off >= test->next_end)
            continue;
        for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++)
            if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].off >= test->next_end &&
                myth_flow_is_part(f, f->event[i].path, at->path))
                return true;
    }
    return false;
}

/* Whether a scope is the body of a loop that is always run: one without a condition, or with a constant one. */
static bool is_endless(const myth_flow *f, const myth_scope *s)
{
    if (s->kind != MYTH_SCOPE_LOOP || !s->test)
        return s->kind == MYTH_SCOPE_LOOP;
    const myth_test *t = &f->test[s->test - 1];
    uint32_t from = t->off, end = t->end < f->n_text ? t->end : f->n_text;
    while (from < end && (f->text[from] == '(' || isspace((unsigned char)f->text[from])))
        from++;
    while (end > from && (f->text[end - 1] == ')' || isspace((unsigned char)f->text[end - 1])))
        end--;
    if (end - from == 4 && memcmp(f->text + from, "true", 4) == 0)
        return true;
    uint32_t n_digit = 0;
    while (from + n_digit < end && isdigit((unsigned char)f->text[from + n_digit]))
        n_digit++;
    return from < end && n_digit == end - from && f->text[from] != '0';
}

/* Whether event e stands behind a label that control comes to by jumps alone, and each of them is behind a definition
 * of the path that it cannot miss. */
static bool is_set_before_jumps(const myth_flow *f, uint32_t d, uint32_t e)
{
    uint32_t label = 0, before = UINT32_MAX, n_jump = 0;
    for (uint32_t i = 0; i < f->n_label; i++)
        if (f->label[i] > f->event[d].off && f->label[i] <= f->event[e].off && f->label[i] > label)
            label = f->label[i];
    for (uint32_t i = d + 1; label && i < e; i++)
        if (f->event[i].off < label)
            before = i;
    if (before == UINT32_MAX || f->event[before].kind != MYTH_EVENT_LEAVE || f->event[before].scope != 0)
        return false;
    for (uint32_t i = d + 1; i < e; i++) {
        const myth_event *j = &f->event[i];
        if (j->kind != MYTH_EVENT_LEAVE || j->index != MYTH_ROLE_GOTO || f->scope[j->scope].label_off != label)
            continue;
        bool is_set = false;
        for (uint32_t x = d + 1; x < i && !is_set; x++)
            is_set = f->event[x].kind == MYTH_EVENT_DEFINE && f->event[x].path == f->event[e].path &&
                     myth_flow_is_inside(f, j->scope, f->event[x].scope);
        if (!is_set)
            return false;
        n_jump++;
    }
    return n_jump > 0;
}

/* Whether a macro without arguments stands alone between the events: it may set anything. */
static bool has_lone_macro(const myth_flow *f, uint32_t d, uint32_t e)
{
    for (uint32_t i = d + 1; i < e; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind != MYTH_EVENT_USE || x->end >= f->n_text || f->text[x->end] != ';')
            continue;
        uint32_t at = x->off;
        while (at > f->off && isspace((unsigned char)f->text[at - 1]))
            at--;
        bool is_macro = at > f->off && strchr(";{})/", f->text[at - 1]);
        for (uint32_t c = x->off; c < x->end && is_macro; c++)
            is_macro = !islower((unsigned char)f->text[c]);
        if (is_macro)
            return true;
    }
    return false;
}

/* Whether a loop need not run at all: its condition is not one that the first round surely meets, as i < 3 is. */
static bool may_not_run(const myth_flow *f, const myth_scope *s)
{
    if (s->kind != MYTH_SCOPE_LOOP || !s->test)
        return false;
    const myth_test *t = &f->test[s->test - 1];
    bool is_order = false, is_constant = false;
    for (uint32_t i = t->off; i < t->end && i < f->n_text; i++) {
        const char c = f->text[i];
        const bool is_begin = i > 0 && !myth_is_word(f->text[i - 1]);
        is_order |= c == '<' || (c == '>' && f->text[i - 1] != '-');
        is_constant |= is_begin && c != '0' && isdigit((unsigned char)c);
        is_constant |= is_begin && isupper((unsigned char)c) && !islower((unsigned char)f->text[i + 1]);
        is_constant |= is_begin && c == 's' && strncmp(f->text + i, "sizeof", 6) == 0;
    }
    return !(is_order && is_constant);
}

/* Whether scope s is an expression that is chosen in scope `in`: c ? a : b */
static bool is_chosen(const myth_flow *f, uint32_t s, uint32_t in)
{
    const myth_scope *c = &f->scope[s];
    if ((c->kind != MYTH_SCOPE_THEN && c->kind != MYTH_SCOPE_ELSE) || c->parent != in || c->end > f->n_text)
        return false;
    return !memchr(f->text + c->off, ';', c->end - c->off) && f->text[c->off] != '{';
}

/* Whether the path was declared without a value, and got one nowhere or only in branches that need not be taken. */
int myth_fact_unset(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    uint32_t d = UINT32_MAX, n_set = 0;
    bool has_out = false;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == at->path &&
            f->event[i].value == MYTH_VALUE_NOTHING) {
            d = i;
            break;
        }
    if (d == UINT32_MAX || !at->path || (at->kind == MYTH_EVENT_ARG && at->is_through))
        return UNSET_NO;
    const myth_path *p = &f->path[at->path];
    if (f->is_file || !myth_flow_is_inside(f, at->scope, f->event[d].scope) || myth_facts_is_static(f, p) ||
        has_hidden_value(f, &f->event[d]) || is_type_name(f, at) || is_written_there(f, at) ||
        is_set_in_round(f, at, e) || is_set_before_jumps(f, d, e) || has_lone_macro(f, d, e) ||
        is_set_by_loop_macro(f, d, e) || is_for_result(f, at, false) || (!is_plain_type(f, p) && has_classes(at->node)))
        return UNSET_NO;
    k->at_line = f->event[d].line;
    bool is_branch = at->scope == f->event[d].scope, is_round = is_branch || is_chosen(f, at->scope, f->event[d].scope);
    for (uint32_t i = d + 1; i < e; i++) {
        const myth_event *x = &f->event[i];
        is_branch &= x->kind != MYTH_EVENT_LEAVE || x->index != MYTH_ROLE_GOTO;
        if (x->kind == MYTH_EVENT_DEFINE && x->value == MYTH_VALUE_OUT && x->path == at->path) {
            if (is_call_tested(f, i))
                return UNSET_NO;
            has_out = true;
            continue;
        }
        if (x->path == at->path && may_set(f, x))
            return UNSET_NO;
        if (x->kind != MYTH_EVENT_DEFINE || !myth_flow_is_part(f, x->path, at->path))
            continue;
        n_set++;
        const myth_scope *in = &f->scope[x->scope];
        is_round &= in->parent == f->event[d].scope && may_not_run(f, in);
        is_branch &= in->kind == MYTH_SCOPE_THEN && in->parent == at->scope && in->test && !f->test[in->test - 1].other;
        const bool is_loop = is_endless(f, &f->scope[x->scope]);
        const bool is_test = x->test != 0; /* while ((x = f()) ...) */
        if (myth_flow_is_inside(f, at->scope, x->scope) || is_loop || is_test ||
            has_other_branch(f, x->scope, at->path, d, e, 0) || f->scope[x->scope].kind == MYTH_SCOPE_CASE ||
            f->scope[x->scope].kind == MYTH_SCOPE_TRY)
            return UNSET_NO;
    }
    if (n_set == 0 && !has_out && is_for_result(f, at, true))
        return UNSET_NO;
    if (n_set > 0 && !has_out && is_branch)
        return UNSET_BRANCH;
    if (n_set > 0 && !has_out && is_round)
        return UNSET_LOOP;
    return has_out ? UNSET_OUT : n_set ? UNSET_SOMETIMES : UNSET_NEVER;
}
