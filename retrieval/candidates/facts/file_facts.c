/* file_facts.c - what the functions of a file do with each other's results and fields (facts.h), and calls whose
 * arguments have the names of other parameters. */
#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/array.h"
#include "engine/base/table.h"

#include <stdio.h>
#include <string.h>

static bool is_name(const void *of, uint32_t i, const void *key)
{
    const myth_file_facts *ff = of;
    return ff->name[i].hash == *(const uint64_t *)key;
}

const myth_file_name *myth_file_facts_find(const myth_file_facts *ff, const char *text)
{
    const uint64_t hash = myth_hash_bytes(text, strlen(text));
    if (ff->n_slot == 0)
        return NULL;
    const uint32_t at = *myth_table_find(ff->slot, ff->n_slot, hash, is_name, ff, &hash);
    return at ? &ff->name[at - 1] : NULL;
}

myth_file_name *myth_file_facts_put(myth_file_facts *ff, const char *text)
{
    const uint64_t hash = myth_hash_bytes(text, strlen(text));
    if (ff->is_failed)
        return NULL;
    if (2 * ff->n_name >= ff->n_slot) {
        const uint32_t n_slot = ff->n_slot ? 2 * ff->n_slot : 256;
        uint32_t *slot = myth_alloc_n(ff->mem, MYTH_MEM_OTHER, "names of a file", n_slot, sizeof(*slot));
        if (!slot) {
            ff->is_failed = true;
            return NULL;
        }
        myth_free(ff->mem, ff->slot);
        ff->slot = slot;
        ff->n_slot = n_slot;
        for (uint32_t i = 0; i < ff->n_name; i++)
            *myth_table_find(slot, n_slot, ff->name[i].hash, is_name, ff, &ff->name[i].hash) = i + 1;
    }
    uint32_t *slot = myth_table_find(ff->slot, ff->n_slot, hash, is_name, ff, &hash);
    if (*slot)
        return &ff->name[*slot - 1];
    if (!MYTH_ARRAY_ROOM(ff->mem, MYTH_MEM_OTHER, "names of a file", &ff->name, ff->n_name, &ff->cap_name)) {
        ff->is_failed = true;
        return NULL;
    }
    ff->name[ff->n_name] = (myth_file_name){.hash = hash};
    *slot = ff->n_name + 1;
    return &ff->name[ff->n_name++];
}

uint32_t myth_file_facts_text(myth_file_facts *ff, const char *text)
{
    const uint32_t at = ff->n_names, n = (uint32_t)strlen(text) + 1;
    if (!MYTH_ARRAY_MORE(ff->mem, MYTH_MEM_OTHER, "names of a file", &ff->names, at, n + 1, &ff->cap_names)) {
        ff->is_failed = true;
        return 0;
    }
    memcpy(ff->names + at, text, n);
    ff->n_names += n;
    return at;
}

void myth_file_facts_close(myth_file_facts *ff)
{
    myth_free(ff->mem, ff->name);
    myth_free(ff->mem, ff->slot);
    myth_free(ff->mem, ff->names);
    myth_free(ff->mem, ff->parameter);
    myth_free(ff->mem, ff->hand);
    *ff = (myth_file_facts){.mem = ff->mem};
}

/* A field's name among the names of functions: with a dot before it. */
void myth_file_facts_field(char dst[MYTH_FLOW_PATH_BYTES + 2], const myth_flow *f, uint32_t path)
{
    const myth_path *p = &f->path[path];
    snprintf(dst, MYTH_FLOW_PATH_BYTES + 2, ".%.*s", (int)(p->n - (p->last - p->text)), f->names + p->last);
}

/* Whether two lists of names, which end with an empty one, are the same. */
static bool is_same_list(const char *a, const char *b)
{
    while (*a && strcmp(a, b) == 0) {
        a += strlen(a) + 1;
        b += strlen(b) + 1;
    }
    return *a == '\0' && *b == '\0';
}

/* Whether the presence of what a definition gives is the first that is asked of it. */
static bool is_asked_first(const myth_flow *f, uint32_t d)
{
    for (uint32_t i = d + 1; i < f->n_event && i < d + 64; i++) {
        const myth_event *x = &f->event[i];
        const bool is_side = x->kind == MYTH_EVENT_USE && x->test; /* of the comparison whose event follows */
        if (x->path && !is_side && myth_flow_is_part(f, x->path, f->event[d].path))
            return x->kind == MYTH_EVENT_TEST && x->path == f->event[d].path &&
                   (is_for_there(x->how) || is_for_gone(x->how));
    }
    return false;
}

/* Whether a call takes memory that may be missing, by its name: no xmalloc(), which ends the process. */
static bool takes_memory(const char *name)
{
    static const char *const takes[] = {"alloc", "Alloc", "ALLOC", "strdup", "strndup", "_dup"};
    static const char *const never_fails[] = {"must", "safe", "die", "NoAlloc", "dealloc", "abort"};
    const char *last = myth_flow_last_word(name);
    return last[0] != 'x' && myth_flow_has_one_of(last, takes, N_OF(takes)) &&
           !myth_flow_has_one_of(last, never_fails, N_OF(never_fails));
}

/* Whether what definition d is stands in the argument of a call: CHECK(p = f()). */
static bool is_in_argument(const myth_flow *f, uint32_t d)
{
    uint32_t at = f->event[d].off;
    while (at > 0 && at <= f->n_text && (f->text[at - 1] == '*' || f->text[at - 1] <= ' '))
        at--;
    return at > 0 && at <= f->n_text && (f->text[at - 1] == '(' || f->text[at - 1] == ',');
}

void myth_file_facts_add(myth_file_facts *ff, const myth_flow *f)
{
    char key[MYTH_FLOW_PATH_BYTES + 2];
    uint32_t unused, d;
    if (f->is_file) {
        myth_file_facts_tests(ff, f);
        myth_file_facts_releasing(ff, f);
        myth_file_facts_closers(ff, f);
        myth_file_facts_ending(ff, f);
    }
    if (f->name && !f->is_file) { /* its parameters, for calls with arguments in the wrong places */
        myth_file_name *n = myth_file_facts_put(ff, f->names + f->name);
        const uint32_t at = ff->n_names;
        for (uint32_t i = 0;
             n && i < f->n_event && f->event[i].value == MYTH_VALUE_PARAMETER && f->event[i].kind == MYTH_EVENT_DEFINE;
             i++) {
            myth_file_facts_text(ff, f->names + f->path[f->event[i].path].text);
            if (ff->is_failed)
                return;
        }
        if (n && ff->n_names > at) {
            ff->names[ff->n_names++] = '\0';
            n->is_ambiguous |= n->parameters && !is_same_list(ff->names + n->parameters - 1, ff->names + at);
            n->parameters = 1 + at;
        }
        myth_file_facts_parameters(ff, f);
        myth_file_facts_keepers(ff, f);
    }
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *e = &f->event[i];
        if (e->kind == MYTH_EVENT_CALL && e->name) {
            myth_file_name *n = myth_file_facts_put(ff, f->names + e->name);
            if (!n)
                return;
            const bool is_kept = !e->is_dropped && myth_facts_taker(f, i, &d);
            const bool is_tested = e->test || (is_kept && myth_facts_checked(f, d, &unused) == MYTH_CHECKED_TESTED);
            n->n_kept += is_kept;
            n->n_asked += is_kept && is_asked_first(f, d);
            n->n_tested += is_tested;
            if (is_kept && f->roles->has_alternatives && takes_memory(f->names + e->name)) {
                ff->n_memory++;
                ff->n_memory_asked += is_tested || is_in_argument(f, d);
            }
            n->n_used += !is_tested;
            myth_file_facts_ended(ff, f, i);
        }
        if (f->is_file && e->kind == MYTH_EVENT_DEFINE && e->value == MYTH_VALUE_IMPORT) {
            myth_file_name *n = myth_file_facts_put(ff, f->names + f->path[e->path].text);
            if (!n)
                return;
            n->is_imported = true;
        }
        const bool is_field = e->path && f->path[e->path].base != 0;
        if (is_field && (e->kind == MYTH_EVENT_TEST || e->kind == MYTH_EVENT_DEREF)) {
            myth_file_facts_field(key, f, e->path);
            myth_file_name *n = myth_file_facts_put(ff, key);
            if (!n)
                return;
            n->n_tested += e->kind == MYTH_EVENT_TEST && (is_for_there(e->how) || is_for_gone(e->how));
            n->n_used += e->kind == MYTH_EVENT_DEREF;
        }
    }
}

static const char *parameter_at(const myth_file_facts *ff, const myth_file_name *n, uint32_t i)
{
    const char *p = ff->names + n->parameters - 1;
    for (; *p && i > 0; i--)
        p += strlen(p) + 1;
    return *p ? p : NULL;
}

/* The name of a function of this file without what it is a method of, when that is the object itself. */
static const char *own_name(const char *name, bool *is_method)
{
    static const char *const self[] = {"self.", "this.", "this->", "cls."};
    for (size_t i = 0; i < sizeof(self) / sizeof(*self); i++)
        if (strncmp(name, self[i], strlen(self[i])) == 0) {
            *is_method = true;
            return name + strlen(self[i]);
        }
    *is_method = false;
    return name;
}

/* Whether an argument is given by its name, in whatever place. */
static bool is_named(const myth_flow *f, const myth_event *a)
{
    const TSNode parent = ts_node_parent(a->node);
    return !ts_node_is_null(parent) && myth_roles_of(f->roles, parent) == MYTH_ROLE_KEYWORD;
}

/* Whether the function calls the same with the arguments the other way round, too: then both orders are meant. */
static bool is_both_ways(const myth_flow *f, uint32_t call, uint32_t i, uint32_t pi, uint32_t j, uint32_t pj)
{
    for (uint32_t c = 0; c < f->n_event; c++) {
        bool has_i = false, has_j = false;
        const myth_event *o = &f->event[c];
        if (c == call || o->kind != MYTH_EVENT_CALL || strcmp(f->names + o->name, f->names + f->event[call].name) != 0)
            continue;
        for (uint32_t a = c + 1; a < f->n_event && a < c + 64 && f->event[a].off < o->end; a++) {
            const myth_event *x = &f->event[a];
            has_i |= x->kind == MYTH_EVENT_ARG && x->call == c && x->index == j && x->path == pi;
            has_j |= x->kind == MYTH_EVENT_ARG && x->call == c && x->index == i && x->path == pj;
        }
        if (has_i && has_j)
            return true;
    }
    return false;
}

static void find_swapped(const myth_file_facts *ff, myth_flow *f, uint32_t call)
{
    enum { MOST = 8 };
    const char *arg[MOST] = {0};
    uint32_t at[MOST] = {0}, n_arg = 0;
    const myth_event *c = &f->event[call];
    bool is_method;
    const myth_file_name *n = myth_file_facts_find(ff, own_name(f->names + c->name, &is_method));
    if (!n || !n->parameters || n->is_ambiguous)
        return;
    const char *first = parameter_at(ff, n, 0);
    const bool has_self = first && (strcmp(first, "self") == 0 || strcmp(first, "cls") == 0);
    if (has_self != is_method && (has_self || (first && strncmp(f->names + c->name, "this", 4) != 0)))
        return;
    for (uint32_t i = call + 1; i < f->n_event && i < call + 64 && f->event[i].off < c->end; i++) {
        const myth_event *a = &f->event[i];
        if (a->kind == MYTH_EVENT_ARG && a->call == call && a->index < MOST && !is_named(f, a)) {
            arg[a->index] = f->names + f->path[a->path].last;
            at[a->index] = i;
            n_arg = a->index + 1u > n_arg ? a->index + 1u : n_arg;
        }
    }
    for (uint32_t i = 0; i < n_arg; i++)
        for (uint32_t j = i + 1; j < n_arg; j++) {
            const char *pi = parameter_at(ff, n, i + has_self), *pj = parameter_at(ff, n, j + has_self);
            if (!arg[i] || !arg[j] || !pi || !pj || strcmp(pi, pj) == 0)
                continue;
            const bool is_first = strcmp(arg[i], pj) == 0, is_second = strcmp(arg[j], pi) == 0;
            if ((is_first || is_second) && strcmp(arg[i], pi) != 0 && strcmp(arg[j], pj) != 0) {
                if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "events of a flow", &f->event, f->n_event, &f->cap_event))
                    return;
                myth_event e = f->event[at[is_first ? i : j]];
                const bool is_short = strlen(arg[i]) == 1 && strlen(arg[j]) == 1; /* less(b, a) means it */
                e.how = is_first && is_second && !is_short &&
                        !is_both_ways(f, call, i, f->event[at[i]].path, j, f->event[at[j]].path);
                e.kind = MYTH_EVENT_SWAPPED;
                e.name = f->event[call].name;
                f->event[f->n_event++] = e;
                return;
            }
        }
}

void myth_facts_swapped(const myth_file_facts *ff, myth_flow *f)
{
    const uint32_t n = f->n_event;
    for (uint32_t i = 0; i < n; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && f->event[i].name)
            find_swapped(ff, f, i);
}
