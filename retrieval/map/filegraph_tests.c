/* filegraph_tests.c - which files test which: by the links of a test file, and by its name. */
#include "filegraph_impl.h"

#include "engine/base/array.h"
#include "engine/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

/* The name of a test file without its suffix and without the word for test; returns its length, 0 = it has only that
 * word. */
static size_t stem_of(const char *path, const char **stem)
{
    static const char *const front[] = {"test_", "test-", "tests_", "t_", "Test"}, *const back[] = {
                                                                                       "_test",  "-test", ".test",
                                                                                       "_tests", ".spec", "_spec",
                                                                                       "-spec",  "Test",  "Tests",
                                                                                       "Spec",   "IT"};
    const char *name = myth_base_name(path), *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    for (size_t i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
        size_t k = strlen(back[i]);
        if (n > k && memcmp(name + n - k, back[i], k) == 0) {
            *stem = name;
            return n - k;
        }
    }
    for (size_t i = 0; i < sizeof(front) / sizeof(front[0]); i++) {
        size_t k = strlen(front[i]);
        if (n > k && memcmp(name, front[i], k) == 0) {
            *stem = name + k;
            return n - k;
        }
    }
    *stem = name;
    return n;
}

static uint64_t stem_hash(const char *stem, size_t n)
{
    char low[256];
    n = n < sizeof(low) ? n : sizeof(low);
    for (size_t i = 0; i < n; i++)
        low[i] = stem[i] >= 'A' && stem[i] <= 'Z' ? (char)(stem[i] + 'a' - 'A') : stem[i];
    return XXH3_64bits(low, n);
}

typedef struct {
    uint64_t stem; /* hash of a file's name without suffix, in lower case */
    uint32_t node;
} stem_row;

static int by_stem(const void *a, const void *b)
{
    const stem_row *x = a, *y = b;
    if (x->stem != y->stem)
        return (x->stem > y->stem) - (x->stem < y->stem);
    return (x->node > y->node) - (x->node < y->node);
}

static int by_tested(const void *a, const void *b)
{
    const myth_tested *x = a, *y = b;
    if (x->file != y->file)
        return (x->file > y->file) - (x->file < y->file);
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->test > y->test) - (x->test < y->test);
}

static bool add_tested(myth_tested_list *t, myth_mem *mem, uint32_t file, uint32_t test, double share)
{
    const bool ok = MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "map", &t->row, t->n, &t->cap);
    if (ok)
        t->row[t->n++] = (myth_tested){file, test, share};
    return ok;
}

/* Whether a test's name alone may tell what it tests: only when few code files have that name. index.js and
 * __init__.py are in every folder. */
static bool add_named(myth_tested_list *t, const myth_filegraph *g, const stem_row *row, uint32_t n_row, uint32_t test)
{
    enum { NAMED_MAX = 3 };
    const char *stem;
    const size_t n_stem = stem_of(g->node[test].path, &stem); /* before the call: arguments have no order */
    const uint64_t h = stem_hash(stem, n_stem);
    uint32_t lo = 0, hi = n_row, n = 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (row[mid].stem < h)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo + n < n_row && row[lo + n].stem == h)
        n++;
    for (uint32_t i = lo; n <= NAMED_MAX && i < lo + n; i++)
        if (!add_tested(t, g->mem, row[i].node, test, 2))
            return false;
    return true;
}

/* Every pair of a file and a test of it, sorted by file, the best test first. */
myth_status myth_filegraph_find_tests(myth_tested_list *t, const myth_filegraph *g, myth_error *err)
{
    stem_row *row = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*row));
    uint32_t n_row = 0;
    bool ok = row != NULL;
    for (uint32_t i = 0; i < g->n_node && ok; i++) {
        const char *name = myth_base_name(g->node[i].path), *dot = strrchr(name, '.');
        if (myth_filegraph_tier(g->node[i].kinds) == 0)
            row[n_row++] = (stem_row){stem_hash(name, dot && dot > name ? (size_t)(dot - name) : strlen(name)), i};
    }
    if (n_row)
        qsort(row, n_row, sizeof(*row), by_stem);
    for (uint32_t i = 0; i < g->n_node && ok; i++) {
        if (!(g->node[i].flags & MYTH_FILE_TEST) || !myth_filegraph_is_code(g->node[i].kinds))
            continue;
        double all = myth_filegraph_weight_sum(g, i), sum = 0;
        ok = add_named(t, g, row, n_row, i);
        for (uint32_t k = g->node[i].first_link; k < g->node[i + 1].first_link && ok; k++) {
            uint32_t target = g->link[k].target;
            sum += myth_filegraph_weight_of(&g->link[k]) / all;
            if (k + 1 < g->node[i + 1].first_link && g->link[k + 1].target == target)
                continue;
            if (!(g->node[target].flags & MYTH_FILE_TEST))
                ok = add_tested(t, g->mem, target, i, sum);
            sum = 0;
        }
    }
    if (t->n)
        qsort(t->row, t->n, sizeof(*t->row), by_tested);
    myth_free(g->mem, row);
    return ok ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "no memory for the tests of %u files", g->n_node);
}
