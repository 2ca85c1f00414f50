/* facts_null.c - facts about values that may be missing, results that nothing looks at, and handlers (facts.h). */
#include "facts_span.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

uint32_t myth_facts_nested(const myth_flow *f, uint32_t scope)
{
    while (scope && f->scope[scope].kind != MYTH_SCOPE_NESTED)
        scope = f->scope[scope].parent;
    return scope;
}

int myth_fact_by_dot(myth_facts *k, uint32_t e)
{
    const TSNode node = myth_facts_event(k, e)->node;
    if (strcmp(ts_node_type(node), "field_expression") != 0)
        return 0;
    const TSNode op = child_of(k->flow, node, MYTH_SLOT_OPERATOR);
    return !is_null(op) && myth_flow_text_is(k->flow, op, ".");
}

/* ---- where a value comes from ---- */

enum { MADE_NONE, MADE_STATEMENT, MADE_ARGUMENT, MADE_CONDITION };

/* The definition of the event's own path; false = none, or of something that it is a part of. */
static bool own_definition(const myth_facts *k, uint32_t e, uint32_t *d)
{
    const uint32_t path = myth_facts_event(k, e)->path;
    return path && myth_facts_definition(k, path, e, d) && myth_facts_event(k, *d)->path == path;
}

static int made_in(const myth_flow *f, TSNode n)
{
    for (int i = 0; i < 16 && !is_null(n); i++, n = ts_node_parent(n)) {
        const char *type = ts_node_type(n);
        if (strcmp(type, "argument_list") == 0 || strcmp(type, "arguments") == 0)
            return MADE_ARGUMENT;
        switch (role_of(f, n)) {
        case MYTH_ROLE_BINARY:
        case MYTH_ROLE_UNARY:
        case MYTH_ROLE_IF:
        case MYTH_ROLE_CHOICE:
        case MYTH_ROLE_LOOP: return MADE_CONDITION;
        case MYTH_ROLE_STATEMENT:
        case MYTH_ROLE_DECLARATION:
        case MYTH_ROLE_BLOCK: return MADE_STATEMENT;
        default: break;
        }
    }
    return MADE_STATEMENT;
}

int myth_fact_made_in(myth_facts *k, uint32_t e)
{
    uint32_t d;
    return own_definition(k, e, &d) ? made_in(k->flow, myth_facts_event(k, d)->node) : MADE_NONE;
}

/* Whether a function or macro checks what it is given: by a word in its name, or a name in capitals. */
static bool is_checker(const char *name)
{
    static const char *const word[] = {"check", "assert", "chk", "verify", "valid", "require", "ensure", "expect"};
    char low[MYTH_FLOW_PATH_BYTES + 1];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)name[n]);
    low[n] = '\0';
    return myth_flow_has_one_of(low, word, sizeof(word) / sizeof(*word)) || myth_flow_is_constant_name(name);
}

int myth_fact_vetted(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (!own_definition(k, e, &d))
        return 0;
    for (uint32_t i = d + 1; i < e; i++) {
        const myth_event *a = &f->event[i];
        if (a->kind == MYTH_EVENT_ARG && a->path == f->event[d].path && is_checker(f->names + a->name))
            return 1;
    }
    return 0;
}

int myth_fact_handed_on(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL || !myth_facts_taker(f, e, &d))
        return 0;
    for (uint32_t i = d + 1; i < f->n_event && f->event[i].line <= f->event[d].line + 8; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].path == f->event[d].path &&
            is_checker(f->names + f->event[i].name))
            return 1;
    TSNode assign = f->event[d].node;
    for (int i = 0; i < 4 && !is_null(assign) && role_of(f, assign) != MYTH_ROLE_ASSIGN; i++)
        assign = ts_node_parent(assign);
    const TSNode outer = is_null(assign) ? assign : ts_node_parent(assign);
    const bool is_chain = !is_null(outer) && role_of(f, outer) == MYTH_ROLE_ASSIGN; /* e = *out = f() */
    return is_chain || made_in(f, f->event[d].node) != MADE_STATEMENT;
}

int myth_fact_usually_tested(myth_facts *k, uint32_t e)
{
    enum { FEW = 4, SHARE = 4 };
    uint32_t d;
    if (!own_definition(k, e, &d) || !myth_facts_event(k, d)->name)
        return 0;
    const myth_file_name *n = myth_file_facts_find(k->file, k->flow->names + myth_facts_event(k, d)->name);
    return n && n->n_asked >= FEW && n->n_asked >= SHARE * (n->n_kept - n->n_asked);
}

int myth_fact_memory(myth_facts *k, uint32_t e)
{
    enum { MEMORY_ASKED, MEMORY_FEW, MEMORY_NEVER, MEMORY_SELDOM, LEAST = 3, SELDOM = 4 };
    const uint32_t n = k->file->n_memory, n_asked = k->file->n_memory_asked;
    (void)e;
    if (n_asked > 0)
        return (n_asked + 1) * SELDOM <= n ? MEMORY_SELDOM : MEMORY_ASKED;
    return n < LEAST ? MEMORY_FEW : MEMORY_NEVER;
}

int myth_fact_memory_ends(myth_facts *k, uint32_t e)
{
    static const char *const ends[] = {"g_malloc",   "g_malloc0",   "g_new",   "g_new0",      "g_strdup", "g_strndup",
                                       "g_realloc",  "xmalloc",     "xcalloc", "xrealloc",    "xstrdup",  "xstrndup",
                                       "xzalloc",    "xnew",        "xnew0",   "safe_malloc", "emalloc",  "ecalloc",
                                       "safe_alloc", "safe_strdup", "estrdup", "erealloc",    "smalloc",  "dupstr"};
    static const char *const other[] = {"malloc", "calloc", "realloc", "strdup", "strndup"};
    bool is = false;
    (void)e;
    for (size_t i = 0; i < N_OF(other); i++)
        if (myth_file_facts_find(k->file, other[i]))
            return 0;
    for (size_t i = 0; i < N_OF(ends) && !is; i++)
        is = myth_file_facts_find(k->file, ends[i]) != NULL;
    return is;
}

TSNode myth_facts_origin_node(const myth_facts *k, uint32_t e)
{
    uint32_t d;
    return own_definition(k, e, &d) ? myth_facts_value_node(k->flow, myth_facts_event(k, d)) : (TSNode){0};
}

/* ---- used first, asked for later ---- */

/* Whether a scope is in a handler or a `finally`, and event e is not. */
static bool is_in_handler(const myth_flow *f, uint32_t scope, uint32_t than)
{
    for (; scope && !myth_flow_is_inside(f, than, scope); scope = f->scope[scope].parent)
        if (f->scope[scope].kind == MYTH_SCOPE_CATCH || f->scope[scope].kind == MYTH_SCOPE_FINALLY)
            return true;
    return false;
}

/* Whether e is only run where a condition of its own statement holds: q of p && q, a branch of c ? a : b. */
static bool is_conditional(const myth_flow *f, const myth_event *e)
{
    for (uint32_t t = e->test; t; t = f->test[t - 1].outer)
        if (f->test[t - 1].is_chain && e->off > f->test[t - 1].off)
            return true;
    return false;
}

/* Whether a node is the condition of a comprehension, which is asked before what stands in front of it. */
static bool is_in_filter(TSNode node)
{
    for (int i = 0; i < 6 && !is_null(node); i++, node = ts_node_parent(node))
        if (strcmp(ts_node_type(node), "if_clause") == 0)
            return true;
    return false;
}

int myth_fact_asked_after(myth_facts *k, uint32_t e)
{
    enum { NOT_ASKED, BY_TRUTH, BY_NULL };
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (!at->path || is_conditional(f, at))
        return NOT_ASKED;
    for (uint32_t i = e + 1, n = 0; i < f->n_event && n < MYTH_FACTS_NEAR; i++, n++) {
        const myth_event *t = &f->event[i];
        if (t->kind == MYTH_EVENT_DEFINE && t->path && myth_flow_is_part(f, at->path, t->path))
            return NOT_ASKED;
        if (t->kind != MYTH_EVENT_TEST || t->path != at->path || !(is_for_there(t->how) || is_for_gone(t->how)))
            continue;
        const bool is_behind = t->off >= at->end && myth_flow_is_inside(f, t->scope, at->scope) &&
                               myth_facts_nested(f, t->scope) == myth_facts_nested(f, at->scope);
        if (!is_behind || is_in_handler(f, t->scope, at->scope) || myth_flow_has_label(f, at->off, t->off) ||
            is_in_filter(t->node) ||
            (t->test && (myth_facts_outermost(f, t)->is_loop || myth_facts_outermost(f, t)->is_assert)))
            return NOT_ASKED;
        k->at_line = t->line;
        return t->how == MYTH_TEST_NULL || t->how == MYTH_TEST_NOT_NULL ? BY_NULL : BY_TRUTH;
    }
    return NOT_ASKED;
}

int myth_fact_used_before(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    for (uint32_t i = e, n = 0; at->path && i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_DEFINE && x->path && myth_flow_is_part(f, at->path, x->path))
            return 0;
        if (x->kind == MYTH_EVENT_DEREF && x->path == at->path && x->statement != at->statement &&
            !is_conditional(f, x) && myth_flow_is_inside(f, at->scope, x->scope) && myth_flow_reaches(f, i, e))
            return 1;
    }
    return 0;
}

/* ---- results ---- */

/* Whether a function only writes a line for whoever looks for faults: by its name. */
static bool is_log(const char *name)
{
    static const char *const word[] = {"_log",   "log_",  "logf", "logg",  "logm",
                                       "syslog", "debug", "dbg",  "trace", "warn"};
    static const char *const other[] = {"login", "logic", "logout"};
    char low[MYTH_FLOW_PATH_BYTES + 1];
    size_t n = 0;
    name = myth_flow_last_word(name);
    for (; name[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)name[n]);
    low[n] = '\0';
    return strcmp(low, "logf") != 0 && myth_flow_has_one_of(low, word, N_OF(word)) &&
           !myth_flow_has_one_of(low, other, N_OF(other));
}

/* Whether a function gives back what it is given, and only takes it away from the variable: return move_ptr(p); */
static bool is_move(const char *name)
{
    static const char *const word[] = {"move_ptr", "move_fd", "steal", "TAKE_PTR", "TAKE_FD", "std::move"};
    return myth_flow_has_one_of(name, word, N_OF(word));
}

/* Whether event x is of what a return gives: return p->member; return move_ptr(p); */
static bool is_returned(const myth_flow *f, const myth_event *x)
{
    const bool is_moved = x->kind == MYTH_EVENT_ARG && is_move(f->names + x->name);
    TSNode n = is_moved ? f->event[x->call].node : x->node;
    if (x->kind != MYTH_EVENT_USE && !is_moved)
        return false;
    for (int i = 0; i < 4 && !is_null(n); i++) {
        n = ts_node_parent(n);
        if (is_null(n) || role_of(f, n) == MYTH_ROLE_RETURN)
            return !is_null(n);
        if (role_of(f, n) != MYTH_ROLE_GROUP && role_of(f, n) != MYTH_ROLE_CAST)
            return false;
    }
    return false;
}

/* Whether a node is what a switch decides on, which has a case for the value of a failure or for all others. */
static bool is_operand_of_switch(const myth_flow *f, TSNode node)
{
    static const char *const want[] = {"-1", "0", "NULL", "nullptr", "nil"};
    TSNode n = is_null(node) ? node : ts_node_parent(node);
    while (!is_null(n) && role_of(f, n) == MYTH_ROLE_GROUP)
        n = ts_node_parent(n);
    if (is_null(n) || role_of(f, n) != MYTH_ROLE_SWITCH)
        return false;
    const TSNode body = child_of(f, n, MYTH_SLOT_BODY), in = is_null(body) ? n : body;
    for (uint32_t i = 0; i < ts_node_named_child_count(in) && i < 64; i++) {
        const TSNode c = ts_node_named_child(in, i);
        if (role_of(f, c) != MYTH_ROLE_CASE)
            continue;
        const TSNode word = ts_node_child(c, 0), value = ts_node_named_child(c, 0);
        if (!is_null(word) && myth_flow_text_is(f, word, "default"))
            return true;
        for (size_t w = 0; !is_null(value) && w < N_OF(want); w++)
            if (myth_flow_text_is(f, value, want[w]))
                return true;
    }
    return false;
}

/* Whether event x is what such a switch decides on: switch (p) */
static bool is_switched(const myth_flow *f, const myth_event *x)
{
    return (x->kind == MYTH_EVENT_USE || x->kind == MYTH_EVENT_DEREF) && is_operand_of_switch(f, x->node);
}

/* Whether such a switch decides on the definition itself: switch (p = f()) */
static bool is_made_in_switch(const myth_flow *f, const myth_event *def)
{
    const TSNode n = ts_node_parent(def->node);
    return !is_null(n) && role_of(f, n) == MYTH_ROLE_ASSIGN && is_operand_of_switch(f, n);
}

/* Go: where the names end that a := in an inner block or in the header of a statement declares: they are other
 * variables than those of the same names outside. 0 = event x, which defines one, is not of such names. */
static uint32_t shadow_end(const myth_event *x, const myth_event *def)
{
    TSNode n = x->node;
    for (int i = 0; i < 3 && !is_null(n) && strcmp(ts_node_type(n), "short_var_declaration") != 0; i++)
        n = ts_node_parent(n);
    if (is_null(n) || strcmp(ts_node_type(n), "short_var_declaration") != 0)
        return 0;
    const TSNode in = ts_node_parent(n);
    const bool is_outside = !is_null(in) && (def->off < ts_node_start_byte(in) || def->off >= ts_node_end_byte(in));
    return is_outside ? ts_node_end_byte(in) : 0;
}

/* What is done first with a variable in the next turn of the loop that sets it. */
static myth_checked checked_next_time(const myth_flow *f, uint32_t d, uint32_t *line)
{
    const myth_event *def = &f->event[d];
    uint32_t from = def->off;
    for (uint32_t s = def->scope; s; s = f->scope[s].parent)
        if (f->scope[s].kind == MYTH_SCOPE_LOOP && f->scope[s].off < from)
            from = f->scope[s].test ? f->test[f->scope[s].test - 1].off : f->scope[s].off;
    for (uint32_t t = 0; t < f->n_test; t++)
        if (f->test[t].is_loop && def->off >= f->test[t].next && def->end <= f->test[t].next_end &&
            f->test[t].off < from)
            from = f->test[t].off;
    for (uint32_t i = 0; i < d; i++) {
        const myth_event *x = &f->event[i];
        const bool is_it = x->path && myth_flow_is_part(f, x->path, def->path);
        if (x->off < from || !(is_it || (x->kind == MYTH_EVENT_TEST && x->other == def->path)))
            continue;
        *line = x->line;
        if (x->kind == MYTH_EVENT_DEFINE && x->path == def->path)
            return MYTH_CHECKED_IGNORED;
        return x->kind == MYTH_EVENT_TEST || x->test ? MYTH_CHECKED_TESTED : MYTH_CHECKED_USED;
    }
    return MYTH_CHECKED_IGNORED;
}

/* What is done with a variable that gets another value next: nothing, or it is logged in a line. */
static myth_checked ignored_but(uint32_t logged, uint32_t *line)
{
    if (!logged)
        return MYTH_CHECKED_IGNORED;
    *line = logged;
    return MYTH_CHECKED_USED;
}

myth_checked myth_facts_checked(const myth_flow *f, uint32_t d, uint32_t *line)
{
    const uint32_t path = f->event[d].path;
    uint32_t other = 0, logged = 0; /* up to where the name is another variable's; the line in which it is logged */
    if (is_made_in_switch(f, &f->event[d])) {
        *line = f->event[d].line;
        return MYTH_CHECKED_TESTED;
    }
    for (uint32_t i = d + 1, n = 0; i < f->n_event && n < MYTH_FACTS_NEAR; i++, n++) {
        const myth_event *x = &f->event[i];
        if (x->off < other)
            continue;
        if (x->path == 0 || !myth_flow_is_part(f, x->path, path)) {
            if (!(x->kind == MYTH_EVENT_TEST && x->other == path))
                continue;
        }
        if (!myth_flow_reaches(f, d,
                               i)) { /* the other branch, or what a function inside leaves in a result of this one */
            if (x->path == path && myth_facts_nested(f, f->event[d].scope) && !myth_facts_nested(f, x->scope) &&
                (x->kind == MYTH_EVENT_RETURN || is_returned(f, x)))
                return MYTH_CHECKED_RETURNED;
            continue;
        }
        if (x->kind == MYTH_EVENT_ARG && x->path == path && !x->test && is_log(f->names + x->name)) {
            logged = logged ? logged : x->line;
            continue;
        }
        if (x->kind == MYTH_EVENT_DEFINE && x->path == path && (other = shadow_end(x, &f->event[d])) > 0)
            continue;
        *line = x->line;
        if ((x->test && x->kind != MYTH_EVENT_DEFINE) || (x->path == path && is_switched(f, x)))
            return MYTH_CHECKED_TESTED;
        if (x->path == path && is_returned(f, x))
            return MYTH_CHECKED_RETURNED;
        switch (x->kind) {
        case MYTH_EVENT_TEST: return MYTH_CHECKED_TESTED;
        case MYTH_EVENT_RETURN: return MYTH_CHECKED_RETURNED;
        case MYTH_EVENT_DEFINE:
            if (x->path == path)
                return ignored_but(logged, line);
            break;
        case MYTH_EVENT_LEAVE:
            if (x->path == path)
                return MYTH_CHECKED_RETURNED;
            break;
        default: return MYTH_CHECKED_USED;
        }
    }
    const myth_checked is = checked_next_time(f, d, line);
    return is == MYTH_CHECKED_IGNORED ? ignored_but(logged, line) : is;
}

/* ---- errors that are seen all the same ---- */

enum { SEEN_NO, SEEN_DEFERRED, SEEN_OTHER, SEEN_WAY };

/* Goes to the next event behind i that is about the path and that definition d comes to; UINT32_MAX = there is none. */
static uint32_t next_about(const myth_flow *f, uint32_t d, uint32_t i, uint32_t path)
{
    for (i++; i < f->n_event && i < d + MYTH_FACTS_NEAR; i++)
        if (f->event[i].path == path && myth_flow_reaches(f, d, i))
            return i;
    return UINT32_MAX;
}

/* Whether a function inside, whose scope is given, is put off where it stands: defer func() ... */
static bool is_put_off(const myth_flow *f, uint32_t nested)
{
    static const char word[] = "defer";
    uint32_t from = nested ? f->scope[nested].off : f->off;
    const uint32_t end = from;
    while (from > f->off && f->text[from - 1] != '\n')
        from--;
    while (from < end && (f->text[from] == ' ' || f->text[from] == '\t'))
        from++;
    return end - from >= sizeof(word) && memcmp(f->text + from, word, sizeof(word) - 1) == 0;
}

/* Whether a function that is put off before, defer func() { log(err) }(), reads what definition d sets last. */
static bool is_read_when_put_off(const myth_flow *f, uint32_t d)
{
    const myth_event *def = &f->event[d];
    bool is_read = false;
    for (uint32_t i = 0; i < d && !is_read; i++) {
        const myth_event *x = &f->event[i];
        is_read = x->path == def->path && x->kind != MYTH_EVENT_DEFINE && is_put_off(f, myth_facts_nested(f, x->scope));
    }
    for (uint32_t i = d; is_read && (i = next_about(f, d, i, def->path)) != UINT32_MAX;)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && myth_flow_is_inside(f, def->scope, f->event[i].scope))
            return false;
    return is_read;
}

/* Go: whether a comparison with nil stands behind event x, in no condition: return info != nil */
static bool is_compared_with_nil(const myth_flow *f, const myth_event *x)
{
    char text[MYTH_SPAN_TEXT];
    static const char *const nil[] = {"!=nil", "==nil"};
    put_tight(text, begin_of(span_of(f, x->end, f->end), 8));
    return x->kind == MYTH_EVENT_USE && myth_flow_begins_with(text, nil, N_OF(nil));
}

/* Go: whether another result of the same call is asked for nil first, here or by a function of the file that gets it:
 * info, err = os.Lstat(p); if info != nil */
static bool is_asked_by_other(const myth_facts *k, uint32_t d)
{
    const myth_flow *f = k->flow;
    const myth_event *def = &f->event[d];
    for (uint32_t j = d > 4 ? d - 4 : 0; j < f->n_event && j < d + 4; j++) {
        const myth_event *o = &f->event[j];
        if (j == d || o->kind != MYTH_EVENT_DEFINE || !o->path ||
            !ts_node_eq(ts_node_parent(o->node), ts_node_parent(def->node)))
            continue;
        uint32_t next = next_about(f, j, j, o->path);
        if (next != UINT32_MAX && f->event[next].kind == MYTH_EVENT_USE && f->event[next].test)
            next = next_about(f, j, next, o->path); /* what the condition reads stands before it */
        if (next == UINT32_MAX)
            continue;
        const myth_event *x = &f->event[next];
        const bool is_test = x->kind == MYTH_EVENT_TEST && (x->how == MYTH_TEST_NULL || x->how == MYTH_TEST_NOT_NULL);
        const myth_file_parameter *does =
            x->kind == MYTH_EVENT_ARG && x->path == o->path ? myth_facts_summary(k, x->call, x->index) : NULL;
        if (is_test || is_compared_with_nil(f, x) || (does && does->is_asked))
            return true;
    }
    return false;
}

/* Whether the definitions that replace d stand in branches, and behind one of these the path is looked at. */
static bool is_seen_around(const myth_flow *f, uint32_t d)
{
    const myth_event *def = &f->event[d];
    uint32_t replaced = UINT32_MAX;
    for (uint32_t i = d; (i = next_about(f, d, i, def->path)) != UINT32_MAX;) {
        const myth_event *x = &f->event[i];
        const bool is_definition = x->kind == MYTH_EVENT_DEFINE;
        if (is_definition && myth_flow_is_inside(f, def->scope, x->scope))
            return false;
        if (is_definition && replaced == UINT32_MAX)
            replaced = x->scope;
        else if (!is_definition && replaced != UINT32_MAX && replaced != x->scope &&
                 myth_flow_is_inside(f, replaced, x->scope))
            return true;
    }
    return false;
}

int myth_fact_seen(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    if (f->event[e].kind != MYTH_EVENT_DEFINE || !f->event[e].path)
        return SEEN_NO;
    if (is_read_when_put_off(f, e))
        return SEEN_DEFERRED;
    if (is_asked_by_other(k, e))
        return SEEN_OTHER;
    return is_seen_around(f, e) ? SEEN_WAY : SEEN_NO;
}

int myth_fact_last(myth_facts *k, uint32_t e)
{
    const TSNode node = myth_facts_event(k, e)->node;
    if (role_of(k->flow, ts_node_parent(node)) != MYTH_ROLE_GROUP)
        return 1;
    return is_null(ts_node_next_named_sibling(node));
}

/* ---- handlers ---- */

/* The block of a handler. */
static TSNode handler_body(const myth_flow *f, TSNode node)
{
    const TSNode body = child_of(f, node, MYTH_SLOT_BODY);
    for (uint32_t i = ts_node_named_child_count(node); is_null(body) && i-- > 0;)
        if (role_of(f, ts_node_named_child(node, i)) == MYTH_ROLE_BLOCK)
            return ts_node_named_child(node, i);
    return body;
}

/* The comment of a line: from // on, where no letter stands before. */
static span comment_of(span line)
{
    for (uint32_t i = 0; i + 1 < line.n; i++)
        if (line.p[i] == '/' && line.p[i + 1] == '/' && (i == 0 || line.p[i - 1] <= ' '))
            return (span){line.p + i, line.n - i};
    return (span){"", 0};
}

/* Go: whether a comment in the line of an assignment, or above it and others that give an error to a blank name, says
 * what is done about the error. */
static bool is_error_explained(const myth_flow *f, const myth_event *at)
{
    enum { LINES = 5, LINE = 300 };
    static const char *const above[] = {"rror", "fail", "gnore", "alid", "exist", "safe"};
    static const char *const beside[] = {"gnore", "never fail", "can't fail", "cannot fail", "always valid"};
    static const char *const blank[] = {", _ :=", ", _ ="};
    uint32_t from = at->off, to = at->end;
    while (to < f->n_text && f->text[to] != '\n')
        to++;
    for (int i = 0; i < LINES && from > f->off; i++) {
        while (from > f->off && f->text[from - 1] != '\n')
            from--;
        const span line = begin_of(span_of(f, from, to), LINE), comment = comment_of(line);
        if (!has_one((span){line.p, line.n - comment.n}, blank, N_OF(blank)))
            return has_one(comment, above, N_OF(above)) && !has_text(comment, ":="); /* and is no code */
        if (i == 0 && has_one(comment, beside, N_OF(beside)))
            return true;
        to = from > f->off ? --from : from;
    }
    return false;
}

static bool is_same_callee(const myth_flow *f, const myth_event *a, const myth_event *b)
{
    return a->name && b->name && strcmp(f->names + a->name, f->names + b->name) == 0;
}

/* A comment in the body of a handler, or behind it in its last line; one that explains an assignment. */
int myth_fact_excused(myth_facts *k, uint32_t e)
{
    enum { FAR = 512 };
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind == MYTH_EVENT_DEFINE) { /* or an assignment before, of the same function's error */
        bool is_said = is_error_explained(f, at);
        for (uint32_t i = e, n = 0; i-- > 0 && n < FAR && !is_said; n++)
            is_said = f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == at->path &&
                      is_same_callee(f, &f->event[i], at) && is_error_explained(f, &f->event[i]);
        return is_said;
    }
    const TSNode body = handler_body(f, at->node);
    const bool is_python = strcmp(ts_node_type(at->node), "except_clause") == 0;
    uint32_t to = at->end;
    if (is_null(body))
        return 0;
    while (to < f->n_text && f->text[to] != '\n')
        to++;
    uint32_t from = ts_node_start_byte(body);
    const char *line = is_python ? memchr(f->text + at->off, '\n', at->end - at->off) : NULL;
    if (line && (uint32_t)(line - f->text) < from) /* a comment in a line of its own stands before the block */
        from = (uint32_t)(line - f->text);
    for (uint32_t i = from; i < to; i++) {
        const char c = f->text[i], next = i + 1 < to ? f->text[i + 1] : '\0';
        if (is_python ? c == '#' : c == '/' && (next == '/' || next == '*'))
            return 1;
    }
    return 0;
}

TSNode myth_facts_tried(const myth_facts *k, uint32_t e)
{
    const TSNode parent = ts_node_parent(myth_facts_event(k, e)->node);
    if (is_null(parent))
        return parent;
    const TSNode body = child_of(k->flow, parent, MYTH_SLOT_BODY);
    for (uint32_t i = 0; is_null(body) && i < ts_node_named_child_count(parent); i++)
        if (role_of(k->flow, ts_node_named_child(parent, i)) == MYTH_ROLE_BLOCK)
            return ts_node_named_child(parent, i);
    return body;
}

static uint32_t statements(const myth_flow *f, TSNode body, int deep)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ts_node_named_child_count(body) && i < 64; i++) {
        const TSNode child = ts_node_named_child(body, i);
        const char *type = ts_node_type(child);
        const bool is_own = role_of(f, child) != MYTH_ROLE_BLOCK && role_of(f, child) != MYTH_ROLE_SKIP &&
                            (deep == 0 || strstr(type, "statement") || strstr(type, "declaration"));
        n += is_own;
        if (deep < 4 && (role_of(f, child) == MYTH_ROLE_BLOCK || role_of(f, child) == MYTH_ROLE_IF ||
                         role_of(f, child) == MYTH_ROLE_LOOP || role_of(f, child) == MYTH_ROLE_FOR_EACH))
            n += statements(f, child, deep + 1);
    }
    return n;
}

int myth_fact_tries(myth_facts *k, uint32_t e)
{
    enum { NONE, ONE, FEW, MANY };
    const TSNode body = myth_facts_tried(k, e);
    const uint32_t n = is_null(body) ? 0 : statements(k->flow, body, 0);
    return n == 0 ? NONE : n == 1 ? ONE : n <= 4 ? FEW : MANY;
}

/* What the statements of a block do, as far as it says that nothing depends on them. */
typedef struct {
    uint32_t n_end, n_send, n_other; /* that end something, send something, do something else */
    bool is_refused;                 /* the last one fails a test that comes here */
} doings;

static void look_at(myth_flow *f, TSNode node, doings *to, int deep)
{
    static const char *const ends[] = {"close",      "remove",      "delete",  "unlink",  "disconnect", "terminate",
                                       "kill",       "stop",        "destroy", "dispose", "rollback",   "cleanup",
                                       "release",    "cancel",      "abort",   "detach",  "rmtree",     "rmdir",
                                       "unregister", "unsubscribe", "quit",    "free",    "Close",      "Remove",
                                       "shutdown",   "deallocate",  "clear",   "end",     "Dispose",    "unbind"};
    static const char *const sends[] = {"send", "emit", "write", "flush", "notify"};
    static const char *const refuses[] = {"fail",        "FAIL",    "ADD_FAILURE",
                                          "assert_fail", "failmsg", "assert_not_reached"};
    if (deep > 6 || role_of(f, node) == MYTH_ROLE_SKIP)
        return;
    to->is_refused = false;
    switch (role_of(f, node)) {
    case MYTH_ROLE_BLOCK:
        for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 32; i++)
            look_at(f, ts_node_named_child(node, i), to, deep + 1);
        return;
    case MYTH_ROLE_IF:
    case MYTH_ROLE_FOR_EACH:
    case MYTH_ROLE_LOOP: {
        const TSNode then = child_of(f, node, MYTH_SLOT_THEN), body = child_of(f, node, MYTH_SLOT_BODY);
        const TSNode in = is_null(then) ? body : then;
        if (is_null(in) || !is_null(child_of(f, node, MYTH_SLOT_ELSE)))
            to->n_other++;
        else
            look_at(f, in, to, deep + 1);
        return;
    }
    case MYTH_ROLE_DECLARATION: return; /* File f(path); says nothing by itself */
    default: break;
    }
    TSNode in = role_of(f, node) == MYTH_ROLE_STATEMENT ? ts_node_named_child(node, 0) : node;
    for (int i = 0; i < 3 && !is_null(in) && role_of(f, in) == MYTH_ROLE_GROUP; i++)
        in = ts_node_named_child(in, 0); /* await x.close() */
    if (is_null(in) || role_of(f, in) != MYTH_ROLE_CALL) {
        to->n_other++;
        return;
    }
    const uint32_t at = myth_flow_callee_name(f, in, child_of(f, in, MYTH_SLOT_CALLEE)); /* may move f->names */
    const char *name = myth_flow_last_word(f->names + at);
    to->is_refused = myth_flow_is_one_of(name, refuses, N_OF(refuses));
    if (myth_flow_begins_with(name, ends, N_OF(ends)))
        to->n_end++;
    else if (myth_flow_begins_with(name, sends, N_OF(sends)))
        to->n_send++;
    else
        to->n_other++;
}

/* Whether event e is in what runs when an object goes away, where nothing may be thrown. */
static bool is_in_destructor(const myth_facts *k, uint32_t e)
{
    static const char *const word[] = {"__del__", "__exit__", "finalize", "Dispose"};
    const myth_flow *f = k->flow;
    const TSNode within = myth_facts_within(k, e);
    for (size_t i = 0; i < N_OF(word); i++)
        if (strcmp(f->names + f->name, word[i]) == 0 || (!is_null(within) && myth_flow_text_is(f, within, word[i])))
            return true;
    for (uint32_t i = f->off, n = 1; i < f->end && i < f->n_text && f->text[i] != '{'; i++) /* X::~X() { */
        if (f->text[i] == '~') {
            while (myth_is_word(f->text[i + n]))
                n++;
            return n > 1 && f->text[i + n] == '(';
        }
    return false;
}

/* Whether a handler is for what may fail without harm: in a destructor, around what only closes and removes, maybe with
 * a word of farewell, or in a test that expects the error. */
int myth_fact_parting(myth_facts *k, uint32_t e)
{
    doings is = {0};
    const TSNode body = myth_facts_tried(k, e);
    if (is_null(body))
        return 0;
    if (is_in_destructor(k, e))
        return 1;
    look_at(k->flow, body, &is, 0);
    return is.is_refused || (is.n_end > 0 && is.n_other == 0);
}

int myth_fact_empty(myth_facts *k, uint32_t e)
{
    const TSNode body = handler_body(k->flow, myth_facts_event(k, e)->node);
    if (is_null(body))
        return 0;
    for (uint32_t i = 0; i < ts_node_named_child_count(body); i++) {
        const TSNode child = ts_node_named_child(body, i);
        const char *type = ts_node_type(child);
        if (myth_roles_of(k->flow->roles, child) != MYTH_ROLE_SKIP && strcmp(type, "pass_statement") != 0 &&
            strcmp(type, "continue_statement") != 0)
            return 0;
    }
    return 1;
}

/* Whether the result that a path is was given by a pattern that the file makes, PATTERN.match(s); 2 where s is a
 * parameter that nothing is known of. */
int myth_fact_of_pattern(myth_facts *k, uint32_t e)
{
    enum { NAME = 96 };
    char name[NAME], key[NAME + 4];
    const myth_flow *f = k->flow;
    snprintf(name, sizeof(name), "%s", f->names + myth_facts_origin_call(k, e));
    char *dot = strrchr(name, '.');
    if (!dot || !(strcmp(dot, ".match") == 0 || strcmp(dot, ".search") == 0 || strcmp(dot, ".fullmatch") == 0))
        return 0;
    *dot = '\0';
    snprintf(key, sizeof(key), ":%s", myth_flow_last_word(name));
    const myth_file_name *found = myth_file_facts_find(k->file, key);
    if (!found || (found->marks & (MYTH_MARK_PATTERN | MYTH_MARK_VALUE)) != MYTH_MARK_PATTERN)
        return 0;
    const TSNode call = myth_facts_origin_node(k, e);
    const TSNode arguments = !is_null(call) && strcmp(ts_node_type(call), "call") == 0
                               ? child_of(f, call, MYTH_SLOT_ARGUMENTS)
                               : (TSNode){0};
    if (is_null(arguments) || ts_node_named_child_count(arguments) != 1)
        return 1;
    const uint32_t path = myth_flow_path(k->flow, ts_node_named_child(arguments, 0));
    bool is_parameter = false;
    for (uint32_t i = 0; path && i < e; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_DEFINE && x->path == path)
            is_parameter = x->value == MYTH_VALUE_PARAMETER;
        else if (x->kind == MYTH_EVENT_TEST && x->path == path)
            return 1;
    }
    return is_parameter ? 2 : 1;
}
