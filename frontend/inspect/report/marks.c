/* marks.c - reads the files' ignore comments when it opens, and marks the findings when it is filled. */
#include "marks.h"

#include "engine/base/table.h"

#include <assert.h>
#include <string.h>

static bool is_of(const void *block, uint32_t idx, const void *src)
{
    return ((const myth_block *)block)[idx].src == src;
}

/* Lists the source of each block, and NULL where an earlier block has the same; the caller frees it. */
static myth_status list_sources(const myth_source ***out, myth_mem *mem, const myth_block *block, uint32_t n_block,
                                myth_error *err)
{
    const uint32_t n_slot = myth_table_slots(n_block);
    const myth_source **list = myth_alloc_n(mem, MYTH_MEM_STAGING, "marks", n_block + 1u, sizeof(*list));
    uint32_t *slot = list ? myth_alloc_n(mem, MYTH_MEM_STAGING, "marks", n_slot, sizeof(*slot)) : NULL;
    *out = list;
    if (!slot)
        return myth_fail(err, MYTH_ENOMEM, "marks of findings: no room for %u files", n_block);
    for (uint32_t i = 0; i < n_block; i++) {
        uint32_t *at = myth_table_find(slot, n_slot, myth_hash_bytes(&block[i].src, sizeof(block[i].src)), is_of, block,
                                       block[i].src);
        list[i] = *at ? NULL : block[i].src;
        *at = *at ? *at : i + 1;
    }
    myth_free(mem, slot);
    return MYTH_OK;
}

static myth_status find_suppressions(myth_marks *m, const myth_source *const *source, uint32_t n_source,
                                     myth_error *err)
{
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < n_source; i++)
        n += source[i] ? myth_suppressions_find(NULL, 0, source[i]) : 0;
    if (!n)
        return MYTH_OK;
    m->suppression = myth_alloc_n(m->mem, MYTH_MEM_STAGING, "suppressions", n, sizeof(myth_suppression));
    if (!m->suppression)
        return myth_fail(err, MYTH_ENOMEM, "%u mythos:ignore comments: no room for %zu bytes", n,
                         n * sizeof(myth_suppression));
    m->n_suppression = m->cap_suppression = n;
    for (uint32_t i = 0; i < n_source; i++)
        at += source[i] ? myth_suppressions_find(m->suppression + at, n - at, source[i]) : 0;
    return MYTH_OK;
}

myth_status myth_marks_open(myth_marks *m, myth_mem *mem, myth_report *r, const myth_block *block, uint32_t n_block,
                            uint32_t cap, bool use_suppressions, const myth_baseline *baseline, myth_error *err)
{
    const myth_source **source = NULL;
    myth_status st = MYTH_OK;
    memset(m, 0, sizeof(*m));
    m->mem = mem;
    m->cap = cap;
    m->baseline = baseline;
    m->use_suppressions = use_suppressions;
    myth_redactor_start(&m->redactor, mem);
    MYTH_TRY(list_sources(&source, mem, block, n_block, err));
    for (uint32_t i = 0; i < n_block; i++)
        MYTH_TRY(source[i] ? myth_redactor_add(&m->redactor, source[i], err) : MYTH_OK);
    if (use_suppressions)
        MYTH_TRY(find_suppressions(m, source, n_block, err));
    m->mark = myth_alloc_n(mem, MYTH_MEM_STAGING, "marks", cap ? cap : 1, sizeof(myth_mark));
    if (!m->mark)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "marks of findings: no room for %zu bytes", cap * sizeof(myth_mark)));
    r->redactor = &m->redactor;
    r->mark = m->mark;
    r->suppression = m->suppression;
    r->n_suppression = m->n_suppression;
    r->has_baseline = baseline != NULL;
fail:
    myth_free(mem, source);
    if (st != MYTH_OK)
        myth_marks_close(m);
    return st;
}

myth_status myth_marks_reserve(myth_marks *m, myth_report *r, myth_mem *mem, uint32_t n_file, uint32_t n_suppression,
                               myth_error *err)
{
    uint32_t cap = m->n_suppression + n_suppression;
    m->later_mem = mem;
    myth_suppression *to = myth_realloc(m->mem, MYTH_MEM_STAGING, "suppressions", m->suppression, cap * sizeof(*to));
    if (!to)
        return myth_fail(err, MYTH_ENOMEM, "suppressions: no room for %zu bytes", cap * sizeof(*to));
    m->suppression = to;
    m->cap_suppression = cap;
    r->suppression = to;
    return myth_redactor_reserve(&m->redactor, n_file, err);
}

myth_status myth_marks_add(myth_marks *m, myth_report *r, const myth_source *src, myth_error *err)
{
    if (myth_redactor_find(&m->redactor, src))
        return MYTH_OK;
    uint32_t n = m->use_suppressions ? myth_suppressions_find(NULL, 0, src) : 0;
    if (n > m->cap_suppression - m->n_suppression)
        return myth_fail(err, MYTH_EFULL, "%s: more than %u mythos:ignore comments", src->path,
                         m->cap_suppression - m->n_suppression);
    myth_status st = myth_redactor_add_reserved(&m->redactor, m->later_mem, src, err);
    if (st != MYTH_OK)
        return st;
    if (n)
        m->n_suppression += myth_suppressions_find(m->suppression + m->n_suppression, n, src);
    r->suppression = m->suppression;
    r->n_suppression = m->n_suppression;
    return MYTH_OK;
}

void myth_marks_unseen(myth_marks *m, const myth_source *src, const myth_finding *f)
{
    for (uint32_t k = 0; k < m->n_suppression; k++)
        m->suppression[k].has_unseen |= myth_suppresses(&m->suppression[k], src, f);
}

void myth_marks_fill(myth_marks *m, myth_report *r)
{
    if (r->n_finding > m->cap) { /* each finding has a mark, or the caller's count was wrong */
        assert(!"more findings than marks");
        r->n_dropped += r->n_finding - m->cap;
        r->n_finding = m->cap;
        r->complete = false;
    }
    for (uint32_t i = 0; i < r->n_finding; i++) {
        const myth_finding *f = &r->finding[i];
        myth_mark *mark = &m->mark[i];
        memset(mark, 0, sizeof(*mark));
        myth_fingerprint_of(&mark->fingerprint, r->block, r->finding, r->citation, i);
        for (uint32_t k = 0; k < m->n_suppression; k++)
            if (myth_suppresses(&m->suppression[k], r->block[f->block].src, f)) {
                m->suppression[k].n_used++;
                if (!mark->suppression)
                    mark->suppression = k + 1;
            }
    }
    if (m->baseline)
        myth_baseline_mark(m->baseline, m->mark, r->n_finding);
}

void myth_marks_close(myth_marks *m)
{
    if (m->mem) {
        myth_free(m->mem, m->mark);
        myth_free(m->mem, m->suppression);
        myth_redactor_close(&m->redactor);
    }
    memset(m, 0, sizeof(*m));
}
