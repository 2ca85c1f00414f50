/* facts_release.c - facts about what is taken and released: memory, files, locks (facts.h). */
#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include <ctype.h>
#include <string.h>

/* Whether the path names what memory is taken from, and not memory. */
static bool is_allocator(const myth_flow *f, uint32_t path)
{
    static const char *const word[] = {"alloc", "Alloc", "pool", "Pool", "arena", "heap"};
    const char *name = f->names + f->path[path].last;
    return myth_flow_has_one_of(name, word, sizeof(word) / sizeof(*word));
}

/* Whether a name is of a module that the file imports, or of the object that a method is of: os.close(fd) and
 * self.close() release something else, or leave it usable. */
static bool is_no_resource(const myth_facts *k, uint32_t path)
{
    const char *text = k->flow->names + k->flow->path[path].text;
    const myth_file_name *name = k->file ? myth_file_facts_find(k->file, text) : NULL;
    return (name && name->is_imported) || strcmp(text, "self") == 0 || strcmp(text, "this") == 0 ||
           strcmp(text, "os") == 0;
}

/* Whether event c is a call that releases the path: of several arguments not the allocator. What a function of the file
 * does with its parameters counts more than its name. is_part: closing a member counts, too. */
static bool gives_up(const myth_facts *k, uint32_t c, uint32_t path, bool is_part)
{
    const myth_flow *f = k->flow;
    const myth_event *call = &f->event[c];
    if (call->kind != MYTH_EVENT_CALL || !k->is_release || !path)
        return false;
    const bool is_named = k->is_release(k->arg, f->names + call->name);
    if (is_named && call->path && call->path == path)
        return !is_no_resource(k, path);
    bool has_argument = false;
    for (uint32_t i = c + 1; i < f->n_event && i < c + 64 && f->event[i].off < call->end; i++) {
        const myth_event *a = &f->event[i];
        if (a->kind != MYTH_EVENT_ARG || a->call != c)
            continue;
        has_argument = true;
        if (a->path != path)
            continue;
        if (is_no_resource(k, path))
            return false;
        const myth_file_parameter *does = myth_facts_summary(k, c, a->index);
        const bool is_lock = is_named && strstr(f->names + call->name, "lock"); /* of something else, by its name */
        if (does && !is_lock && (myth_fact_lists_has(&does->may, k->list) || (!does->is_kept && !does->is_shared)))
            return myth_fact_lists_has(&does->may, k->list);
        return is_named && (a->index == 0 || !is_allocator(f, path));
    }
    /* res.Body.Close() closes res */
    return is_part && is_named && !has_argument && call->path && myth_flow_is_part(f, call->path, path) &&
           !is_no_resource(k, path);
}

bool myth_facts_releases(const myth_facts *k, uint32_t c, uint32_t path) { return gives_up(k, c, path, true); }
bool myth_facts_releases_whole(const myth_facts *k, uint32_t c, uint32_t path) { return gives_up(k, c, path, false); }

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
        if (myth_facts_releases(k, i, path)) {
            k->at_line = myth_facts_event(k, i)->line;
            return 1;
        }
    return 0;
}

/* Whether an argument is a member by its address, in a call that keeps such: list_append(&all, &p->link). */
static bool is_linked(const myth_flow *f, const myth_event *x, uint32_t path)
{
    return x->is_through && f->path[x->path].base && myth_flow_is_part(f, x->path, path) &&
           myth_facts_takes_over(f->names + x->name);
}

/* Whether call c makes of the path something that is released later and releases it with it: c := smtp.NewClient(conn),
 * and c.Close(). */
static bool is_wrapped(const myth_facts *k, uint32_t c)
{
    const myth_flow *f = k->flow;
    const char *name = f->names + f->event[c].name, *dot = strrchr(name, '.');
    uint32_t d;
    if (strncmp(dot ? dot + 1 : name, "New", 3) != 0 || !myth_facts_taker(f, c, &d))
        return false;
    for (uint32_t i = d + 1, n = 0; i < f->n_event && n < MYTH_FACTS_NEAR; i++, n++)
        if (myth_facts_releases(k, i, f->event[d].path))
            return true;
    return false;
}

/* Whether realloc, call c, gives what was behind its first argument another owner: it->text = realloc(text, n). */
static bool is_moved(const myth_flow *f, uint32_t c, const myth_event *arg, uint32_t path)
{
    uint32_t d;
    return arg->index == 0 && strstr(f->names + f->event[c].name, "realloc") && myth_facts_taker(f, c, &d) &&
           f->event[d].path != path;
}

/* Whether a call that keeps what it is given gets the path, and the function releases it only where that fails: then
 * it has another owner where all went well. */
static bool is_taken_over(const myth_facts *k, const myth_event *x, uint32_t path)
{
    const myth_flow *f = k->flow;
    if (!myth_facts_takes_over(f->names + x->name))
        return false;
    if (!x->test)
        return true;
    const uint32_t then = myth_facts_outermost(f, x)->then;
    for (uint32_t i = x->call + 1; then && i < f->n_event && f->event[i].off < f->scope[then].end; i++)
        if (f->event[i].scope == then && myth_facts_releases(k, i, path))
            return true;
    return false;
}

/* Whether a function inside of this one waits for the ticks of a clock, as long as it is run: for range ticker.C. */
static bool is_ticked(const myth_flow *f, const myth_event *x, uint32_t path)
{
    return x->kind == MYTH_EVENT_USE && f->path[x->path].base == path &&
           strcmp(f->names + f->path[x->path].last, "C") == 0 && myth_facts_nested(f, x->scope);
}

/* Whether event x gets the value that event d before it gives the path: q = p = f(), o->r->q = p = f(). */
static bool is_chained(const myth_flow *f, uint32_t x, uint32_t path)
{
    uint32_t before = x;
    while (before > 0 && x - before < 8 && (before == x || f->event[before].kind != MYTH_EVENT_DEFINE))
        before--; /* what the members are of is read between the two */
    const myth_event *at = &f->event[x], *d = &f->event[before];
    return d->kind == MYTH_EVENT_DEFINE && d->path == path && d->off > at->off && d->end <= at->end + 256 &&
           d->value == MYTH_VALUE_CALL && at->value == MYTH_VALUE_CALL && d->line == at->line;
}

/* Whether the path is stored or handed on by event number i: then somebody else may release it. */
static bool hands_on(const myth_facts *k, uint32_t i, uint32_t path)
{
    const myth_flow *f = k->flow;
    const myth_event *x = &f->event[i];
    if (!path)
        return false;
    switch (x->kind) {
    case MYTH_EVENT_ARG: {
        if (x->path != path)
            return is_linked(f, x, path);
        if (myth_roles_of(f->roles, f->event[x->call].node) == MYTH_ROLE_NEW)
            return true; /* new BufferedReader(in) */
        if (is_moved(f, x->call, x, path))
            return true;
        const myth_file_parameter *does = myth_facts_summary(k, x->call, x->index);
        if (does && (does->is_kept || !does->is_shared))
            return does->is_kept;
        if (myth_facts_is_given_to_new(f, x))
            return true;
        return is_taken_over(k, x, path) || is_wrapped(k, x->call);
    }
    case MYTH_EVENT_DEFINE:
        return x->other == path || is_chained(f, i, path) ||
               ((x->value == MYTH_VALUE_UNKNOWN || x->value == MYTH_VALUE_NEW) && myth_facts_is_made_of(f, i, path));
    case MYTH_EVENT_FIELD: return x->other == path;
    case MYTH_EVENT_RETURN: return x->path == path;
    case MYTH_EVENT_USE: return is_ticked(f, x, path);
    default: return false;
    }
}

int myth_fact_escapes(myth_facts *k, uint32_t e)
{
    uint32_t d;
    const uint32_t path = path_of(k, e, &d);
    for (uint32_t i = d + 1, n = 0; path && i < k->flow->n_event && n < MYTH_FACTS_NEAR; i++, n++)
        if (hands_on(k, i, path)) {
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

static bool is_same_name(const myth_flow *f, uint32_t a, uint32_t b)
{
    return a && b && strcmp(f->names + a, f->names + b) == 0;
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
            return f->event[j].line == f->event[d].line || (f->event[j].line + 8 > f->event[d].line && j + 5 > d &&
                                                            is_same_name(f, f->event[j].name, f->event[d].name));
    return false;
}

/* Whether event x is in a handler of the errors of a block in which taking the resource (event d) is the last that can
 * fail. */
static bool is_handler_of(const myth_flow *f, uint32_t d, uint32_t x)
{
    const uint32_t in = f->event[d].scope;
    uint32_t s = f->event[x].scope;
    if (f->scope[in].kind != MYTH_SCOPE_TRY)
        return false;
    while (s && !(f->scope[s].kind == MYTH_SCOPE_CATCH && f->scope[s].parent == f->scope[in].parent))
        s = f->scope[s].parent;
    if (!s)
        return false;
    for (uint32_t i = d + 1; i < x && f->event[i].off < f->scope[in].end; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL)
            return false;
    return true;
}

/* Whether control is at event x only where taking the resource has failed: in a branch of such a test. */
static bool is_failure_branch(const myth_flow *f, uint32_t d, uint32_t x)
{
    const myth_event *def = &f->event[d], *at = &f->event[x];
    if ((def->value == MYTH_VALUE_OUT && is_failure_of_call(f, d, x)) || is_handler_of(f, d, x))
        return true;
    for (uint32_t i = d > 4 ? d - 4 : 0; i < x; i++) {
        const myth_event *t = &f->event[i];
        if (t->kind != MYTH_EVENT_TEST || !t->test || (t->how == MYTH_TEST_PART && !myth_facts_is_asserted(f, t)))
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
    uint32_t back = 0; /* the first label to which what follows goes back */
    for (uint32_t r = x + 1; from && r < f->n_event; r++) {
        if (f->event[r].off < from)
            continue;
        if (myth_facts_releases(k, r, path) || hands_on(k, r, path))
            return false;
        const bool is_back = f->event[r].kind == MYTH_EVENT_LEAVE && f->event[r].index == MYTH_ROLE_GOTO;
        if (is_back && f->event[r].call && f->event[r].call < f->event[r].off && (!back || f->event[r].call < back))
            back = f->event[r].call;
    }
    for (uint32_t r = d + 1; back && r < f->n_event; r++)
        if (f->event[r].off >= back && myth_facts_releases(k, r, path))
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
        if (s && myth_flow_is_inside(f, f->event[x].scope, f->scope[s].parent) && myth_facts_releases(k, r, path))
            return true;
    }
    return false;
}

bool myth_facts_is_status(const myth_flow *f, uint32_t path)
{
    static const char *const name[] = {"err", "error", "ok", "ret", "rc", "rv", "status", "retval", "iRet", "r"};
    const myth_path *p = &f->path[path];
    const char *last = f->names + p->last;
    const bool is_typed = p->type_end > p->type_off;
    if (is_typed && isupper((unsigned char)f->text[p->type_off]))
        return false; /* FileReader r */
    if (!is_typed && strcmp(last, "r") == 0)
        return false; /* r = open(path) of Python */
    return !p->is_pointer && myth_flow_is_one_of(last, name, sizeof(name) / sizeof(*name));
}

/* Whether what is in a scope is run whenever the function is. */
static bool is_always_run(const myth_flow *f, uint32_t scope)
{
    while (scope && f->scope[scope].kind == MYTH_SCOPE_TRY)
        scope = f->scope[scope].parent;
    return scope == 0;
}

/* Whether a loop without a condition and without a break follows: for (;;), while (1). */
static bool never_ends(const myth_flow *f, uint32_t d)
{
    for (uint32_t s = 1, n = 0; s < f->n_scope && n < 8; s++) {
        const myth_scope *loop = &f->scope[s];
        if (loop->kind != MYTH_SCOPE_LOOP || loop->parent != 0 || loop->off < f->event[d].off)
            continue;
        n++;
        const myth_test *t = loop->test ? &f->test[loop->test - 1] : NULL;
        const char c = t && t->off < f->n_text ? f->text[t->off + (f->text[t->off] == '(')] : ';';
        bool has_break = t && c != '1' && c != ';' && strncmp(f->text + t->off, "true", 4) != 0;
        for (uint32_t i = d; i < f->n_event && !has_break; i++)
            has_break = f->event[i].kind == MYTH_EVENT_LEAVE && f->event[i].index == MYTH_ROLE_LEAVE &&
                        f->scope[f->event[i].scope].loop == s && f->text[f->event[i].off] == 'b';
        if (!has_break)
            return true;
    }
    return false;
}

enum { LEAVES_NO, LEAVES_EARLY, LEAVES_END };

/* Whether event r, in the value of a way out, may hand the path on. */
static bool is_part_of_value(const myth_facts *k, uint32_t r, uint32_t path)
{
    const myth_event *x = myth_facts_event(k, r);
    if (x->path != path || (x->kind != MYTH_EVENT_ARG && x->kind != MYTH_EVENT_USE))
        return false;
    const myth_file_parameter *does = x->kind == MYTH_EVENT_ARG ? myth_facts_summary(k, x->call, x->index) : NULL;
    return !does || does->is_kept || does->is_shared;
}

/* The path must be a resource that the call e takes: from its taker on, is there a way out on which nothing releases
 * it? A lock's path is the receiver or first argument of the call. */
static int find_leave(myth_facts *k, uint32_t e, uint32_t *from, uint32_t *to)
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
    *from = d;
    *to = f->n_event;
    if ((f->name && strcmp(f->names + f->name, "main") == 0) || myth_facts_is_command(f, f->event[e].scope))
        return LEAVES_NO; /* the end of the process releases it */
    if (is_kept && (f->path[path].base != 0 ||
                    (!is_define && (myth_facts_is_status(f, path) || myth_facts_is_told_beside(f, e, d)))))
        return LEAVES_NO; /* kept in a structure: whoever has that releases it */
    if (is_kept && (myth_facts_is_released_by_itself(k, path) || myth_facts_is_kept_by_callee(k, d) ||
                    (!f->roles->has_alternatives && myth_facts_is_global(f, path))))
        return LEAVES_NO;
    bool is_released = false, is_locked = false;
    for (uint32_t x = d + 1, n = 0; x < f->n_event && n < MYTH_FACTS_NEAR; x++, n++) {
        const myth_event *at = myth_facts_event(k, x);
        if (at->kind == MYTH_EVENT_DEFINE && at->path == path && at->value != MYTH_VALUE_OUT && is_kept)
            return LEAVES_NO;
        if (hands_on(k, x, path))
            return LEAVES_NO;
        is_released |= myth_facts_releases(k, x, path);
        is_locked |= is_kept && myth_facts_is_locked(f, x, path);
        if ((is_locked && at->scope == 0) || myth_facts_is_failed_close(f, x) || myth_facts_ends_callers(k, x) ||
            (at->kind == MYTH_EVENT_LEAVE && myth_facts_is_behind_end(f, x)))
            continue;
        if (!is_way_out(k, d, x, path) || myth_facts_nested(f, at->scope) != myth_facts_nested(f, f->event[d].scope) ||
            !myth_flow_reaches(f, d, x) || at->path == path || is_failure_branch(f, d, x))
            continue;
        bool is_free = false;
        for (uint32_t r = d + 1; r < x && !is_free; r++)
            is_free = myth_facts_releases(k, r, path) &&
                      (myth_flow_reaches(f, r, x) || myth_facts_nested(f, f->event[r].scope));
        if (is_free || is_freed_finally(k, x, path) || myth_facts_is_taken_where_well(k, d, x))
            continue;
        bool is_in_it = false; /* return use(p): the value is made of it, so it may be handed on */
        for (uint32_t r = x; r-- > d + 1 && f->event[r].off >= at->off;)
            is_in_it |= is_part_of_value(k, r, path);
        if (is_in_it) {
            is_released |= at->scope == 0;
            continue;
        }
        k->at_line = at->line;
        *to = x;
        return LEAVES_EARLY;
    }
    if (is_released || is_locked || !is_always_run(f, f->event[e].scope) || never_ends(f, d) ||
        myth_facts_never_returns(f, d))
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
        if (myth_facts_releases(k, i, path) && !is_taken)
            return UNLOCKED_BEFORE;
        if (i > e && myth_facts_releases(k, i, path))
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
        is_released |= myth_facts_releases(k, i, path) && myth_flow_reaches(f, i, e);
    }
    return 0;
}

enum { SOON = 5 }; /* statements */

/* Whether a call gets the path as its second argument, and is one of the row's: rename(from, path). */
static bool is_second(const myth_facts *k, const myth_event *x, uint32_t path)
{
    return x->kind == MYTH_EVENT_ARG && x->path == path && x->index == 1 && k->is_release &&
           k->is_release(k->arg, k->flow->names + x->name);
}

/* Whether such a call comes soon; not where one that failed stands before, which was no use with the path there. */
int myth_fact_second_later(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = f->event[e].path;
    for (uint32_t i = e, n = 0; path && i-- > 0 && n < MYTH_FACTS_NEAR; n++)
        if (is_second(k, &f->event[i], path) && f->event[i].test && f->event[i].scope != f->event[e].scope &&
            f->test[f->event[i].test - 1].then == f->event[e].scope)
            return 0;
    for (uint32_t i = e + 1; path && i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->statement > f->event[e].statement + SOON)
            break;
        if (!is_second(k, x, path) || !myth_flow_reaches(f, e, i))
            continue;
        k->at_line = x->line;
        return 1;
    }
    return 0;
}

/* Several facts ask the same. */
static int leaves(myth_facts *k, uint32_t e, uint32_t *from, uint32_t *to)
{
    if (k->left.list != k->list + 1 || k->list < 0 || k->left.event != e) {
        const uint32_t line = k->at_line;
        k->at_line = 0;
        k->left.how = find_leave(k, e, &k->left.from, &k->left.to);
        if (k->left.how != LEAVES_NO && myth_facts_has_keeper(k, e, k->left.from, k->left.to))
            k->left.how = LEAVES_NO;
        k->left.line = k->at_line;
        k->left.event = e;
        k->left.list = k->list + 1;
        k->at_line = line;
    }
    *from = k->left.from;
    *to = k->left.to;
    if (k->left.line)
        k->at_line = k->left.line;
    return k->left.how;
}

int myth_fact_leaves(myth_facts *k, uint32_t e)
{
    uint32_t from, to;
    return leaves(k, e, &from, &to);
}

int myth_fact_way(myth_facts *k, uint32_t e)
{
    enum { WAY_NO, WAY_TOP, WAY_BRANCH };
    const myth_flow *f = k->flow;
    const uint32_t line = k->at_line;
    uint32_t from = 0, to = 0;
    const int how = leaves(k, e, &from, &to);
    k->at_line = line;
    if (how != LEAVES_EARLY)
        return how == LEAVES_NO ? WAY_NO : WAY_TOP;
    return f->event[to].scope == 0 ? WAY_TOP : WAY_BRANCH;
}

/* Whether what event d defined is returned later. */
static bool is_returned(const myth_flow *f, uint32_t d)
{
    for (uint32_t i = d + 1; i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_RETURN && f->event[i].path == f->event[d].path)
            return true;
    return false;
}

int myth_fact_shared(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t line = k->at_line;
    uint32_t from = 0, to = 0;
    const int how = leaves(k, e, &from, &to);
    k->at_line = line;
    if (how == LEAVES_NO)
        return 0;
    const uint32_t path = f->event[from].path;
    for (uint32_t i = from + 1; i < to; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_USE && x->path == path && myth_facts_nested(f, x->scope))
            return 1; /* a function inside of this one has it */
        if (x->kind == MYTH_EVENT_DEFINE && x->value == MYTH_VALUE_SUM && myth_facts_is_made_of(f, i, path) &&
            is_returned(f, i))
            return 1;
        if (x->kind != MYTH_EVENT_ARG || !x->path || !myth_flow_is_part(f, x->path, path) ||
            (x->path != path && !x->is_through) || !myth_flow_reaches(f, i, to < f->n_event ? to : i))
            continue;
        const myth_file_parameter *does = x->path == path ? myth_facts_summary(k, x->call, x->index) : NULL;
        if (does ? does->is_kept || does->is_shared : !myth_facts_is_reader(f->names + x->name))
            return 1;
    }
    return 0;
}

int myth_fact_address(myth_facts *k, uint32_t e)
{
    const myth_event *at = myth_facts_event(k, e);
    return (at->kind == MYTH_EVENT_ARG || at->value == MYTH_VALUE_OUT) && at->is_through;
}

int myth_fact_guarded(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    return at->is_guarded || (at->end + 6 < f->n_text && memcmp(f->text + at->end, ".close", 6) == 0);
}
