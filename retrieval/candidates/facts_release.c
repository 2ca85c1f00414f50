/* facts_release.c - facts about what is taken and released: memory, files, locks (facts.h). */
#include "facts_impl.h"

#include <ctype.h>
#include <string.h>

/* Whether the path names what memory is taken from, and not memory. */
static bool is_allocator(const myth_flow *f, uint32_t path)
{
    static const char *const word[] = {"alloc", "Alloc", "pool", "Pool", "arena", "heap"};
    const char *name = f->names + f->path[path].last;
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
        if (strstr(name, word[i]))
            return true;
    return false;
}

/* Whether event c is a call that releases the path: of several arguments not the allocator. */
static bool releases(const myth_facts *k, uint32_t c, uint32_t path)
{
    const myth_flow *f = k->flow;
    const myth_event *call = &f->event[c];
    if (call->kind != MYTH_EVENT_CALL || !k->is_release || !k->is_release(k->arg, f->names + call->name))
        return false;
    if (call->path && call->path == path)
        return true;
    for (uint32_t i = c + 1; i < f->n_event && i < c + 64 && f->event[i].off < call->end; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == c && f->event[i].path == path)
            return f->event[i].index == 0 || !is_allocator(f, path);
    return false;
}

/* Whether call c gets the value of the path as an argument, and not its address. */
static bool gets_value(const myth_flow *f, uint32_t c, uint32_t path)
{
    for (uint32_t i = c + 1; i < f->n_event && i < c + 64 && f->event[i].off < f->event[c].end; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == c && f->event[i].path == path)
            return !f->event[i].is_through;
    return false;
}

/* Whether event x writes a new text into the path, an array. */
static bool is_filled_again(const myth_flow *f, const myth_event *x, uint32_t path)
{
    static const char *const word[] = {"printf", "cpy", "cat", "read", "PRINTF", "COPY"};
    if (x->kind != MYTH_EVENT_ARG || x->path != path || x->index != 0 || !f->path[path].is_array)
        return false;
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
        if (strstr(f->names + x->name, word[i]))
            return true;
    return false;
}

int myth_fact_released(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *to = myth_facts_event(k, e);
    if (!to->path)
        return 0;
    for (uint32_t i = e, n = 0; i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *d = &f->event[i];
        if (d->kind == MYTH_EVENT_DEFINE && d->path && myth_flow_is_part(f, to->path, d->path) &&
            myth_flow_reaches(f, i, e))
            return 0;
        if (i < e && is_filled_again(f, d, to->path))
            return 0;
        for (uint32_t p = to->path, up = 0; p && up < 8; p = f->path[p].base, up++)
            if (d->kind == MYTH_EVENT_CALL && !d->is_guarded && (d->end < to->off || to->end < d->off) &&
                releases(k, i, p) && myth_flow_reaches(f, i, e)) { /* not what is put off: defer file.Close() */
                if (to->kind == MYTH_EVENT_ARG && to->is_through && p == to->path && gets_value(f, i, p))
                    return 0; /* free(p); read_into(&p) */
                k->at_line = d->line;
                return 1;
            }
    }
    return 0;
}

/* The path that an event is about: of a call that of the variable that takes its result, where there is one. *from: the
 * event from which on it has its value. */
static uint32_t path_of(const myth_facts *k, uint32_t e, uint32_t *from)
{
    *from = e;
    if (myth_facts_event(k, e)->kind == MYTH_EVENT_CALL)
        myth_facts_taker(k->flow, e, from);
    return myth_facts_event(k, *from)->path;
}

int myth_fact_release_later(myth_facts *k, uint32_t e)
{
    uint32_t d;
    const uint32_t path = path_of(k, e, &d);
    for (uint32_t i = d + 1, n = 0; path && i < k->flow->n_event && n < MYTH_FACTS_NEAR; i++, n++)
        if (releases(k, i, path)) {
            k->at_line = myth_facts_event(k, i)->line;
            return 1;
        }
    return 0;
}

/* Whether a name has the word between borders: at its begin or behind a sign, and no small letter behind it. */
static bool has_word(const char *name, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = name; (p = strstr(p, word)) != NULL; p += n) {
        const char before = p == name ? '_' : p[-1], after = p[n];
        const bool is_begin =
            !isalpha((unsigned char)before) || (isupper((unsigned char)*p) && islower((unsigned char)before));
        if (is_begin && !islower((unsigned char)after))
            return true;
    }
    return false;
}

/* Whether the path is stored or handed on by event x: then somebody else may release it. */
static bool hands_on(const myth_facts *k, const myth_event *x, uint32_t path)
{
    static const char *const takes_over[] = {"add",      "append", "insert", "push",    "put",    "set",  "attach",
                                             "register", "store",  "own",    "queue",   "link",   "wrap", "enqueue",
                                             "Add",      "Insert", "Push",   "Set",     "Append", "Put",  "Attach",
                                             "Register", "ADD",    "APPEND", "PREPEND", "INSERT", "PUSH", "ENQUEUE"};
    const char *name = k->flow->names + x->name;
    if (x->kind == MYTH_EVENT_ARG && x->path == path && path && !x->test)
        for (size_t i = 0; i < sizeof(takes_over) / sizeof(*takes_over); i++)
            if (has_word(name, takes_over[i]))
                return true;
    return (x->kind == MYTH_EVENT_DEFINE && x->other == path && path) ||
           (x->kind == MYTH_EVENT_RETURN && x->path == path);
}

int myth_fact_escapes(myth_facts *k, uint32_t e)
{
    uint32_t d;
    const uint32_t path = path_of(k, e, &d);
    for (uint32_t i = d + 1, n = 0; path && i < k->flow->n_event && n < MYTH_FACTS_NEAR; i++, n++)
        if (hands_on(k, myth_facts_event(k, i), path)) {
            k->at_line = myth_facts_event(k, i)->line;
            return 1;
        }
    return 0;
}

/* Whether a test that the resource is there says of event x that it is not: x is in the other branch, or behind a
 * branch that leaves. */
static bool is_where_gone(const myth_flow *f, const myth_event *t, const myth_event *at)
{
    const myth_test *test = &f->test[t->test - 1];
    if (!is_for_there(t->how) || test->is_chain || test->outer || test->is_loop || !test->then)
        return false;
    if (test->other && myth_flow_is_inside(f, at->scope, test->other))
        return true;
    return f->scope[test->then].leaves == MYTH_LEAVES_FUNCTION && at->off > f->scope[test->then].end;
}

/* Whether event x is in a branch that the result of a call decides, and in which what the call wrote through an address
 * (event d) is not spoken of: there the call has failed. */
static bool is_failure_of_call(const myth_flow *f, uint32_t d, uint32_t x)
{
    const myth_event *def = &f->event[d], *at = &f->event[x];
    uint32_t c = d, scope = at->scope;
    while (c > 0 && d - c < 64 && !(f->event[c].kind == MYTH_EVENT_CALL && f->event[c].end >= def->end))
        c--;
    if (f->event[c].kind != MYTH_EVENT_CALL || !f->event[c].test)
        return false;
    const myth_test *test = myth_facts_outermost(f, &f->event[c]);
    while (scope && scope != test->then && scope != test->other)
        scope = f->scope[scope].parent;
    if (!scope)
        return false;
    for (uint32_t i = d + 1; i < x; i++)
        if (f->event[i].off >= f->scope[scope].off && f->event[i].path &&
            myth_flow_is_part(f, f->event[i].path, def->path))
            return false;
    return true;
}

/* Whether test t is of what event d defined, or of what was defined together with it (Go's err) and has that value
 * still. */
static bool is_test_of(const myth_flow *f, uint32_t d, uint32_t t)
{
    const uint32_t path = f->event[t].path;
    if (path == f->event[d].path)
        return true;
    for (uint32_t j = t; j-- > 0 && j + 5 > d;)
        if (f->event[j].kind == MYTH_EVENT_DEFINE && f->event[j].path == path)
            return f->event[j].line == f->event[d].line;
    return false;
}

/* Whether control is at event x only where taking the resource has failed: in a branch of such a test. */
static bool is_failure_branch(const myth_flow *f, uint32_t d, uint32_t x)
{
    const myth_event *def = &f->event[d], *at = &f->event[x];
    if (def->value == MYTH_VALUE_OUT && is_failure_of_call(f, d, x))
        return true;
    for (uint32_t i = d > 4 ? d - 4 : 0; i < x; i++) {
        const myth_event *t = &f->event[i];
        if (t->kind != MYTH_EVENT_TEST || !t->test || t->how == MYTH_TEST_PART)
            continue;
        const bool is_it = is_test_of(f, d, i);
        if (is_it && t->path == def->path && i > d && is_where_gone(f, t, at))
            return true;
        const uint32_t then = myth_facts_outermost(f, t)->then;
        if (is_it && then && myth_flow_is_inside(f, at->scope, then) && (t->path != def->path || !is_for_there(t->how)))
            return true;
    }
    return false;
}

/* Whether control leaves at event x while what event d took is held: by a return, by a goto behind whose label nothing
 * releases it, or by leaving the round of a loop in which it was taken. */
static bool is_way_out(const myth_facts *k, uint32_t d, uint32_t x, uint32_t path)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[x];
    if (at->kind != MYTH_EVENT_LEAVE)
        return false;
    if (at->index == MYTH_ROLE_RETURN || at->index == MYTH_ROLE_THROW)
        return true;
    const uint32_t label = f->scope[at->scope].label_off, loop = f->scope[at->scope].loop;
    const bool is_goto = at->index == MYTH_ROLE_GOTO && label > at->off;
    const bool is_round = at->index == MYTH_ROLE_LEAVE && loop && f->scope[loop].kind == MYTH_SCOPE_LOOP &&
                          myth_flow_is_inside(f, f->event[d].scope, loop);
    for (uint32_t r = x + 1; is_goto && r < f->n_event; r++)
        if (f->event[r].off >= label && f->event[r].kind == MYTH_EVENT_LEAVE && f->event[r].scope == 0) {
            if (f->event[r].index == MYTH_ROLE_GOTO)
                return false; /* goes on to a label that may be before it */
            break;
        }
    const uint32_t from = is_goto ? label : is_round ? f->scope[loop].end : 0;
    for (uint32_t r = x + 1; from && r < f->n_event; r++)
        if (f->event[r].off >= from && (releases(k, r, path) || hands_on(k, &f->event[r], path)))
            return false;
    return from != 0;
}

/* Whether a `finally` around event x releases the path, whatever way control leaves. */
static bool is_freed_finally(const myth_facts *k, uint32_t x, uint32_t path)
{
    const myth_flow *f = k->flow;
    for (uint32_t r = x + 1; r < f->n_event; r++) {
        uint32_t s = f->event[r].scope;
        while (s && f->scope[s].kind != MYTH_SCOPE_FINALLY)
            s = f->scope[s].parent;
        if (s && myth_flow_is_inside(f, f->event[x].scope, f->scope[s].parent) && releases(k, r, path))
            return true;
    }
    return false;
}

enum { LEAVES_NO, LEAVES_EARLY, LEAVES_END };

/* The path must be a resource that the call e takes: from its taker on, is there a way out on which nothing releases
 * it? A lock's path is the receiver or first argument of the call. */
int myth_fact_leaves(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const bool is_define = myth_facts_event(k, e)->kind == MYTH_EVENT_DEFINE;
    uint32_t d, path = path_of(k, e, &d);
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL && !is_define)
        return LEAVES_NO;
    const bool is_kept = d != e || is_define; /* in a variable: no lock's receiver */
    for (uint32_t i = e + 1; !path && !is_kept && i < f->n_event && i < e + 16; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == e)
            path = f->event[i].path;
    if (!path)
        return LEAVES_NO;
    if (is_kept && f->path[path].base != 0)
        return LEAVES_NO; /* kept in a structure: whoever has that releases it */
    bool is_released = false;
    for (uint32_t x = d + 1, n = 0; x < f->n_event && n < MYTH_FACTS_NEAR; x++, n++) {
        const myth_event *at = myth_facts_event(k, x);
        if (at->kind == MYTH_EVENT_DEFINE && at->path == path && at->value != MYTH_VALUE_OUT && is_kept)
            return LEAVES_NO;
        if (hands_on(k, at, path))
            return LEAVES_NO;
        is_released |= releases(k, x, path);
        if (!is_way_out(k, d, x, path) || !myth_flow_reaches(f, d, x) || at->path == path || is_failure_branch(f, d, x))
            continue;
        bool is_free = false;
        for (uint32_t r = d + 1; r < x && !is_free; r++)
            is_free = releases(k, r, path) && myth_flow_reaches(f, r, x);
        if (is_free || is_freed_finally(k, x, path))
            continue;
        bool is_in_it = false; /* return use(p): the value is made of it, so it may be handed on */
        for (uint32_t r = x; r-- > d + 1 && f->event[r].off >= at->off;)
            is_in_it |= f->event[r].path == path && f->event[r].kind == MYTH_EVENT_ARG;
        if (is_in_it) {
            is_released |= at->scope == 0;
            continue;
        }
        k->at_line = at->line;
        return LEAVES_EARLY;
    }
    if (is_released || f->event[e].scope != 0)
        return LEAVES_NO;
    k->at_line = f->line1;
    return f->is_file ? LEAVES_NO : LEAVES_END;
}

/* What call c is about: its receiver, or the last argument that is a path. 0 = nothing. */
static uint32_t lock_of(const myth_flow *f, uint32_t c)
{
    uint32_t path = f->event[c].path;
    for (uint32_t i = c + 1; i < f->n_event && i < c + 64 && f->event[i].off < f->event[c].end; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == c)
            path = f->event[i].path;
    return path;
}

/* Whether call i takes the same as call e. */
static bool is_same_take(const myth_flow *f, uint32_t i, uint32_t e, uint32_t path)
{
    return f->event[i].kind == MYTH_EVENT_CALL &&
           strcmp(f->names + f->event[i].name, f->names + f->event[e].name) == 0 && lock_of(f, i) == path;
}

enum { UNLOCKED_NEVER, UNLOCKED_LATER, UNLOCKED_BEFORE };

/* Where the function releases the lock that call e takes. Before it has taken it: then whoever calls it holds the lock,
 * and expects to hold it afterwards. */
int myth_fact_unlocked(myth_facts *k, uint32_t e)
{
    const uint32_t path = lock_of(k->flow, e);
    bool is_taken = false;
    for (uint32_t i = 0; path && i < k->flow->n_event; i++) {
        is_taken |= i == e || is_same_take(k->flow, i, e, path);
        if (releases(k, i, path) && !is_taken)
            return UNLOCKED_BEFORE;
        if (i > e && releases(k, i, path))
            return UNLOCKED_LATER;
    }
    return UNLOCKED_NEVER;
}

/* Whether the lock that call e takes was taken before, and nothing has released it on some way to e. */
int myth_fact_held(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = lock_of(f, e);
    bool is_released = false;
    for (uint32_t i = e, n = 0; path && i-- > 0 && n < MYTH_FACTS_NEAR; n++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_DEFINE && x->path && x->value != MYTH_VALUE_OUT &&
            myth_flow_is_part(f, path, x->path))
            return 0;
        if (is_same_take(f, i, e, path) && myth_flow_reaches(f, i, e)) {
            if (!is_released && myth_flow_is_inside(f, f->event[e].scope, x->scope))
                k->at_line = x->line;
            return !is_released && myth_flow_is_inside(f, f->event[e].scope, x->scope);
        }
        is_released |= releases(k, i, path) && myth_flow_reaches(f, i, e);
    }
    return 0;
}

enum { SOON = 5 }; /* statements */

/* Whether a call that control comes to soon gets the path as its second argument: rename(from, path). */
int myth_fact_second_later(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = f->event[e].path;
    for (uint32_t i = e + 1; path && i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->statement > f->event[e].statement + SOON)
            break;
        if (x->kind != MYTH_EVENT_ARG || x->path != path || x->index != 1 || !k->is_release ||
            !k->is_release(k->arg, f->names + x->name) || !myth_flow_reaches(f, e, i))
            continue;
        k->at_line = x->line;
        return 1;
    }
    return 0;
}
