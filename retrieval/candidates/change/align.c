/* align.c - which event of a function before a change goes with which after it (change_impl.h).
 *
 * Source   Myers, An O(ND) difference algorithm and its variations (1986); what both flows begin and end with is left
 *          out, and a difference of more than MOST events is too much */
#include "change_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"
#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 400, LINE = 120 };

static uint32_t line_end(const myth_flow *f, uint32_t off)
{
    while (off < f->n_text && f->text[off] != '\n')
        off++;
    return off;
}

/* The hash of a text without blanks. */
static uint64_t hash_of(uint64_t h, const myth_flow *f, uint32_t off, uint32_t end)
{
    for (uint32_t i = off; i < end && i < f->n_text; i++)
        if (!myth_is_white(f->text[i]))
            h = (h ^ (unsigned char)f->text[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u;
}

static uint64_t key_of(const myth_flow *f, const myth_event *e)
{
    uint64_t h = 0xcbf29ce484222325u ^ e->kind;
    h = hash_text(h, f->names + f->path[e->path].text);
    switch (e->kind) {
    case MYTH_EVENT_TEST:
        h = e->how == MYTH_TEST_PART ? h : hash_of(h, f, e->off, e->end);
        return (h ^ e->how) * 0x100000001b3u;
    case MYTH_EVENT_ARG: h = (h ^ e->index) * 0x100000001b3u; return hash_text(h, f->names + e->name);
    case MYTH_EVENT_INDEX: return hash_text(h, f->names + f->path[e->other].text);
    case MYTH_EVENT_LEAVE: return (h ^ e->index) * 0x100000001b3u;
    case MYTH_EVENT_DEFINE:
        if (e->value == MYTH_VALUE_LOOP) /* what the loop goes over */
            h = hash_of(h, f, e->end, line_end(f, e->end));
        h = (h ^ e->value) * 0x100000001b3u;
        return hash_text(h, f->names + e->name);
    default: return hash_text(h, f->names + e->name);
    }
}

static uint64_t *keys_of(const myth_flow *f)
{
    uint64_t *key = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "events of a change", f->n_event + 1u, sizeof(*key));
    for (uint32_t i = 0; key && i < f->n_event; i++)
        key[i] = key_of(f, &f->event[i]);
    return key;
}

/* The part of both lists that is compared. */
typedef struct {
    const uint64_t *a, *b;
    int32_t n, m;
} part;

/* Follows equal ones from (x, x - k) on. */
static int32_t slide(const part *p, int32_t x, int32_t k)
{
    while (x < p->n && x - k < p->m && x - k >= 0 && p->a[x] == p->b[x - k])
        x++;
    return x;
}

/* Whether the furthest way with d steps comes to diagonal k from the one above: by an insertion. */
static bool is_insertion(const int32_t *v, int32_t d, int32_t k) { return k == -d || (k != d && v[k - 1] < v[k + 1]); }

/* trace: rows of furthest ways, of d the 2 d + 1 from row[d] on. Returns how many steps it takes, -1 = too many. */
static int32_t walk(const part *p, int32_t *trace)
{
    static int32_t room[2 * MOST + 3];
    int32_t *v = room + MOST + 1, *row = trace;
    memset(room, 0, sizeof(room));
    for (int32_t d = 0; d <= MOST; d++) {
        for (int32_t k = -d; k <= d; k += 2) {
            const int32_t x = is_insertion(v, d, k) ? v[k + 1] : v[k - 1] + 1;
            v[k] = slide(p, d == 0 ? 0 : x, k);
            if (k == p->n - p->m && v[k] >= p->n) {
                memcpy(row, v - d, (size_t)(2 * d + 1) * sizeof(*v));
                return d;
            }
        }
        memcpy(row, v - d, (size_t)(2 * d + 1) * sizeof(*v));
        row += 2 * d + 1;
    }
    return -1;
}

/* Goes the way back and notes what goes together; off: where the part begins in both. */
static void note(myth_aligned *a, const part *p, const int32_t *trace, int32_t d, uint32_t off)
{
    int32_t x = p->n, y = p->m;
    for (; d >= 0; d--) {
        int32_t k = x - y, from = 0, least = 0; /* from: where the step came from; least: where it led */
        if (d > 0) {
            const int32_t *before = trace + (d - 1) * (d - 1) + (d - 1); /* of d - 1 steps, diagonal 0 */
            const bool is_in = is_insertion(before, d, k);
            from = is_in ? before[k + 1] : before[k - 1];
            least = is_in ? from : from + 1;
            k = is_in ? k + 1 : k - 1;
        }
        for (; x > least; x--, y--) {
            a->to_now[off + (uint32_t)x - 1] = off + (uint32_t)y;
            a->to_old[off + (uint32_t)y - 1] = off + (uint32_t)x;
        }
        x = from;
        y = from - k;
    }
}

static bool compare(myth_aligned *a, bool *is_aligned)
{
    const uint32_t n = a->n_old, m = a->n_now;
    uint32_t off = 0, tail = 0;
    while (off < n && off < m && a->old_key[off] == a->now_key[off])
        off++;
    while (tail < n - off && tail < m - off && a->old_key[n - 1 - tail] == a->now_key[m - 1 - tail])
        tail++;
    for (uint32_t i = 0; i < off; i++) {
        a->to_now[i] = i + 1;
        a->to_old[i] = i + 1;
    }
    for (uint32_t i = 1; i <= tail; i++) {
        a->to_now[n - i] = m - i + 1;
        a->to_old[m - i] = n - i + 1;
    }
    const part p = {a->old_key + off, a->now_key + off, (int32_t)(n - off - tail), (int32_t)(m - off - tail)};
    const uint32_t most = (MOST + 1) * (MOST + 1);
    int32_t *trace = myth_alloc_n(a->now->mem, MYTH_MEM_OTHER, "events of a change", most, sizeof(*trace));
    if (!trace)
        return false;
    const int32_t d = walk(&p, trace);
    *is_aligned = d >= 0;
    if (d >= 0)
        note(a, &p, trace, d, off);
    myth_free(a->now->mem, trace);
    return true;
}

/* Whether a path is used as something that is there or not: read behind, or declared as a pointer. */
static bool list_references(myth_aligned *a)
{
    const myth_flow *f = a->old;
    a->n_path = f->n_path;
    a->is_reference = myth_alloc_n(a->now->mem, MYTH_MEM_OTHER, "paths of a change", a->n_path + 1u, sizeof(bool));
    for (uint32_t p = 0; a->is_reference && p < a->n_path; p++)
        a->is_reference[p] = f->path[p].is_pointer;
    for (uint32_t i = 0; a->is_reference && i < a->n_old; i++)
        a->is_reference[f->event[i].path] |= f->event[i].kind == MYTH_EVENT_DEREF;
    return a->is_reference != NULL;
}

static bool list_tests(myth_aligned *a)
{
    const myth_flow *f = a->now;
    a->n_first = f->n_test + 1;
    a->first = myth_alloc_n(a->now->mem, MYTH_MEM_OTHER, "tests of a change", a->n_first, sizeof(*a->first));
    if (!a->first)
        return false;
    memset(a->first, 0, a->n_first * sizeof(*a->first));
    for (uint32_t i = a->n_now; i-- > 0;)
        if (f->event[i].kind == MYTH_EVENT_TEST)
            a->first[f->event[i].test] = i + 1;
    return true;
}

bool myth_aligned_open(myth_aligned *a, bool *is_aligned, myth_flow *old, myth_flow *now)
{
    myth_mem *mem = now->mem;
    *a = (myth_aligned){.old = old, .now = now, .n_old = old->n_event, .n_now = now->n_event};
    *is_aligned = false;
    a->old_key = keys_of(old);
    a->now_key = keys_of(now);
    a->to_now = myth_alloc_n(mem, MYTH_MEM_OTHER, "events of a change", a->n_old + 1u, sizeof(*a->to_now));
    a->to_old = myth_alloc_n(mem, MYTH_MEM_OTHER, "events of a change", a->n_now + 1u, sizeof(*a->to_old));
    if (!a->old_key || !a->now_key || !a->to_now || !a->to_old)
        return false;
    memset(a->to_now, 0, (a->n_old + 1u) * sizeof(*a->to_now));
    memset(a->to_old, 0, (a->n_now + 1u) * sizeof(*a->to_old));
    return list_references(a) && list_tests(a) && compare(a, is_aligned);
}

void myth_aligned_close(myth_aligned *a)
{
    myth_free(a->now->mem, a->old_key);
    myth_free(a->now->mem, a->now_key);
    myth_free(a->now->mem, a->to_now);
    myth_free(a->now->mem, a->to_old);
    myth_free(a->now->mem, a->is_reference);
    myth_free(a->now->mem, a->first);
}

void myth_aligned_gap(const myth_aligned *a, uint32_t e, uint32_t *after, uint32_t *before)
{
    *after = 0;
    *before = a->n_now + 1;
    for (uint32_t i = e; i-- > 0 && !*after;)
        *after = a->to_now[i];
    for (uint32_t i = e; i<a->n_old && * before> a->n_now; i++)
        *before = a->to_now[i] ? a->to_now[i] : *before;
}

static uint32_t count(const char *text, uint32_t n, const char *what, uint32_t n_what)
{
    uint32_t found = 0;
    for (const char *p = text, *end = text + n; n_what && (p = memchr(p, what[0], (size_t)(end - p))) != NULL; p++)
        found += (size_t)(end - p) >= n_what && memcmp(p, what, n_what) == 0;
    return found;
}

bool myth_aligned_moved(const myth_aligned *a, uint32_t off, uint32_t end)
{
    if (end > a->old->n_text || off >= end)
        return false;
    return count(a->now->text, a->now->n_text, a->old->text + off, end - off) >=
           count(a->old->text, a->old->n_text, a->old->text + off, end - off);
}

bool myth_aligned_same(const myth_aligned *a, uint32_t old_path, uint32_t now_path)
{
    return old_path && now_path &&
           strcmp(a->old->names + a->old->path[old_path].text, a->now->names + a->now->path[now_path].text) == 0;
}

bool myth_aligned_about(const myth_aligned *a, uint32_t now_path, uint32_t old_path)
{
    for (int i = 0; now_path && i < 16; i++, now_path = a->now->path[now_path].base)
        if (myth_aligned_same(a, old_path, now_path))
            return true;
    return false;
}

uint32_t myth_aligned_place(const myth_aligned *a, uint32_t e, uint32_t at)
{
    const myth_flow *f = a->old;
    const uint32_t scope = f->event[e].scope;
    uint32_t after, before;
    if (a->to_now[e])
        return at;
    myth_aligned_gap(a, e, &after, &before);
    const uint32_t next = after < a->n_now ? a->to_old[after] : 0; /* 1 + where the event behind the gap was */
    if (after < a->n_now && (!next || myth_flow_is_inside(f, f->event[next - 1].scope, scope)))
        return after;
    const uint32_t last = after ? a->to_old[after - 1] : 0;
    return last && myth_flow_is_inside(f, f->event[last - 1].scope, scope) ? after - 1 : at;
}

bool myth_aligned_put(myth_aligned *a, myth_lost how, uint32_t at, uint32_t path, uint32_t lost)
{
    const myth_event *was = &a->old->event[lost];
    const uint32_t place = myth_aligned_place(a, lost, at);
    const char *const text = a->old->text;
    uint32_t off = was->off, end = was->off;
    while (off > 0 && text[off - 1] != '\n')
        off--;
    while (end < a->old->n_text && text[end] != '\n')
        end++;
    while (off < end && myth_is_white(text[off]))
        off++;
    while (end > off && myth_is_white(text[end - 1]))
        end--;
    if (end - off > LINE)
        for (end = off + LINE; end > off && ((unsigned char)text[end] & 0xc0) == 0x80;)
            end--;
    const char *name = was->kind == MYTH_EVENT_CALL ? a->old->names + was->name : "";
    const char *about = a->old->names + a->old->path[path].text;
    const myth_lost_line line = {.line = was->line, .stays = a->now->event[at].line};
    return myth_flow_put_lost(a->now, (int)how, place, about, name, line, text + off, end - off);
}
