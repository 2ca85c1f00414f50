/* test_hunks.c - the places of a change as the blocks of one prompt: which lines are shown at which room, and in which
 * order places are given up. */
#include "frontend/inspect/prompt/hunks.h"
#include "tests/support/check.h"

static myth_mem *mem;
static myth_material *m;
static myth_hunks out;

/* A prompt has room for `most` lines, removed ones too. */
static myth_status fits(void *user, const myth_block *block, uint32_t n_block, bool *does_fit, myth_error *err)
{
    uint32_t n = 0, n_hidden;
    (void)err;
    for (uint32_t i = 0; i < n_block; i++)
        n += block[i].last + 1 - block[i].first + myth_prompt_n_removed(&block[i], &n_hidden);
    *does_fit = n <= *(const uint32_t *)user;
    return MYTH_OK;
}

static void make(const myth_hunk *place, uint32_t n, uint32_t most)
{
    assert_int_equal(myth_hunks_make(&out, mem, m, place, n, fits, &most, NULL), MYTH_OK);
}

/* Puts a file of n lines and makes lines first..last of it a subject. */
static uint32_t put(const char *path, uint32_t n, uint32_t first, uint32_t last)
{
    static char text[1 << 16];
    uint32_t source, index;
    size_t len = 0;
    for (uint32_t i = 1; i <= n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "line %u of it\n", i);
    assert_int_equal(myth_material_put(m, &source, path, (const unsigned char *)text, len, NULL), MYTH_OK);
    const myth_piece p = {.source = source, .first = first, .last = last, .is_subject = true};
    assert_int_equal(myth_material_add(m, &index, &p, NULL), MYTH_OK);
    return index;
}

static void remove_lines(uint32_t piece, uint32_t before, uint32_t n)
{
    static char gone[300 * 10];
    for (uint32_t i = 0; i < 300; i++)
        memcpy(gone + (size_t)i * 10, "nine more\n", 10);
    const myth_removed r = {before, n, gone, (size_t)n * 10, NULL, NULL, 0};
    assert_int_equal(myth_material_removed(m, myth_material_piece(m, piece)->source, &r, 1, NULL), MYTH_OK);
}

static void is_block(uint32_t i, uint32_t piece, uint32_t first, uint32_t last)
{
    assert_true(i < out.n_block);
    if (out.piece[i] != piece || out.block[i].first != first || out.block[i].last != last)
        fail_msg("block %u: piece %u, lines %u-%u, expected piece %u, lines %u-%u", i, out.piece[i], out.block[i].first,
                 out.block[i].last, piece, first, last);
}

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) != MYTH_OK || myth_material_open(&m, mem, NULL, NULL) != MYTH_OK;
}

static int end(void **state)
{
    (void)state;
    myth_material_close(m);
    return myth_mem_close(mem) != 0;
}

/* Three lines on each side, within the piece; places that meet are one block. */
static void lines_beside(void **state)
{
    (void)state;
    const uint32_t a = put("a.c", 100, 10, 60), b = put("b.c", 50, 1, 50);
    const myth_hunk place[] = {{a, 11, 12, 0}, {a, 30, 30, 0}, {a, 37, 38, 0},
                               {a, 60, 60, 0}, {b, 1, 2, 0},   {b, 50, 50, 0}};
    make(place, 6, 1000);
    assert_int_equal(out.n_block, 5);
    is_block(0, a, 10, 15);
    is_block(1, a, 27, 41); /* 27-33 and 34-41 */
    is_block(2, a, 57, 60);
    is_block(3, b, 1, 5);
    is_block(4, b, 47, 50);
    assert_int_equal(out.n_line, 9);
    assert_int_equal(out.n_shown, 9);
    make(place, 0, 1000);
    assert_int_equal(out.n_block, 0);
}

/* Where lines were only removed, the lines around that place are shown, at the end of a file too. */
static void removed_lines(void **state)
{
    (void)state;
    const uint32_t a = put("gone.c", 20, 1, 20);
    remove_lines(a, 21, 2);
    make(&(myth_hunk){a, 21, 20, 2}, 1, 1000);
    assert_int_equal(out.n_block, 1);
    is_block(0, a, 18, 20);
    assert_int_equal(out.n_line, 2);
    assert_int_equal(out.n_shown, 2);
    remove_lines(a, 5, 100); /* of which a small prompt shows 8 lines' bytes */
    make(&(myth_hunk){a, 5, 4, 100}, 1, 80);
    is_block(0, a, 2, 7);
    assert_int_equal(out.n_line, 100);
    assert_int_equal(out.n_shown, MYTH_HUNK_LEAST * 80 / 10);
}

/* With less room each place shows fewer of its lines: its first ones. */
static void fewer_lines(void **state)
{
    (void)state;
    const uint32_t a = put("long.c", 1000, 1, 1000), b = put("short.c", 10, 1, 10);
    const myth_hunk place[] = {{a, 101, 700, 0}, {b, 5, 5, 0}};
    make(place, 2, 613);
    is_block(0, a, 98, 703);
    assert_int_equal(out.n_shown, 601);
    make(place, 2, 612);
    is_block(0, a, 98, 615); /* 512 of its lines */
    is_block(1, b, 2, 8);
    assert_int_equal(out.n_line, 601);
    assert_int_equal(out.n_shown, 515 + 1); /* those beside are changed lines, too */
    make(place, 2, 30);
    is_block(0, a, 98, 111); /* 8 of its lines */
    assert_int_equal(out.n_shown, 8 + 3 + 1);
}

/* When not all places fit, the first of every file come first. */
static void fewer_places(void **state)
{
    (void)state;
    const uint32_t a = put("one.c", 100, 1, 100), b = put("two.c", 100, 1, 100), c = put("three.c", 100, 1, 100);
    const myth_hunk place[] = {{a, 10, 10, 0}, {a, 30, 30, 0}, {a, 50, 50, 0},
                               {b, 10, 10, 0}, {b, 30, 30, 0}, {c, 10, 10, 0}};
    make(place, 6, 3 * 7);
    assert_int_equal(out.n_block, 3);
    is_block(0, a, 7, 13);
    is_block(1, b, 7, 13);
    is_block(2, c, 7, 13);
    assert_int_equal(out.n_line, 6);
    assert_int_equal(out.n_shown, 3);
    make(place, 6, 4 * 7 + 6);
    assert_int_equal(out.n_block, 4);
    is_block(1, a, 27, 33);
    make(place, 6, 6);
    assert_int_equal(out.n_block, 0);
    assert_int_equal(out.n_shown, 0);
}

/* A prompt has at most MYTH_BLOCK_MAX blocks. */
static void many_places(void **state)
{
    (void)state;
    enum { N = MYTH_BLOCK_MAX + 10 };
    static myth_hunk place[N];
    const uint32_t a = put("many.c", 20 * N, 1, 20 * N);
    for (uint32_t i = 0; i < N; i++)
        place[i] = (myth_hunk){a, 20 * i + 10, 20 * i + 10, 0};
    make(place, N, UINT32_MAX);
    assert_int_equal(out.n_block, MYTH_BLOCK_MAX);
    assert_int_equal(out.n_shown, MYTH_BLOCK_MAX);
    assert_int_equal(out.n_line, N);
    is_block(MYTH_BLOCK_MAX - 1, a, 20 * (MYTH_BLOCK_MAX - 1) + 7, 20 * (MYTH_BLOCK_MAX - 1) + 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_beside), cmocka_unit_test(removed_lines), cmocka_unit_test(fewer_lines),
        cmocka_unit_test(fewer_places), cmocka_unit_test(many_places),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
