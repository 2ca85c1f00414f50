/* test_filegraph.c - ranks and places of a graph made by hand: what a link is worth, where the rank of files without
 * links goes, and in which order files come. */
#include "tests/support/check.h"

#include "retrieval/map/filegraph.h"
#include "retrieval/scan/kinds.h"

#include <math.h>

typedef struct {
    const char *path;
    uint32_t kind;
} made_file;

typedef struct {
    uint32_t from, target, n_use, n_definer;
} made_link;

static myth_mem *mem;

/* Links are in the order of their files. */
static void make(myth_filegraph *g, const made_file *file, uint32_t n_file, const made_link *link, uint32_t n_link)
{
    *g = (myth_filegraph){.mem = mem, .n_node = n_file, .n_link = n_link, .cap_link = n_link};
    g->node = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", n_file + 1, sizeof(*g->node));
    g->place = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", n_file, sizeof(*g->place));
    g->link = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", n_link + 1, sizeof(*g->link));
    assert_true(g->node && g->place && g->link);
    for (uint32_t i = 0, at = 0; i <= n_file; i++) {
        g->node[i] = (myth_node){.id = i + 1, .first_link = at};
        for (; i < n_file && at < n_link && link[at].from == i; at++)
            g->link[at] =
                (myth_link){.target = link[at].target, .n_use = link[at].n_use, .n_definer = link[at].n_definer};
        if (i < n_file) {
            g->node[i].path = file[i].path;
            g->node[i].kinds = 1u << file[i].kind;
        }
    }
}

static const made_file files[] = {
    {"a.c", MYTH_KIND_SOURCE},    {"b.c", MYTH_KIND_SOURCE}, {"c.c", MYTH_KIND_SOURCE},
    {"d.md", MYTH_KIND_DOCUMENT}, {"e.c", MYTH_KIND_SOURCE}, {"test_f.c", MYTH_KIND_TEST},
};
enum { N_FILE = sizeof(files) / sizeof(files[0]) };

/* a names c a hundred times and b once; the others lead everywhere. */
static void a_link_is_worth_the_root_of_its_uses(void **state)
{
    (void)state;
    static const made_link links[] = {{0, 1, 1, 1}, {0, 2, 100, 1}};
    myth_filegraph g;
    double sum = 0;
    make(&g, files, N_FILE, links, 2);
    assert_int_equal(myth_filegraph_rank(&g, NULL, 0.85, NULL), MYTH_OK);
    for (uint32_t i = 0; i < N_FILE; i++)
        sum += g.node[i].rank;
    assert_true(fabs(sum - 1) < 1e-9); /* nothing is lost */
    const double base = g.node[0].rank;
    assert_true(g.node[3].rank == base && g.node[4].rank == base);
    assert_true(fabs((g.node[2].rank - base) / (g.node[1].rank - base) - 10) < 1e-6);
    assert_true(fabs(g.node[1].rank + g.node[2].rank - 2 * base - 0.85 * base) < 1e-9);

    static const uint32_t place[N_FILE] = {2, 1, 0, 4, 5, 3}; /* by rank, ties by path; tests behind, prose last */
    assert_memory_equal(g.place, place, sizeof(place));
    myth_filegraph_close(&g);
}

/* A name that four files define says a quarter of what a name of one file says. */
static void a_link_is_shared_by_those_who_define_it(void **state)
{
    (void)state;
    static const made_link links[] = {{0, 1, 16, 4}, {0, 2, 1, 1}};
    myth_filegraph g;
    make(&g, files, N_FILE, links, 2);
    assert_int_equal(myth_filegraph_rank(&g, NULL, 0.85, NULL), MYTH_OK);
    assert_true(fabs(g.node[1].rank - g.node[2].rank) < 1e-12);
    assert_true(g.node[1].rank > g.node[0].rank);
    myth_filegraph_close(&g);
}

/* From a start of its own, what nobody leads to has no rank. */
static void a_walk_begins_where_it_is_told(void **state)
{
    (void)state;
    static const made_link links[] = {{0, 1, 1, 1}, {1, 0, 1, 1}};
    static const double start[N_FILE] = {3, 0, 0, 0, 0, 0};
    myth_filegraph g;
    make(&g, files, N_FILE, links, 2);
    assert_int_equal(myth_filegraph_rank(&g, start, 0.85, NULL), MYTH_OK);
    assert_true(fabs(g.node[0].rank + g.node[1].rank - 1) < 1e-9);
    assert_true(g.node[0].rank > g.node[1].rank && g.node[1].rank > 0.4);
    for (uint32_t i = 2; i < N_FILE; i++)
        assert_true(g.node[i].rank == 0);
    myth_filegraph_close(&g);
}

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_worth_the_root_of_its_uses),
        cmocka_unit_test(a_link_is_shared_by_those_who_define_it),
        cmocka_unit_test(a_walk_begins_where_it_is_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
