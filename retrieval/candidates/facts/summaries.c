/* summaries.c - what the functions of a file do with their parameters (facts.h): to which functions they give them,
 * whether they keep them.
 *
 * Passes   one over the events of a function for the first MYTH_FACTS_PARAMETERS parameters, then ROUNDS over all that
 *          were given on: a wrapper of a wrapper counts, a longer chain is not followed
 * Doubt    two functions of one name, or one whose body does something that is not understood: nothing is known */
#include "facts_impl.h"

#include "engine/base/array.h"

#include <ctype.h>
#include <string.h>

enum { ROUNDS = 4, NEAR = 32, SCOPES = 8, HANDS = 64 };

typedef struct {
    uint32_t path, alias;   /* 0 = none */
    uint32_t scope[SCOPES]; /* branches in which it is there */
    uint32_t n_scope, n_hand;
    bool is_left; /* there was a way out, other than where it is not there */
    bool is_over; /* it got another value */
    bool is_used; /* something was done with it */
    myth_file_parameter is;
} parameter;

bool myth_facts_is_reader(const char *name)
{
    static const char *const begin[] = {
        "str",    "mem",         "wcs",         "sscanf",  "fprintf", "printf",    "snprintf",   "sprintf",    "fput",
        "puts",   "fget",        "fread",       "fwrite",  "read",    "write",     "send",       "recv",       "fseek",
        "ftell",  "fflush",      "feof",        "ferror",  "fstat",   "stat",      "ato",        "is_",        "has_",
        "lseek",  "ioctl",       "fcntl",       "bind",    "listen",  "connect",   "setsockopt", "getsockopt", "poll",
        "select", "sizeof",      "rewind",      "readdir", "getline", "lstat",     "access",     "unlink",     "fileno",
        "pread",  "pwrite",      "ftruncate",   "fsync",   "getc",    "fgetc",     "free",       "bcmp",       "bcopy",
        "bzero",  "getsockname", "getpeername", "inet_",   "fscanf",  "vsnprintf", "mkdir",      "rename"};
    static const char *const part[] = {"log",   "Log",   "LOG",   "print", "Print", "PRINT", "debug", "Debug", "DEBUG",
                                       "error", "Error", "ERROR", "warn",  "Warn",  "WARN",  "trace", "TRACE", "dump",
                                       "msg",   "info",  "INFO",  "cmp",   "equal", "Equal", "likely"};
    const char *last = name;
    for (const char *p = name; *p; p++)
        if (*p == '.' || *p == '>' || *p == ':')
            last = p + 1;
    for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++)
        if (strncmp(last, begin[i], strlen(begin[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (strstr(last, part[i]))
            return true;
    return false;
}

/* Whether event u reads each element of what it names, as a comprehension does: [line for line in f] */
static bool is_gone_over(const myth_flow *f, const myth_event *u)
{
    uint32_t i = u->off;
    while (i > 0 && isspace((unsigned char)f->text[i - 1]))
        i--;
    return i > 3 && i < u->off && memcmp(f->text + i - 3, " in", 3) == 0;
}

bool myth_facts_is_made_of(const myth_flow *f, uint32_t x, uint32_t path)
{
    const myth_event *at = &f->event[x];
    for (uint32_t i = x, n = 0; i-- > 0 && n < NEAR; n++) {
        const myth_event *u = &f->event[i];
        if (u->off < at->off || u->statement != at->statement)
            return false;
        if ((u->kind == MYTH_EVENT_USE || (u->kind == MYTH_EVENT_DEFINE && u->off > at->off)) && u->path == path &&
            !is_gone_over(f, u))
            return true; /* q = p ? p : r, q = p = f() */
        if (u->kind == MYTH_EVENT_DEREF && u->path == path && u->off > 0 && f->text[u->off - 1] == '&')
            return true; /* q = &p->member */
    }
    return false;
}

myth_file_parameter *myth_file_facts_parameter(const myth_file_facts *ff, const char *name, uint32_t index)
{
    const myth_file_name *n = myth_file_facts_find(ff, name);
    return n && n->first && !n->is_many && index < n->n_parameter ? &ff->parameter[n->first - 1 + index] : NULL;
}

const myth_file_parameter *myth_facts_summary(const myth_facts *k, uint32_t call, uint32_t index)
{
    const myth_event *c = myth_facts_event(k, call);
    if (!k->file || !c->name)
        return NULL;
    return myth_file_facts_parameter(k->file, k->flow->names + c->name, index);
}

/* ---- one function ---- */

static bool is_it(const parameter *p, uint32_t path) { return path && (path == p->path || path == p->alias); }

static void put_hand(myth_file_facts *ff, const myth_flow *f, parameter *p, uint32_t number, const myth_event *call,
                     uint32_t index, bool is_sure)
{
    if (p->n_hand++ >= HANDS) {
        p->is.is_shared = true;
        return;
    }
    if (!MYTH_ARRAY_ROOM(ff->mem, MYTH_MEM_OTHER, "names of a file", &ff->hand, ff->n_hand, &ff->cap_hand)) {
        ff->is_failed = true;
        return;
    }
    ff->hand[ff->n_hand++] =
        (myth_file_hand){number, myth_file_facts_text(ff, f->names + call->name), (uint8_t)index, is_sure};
}

/* Whether what stands in the scope is done whenever the parameter is there. */
static bool is_always(const myth_flow *f, const parameter *p, uint32_t scope)
{
    for (; scope; scope = f->scope[scope].parent) {
        bool is_there = false;
        for (uint32_t i = 0; i < p->n_scope && !is_there; i++)
            is_there = p->scope[i] == scope;
        if (!is_there)
            return false;
    }
    return !p->is_left;
}

/* Whether a scope is one in which the parameter is not there. */
static bool is_gone(const myth_flow *f, uint32_t scope, const parameter *p)
{
    for (uint32_t i = 0; i < p->n_scope; i++)
        if (f->scope[scope].test && f->scope[p->scope[i]].test == f->scope[scope].test && p->scope[i] != scope)
            return true;
    return false;
}

static void on_test(const myth_flow *f, const myth_event *e, parameter *p)
{
    const myth_test *t = &f->test[e->test - 1];
    if (t->is_chain || t->outer || t->is_loop)
        return;
    const uint32_t there = is_for_there(e->how) ? t->then : is_for_gone(e->how) ? t->other : 0;
    if (there && p->n_scope < SCOPES)
        p->scope[p->n_scope++] = there;
}

/* Whether a branch of `if (!p)` leaves. */
static bool leaves_where_gone(const myth_flow *f, uint32_t i, const parameter *p)
{
    const uint32_t scope = f->event[i].scope, test = f->scope[scope].test;
    if (!test || f->scope[scope].parent != 0)
        return false;
    for (uint32_t j = i, n = 0; j-- > 0 && n < NEAR; n++) {
        const myth_event *t = &f->event[j];
        if (t->kind == MYTH_EVENT_TEST && t->test == test && is_it(p, t->path) && is_for_gone(t->how))
            return true;
    }
    return false;
}

static void on_event(myth_file_facts *ff, const myth_flow *f, uint32_t i, parameter *p, uint32_t number)
{
    const myth_event *e = &f->event[i];
    if (p->is_over)
        return;
    const bool is_of_test = e->kind == MYTH_EVENT_USE && e->test && e->path == p->path; /* read by the test behind it */
    if (!p->is_used && !is_of_test && e->path && myth_flow_is_part(f, e->path, p->path)) {
        p->is_used = true;
        p->is.is_asked =
            e->kind == MYTH_EVENT_TEST && e->path == p->path && (is_for_there(e->how) || is_for_gone(e->how));
    }
    switch (e->kind) {
    case MYTH_EVENT_DEFINE:
        if (e->path == p->path && e->value != MYTH_VALUE_OUT) {
            p->is_over = e->scope == 0;
            return;
        }
        if (is_it(p, e->other)) {
            const bool is_local = f->path[e->path].base == 0 && f->path[e->path].type_end > 0;
            if (is_local && e->scope == 0 && !p->alias)
                p->alias = e->path;
            else
                p->is.is_kept = true;
        } else if ((e->value == MYTH_VALUE_UNKNOWN || e->value == MYTH_VALUE_SUM || e->value == MYTH_VALUE_NEW) &&
                   (myth_facts_is_made_of(f, i, p->path) || (p->alias && myth_facts_is_made_of(f, i, p->alias))))
            p->is.is_kept = true;
        return;
    case MYTH_EVENT_FIELD: p->is.is_kept |= is_it(p, e->other); return;
    case MYTH_EVENT_RETURN: p->is.is_kept |= is_it(p, e->path); return;
    case MYTH_EVENT_LEAVE:
        p->is.is_kept |= myth_facts_is_made_of(f, i, p->path);
        p->is_left |= !is_gone(f, e->scope, p) && !leaves_where_gone(f, i, p);
        return;
    case MYTH_EVENT_TEST:
        if (is_it(p, e->path) && e->test)
            on_test(f, e, p);
        return;
    case MYTH_EVENT_CALL:
        if (is_it(p, e->path))
            put_hand(ff, f, p, number, e, UINT8_MAX, is_always(f, p, e->scope));
        return;
    case MYTH_EVENT_ARG: {
        const myth_event *call = &f->event[e->call];
        if (is_it(p, e->path) && !call->name)
            p->is.is_shared = true;
        else if (is_it(p, e->path))
            put_hand(ff, f, p, number, call, e->index, !e->is_through && is_always(f, p, e->scope));
        else if (myth_flow_is_part(f, e->path, p->path) || (p->alias && myth_flow_is_part(f, e->path, p->alias))) {
            const bool is_behind = f->names[f->path[e->path].text] == '*'; /* free(*p) */
            if (is_behind)
                put_hand(ff, f, p, number, call, e->index, false);
            else if (e->is_through && !myth_facts_is_reader(f->names + e->name)) {
                p->is.is_shared = true;
                p->is.is_kept |= myth_facts_takes_over(f->names + e->name); /* a list has it by its member */
            }
        }
        return;
    }
    default: return;
    }
}

void myth_file_facts_parameters(myth_file_facts *ff, const myth_flow *f)
{
    parameter p[MYTH_FACTS_PARAMETERS];
    uint32_t n = 0;
    myth_file_name *name = myth_file_facts_put(ff, f->names + f->name);
    if (!name)
        return;
    if (name->first) {
        name->is_many = true;
        return;
    }
    while (n < MYTH_FACTS_PARAMETERS && n < f->n_event && f->event[n].kind == MYTH_EVENT_DEFINE &&
           f->event[n].value == MYTH_VALUE_PARAMETER) {
        p[n] = (parameter){.path = f->event[n].path};
        n++;
    }
    if (n == 0)
        return;
    if (!MYTH_ARRAY_MORE(ff->mem, MYTH_MEM_OTHER, "names of a file", &ff->parameter, ff->n_parameter, n,
                         &ff->cap_parameter)) {
        ff->is_failed = true;
        return;
    }
    const uint32_t first = ff->n_parameter;
    name->first = 1 + first;
    name->n_parameter = (uint8_t)n;
    for (uint32_t i = n; i < f->n_event && !ff->is_failed; i++)
        for (uint32_t j = 0; j < n; j++)
            on_event(ff, f, i, &p[j], first + j);
    for (uint32_t j = 0; j < n; j++)
        ff->parameter[first + j] = p[j].is;
    ff->n_parameter += n;
}

/* ---- all functions ---- */

static bool put_lists(myth_fact_lists *to, const myth_fact_lists *from)
{
    bool is_new = false;
    for (size_t i = 0; i < sizeof(to->bits) / sizeof(*to->bits); i++) {
        is_new |= (from->bits[i] & ~to->bits[i]) != 0;
        to->bits[i] |= from->bits[i];
    }
    return is_new;
}

/* What is given to a function that the file does not define counts by the function's name. */
static void by_name(const myth_file_facts *ff, const myth_file_hand *h, const myth_fact_lists *lists)
{
    myth_file_parameter *p = &ff->parameter[h->parameter];
    put_lists(&p->may, lists);
    if (h->is_sure)
        put_lists(&p->sure, lists);
    const char *name = ff->names + h->name;
    if (h->index == UINT8_MAX || myth_facts_is_reader(name))
        return;
    p->is_kept |= myth_facts_takes_over(name);
    p->is_shared = true;
}

static bool by_summary(const myth_file_facts *ff, const myth_file_hand *h, const myth_file_parameter *of)
{
    myth_file_parameter *p = &ff->parameter[h->parameter];
    const bool is_kept = p->is_kept, is_shared = p->is_shared;
    bool is_new = put_lists(&p->may, &of->may);
    if (h->is_sure)
        is_new |= put_lists(&p->sure, &of->sure);
    p->is_kept |= of->is_kept;
    p->is_shared |= of->is_shared;
    return is_new || is_kept != p->is_kept || is_shared != p->is_shared;
}

void myth_file_facts_settle(myth_file_facts *ff, myth_fact_lists (*lists_of)(const void *arg, const char *name),
                            const void *arg)
{
    for (uint32_t i = 0; i < ff->n_hand; i++)
        if (!myth_file_facts_parameter(ff, ff->names + ff->hand[i].name, ff->hand[i].index)) {
            const myth_fact_lists lists = lists_of(arg, ff->names + ff->hand[i].name);
            by_name(ff, &ff->hand[i], &lists);
        }
    bool is_new = true;
    for (int round = 0; round < ROUNDS && is_new; round++) {
        is_new = false;
        for (uint32_t i = 0; i < ff->n_hand; i++) {
            const myth_file_parameter *of =
                myth_file_facts_parameter(ff, ff->names + ff->hand[i].name, ff->hand[i].index);
            is_new |= of && by_summary(ff, &ff->hand[i], of);
        }
    }
}
