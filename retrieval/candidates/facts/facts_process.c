/* facts_process.c - facts about where the process ends, so that nothing is left to release or to ask for: calls that
 * never return, main, macros that give up, and ways out behind which the callers end (facts.h). */
#define _GNU_SOURCE /* memmem */
#include "facts_span.h"

#include "engine/base/table.h"

enum { NEAR = 64, DECLARATION = 256 };

/* ---- the end of the process ---- */

/* Whether a call ends the process, by its name. */
static bool ends_process(const char *name)
{
    static const char *const part[] = {"exit", "abort", "fatal", "panic", "_Exit", "out_of_memory"};
    static const char *const whole[] = {"die", "err", "errx", "verr", "verrx", "xdie", "pdie", "perror_die"};
    const char *last = myth_flow_last_word(name);
    return myth_flow_has_one_of(last, part, N_OF(part)) || myth_flow_is_one_of(last, whole, N_OF(whole)) ||
           myth_facts_has_part(last, "oom");
}

/* The name of the function that a text declares: the first word that has a bracket behind it and is no attribute; 0 =
 * there is none. */
static uint32_t declared_name(span s, char name[MYTH_SPAN_WORD])
{
    static const char *const attribute[] = {"attribute", "declspec", "oreturn", "ORETURN",
                                            "O_RETURN",  "defined",  "format"};
    for (uint32_t i = 0, n; i < s.n; i += n ? n : 1) {
        n = word_at(s, i, name);
        uint32_t next = i + n;
        while (next < s.n && s.p[next] <= ' ')
            next++;
        if (n > 0 && next < s.n && s.p[next] == '(' && !myth_flow_has_one_of(name, attribute, N_OF(attribute)))
            return n;
    }
    return 0;
}

void myth_file_facts_ending(myth_file_facts *ff, const myth_flow *f)
{
    static const char *const says[] = {"oreturn", "ORETURN", "O_RETURN"};
    const span all = span_of(f, 0, f->n_text);
    char name[MYTH_SPAN_WORD];
    for (size_t w = 0; f->roles->has_alternatives && w < N_OF(says); w++)
        for (uint32_t at = 0; at < all.n; at++) {
            const char *hit = memmem(all.p + at, all.n - at, says[w], strlen(says[w]));
            if (!hit)
                break;
            at = (uint32_t)(hit - all.p);
            uint32_t from = at, to = at;
            while (from > 0 && at - from < DECLARATION && !strchr(";{}\"#/", all.p[from - 1]))
                from--;
            while (to < all.n && to < at + DECLARATION && !strchr(";{/", all.p[to]))
                to++;
            const char before = from > 0 ? all.p[from - 1] : '\0';
            const bool is_line = before == '#' || (before == '/' && from > 1 && all.p[from - 2] == '/');
            while (is_line && from < at && (all.p[from] != '\n' || all.p[from - 1] == '\\'))
                from++;
            myth_file_name *is =
                from < at && declared_name(span_of(f, from, to), name) ? myth_file_facts_put(ff, name) : NULL;
            if (is)
                is->is_ending = true;
        }
}

/* Whether the process ends in a scope that begins behind event `from`, whatever else is done there: by a name, or by
 * what the file declares as a function that never returns. */
static bool is_end_of_process(const myth_file_facts *ff, const myth_flow *f, uint32_t from, uint32_t scope)
{
    for (uint32_t i = from; i < f->n_event && f->event[i].off < f->scope[scope].end; i++) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || c->scope != scope || c->test || c->off < f->scope[scope].off)
            continue;
        const myth_file_name *name = myth_file_facts_find(ff, f->names + c->name);
        if (ends_process(f->names + c->name) || (name && name->is_ending))
            return true;
    }
    return false;
}

/* Whether main leaves in a scope: by a return, or for a label behind which nothing goes round or back. */
static bool is_end_of_main(const myth_flow *f, uint32_t scope)
{
    const myth_scope *in = &f->scope[scope];
    if (strcmp(f->names + f->name, "main") != 0 || in->leaves == MYTH_LEAVES_NOT || in->leaves == MYTH_LEAVES_LOOP)
        return false;
    if (in->leaves == MYTH_LEAVES_FUNCTION)
        return true;
    for (uint32_t s = 1; s < f->n_scope; s++)
        if (f->scope[s].kind == MYTH_SCOPE_LOOP && f->scope[s].off > in->label_off)
            return false;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_LEAVE && x->index == MYTH_ROLE_GOTO && x->off > in->label_off && x->call < x->off)
            return false;
    }
    return in->label_off > in->off;
}

enum { ENDS_NO, ENDS_YES, ENDS_MACRO };

/* The body of a macro of the file; empty = it defines none of this name. */
static span body_of_macro(const myth_flow *f, const char *name)
{
    enum { FAR = 4096 };
    const size_t n = strlen(name);
    const span all = span_of(f, 0, f->n_text);
    for (uint32_t i = 0; n > 0 && i + n < all.n; i++) {
        const char *hit = memmem(all.p + i, all.n - i, name, n);
        if (!hit)
            break;
        i = (uint32_t)(hit - all.p);
        uint32_t from = i, to = i + (uint32_t)n;
        while (from > 0 && i - from < DECLARATION && all.p[from - 1] != '\n')
            from--;
        if (to >= all.n || all.p[to] != '(' || !myth_flow_is_directive(all.p + from, all.p + all.n, "define"))
            continue;
        while (to < all.n && to < i + FAR && (all.p[to] != '\n' || all.p[to - 1] == '\\'))
            to++;
        return span_of(f, i + (uint32_t)n, to);
    }
    return (span){"", 0};
}

/* What a macro does where what it is given is not there: p of CHECK(p = f()). */
static int end_of_macro(const myth_flow *f, const char *name)
{
    static const char *const leaves[] = {"return", "goto", "break", "continue"};
    static const char *const ends[] = {"abort", "fatal", "panic", "assert", "exit"}, *const word_ends[] = {"die",
                                                                                                           "oom"};
    static const char *const checks[] = {"check", "require", "ensure", "verify", "null"};
    char low[MYTH_SPAN_WORD], word[MYTH_SPAN_WORD];
    size_t n = 0;
    const span body = body_of_macro(f, name);
    for (size_t i = 0; i < N_OF(leaves); i++)
        if (has_word(body, leaves[i]))
            return ENDS_NO;
    for (uint32_t i = 0, m; i < body.n; i += m ? m : 1)
        if ((m = word_at(body, i, word)) && i + m < body.n && body.p[i + m] == '(' && ends_process(word))
            return ENDS_YES;
    for (; name[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)name[n]);
    low[n] = '\0';
    bool is_end = myth_flow_has_one_of(low, ends, N_OF(ends));
    for (size_t i = 0; i < N_OF(word_ends); i++)
        is_end |= myth_facts_has_part(low, word_ends[i]);
    if (body.n == 0 && is_end)
        return ENDS_YES;
    return myth_flow_has_one_of(low, checks, N_OF(checks)) ? ENDS_MACRO : ENDS_NO;
}

/* What the call or macro does that gets what definition d is as an argument. */
static int end_of_argument(myth_flow *f, uint32_t d)
{
    TSNode node = f->event[d].node;
    for (int i = 0; i < 6 && !is_null(node); i++, node = ts_node_parent(node))
        if (role_of(f, node) == MYTH_ROLE_ASSIGN)
            break;
    while (!is_null(node) && (role_of(f, node) == MYTH_ROLE_ASSIGN || role_of(f, node) == MYTH_ROLE_GROUP))
        node = ts_node_parent(node);
    const TSNode call = is_null(node) ? node : ts_node_parent(node);
    if (is_null(call) || strcmp(ts_node_type(node), "argument_list") != 0 || role_of(f, call) != MYTH_ROLE_CALL)
        return ENDS_NO;
    const TSNode callee = child_of(f, call, MYTH_SLOT_CALLEE);
    const span s = node_span(f, callee);
    char name[MYTH_SPAN_WORD];
    return word_at(s, 0, name) == s.n ? end_of_macro(f, name) : ENDS_NO;
}

int myth_fact_ends(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (f->event[e].kind != MYTH_EVENT_CALL || !myth_facts_taker(f, e, &d))
        return ENDS_NO;
    const int in_macro = f->roles->has_alternatives ? end_of_argument(k->flow, d) : ENDS_NO;
    if (in_macro != ENDS_NO)
        return in_macro;
    for (uint32_t i = d + 1; i < f->n_event && i < d + NEAR; i++) {
        const myth_event *t = &f->event[i];
        if (t->path != f->event[d].path)
            continue;
        if (t->kind == MYTH_EVENT_DEFINE)
            return 0;
        if (t->kind != MYTH_EVENT_TEST || !t->test)
            continue;
        const myth_test *test = myth_facts_outermost(f, t);
        if (test->is_assert)
            return 1;
        const uint32_t gone = is_for_gone(t->how) ? test->then : is_for_there(t->how) ? test->other : 0;
        return gone != 0 && is_end_of_process(k->file, f, d, gone);
    }
    return 0;
}

bool myth_facts_never_returns(const myth_flow *f, uint32_t d)
{
    for (uint32_t i = d + 1; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_LEAVE && x->scope == 0 && x->index == MYTH_ROLE_NONE &&
            role_of(f, x->node) == MYTH_ROLE_CALL && !myth_flow_is_optional(f, x->off, f->event[d].off, f->end))
            return true;
    }
    return false;
}

bool myth_facts_is_behind_end(const myth_flow *f, uint32_t x)
{
    for (uint32_t i = x, n = 0; i-- > 0 && n < NEAR; n++) {
        const myth_event *end = &f->event[i];
        if (end->kind == MYTH_EVENT_LEAVE && end->scope == f->event[x].scope && end->off < f->event[x].off &&
            end->index == MYTH_ROLE_NONE && role_of(f, end->node) == MYTH_ROLE_CALL)
            return true;
    }
    return false;
}

/* ---- ways out on which nothing is left to do ---- */

bool myth_facts_is_failed_close(const myth_flow *f, uint32_t x)
{
    static const char *const name[] = {"close", "fclose", "pclose", "closedir"};
    const myth_scope *in = &f->scope[f->event[x].scope];
    bool is_close = false;
    if (f->event[x].kind != MYTH_EVENT_LEAVE || in->kind != MYTH_SCOPE_THEN || !in->test)
        return false;
    const myth_test *t = &f->test[in->test - 1];
    for (uint32_t i = x; i-- > 0 && f->event[i].off >= t->off;) {
        if (f->event[i].kind != MYTH_EVENT_CALL || f->event[i].off >= t->end)
            continue;
        if (!myth_flow_is_one_of(f->names + f->event[i].name, name, N_OF(name)))
            return false;
        is_close = true;
    }
    return is_close;
}

/* The hash of a value's text; 0 = it is none of the file's constants. What is below zero has one hash. */
static uint64_t hash_of_value(const myth_flow *f, TSNode node, bool is_below_zero)
{
    char text[MYTH_SPAN_TEXT];
    const span s = is_null(node) ? (span){"", 0} : node_span(f, myth_flow_inner(f, node));
    put_tight(text, s);
    if (is_below_zero)
        return strcmp(text, "0") == 0 ? myth_hash_bytes("-", 1) : 0;
    if (text[0] == '-' && isdigit((unsigned char)text[1]))
        return myth_hash_bytes("-", 1);
    const bool is_constant = isdigit((unsigned char)text[0]) || myth_flow_is_constant_name(text);
    return is_constant ? myth_hash_bytes(text, strlen(text)) : 0;
}

/* The first test of what a call gave; NULL = none is near. */
static const myth_event *test_of_call(const myth_flow *f, uint32_t call)
{
    const myth_event *c = &f->event[call];
    uint32_t d;
    const uint32_t path = myth_facts_taker(f, call, &d) ? f->event[d].path : 0;
    for (uint32_t i = call + 1; i < f->n_event && i < call + NEAR; i++) {
        const myth_event *t = &f->event[i];
        const bool is_around = t->off <= c->off && t->end >= c->end;
        if (t->kind == MYTH_EVENT_TEST && t->test && (is_around || (path && t->path == path)))
            return t;
    }
    return NULL;
}

void myth_file_facts_ended(myth_file_facts *ff, const myth_flow *f, uint32_t call)
{
    const myth_event *t = f->roles->has_alternatives ? test_of_call(f, call) : NULL;
    if (!t || (t->how != MYTH_TEST_EQUAL && t->how != MYTH_TEST_LESS) || f->test[t->test - 1].is_chain)
        return;
    const uint32_t then = f->test[t->test - 1].then;
    const uint64_t value = hash_of_value(f, child_of(f, t->node, MYTH_SLOT_RIGHT), t->how == MYTH_TEST_LESS);
    if (then == 0 || value == 0 || !(is_end_of_process(ff, f, call, then) || is_end_of_main(f, then)))
        return;
    myth_file_name *n = myth_file_facts_put(ff, f->names + f->event[call].name);
    if (!n)
        return;
    n->ended_on = n->n_ended == 0 || n->ended_on == value ? value : 0;
    n->n_ended++;
}

bool myth_facts_ends_callers(const myth_facts *k, uint32_t x)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[x];
    if (at->kind != MYTH_EVENT_LEAVE || at->index != MYTH_ROLE_RETURN || f->off + 6 > f->n_text ||
        memcmp(f->text + f->off, "static", 6) != 0 || ts_node_named_child_count(at->node) != 1)
        return false;
    const myth_file_name *n = myth_file_facts_find(k->file, f->names + f->name);
    return n && n->n_ended > 0 && n->n_ended == n->n_tested + n->n_used && n->ended_on != 0 &&
           n->ended_on == hash_of_value(f, ts_node_named_child(at->node, 0), false);
}
