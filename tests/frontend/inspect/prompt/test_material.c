/* test_material.c - pieces of files: lines that are added several times are held once, sealed pieces stay as they are,
 * and files outside the root are not read. */
#include "frontend/inspect/prompt/material.h"
#include "tests/support/check.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_LINE = 60, N_SOURCE = 3, N_OF = 2 };

static void put_lines(myth_material *m, uint32_t source_count)
{
    char text[N_LINE * 8], path[16];
    for (uint32_t s = 0; s < source_count; s++) {
        uint32_t source;
        size_t n = 0;
        for (int i = 0; i < N_LINE; i++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "x%d;\n", i % 1000);
        snprintf(path, sizeof(path), "f%u.c", s);
        assert_int_equal(myth_material_put(m, &source, path, (const unsigned char *)text, n, NULL), MYTH_OK);
        assert_int_equal(source, s);
        memset(text, '?', sizeof(text)); /* the material must have its own copy */
        assert_int_equal(myth_material_put(m, &source, path, (const unsigned char *)"other\n", 6, NULL), MYTH_OK);
        assert_int_equal(source, s);
        assert_int_equal(myth_material_of(m, s)->n_line, N_LINE);
    }
}

/* In each file, the subjects, and the context of each subject, have exactly the lines that were added, each once. */
static void test_lines_are_held_once(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    for (uint32_t run = 0; run < (check_is_full() ? 20000u : 400u); run++) {
        bool want[N_SOURCE][1 + N_OF][N_LINE + 1] = {0};
        myth_mem *mem;
        myth_material *m;
        uint32_t index, subject[N_OF];
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
        put_lines(m, N_SOURCE);
        for (uint32_t k = 0; k < N_OF; k++) {
            assert_int_equal(myth_material_add(m, &subject[k],
                                               &(myth_piece){.source = k, .first = 5, .last = 5, .is_subject = true},
                                               NULL),
                             MYTH_OK);
            want[k][0][5] = true;
        }
        for (uint32_t i = 0; i < 2 + check_below(&rng, 14); i++) {
            static const char *const symbol[] = {NULL, "f", "g"};
            uint32_t role = check_below(&rng, 1 + N_OF), first = 1 + check_below(&rng, N_LINE),
                     last = first + check_below(&rng, 12);
            myth_piece p = {
                .source = check_below(&rng, N_SOURCE),
                .first = first,
                .last = last,
                .is_subject = role == 0,
                .of = role ? subject[role - 1] : 0,
                .symbol = symbol[check_below(&rng, 3)],
                .why = "calls it",
                .score = (double)i,
            };
            assert_int_equal(myth_material_add(m, &index, &p, NULL), MYTH_OK);
            const myth_piece *at = myth_material_piece(m, index);
            assert_true(at->first <= first && first <= at->last && at->source == p.source &&
                        at->is_subject == p.is_subject);
            assert_true(at->score >= p.score && !strcmp(at->why ? at->why : "calls it", "calls it"));
            for (uint32_t n = first; n <= last && n <= N_LINE; n++)
                want[p.source][role][n] = true;
        }
        bool held[N_SOURCE][1 + N_OF][N_LINE + 1] = {0};
        for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
            const myth_piece *p = myth_material_piece(m, i);
            uint32_t role = p->is_subject ? 0 : p->of == subject[0] ? 1 : 2;
            assert_true(p->first >= 1 && p->first <= p->last && p->last <= N_LINE);
            for (uint32_t n = p->first; n <= p->last; n++) {
                assert_false(held[p->source][role][n]);
                held[p->source][role][n] = true;
            }
        }
        assert_memory_equal(want, held, sizeof(want));
        myth_material_close(m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

static void test_joined_and_apart(void **unused)
{
    (void)unused;
    myth_mem *mem;
    myth_material *m;
    uint32_t a, b, c;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
    put_lines(m, 1);
    myth_piece p = {.source = 0, .first = 10, .last = 19, .is_subject = true, .symbol = "f"};
    assert_int_equal(myth_material_add(m, &a, &p, NULL), MYTH_OK);
    p.first = 20, p.last = 29, p.symbol = "g"; /* the next lines, but another definition: stays apart */
    assert_int_equal(myth_material_add(m, &b, &p, NULL), MYTH_OK);
    assert_int_not_equal(a, b);
    p.first = 30, p.last = 31; /* the next lines of the same definition: joined */
    assert_int_equal(myth_material_add(m, &c, &p, NULL), MYTH_OK);
    assert_int_equal(b, c);
    p.first = 15, p.last = 40, p.symbol = NULL; /* overlaps both and has lines after them */
    assert_int_equal(myth_material_add(m, &c, &p, NULL), MYTH_OK);
    assert_int_equal(c, a);
    assert_int_equal(myth_material_n_piece(m), 2);
    assert_int_equal(myth_material_piece(m, b)->last, 40);
    assert_string_equal(myth_material_piece(m, b)->symbol, "g");
    p = (myth_piece){.source = 0, .first = 61, .last = 70, .is_subject = true};
    assert_int_equal(myth_material_add(m, NULL, &p, NULL), MYTH_EARG); /* the file has no such lines */
    p = (myth_piece){.source = 0, .first = 50, .last = UINT32_MAX, .is_subject = true};
    assert_int_equal(myth_material_add(m, &c, &p, NULL), MYTH_OK);
    assert_int_equal(myth_material_piece(m, c)->last, N_LINE);
    myth_material_close(m);

    assert_int_equal(myth_material_whole(&m, mem, "empty", (const unsigned char *)"", 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_n_piece(m), 1);
    assert_true(myth_material_piece(m, 0)->first == 1 && myth_material_piece(m, 0)->last == 0);
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_seal(void **unused)
{
    (void)unused;
    myth_mem *mem, *later;
    myth_material *m;
    uint32_t index, source;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_mem_open(&later, 1 << 20, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
    put_lines(m, 1);
    const myth_piece p = {.source = 0, .first = 1, .last = 9, .is_subject = true};
    assert_int_equal(myth_material_add(m, &index, &p, NULL), MYTH_OK);
    assert_int_equal(myth_material_seal(m, later, NULL), MYTH_OK);
    uint64_t n_alloc = myth_mem_n_alloc(mem);
    const myth_piece more = {.source = 0, .first = 5, .last = 20, .symbol = "f", .of = index};
    for (uint32_t i = 0; i < 3; i++) { /* only pieces added after the last seal are joined */
        assert_int_equal(myth_material_add(m, &index, &more, NULL), MYTH_OK);
        assert_int_equal(index, 1 + i);
        assert_int_equal(myth_material_add(m, &index, &more, NULL), MYTH_OK);
        assert_int_equal(index, 1 + i);
        assert_int_equal(myth_material_seal(m, later, NULL), MYTH_OK);
    }
    char path[16];
    for (uint32_t i = 0; i < MYTH_SEALED_SOURCES; i++) {
        snprintf(path, sizeof(path), "l%u", i);
        assert_int_equal(myth_material_put(m, &source, path, (const unsigned char *)"a\nb\n", 4, NULL), MYTH_OK);
    }
    assert_int_equal(myth_material_put(m, &source, "one more", (const unsigned char *)"", 0, NULL), MYTH_EFULL);
    assert_int_equal(myth_mem_n_alloc(mem), n_alloc); /* after the seal, nothing is allocated in mem */
    myth_material_unseal(m);
    assert_int_equal(myth_mem_close(later), 0);
    assert_int_equal(myth_material_n_piece(m), 1);
    assert_int_equal(myth_material_n_source(m), 1);
    assert_int_equal(myth_material_add(m, &index, &more, NULL), MYTH_OK); /* as if there had been no other */
    assert_int_equal(index, 1);
    assert_int_equal(myth_material_n_piece(m), 2);
    assert_int_equal(myth_material_put(m, &source, "one more", (const unsigned char *)"", 0, NULL), MYTH_OK);
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void write_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("x\n", f);
    fclose(f);
}

static void test_root_is_a_border(void **unused)
{
    (void)unused;
    char dir[] = "/tmp/mythos-material-XXXXXX", root[64], path[128], to[128];
    static const char *const outside[] = {"../out.c",    "sub/../../out.c", "away.c", "dir/out.c",
                                          "/etc/passwd", "none.c",          "sub"};
    static const char *const inside[] = {"a.c", "sub/b.c", "sub/../a.c", "link.c"};
    myth_mem *mem;
    myth_material *m;
    uint32_t source;
    assert_non_null(mkdtemp(dir));
    snprintf(root, sizeof(root), "%s/root", dir);
    assert_int_equal(mkdir(root, 0700), 0);
    snprintf(path, sizeof(path), "%s/sub", root);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(dir, "out.c");
    write_file(root, "a.c");
    write_file(root, "sub/b.c");
    snprintf(path, sizeof(path), "%s/away.c", root);
    snprintf(to, sizeof(to), "%s/out.c", dir);
    assert_int_equal(symlink(to, path), 0);
    snprintf(path, sizeof(path), "%s/dir", root);
    assert_int_equal(symlink("..", path), 0);
    snprintf(path, sizeof(path), "%s/link.c", root);
    assert_int_equal(symlink("sub/b.c", path), 0);

    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, root, NULL), MYTH_OK);
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        myth_error err = {0};
        assert_int_not_equal(myth_material_source(m, &source, outside[i], &err), MYTH_OK);
        assert_true(err.msg[0] != '\0');
    }
    assert_int_equal(myth_material_n_source(m), 0);
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
        assert_int_equal(myth_material_source(m, &source, inside[i], NULL), MYTH_OK);
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
    char line[128];
    snprintf(line, sizeof(line), "rm -r %s", dir);
    assert_int_equal(system(line), 0);
}

static void test_every_allocation_may_fail(void **unused)
{
    (void)unused;
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    uint32_t n_ok = 0;
    for (uint64_t nth = 1; nth < 200 && !n_ok; nth++) {
        myth_material *m = NULL;
        uint32_t source = 0;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_material_open(&m, mem, "/", NULL);
        for (uint32_t i = 0; i < 12 && st == MYTH_OK; i++) {
            char path[8];
            snprintf(path, sizeof(path), "p%u", i);
            st = myth_material_put(m, &source, path, (const unsigned char *)"a\nb\n\nc\n", 7, NULL);
            if (st == MYTH_OK)
                st = myth_material_add(m, NULL,
                                       &(myth_piece){
                                           .source = source,
                                           .first = 1,
                                           .last = 2,
                                           .is_subject = true,
                                           .symbol = "s",
                                           .why = "w",
                                       },
                                       NULL);
        }
        n_ok += st == MYTH_OK;
        assert_true(st == MYTH_OK || st == MYTH_ENOMEM);
        myth_mem_set_fault(mem, NULL);
        myth_material_close(m);
        assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, 0);
    }
    assert_int_equal(n_ok, 1);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A whole repository is one material: no number of files is too many, and each is found by its path. */
static void test_many_sources(void **unused)
{
    enum { MANY = 40000 };
    myth_mem *mem;
    myth_material *m;
    char path[16];
    uint32_t source, index;
    (void)unused;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        snprintf(path, sizeof(path), "f%u.c", i % MANY);
        assert_int_equal(myth_material_put(m, &source, path, (const unsigned char *)"a\nb\n", 4, NULL), MYTH_OK);
        assert_int_equal(source, i % MANY);
        const myth_piece p = {.source = source, .first = 1, .last = UINT32_MAX, .is_subject = true};
        assert_int_equal(myth_material_add(m, &index, &p, NULL), MYTH_OK);
        assert_int_equal(index, source);
    }
    assert_int_equal(myth_material_n_piece(m), MANY);
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Of removed lines it is known which hold code, by the language of the file that they are of. */
static void test_removed_code(void **unused)
{
    (void)unused;
    static const char gone[] = "# a size\n\nif (n)\n    return; // done\n", whole[] = "/* a\n   size */ int n;";
    static const myth_removed removed[] = {{2, 4, gone, sizeof(gone) - 1, NULL, NULL, 0},
                                           {2, 2, whole, sizeof(whole) - 1, NULL, NULL, 0},
                                           {2, 4, gone, sizeof(gone) - 1, "x.py", NULL, 0},
                                           {3, 0, "", 0, "gone.c", NULL, 0}};
    static const bool want[][4] = {{true, false, true, true}, {false, true}, {false, false, true, true}, {false}};
    const size_t n_code[] = {sizeof(gone) - 2, strlen("   size */ int n;"), sizeof(gone) - 2 - strlen("# a size\n"), 0};
    myth_mem *mem;
    myth_material *m;
    uint32_t source;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
    assert_int_equal(myth_material_put(m, &source, "a.c", (const unsigned char *)"a;\nb;\n", 6, NULL), MYTH_OK);
    assert_int_equal(myth_material_removed(m, source, removed, 4, NULL), MYTH_OK);
    for (int twice = 0; twice < 2; twice++) { /* the list may be its own */
        const myth_source *src = myth_material_of(m, source);
        assert_int_equal(src->n_removed, 4);
        for (int i = 0; i < 4; i++) {
            const myth_removed *r = &src->removed[i];
            assert_memory_equal(r->text, removed[i].text, removed[i].len);
            assert_memory_equal(r->has_code, want[i], r->n_line);
            assert_int_equal(r->n_code, n_code[i]);
        }
        assert_string_equal(src->removed[2].path, "x.py");
        assert_string_equal(src->removed[3].path, "gone.c");
        assert_int_equal(myth_material_removed(m, source, src->removed, 4, NULL), MYTH_OK);
    }
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removed_code),
        cmocka_unit_test(test_joined_and_apart),
        cmocka_unit_test(test_seal),
        cmocka_unit_test(test_root_is_a_border),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_lines_are_held_once),
        cmocka_unit_test(test_many_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
