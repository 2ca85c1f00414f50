/* parting.c - see parting.h. The last common commits are the common ones that are no parent of a common one: what leads
 * from one common commit to another are common commits. */
#include "parting.h"
#include "engine/base/array.h"
#include "engine/base/table.h"

enum { OF_A = 1, OF_B = 2, OF_BOTH = 3 };

typedef struct {
    git_oid id;
    int64_t time_s;
    uint8_t of;     /* the sides that have it; 0 = it is not there */
    bool is_before; /* a common commit has it as a parent */
} node;

typedef struct {
    myth_mem *mem;
    git_repository *repo;
    node *node; /* [n], each once */
    uint32_t n, cap;
    uint32_t *slot; /* of node */
    uint32_t n_slot;
    uint32_t *todo; /* [n_todo] nodes that are still to be visited */
    uint32_t n_todo, cap_todo;
} walk;

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "git: no memory for a history"); }

static bool is_node(const void *of, uint32_t idx, const void *id)
{
    return git_oid_cmp(&((const node *)of)[idx].id, id) == 0;
}

static uint32_t *slot_of(const walk *w, const git_oid *id)
{
    return myth_table_find(w->slot, w->n_slot, myth_hash_bytes(id, sizeof(*id)), is_node, w->node, id);
}

static bool grow_table(walk *w)
{
    if (w->n_slot >= 2 * (w->n + 1))
        return true;
    myth_free(w->mem, w->slot);
    w->n_slot = myth_table_slots(2 * (w->n + 1));
    w->slot = myth_alloc_n(w->mem, MYTH_MEM_OTHER, "history", w->n_slot, sizeof(*w->slot));
    for (uint32_t i = 0; w->slot && i < w->n; i++)
        *slot_of(w, &w->node[i].id) = i + 1;
    return w->slot != NULL;
}

/* Puts a commit on the list of those to visit. */
static bool put(walk *w, const git_oid *id)
{
    if (!grow_table(w) || !MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "history", &w->node, w->n, &w->cap) ||
        !MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "history", &w->todo, w->n_todo, &w->cap_todo))
        return false;
    uint32_t *slot = slot_of(w, id);
    if (!*slot) {
        w->node[w->n] = (node){.id = *id};
        *slot = ++w->n;
    }
    w->todo[w->n_todo++] = *slot - 1;
    return true;
}

/* Visits a commit for a side: its parents come next. One that is not there is the end of the history. */
static myth_status visit(walk *w, uint32_t at, uint8_t of, myth_error *err)
{
    git_commit *c = NULL;
    myth_status st = MYTH_OK;
    if (w->node[at].of & of)
        return MYTH_OK;
    const int rc = git_commit_lookup(&c, w->repo, &w->node[at].id);
    if (rc == GIT_ENOTFOUND)
        return MYTH_OK;
    if (rc != 0)
        return myth_fail(err, MYTH_EIO, "git: history: %.160s", myth_git_says());
    w->node[at].of |= of;
    w->node[at].time_s = git_commit_time(c);
    for (unsigned i = 0; i < git_commit_parentcount(c) && st == MYTH_OK; i++)
        st = put(w, git_commit_parent_id(c, i)) ? MYTH_OK : no_memory(err);
    git_commit_free(c);
    return st;
}

static myth_status reach(walk *w, const git_oid *from, uint8_t of, myth_error *err)
{
    myth_status st = put(w, from) ? MYTH_OK : no_memory(err);
    while (w->n_todo && st == MYTH_OK)
        st = visit(w, w->todo[--w->n_todo], of, err);
    return st;
}

/* Marks the parents of common commits; NULL: nothing is common. */
static const node *last_common(const walk *w)
{
    const node *best = NULL;
    for (uint32_t i = 0; i < w->n; i++) {
        git_commit *c = NULL;
        if (w->node[i].of != OF_BOTH || git_commit_lookup(&c, w->repo, &w->node[i].id) != 0)
            continue;
        for (unsigned k = 0; k < git_commit_parentcount(c); k++)
            w->node[*slot_of(w, git_commit_parent_id(c, k)) - 1].is_before = true;
        git_commit_free(c);
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const node *x = &w->node[i];
        if (x->of == OF_BOTH && !x->is_before && (!best || x->time_s > best->time_s))
            best = x;
    }
    return best;
}

static myth_status walk_both(git_oid *out, myth_mem *mem, git_repository *repo, const git_oid *a, const git_oid *b,
                             myth_error *err)
{
    walk w = {.mem = mem, .repo = repo};
    const node *best = NULL;
    myth_status st = reach(&w, a, OF_A, err);
    if (st == MYTH_OK)
        st = reach(&w, b, OF_B, err);
    if (st == MYTH_OK && !(best = last_common(&w)))
        st = myth_fail(err, MYTH_ENOTFOUND, "the commits that are here have none in common");
    if (best)
        *out = best->id;
    myth_free(mem, w.todo);
    myth_free(mem, w.slot);
    myth_free(mem, w.node);
    return st;
}

myth_status myth_parting(git_oid *out, bool *is_cut, myth_mem *mem, git_repository *repo, const git_oid *a,
                         const git_oid *b, myth_error *err)
{
    *is_cut = git_repository_is_shallow(repo) == 1;
    if (*is_cut)
        return walk_both(out, mem, repo, a, b, err);
    const int rc = git_merge_base(out, repo, a, b);
    return rc == 0             ? MYTH_OK
         : rc == GIT_ENOTFOUND ? myth_fail(err, MYTH_ENOTFOUND, "the two have no commit in common")
                               : myth_fail(err, MYTH_EIO, "git: merge base: %.160s", myth_git_says());
}
