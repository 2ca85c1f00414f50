/* pushdown.c - sets of stacks, made when they are needed.
 *
 * Node     a place with the node below it: (instruction, turns, below). Node 0 is the empty stack. A node is made after
 *          the one below it, so numbers fall down a stack
 * Turns    of a LOOP, counted from 1, under a turn that is being read; 0 in all other nodes, among them a LOOP that a
 *          rule returns to
 * Set      the nodes at the top of its stacks, in order; their instructions all read a byte or an id. `may_end`: one of
 *          its stacks was empty
 * Step     the instructions of the members that read the byte's class; from behind each, what can be reached without
 *          reading is the next set */
#include "pushdown.h"
#include "gbnf_program.h"

#include "engine/base/table.h"

#include <string.h>

enum {
    ITEMS = 1 << 13,
    UNKNOWN = MYTH_STEP_ASK,
    DEAD = MYTH_STEP_NONE,
    FIRST_SET = MYTH_STEP_FIRST_STATE,
    MEMBERS_OF_ONE = 1 << 12
};

typedef struct {
    uint32_t ins, turns, below;
} node;

typedef struct {
    uint32_t from, n, key; /* members; key: the set whose mask is the same, 0 = not known */
    bool may_end;
} set;

/* A place that is reached without reading a byte. n_new: how many of the topmost places to return to were put there
 * since the last byte. */
typedef struct {
    uint32_t ins, turns, below, n_new;
} item;

typedef struct {
    myth_pushdown *p;
} face;

struct myth_pushdown {
    myth_mem *mem;
    face face;
    const myth_gbnf *g;
    bool is_full;
    uint32_t n_node, n_set, n_member, most_sets, horizon;
    node *node;        /* [NODES] */
    uint32_t *by_node; /* slots */
    set *set;          /* [SETS] */
    uint32_t *by_set;
    uint32_t *member; /* [MEMBERS] */
    uint32_t *cell;   /* [most_sets, n_class]: UNKNOWN, DEAD, or the next set */
    uint32_t *moved;  /* [NODES] where nodes are after settle */
    item *item;       /* [ITEMS] of one step */
    uint32_t *by_item;
    uint32_t n_item;
};

enum { NODE_SLOTS = 2 * MYTH_PUSHDOWN_NODES, SET_SLOTS = 2 * MYTH_PUSHDOWN_SETS, ITEM_SLOTS = 2 * ITEMS };

/* ---- finding what there is ---- */

static uint64_t mix(uint64_t h, uint32_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static bool is_node(const void *of, uint32_t idx, const void *key)
{
    return memcmp(&((const node *)of)[idx], key, sizeof(node)) == 0;
}

/* The node of a place on a stack; 0 and is_full when there is no room. */
static uint32_t get_node(myth_pushdown *p, uint32_t ins, uint32_t turns, uint32_t below)
{
    const node one = {ins, turns, below};
    uint32_t *slot =
        myth_table_find(p->by_node, NODE_SLOTS, mix(mix(mix(1, ins), turns), below), is_node, p->node, &one);
    if (*slot)
        return *slot - 1;
    if (p->n_node == MYTH_PUSHDOWN_NODES) {
        p->is_full = true;
        return 0;
    }
    p->node[p->n_node] = one;
    *slot = ++p->n_node;
    return p->n_node - 1;
}

static bool is_item(const void *of, uint32_t idx, const void *key)
{
    return memcmp(&((const item *)of)[idx], key, sizeof(item)) == 0;
}

static uint32_t *find_item(myth_pushdown *p, const item *i)
{
    const uint64_t hash = mix(mix(mix(mix(2, i->ins), i->turns), i->below), i->n_new);
    return myth_table_find(p->by_item, ITEM_SLOTS, hash, is_item, p->item, i);
}

static void reach(myth_pushdown *p, uint32_t ins, uint32_t turns, uint32_t below, uint32_t n_new)
{
    const item one = {ins, turns, below, n_new};
    uint32_t *slot = find_item(p, &one);
    if (*slot)
        return;
    if (p->n_item == ITEMS) {
        p->is_full = true;
        return;
    }
    p->item[p->n_item] = one;
    *slot = ++p->n_item;
}

/* Empties the table of items, one by one. Those that were found past another's slot lie in a run of used slots. */
static void forget_items(myth_pushdown *p)
{
    if (p->n_item > ITEMS / 16) {
        memset(p->by_item, 0, ITEM_SLOTS * sizeof(*p->by_item));
    } else {
        for (uint32_t i = p->n_item; i-- > 0;) /* the last first, so that each is still found */
            *find_item(p, &p->item[i]) = 0;
    }
    p->n_item = 0;
}

typedef struct {
    const myth_pushdown *p;
    const uint32_t *member;
    uint32_t n;
    bool may_end;
} set_key;

static bool is_set(const void *of, uint32_t idx, const void *key)
{
    const myth_pushdown *p = of;
    const set_key *k = key;
    const set *s = &p->set[idx];
    return s->n == k->n && s->may_end == k->may_end &&
           memcmp(p->member + s->from, k->member, k->n * sizeof(uint32_t)) == 0;
}

/* The set of the n members that stand behind those of the last set; DEAD when there are none and the text may not end,
 * or when there is no room. */
static uint32_t get_set(myth_pushdown *p, uint32_t n, bool may_end)
{
    const set_key key = {p, p->member + p->n_member, n, may_end};
    uint64_t hash = mix(3, may_end);
    if (p->is_full || (n == 0 && !may_end))
        return DEAD;
    for (uint32_t i = 0; i < n; i++)
        hash = mix(hash, key.member[i]);
    uint32_t *slot = myth_table_find(p->by_set, SET_SLOTS, hash, is_set, p, &key);
    if (*slot)
        return *slot - 1;
    if (p->n_set == p->most_sets) {
        p->is_full = true;
        return DEAD;
    }
    p->set[p->n_set] = (set){.from = p->n_member, .n = n, .may_end = may_end};
    memset(p->cell + (size_t)p->n_set * p->g->n_class, 0, p->g->n_class * sizeof(*p->cell));
    p->n_member += n;
    *slot = ++p->n_set;
    return p->n_set - 1;
}

/* ---- steps ---- */

/* Puts a node among the n that stand behind the last set's, in order. */
static uint32_t put_member(myth_pushdown *p, uint32_t n, uint32_t value)
{
    uint32_t *m = p->member + p->n_member, at = n;
    if (p->is_full)
        return n;
    if (n == MEMBERS_OF_ONE || p->n_member + n == MYTH_PUSHDOWN_MEMBERS) {
        p->is_full = true;
        return n;
    }
    while (at && m[at - 1] > value)
        at--;
    if (at && m[at - 1] == value)
        return n;
    memmove(m + at + 1, m + at, (n - at) * sizeof(*m));
    m[at] = value;
    return n + 1;
}

static void reach_loop(myth_pushdown *p, const item *i)
{
    const myth_gbnf_ins *ins = &p->g->ins[i->ins];
    const myth_gbnf_loop *loop = &p->g->loop[ins->idx];
    if (i->turns < loop->max) {
        uint32_t turns = i->turns + 1;
        if (loop->max == MYTH_GBNF_NO_MAX && turns > loop->min)
            turns = loop->min ? loop->min : 1; /* from there on turns are not counted */
        reach(p, ins->other, 0, get_node(p, i->ins, turns, i->below), i->n_new + 1);
    }
    if (i->turns >= loop->min)
        reach(p, ins->next, 0, i->below, i->n_new);
}

/* The set of what can be reached from the items without reading a byte. may_end: its text may end in any case. */
static uint32_t close_set(myth_pushdown *p, bool may_end)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n_item && !p->is_full; k++) {
        const item i = p->item[k];
        const myth_gbnf_ins *ins = &p->g->ins[i.ins];
        const node *top = &p->node[i.below];
        switch ((myth_gbnf_op)ins->op) {
        case MYTH_GBNF_BYTE:
        case MYTH_GBNF_SET:
        case MYTH_GBNF_TOKEN: n = put_member(p, n, get_node(p, i.ins, 0, i.below)); break;
        case MYTH_GBNF_JOIN: reach(p, ins->next, 0, i.below, i.n_new); break;
        case MYTH_GBNF_SPLIT:
            reach(p, ins->next, 0, i.below, i.n_new);
            reach(p, ins->other, 0, i.below, i.n_new);
            break;
        case MYTH_GBNF_CALL:
            if (p->g->ins[ins->next].op == MYTH_GBNF_RET)
                reach(p, ins->other, 0, i.below, i.n_new);
            else
                reach(p, ins->other, 0, get_node(p, ins->next, 0, i.below), i.n_new + 1);
            break;
        case MYTH_GBNF_LOOP: reach_loop(p, &i); break;
        case MYTH_GBNF_RET:
            if (i.below == 0)
                may_end = true;
            else if (!i.n_new || !top->turns) /* an empty turn leads nowhere new */
                reach(p, top->ins, top->turns, top->below, i.n_new ? i.n_new - 1 : 0);
            break;
        }
    }
    forget_items(p);
    return get_set(p, n, may_end);
}

static uint32_t first_set(myth_pushdown *p)
{
    reach(p, p->g->start, 0, 0, 0);
    return close_set(p, false);
}

static bool reads(const myth_gbnf *g, const myth_gbnf_ins *ins, uint8_t byte)
{
    switch ((myth_gbnf_op)ins->op) {
    case MYTH_GBNF_BYTE: return ins->byte == byte;
    case MYTH_GBNF_SET: return g->set[ins->idx].bit[byte >> 5] >> (byte & 31) & 1;
    default: return false;
    }
}

static uint32_t next_set(myth_pushdown *p, uint32_t from, uint32_t cls)
{
    const set *s = &p->set[from];
    const uint8_t byte = p->g->byte_of[cls];
    for (uint32_t i = 0; i < s->n; i++) {
        const node *top = &p->node[p->member[s->from + i]];
        if (reads(p->g, &p->g->ins[top->ins], byte))
            reach(p, p->g->ins[top->ins].next, 0, top->below, 0);
    }
    return close_set(p, false);
}

/* ---- ids ---- */

static const myth_gbnf_ins *member_ins(const myth_pushdown *p, uint32_t of, uint32_t i)
{
    return &p->g->ins[p->node[p->member[p->set[of].from + i]].ins];
}

static bool takes(const myth_gbnf_ins *ins, uint32_t id, bool by_name)
{
    return ins->op == MYTH_GBNF_TOKEN && (ins->byte ? !by_name && ins->other != id : ins->other == id);
}

static void mark_ids(const myth_pushdown *p, uint32_t of, uint32_t n_id, uint32_t *mask)
{
    for (uint32_t i = 0; i < p->set[of].n; i++) {
        const myth_gbnf_ins *ins = member_ins(p, of, i);
        const bool was = ins->other < n_id && mask[ins->other / 32] >> (ins->other % 32) & 1;
        if (ins->op != MYTH_GBNF_TOKEN)
            continue;
        if (!ins->byte && ins->other < n_id)
            mask[ins->other / 32] |= 1u << (ins->other % 32);
        if (!ins->byte)
            continue;
        memset(mask, 0xff, n_id / 32 * sizeof(*mask));
        if (n_id % 32)
            mask[n_id / 32] |= (1u << (n_id % 32)) - 1;
        if (ins->other < n_id && !was)
            mask[ins->other / 32] &= ~(1u << (ins->other % 32));
    }
}

/* ---- forgetting ---- */

static void clear(myth_pushdown *p)
{
    memset(p->by_node, 0, NODE_SLOTS * sizeof(*p->by_node));
    memset(p->by_set, 0, SET_SLOTS * sizeof(*p->by_set));
    p->node[0] = (node){UINT32_MAX, 0, 0};
    p->n_node = 1;
    p->n_set = FIRST_SET;
    p->n_member = 0;
}

/* Forgets all but one set and its stacks; returns its new number. */
static uint32_t keep_one(myth_pushdown *p, uint32_t only)
{
    const set s = p->set[only];
    const uint32_t n_node = p->n_node;
    memset(p->moved, 0, n_node * sizeof(*p->moved));
    memmove(p->member, p->member + s.from, s.n * sizeof(*p->member));
    for (uint32_t i = 0; i < s.n; i++)
        for (uint32_t at = p->member[i]; at && !p->moved[at]; at = p->node[at].below)
            p->moved[at] = 1;
    clear(p);
    for (uint32_t at = 1; at < n_node; at++) /* a node's new number is at most its old one, and known to those above */
        if (p->moved[at]) {
            const node one = p->node[at];
            p->moved[at] = get_node(p, one.ins, one.turns, p->moved[one.below]);
        }
    for (uint32_t i = 0; i < s.n; i++)
        p->member[i] = p->moved[p->member[i]];
    return get_set(p, s.n, s.may_end);
}

/* ---- keys ---- */

/* Turns that allow the same for the next `horizon` bytes. */
static uint32_t like(const myth_gbnf_loop *loop, uint32_t turns, uint32_t horizon)
{
    if (turns < loop->min)
        return loop->min - turns > horizon ? 1 : turns;
    if (loop->max == MYTH_GBNF_NO_MAX || loop->max - turns <= horizon)
        return turns;
    return loop->min ? loop->min : 1;
}

/* The node with the turns of all its loops made alike; moved[] holds those that are known. */
static uint32_t like_node(myth_pushdown *p, uint32_t at)
{
    uint32_t n = 0, *way = p->moved; /* the stack, from the top */
    for (; at; at = p->node[at].below)
        way[n++] = at;
    uint32_t below = 0;
    while (n-- > 0) {
        const node one = p->node[way[n]];
        const uint32_t turns = one.turns ? like(&p->g->loop[p->g->ins[one.ins].idx], one.turns, p->horizon) : 0;
        below = get_node(p, one.ins, turns, below);
    }
    return below;
}

static uint32_t key_of(myth_pushdown *p, uint32_t id)
{
    const set s = p->set[id];
    uint32_t n = 0;
    if (p->n_node > MYTH_PUSHDOWN_NODES / 4 * 3 || p->n_member > MYTH_PUSHDOWN_MEMBERS / 4 * 3 ||
        p->n_set > p->most_sets / 4 * 3)
        return id; /* a key saves work, so it must not be what fills the memory */
    for (uint32_t i = 0; i < s.n; i++)
        n = put_member(p, n, like_node(p, p->member[s.from + i]));
    const uint32_t found = get_set(p, n, s.may_end);
    if (!p->is_full)
        return found;
    p->is_full = false;
    return id;
}

/* ---- the automaton ---- */

static myth_pushdown *pushdown_of(const void *self) { return ((const face *)self)->p; }

static void start(const void *self, void *state)
{
    myth_pushdown *p = pushdown_of(self);
    clear(p);
    p->is_full = false;
    *(uint32_t *)state = first_set(p);
}

static bool step(const void *self, void *state, uint8_t byte)
{
    myth_pushdown *p = pushdown_of(self);
    uint32_t *at = state;
    const uint32_t cls = p->g->class_of[byte];
    if (p->is_full || *at == DEAD)
        return false;
    const size_t cell = (size_t)*at * p->g->n_class + cls;
    if (p->cell[cell] == UNKNOWN)
        p->cell[cell] = next_set(p, *at, cls);
    *at = p->cell[cell];
    return *at != DEAD && !p->is_full;
}

static bool may_end(const void *self, const void *state)
{
    const myth_pushdown *p = pushdown_of(self);
    const uint32_t at = *(const uint32_t *)state;
    return !p->is_full && at != DEAD && p->set[at].may_end;
}

static void key(const void *self, const void *state, uint32_t horizon, void *out)
{
    myth_pushdown *p = pushdown_of(self);
    const uint32_t at = *(const uint32_t *)state;
    p->horizon = horizon;
    if (at != DEAD && !p->is_full && !p->set[at].key) {
        const uint32_t found = key_of(p, at);
        p->set[at].key = found;
    }
    *(uint32_t *)out = at == DEAD || p->is_full ? DEAD : p->set[at].key;
}

static bool settle(const void *self, void *state)
{
    myth_pushdown *p = pushdown_of(self);
    uint32_t *at = state;
    if (p->is_full || *at == DEAD ||
        (p->n_node <= MYTH_PUSHDOWN_NODES / 2 && p->n_set <= p->most_sets / 2 &&
         p->n_member <= MYTH_PUSHDOWN_MEMBERS / 2))
        return false;
    *at = keep_one(p, *at);
    return true;
}

static bool take_id(const void *self, const void *state, int32_t id, bool by_name, bool has_next, void *next)
{
    myth_pushdown *p = pushdown_of(self);
    const uint32_t at = *(const uint32_t *)state;
    uint32_t *to = next;
    bool is_one = false;
    if (p->is_full || at == DEAD)
        return false;
    for (uint32_t i = 0; i < p->set[at].n; i++) {
        const node *top = &p->node[p->member[p->set[at].from + i]];
        if (!takes(&p->g->ins[top->ins], (uint32_t)id, by_name))
            continue;
        is_one = true;
        if (to)
            reach(p, p->g->ins[top->ins].next, 0, top->below, 0);
    }
    if (!is_one || !to)
        return is_one;
    for (uint32_t i = 0; has_next && i < p->set[*to].n; i++) {
        const node *top = &p->node[p->member[p->set[*to].from + i]];
        reach(p, top->ins, 0, top->below, 0);
    }
    *to = close_set(p, has_next && p->set[*to].may_end);
    return *to != DEAD && !p->is_full;
}

static void mark(const void *self, const void *state, uint32_t n_id, uint32_t *mask)
{
    const myth_pushdown *p = pushdown_of(self);
    const uint32_t at = *(const uint32_t *)state;
    if (!p->is_full && at != DEAD)
        mark_ids(p, at, n_id, mask);
}

void myth_pushdown_use(myth_pushdown *p, const myth_gbnf *g, myth_automaton *out)
{
    p->g = g;
    p->most_sets = MYTH_PUSHDOWN_CELLS / g->n_class;
    if (p->most_sets > MYTH_PUSHDOWN_SETS)
        p->most_sets = MYTH_PUSHDOWN_SETS;
    *out = (myth_automaton){
        .self = &p->face,
        .state_bytes = sizeof(uint32_t),
        .start = start,
        .step = step,
        .may_end = may_end,
        .key = key,
        .settle = settle,
        .table = {p->cell, g->class_of, g->n_class},
        .take = g->has_tokens ? take_id : NULL,
        .mark = g->has_tokens ? mark : NULL,
    };
}

bool myth_pushdown_is_full(const myth_pushdown *p) { return p->is_full; }

/* ---- life ---- */

uint64_t myth_pushdown_bytes(void)
{
    return sizeof(myth_pushdown) + (uint64_t)MYTH_PUSHDOWN_NODES * (sizeof(node) + sizeof(uint32_t)) +
           (uint64_t)MYTH_PUSHDOWN_SETS * sizeof(set) + (uint64_t)ITEMS * sizeof(item) +
           sizeof(uint32_t) *
               ((uint64_t)NODE_SLOTS + SET_SLOTS + ITEM_SLOTS + MYTH_PUSHDOWN_MEMBERS + MYTH_PUSHDOWN_CELLS);
}

static void *take(myth_pushdown *p, size_t n, size_t size, bool *is_short)
{
    void *got = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "grammar states", n, size);
    *is_short |= !got;
    return got;
}

myth_status myth_pushdown_open(myth_pushdown **out, myth_mem *mem, myth_error *err)
{
    bool is_short = false;
    myth_pushdown *p = myth_alloc(mem, MYTH_MEM_OTHER, "grammar states", sizeof(*p));
    *out = NULL;
    if (p) {
        p->mem = mem;
        p->face.p = p;
        p->node = take(p, MYTH_PUSHDOWN_NODES, sizeof(*p->node), &is_short);
        p->by_node = take(p, NODE_SLOTS, sizeof(*p->by_node), &is_short);
        p->set = take(p, MYTH_PUSHDOWN_SETS, sizeof(*p->set), &is_short);
        p->by_set = take(p, SET_SLOTS, sizeof(*p->by_set), &is_short);
        p->member = take(p, MYTH_PUSHDOWN_MEMBERS, sizeof(*p->member), &is_short);
        p->cell = take(p, MYTH_PUSHDOWN_CELLS, sizeof(*p->cell), &is_short);
        p->moved = take(p, MYTH_PUSHDOWN_NODES, sizeof(*p->moved), &is_short);
        p->item = take(p, ITEMS, sizeof(*p->item), &is_short);
        p->by_item = take(p, ITEM_SLOTS, sizeof(*p->by_item), &is_short);
    }
    if (!p || is_short) {
        myth_pushdown_close(p);
        return myth_fail(err, MYTH_ENOMEM, "a grammar's states: %llu bytes", (unsigned long long)myth_pushdown_bytes());
    }
    *out = p;
    return MYTH_OK;
}

void myth_pushdown_close(myth_pushdown *p)
{
    if (!p)
        return;
    myth_mem *mem = p->mem;
    myth_free(mem, p->by_item);
    myth_free(mem, p->item);
    myth_free(mem, p->moved);
    myth_free(mem, p->cell);
    myth_free(mem, p->member);
    myth_free(mem, p->by_set);
    myth_free(mem, p->set);
    myth_free(mem, p->by_node);
    myth_free(mem, p->node);
    myth_free(mem, p);
}
