/* gbnf_check.c - whether a program can be run: no rule calls itself before it has read a byte, and whatever has begun
 * can be finished. */
#include "gbnf_program.h"

#include "engine/base/array.h"

#define NONE UINT32_MAX

typedef struct {
    uint32_t from, to; /* rules; to NONE = taken away */
} edge;

typedef struct {
    myth_gbnf *g;
    myth_gbnf_rule *rule;
    uint32_t n_rule;
    bool *is_empty, *has_end; /* [n_ins] a RET can be reached without a byte; at all */
    bool *is_seen;            /* [n_ins] */
    uint32_t *todo, n_todo;   /* [n_ins] */
    edge *edge;               /* calls before a byte */
    size_t n_edge, cap_edge;
} checker;

/* From which instructions a RET is reached: with_bytes, or without reading one. */
static void spread(const checker *c, bool *from, bool with_bytes)
{
    const myth_gbnf *g = c->g;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t i = g->n_ins; i-- > 0;) {
            const myth_gbnf_ins *ins = &g->ins[i];
            bool is = false;
            switch ((myth_gbnf_op)ins->op) {
            case MYTH_GBNF_RET: is = true; break;
            case MYTH_GBNF_JOIN: is = from[ins->next]; break;
            case MYTH_GBNF_BYTE:
            case MYTH_GBNF_SET:
            case MYTH_GBNF_TOKEN: is = with_bytes && from[ins->next]; break;
            case MYTH_GBNF_SPLIT: is = from[ins->next] || from[ins->other]; break;
            case MYTH_GBNF_CALL: is = from[c->rule[ins->other].start] && from[ins->next]; break;
            case MYTH_GBNF_LOOP: is = (!g->loop[ins->idx].min || from[ins->other]) && from[ins->next]; break;
            }
            goes_on |= is && !from[i];
            from[i] |= is;
        }
    }
}

static void visit(checker *c, uint32_t ins)
{
    if (!c->is_seen[ins])
        c->todo[c->n_todo++] = ins;
    c->is_seen[ins] = true;
}

/* ---- left recursion ---- */

/* Finds what a rule may call before it has read a byte. Rules share no instructions. */
static bool find_left(checker *c, uint32_t idx)
{
    const myth_gbnf *g = c->g;
    visit(c, c->rule[idx].start);
    while (c->n_todo) {
        const myth_gbnf_ins *ins = &g->ins[c->todo[--c->n_todo]];
        switch ((myth_gbnf_op)ins->op) {
        case MYTH_GBNF_SPLIT: visit(c, ins->other); /* fall through */
        case MYTH_GBNF_JOIN: visit(c, ins->next); break;
        case MYTH_GBNF_CALL:
            if (!MYTH_ARRAY_ROOM(g->mem, MYTH_MEM_STAGING, "grammar rules", &c->edge, c->n_edge, &c->cap_edge))
                return false;
            c->edge[c->n_edge++] = (edge){idx, ins->other};
            c->rule[idx].n_left++;
            if (c->is_empty[c->rule[ins->other].start])
                visit(c, ins->next);
            break;
        case MYTH_GBNF_LOOP:
            visit(c, ins->other);
            if (!g->loop[ins->idx].min || c->is_empty[ins->other])
                visit(c, ins->next);
            break;
        default: break;
        }
    }
    return true;
}

/* A remaining rule that this one may call first. */
static uint32_t next_left(const checker *c, uint32_t rule)
{
    size_t k = 0;
    while (c->edge[k].from != rule || c->edge[k].to == NONE)
        k++;
    return c->edge[k].to;
}

/* What remains when rules that call none of the remaining ones are taken away, again and again, are circles and what
 * leads into them. */
static myth_gbnf_fault find_circle(checker *c, uint32_t *idx)
{
    for (uint32_t i = 0; i < c->n_rule; i++)
        if (!find_left(c, i))
            return MYTH_GBNF_UNCHECKED;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t k = c->n_edge; k-- > 0;)
            if (c->edge[k].to != NONE && c->rule[c->edge[k].to].n_left == 0) {
                c->edge[k].to = NONE;
                c->rule[c->edge[k].from].n_left--;
                goes_on = true;
            }
    }
    uint32_t at = 0;
    while (at < c->n_rule && !c->rule[at].n_left)
        at++;
    if (at == c->n_rule)
        return MYTH_GBNF_SOUND;
    /* Each remaining rule leads to another: after as many steps as there are rules one of a circle, and after as many
     * more the first of it. */
    for (uint32_t n = 0; n < c->n_rule; n++)
        at = next_left(c, at);
    *idx = at;
    for (uint32_t n = 0; n < c->n_rule; n++) {
        at = next_left(c, at);
        *idx = at < *idx ? at : *idx;
    }
    return MYTH_GBNF_LEFT;
}

/* ---- rules without an end ---- */

static myth_gbnf_fault find_endless(checker *c, uint32_t root, uint32_t *idx)
{
    const myth_gbnf *g = c->g;
    memset(c->is_seen, 0, g->n_ins * sizeof(*c->is_seen));
    c->rule[root].is_reached = true;
    visit(c, c->rule[root].start);
    while (c->n_todo) {
        const myth_gbnf_ins *ins = &g->ins[c->todo[--c->n_todo]];
        if (ins->op != MYTH_GBNF_RET)
            visit(c, ins->next);
        if (ins->op == MYTH_GBNF_SPLIT || ins->op == MYTH_GBNF_LOOP)
            visit(c, ins->other);
        if (ins->op == MYTH_GBNF_CALL) {
            c->rule[ins->other].is_reached = true;
            visit(c, c->rule[ins->other].start);
        }
    }
    for (uint32_t i = c->n_rule; i-- > 0;) /* the last: what it calls is nearer to the cause than what calls it */
        if (c->rule[i].is_reached && !c->has_end[c->rule[i].start]) {
            *idx = i;
            return MYTH_GBNF_ENDLESS;
        }
    return MYTH_GBNF_SOUND;
}

/* ---- */

static void *take(const checker *c, size_t size)
{
    return myth_alloc_n(c->g->mem, MYTH_MEM_STAGING, "grammar rules", c->g->n_ins, size);
}

myth_gbnf_fault myth_gbnf_check(myth_gbnf *g, myth_gbnf_rule *rule, uint32_t n_rule, uint32_t root, uint32_t *idx)
{
    checker c = {.g = g, .rule = rule, .n_rule = n_rule};
    myth_gbnf_fault fault = MYTH_GBNF_UNCHECKED;
    c.is_empty = take(&c, sizeof(*c.is_empty));
    c.has_end = take(&c, sizeof(*c.has_end));
    c.is_seen = take(&c, sizeof(*c.is_seen));
    c.todo = take(&c, sizeof(*c.todo));
    if (c.is_empty && c.has_end && c.is_seen && c.todo) {
        spread(&c, c.is_empty, false);
        spread(&c, c.has_end, true);
        fault = find_circle(&c, idx);
        if (fault == MYTH_GBNF_SOUND)
            fault = find_endless(&c, root, idx);
    }
    for (size_t i = 0; i < g->n_ins && fault == MYTH_GBNF_SOUND; i++) {
        myth_gbnf_ins *ins = &g->ins[i];
        if (ins->op == MYTH_GBNF_LOOP && c.is_empty[ins->other])
            g->loop[ins->idx].min = 0;
        if (ins->op == MYTH_GBNF_CALL)
            ins->other = rule[ins->other].start;
    }
    myth_free(g->mem, c.edge);
    myth_free(g->mem, c.todo);
    myth_free(g->mem, c.is_seen);
    myth_free(g->mem, c.has_end);
    myth_free(g->mem, c.is_empty);
    return fault;
}
