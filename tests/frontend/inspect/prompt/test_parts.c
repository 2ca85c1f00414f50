/* test_parts.c - pieces are packed into parts of a limited size. Random materials and limits are packed, and the rows
 * of the result are checked without looking at how they were made. */
#include "frontend/inspect/prompt/parts.h"
#include "tests/support/check.h"

enum { N_SOURCE = 4, LINE_MAX_BYTES = 40, HEAD = 9, REMOVED_COST = 6, REMOVED_MAX = 16 };

static myth_status cost(void *user, const myth_block *b, uint32_t *c, myth_error *err)
{
    uint32_t *n_call = user;
    (void)err;
    ++*n_call;
    *c = HEAD;
    for (uint32_t n = b->first; n <= b->last; n++)
        *c += 1 + b->src->line[n - 1].len;
    uint32_t n_hidden, n_removed = b->removed_most ? myth_prompt_n_removed(b, &n_hidden) : 0;
    *c += n_removed * REMOVED_COST;
    return MYTH_OK;
}

/* Puts a random file with brackets, long lines and several blank lines in a row. */
static void put_source(myth_material *m, uint64_t *rng, uint32_t s)
{
    static char text[1 << 14];
    size_t n = 0;
    uint32_t n_line = check_below(rng, 8) ? 1 + check_below(rng, 120) : 0, source;
    for (uint32_t i = 0; i < n_line; i++) {
        uint32_t kind = check_below(rng, 6), len = kind < 2 ? 0 : 1 + check_below(rng, LINE_MAX_BYTES - 1);
        memset(text + n, kind == 2 ? '{' : kind == 3 ? '}' : 'x', len);
        n += len;
        text[n++] = '\n';
    }
    char path[16];
    snprintf(path, sizeof(path), "f%u.c", s);
    assert_int_equal(myth_material_put(m, &source, path, (const unsigned char *)text, n, NULL), MYTH_OK);
    static char gone[60 * 5];
    myth_removed removed[REMOVED_MAX];
    uint32_t n_removed = 0;
    for (uint32_t i = 0; i < 60; i++)
        memcpy(gone + (size_t)i * 5, "gone\n", 5);
    for (uint32_t before = 1 + check_below(rng, 9); before <= n_line + 1 && n_removed < REMOVED_MAX;
         before += 1 + check_below(rng, 9)) {
        uint32_t lines = 1 + check_below(rng, check_below(rng, 4) ? 3 : 60);
        removed[n_removed++] = (myth_removed){before, lines, gone, (size_t)lines * 5, NULL, NULL, 0};
    }
    assert_int_equal(myth_material_removed(m, source, removed, n_removed, NULL), MYTH_OK);
}

static void add_random(myth_material *m, uint64_t *rng, uint32_t subject[], uint32_t *n_subject)
{
    uint32_t source = check_below(rng, N_SOURCE), n_line = myth_material_of(m, source)->n_line, index;
    uint32_t first = n_line ? 1 + check_below(rng, n_line) : 1;
    myth_piece p = {
        .source = source,
        .first = first,
        .last = first + check_below(rng, 30),
        .is_subject = !*n_subject || check_below(rng, 3) == 0,
    };
    if (p.is_subject && n_line && check_below(rng, 2)) {
        p.head_first = first;
        p.head_last = first + check_below(rng, 3);
        p.head_last = p.head_last < n_line ? p.head_last : n_line;
        p.head_last = p.head_last < p.last ? p.head_last : p.last;
    }
    if (!p.is_subject)
        p.of = subject[check_below(rng, *n_subject)];
    assert_int_equal(myth_material_add(m, &index, &p, NULL), MYTH_OK);
    if (p.is_subject)
        subject[(*n_subject)++] = index;
}

static bool in_subject(const myth_material *m, const myth_source *src, uint32_t n)
{
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        if (p->is_subject && myth_material_of(m, p->source) == src && n >= p->first && n <= p->last)
            return true;
    }
    return false;
}

static bool is_solid(const myth_source *src, uint32_t first, uint32_t last)
{
    for (uint32_t n = first; n <= last; n++)
        if (src->line[n - 1].text_len)
            return true;
    return false;
}

static uint32_t owner(const myth_material *m, const myth_parts_row *r)
{
    const myth_piece *p = myth_material_piece(m, r->piece);
    return p->is_subject ? r->piece : p->of;
}

static uint32_t n_shown_all, n_left_all, n_cut_all, n_removed_all, n_hidden_all, n_head_all, n_headless_all;

/* Removed lines cost at most half of a part beside one block; a block brings those of its own lines, and context none.
 * Every place in a subject is in one block, or in one line that fits only without them. */
static void check_removed(const myth_material *m, const myth_parts *p, const myth_parts_opts *o)
{
    for (uint32_t i = 0; i < p->n_row; i++) {
        const myth_block *b = &p->row[i].block;
        uint32_t n_hidden = 0, n = myth_prompt_n_removed(b, &n_hidden), want = 0;
        for (uint32_t k = 0; k < b->src->n_removed; k++) {
            const myth_removed *r = &b->src->removed[k];
            bool is_end = r->before == b->src->n_line + 1 && b->last == b->src->n_line;
            want += (r->before >= b->first && r->before <= b->last) || is_end ? r->n_line : 0;
        }
        assert_int_equal(n + n_hidden, b->first <= b->last ? want : 0);
        assert_true(n * REMOVED_COST <= o->soft / 2 && n * 5 <= b->removed_most);
        assert_true(myth_material_piece(m, p->row[i].piece)->is_subject || !b->removed_most);
        n_removed_all += n;
        n_hidden_all += n_hidden;
    }
}

/* A part that begins inside of a definition begins with its head, if the head takes at most a quarter of the part and
 * the next line fits beside it. */
static void check_heads(const myth_material *m, const myth_parts *p, const myth_parts_opts *o)
{
    uint32_t unused = 0, c_head, c_line;
    for (uint32_t i = 0; i < p->n_row; i++) {
        const myth_parts_row *r = &p->row[i], *before = i && r[-1].part == r->part ? &r[-1] : NULL;
        const myth_piece *piece = myth_material_piece(m, r->piece);
        const bool has = before && before->block.is_again;
        if (r->block.is_again) {
            assert_true(!before && piece->is_subject && i + 1 < p->n_row && r[1].piece == r->piece);
            assert_true(r->block.first == piece->head_first && r->block.last == piece->head_last);
            continue;
        }
        if (!piece->is_subject || r->block.first <= piece->head_last || !piece->head_first ||
            r->block.first == piece->last) {
            assert_false(has);
            continue;
        }
        myth_block head = {.src = r->block.src, .first = piece->head_first, .last = piece->head_last};
        myth_block line = {.src = r->block.src, .first = r->block.first, .last = r->block.first};
        assert_int_equal(cost(&unused, &head, &c_head, NULL), MYTH_OK);
        assert_int_equal(cost(&unused, &line, &c_line, NULL), MYTH_OK);
        const bool is_first = r->block.first == piece->first;
        assert_int_equal(has, !is_first && c_head <= o->soft / 4 && c_line <= o->soft - c_head);
        n_head_all += has;
        n_headless_all += !is_first && !has;
    }
}

static void check(const myth_material *m, const myth_parts *p, const myth_parts_opts *o)
{
    uint32_t n_left = 0, n_context = 0, unused = 0;
    check_removed(m, p, o);
    check_heads(m, p, o);
    for (uint32_t s = 0; s < myth_material_n_source(m); s++) { /* every subject line is in exactly one part */
        const myth_source *src = myth_material_of(m, s);
        for (uint32_t n = 1; n <= src->n_line; n++) {
            uint32_t n_subject = 0;
            for (uint32_t i = 0; i < p->n_row; i++) {
                const myth_block *b = &p->row[i].block;
                bool has = b->src == src && n >= b->first && n <= b->last,
                     is_subject = myth_material_piece(m, p->row[i].piece)->is_subject;
                n_subject += has && is_subject && !b->is_again;
                assert_false(has && !is_subject && in_subject(m, src, n)); /* and never as context */
                for (uint32_t k = 0; has && k < i; k++)                    /* and no line twice in a part */
                    assert_false(p->row[k].part == p->row[i].part && p->row[k].block.src == src &&
                                 n >= p->row[k].block.first && n <= p->row[k].block.last);
            }
            assert_int_equal(n_subject, in_subject(m, src, n));
        }
    }
    for (uint32_t part = 0, at = 0, last_subject = 0; part < p->n_part; part++) {
        uint32_t sum = 0, n_block = 0, from = at, c;
        for (; at < p->n_row && p->row[at].part == part; at++, n_block++) {
            const myth_parts_row *r = &p->row[at];
            const myth_piece *piece = myth_material_piece(m, r->piece);
            assert_int_equal(cost(&unused, &r->block, &c, NULL), MYTH_OK);
            assert_int_equal(c, r->cost);
            sum += c;
            assert_true(r->block.is_context == !piece->is_subject);
            assert_true(r->block.first >= piece->first && r->block.last <= piece->last &&
                        r->block.src == myth_material_of(m, piece->source));
            if (piece->is_subject) { /* subjects keep the material's order over all parts */
                assert_true(r->piece >= last_subject);
                n_cut_all += r->piece == last_subject && part > 0;
                last_subject = r->piece;
            } else {
                assert_true(is_solid(r->block.src, r->block.first, r->block.last));
                bool has = false;
                for (uint32_t k = from; k < p->n_row && p->row[k].part == part; k++)
                    has |= p->row[k].piece == piece->of;
                assert_true(has); /* context is in a part with its subject */
                n_shown_all++;
            }
            if (at > from)
                assert_true(owner(m, r) >= owner(m, r - 1));
        }
        assert_true(n_block >= 1 && n_block <= MYTH_BLOCK_MAX);
        assert_true(sum <= o->soft ||
                    (n_block == 1 && p->row[from].block.first == p->row[from].block.last && sum <= o->hard));
        assert_true(part + 1 < p->n_part || at == p->n_row);
    }
    for (uint32_t i = 0; i < myth_material_n_piece(m);
         i++) { /* n_left_out is the number of pieces that are in no part */
        const myth_piece *piece = myth_material_piece(m, i);
        const myth_source *src = myth_material_of(m, piece->source);
        bool is_shown = false, has_lines = false;
        for (uint32_t k = 0; k < p->n_row; k++)
            is_shown |= p->row[k].piece == i;
        assert_true(is_shown || !piece->is_subject);
        for (uint32_t n = piece->first; n <= piece->last; n++)
            has_lines |= src->line[n - 1].text_len && !in_subject(m, src, n);
        n_left += !is_shown && has_lines;
        n_context += !piece->is_subject && (has_lines || is_shown);
    }
    assert_int_equal(p->n_left_out, n_left);
    assert_int_equal(p->n_context, n_context);
    n_left_all += n_left;
}

static void test_random_materials(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    uint32_t n_run = check_is_full() ? 20000 : 300, n_part = 0;
    for (uint32_t run = 0; run < n_run; run++) {
        myth_mem *mem;
        myth_material *m;
        myth_parts p;
        uint32_t subject[64], n_subject = 0, n_call = 0;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
        for (uint32_t s = 0; s < N_SOURCE; s++)
            put_source(m, &rng, s);
        for (uint32_t i = 1 + check_below(&rng, 40); i-- > 0;)
            add_random(m, &rng, subject, &n_subject);
        myth_parts_opts o = {
            .soft = HEAD + LINE_MAX_BYTES + check_below(&rng, check_below(&rng, 2) ? 200 : 4000),
            .removed_most = check_below(&rng, 4) ? 1 << check_below(&rng, 10) : 0,
            .max_part = 1024,
            .cost = cost,
            .user = &n_call,
        };
        o.hard = o.soft + check_below(&rng, 100);
        if (check_below(&rng, 4) == 0)
            o.soft -= check_below(&rng, LINE_MAX_BYTES / 2); /* now one line alone may exceed soft */
        if (o.hard < HEAD + LINE_MAX_BYTES)
            o.hard = HEAD + LINE_MAX_BYTES;
        assert_int_equal(myth_parts_make(&p, mem, m, &o, NULL), MYTH_OK);
        check(m, &p, &o);
        n_part += p.n_part;
        myth_parts_close(&p);
        myth_material_close(m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
    printf(
        "%u materials, %u parts, %u blocks of context shown, %u pieces left out, %u cuts, %u with a head, %u with no "
        "room for one, %u removed lines shown, %u not\n",
        n_run, n_part, n_shown_all, n_left_all, n_cut_all, n_head_all, n_headless_all, n_removed_all, n_hidden_all);
    assert_true(n_part > n_run && n_shown_all && n_left_all && n_cut_all && n_removed_all && n_hidden_all);
    assert_true(n_head_all && n_headless_all);
}

/* A line that does not fit is an error that names the line. Any allocation may fail, and then nothing leaks. */
static void test_failures(void **unused)
{
    (void)unused;
    myth_mem *mem;
    myth_material *m;
    myth_parts p;
    myth_error err = {0};
    uint32_t n_call = 0;
    static const char text[] = "short\nthis line is much longer than anything that may be shown\nshort\n";
    myth_parts_opts o = {.soft = 30, .hard = 40, .max_part = 1024, .cost = cost, .user = &n_call};
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_whole(&m, mem, "a.c", (const unsigned char *)text, sizeof(text) - 1, NULL), MYTH_OK);
    assert_int_equal(myth_parts_make(&p, mem, m, &o, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "a.c: line 2"));
    o.hard = 200;
    o.max_part = 2;
    assert_int_equal(myth_parts_make(&p, mem, m, &o, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, "more than 2 parts"));
    o.max_part = 3;
    for (uint64_t nth = 1;; nth++) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_parts_make(&p, mem, m, &o, NULL);
        myth_mem_set_fault(mem, NULL);
        if (st == MYTH_OK)
            break;
        assert_int_equal(st, MYTH_ENOMEM);
        assert_true(nth < 100);
    }
    assert_int_equal(p.n_part, 3);
    myth_parts_close(&p);
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* What the packing of a long file does. */
typedef struct {
    uint64_t n_line; /* in all blocks that the cost of was asked for */
    uint32_t n_call, stop_at;
    uint32_t done, total;
    myth_cancel cancel;
} watched;

static myth_status watched_cost(void *user, const myth_block *b, uint32_t *c, myth_error *err)
{
    watched *w = user;
    uint32_t unused = 0;
    w->n_line += b->last + 1 - b->first;
    if (++w->n_call == w->stop_at)
        w->cancel = 1;
    return cost(&unused, b, c, err);
}

static void on_progress(void *user, uint32_t done, uint32_t total)
{
    watched *w = user;
    assert_true(done > w->done && done <= total && (!w->total || total == w->total));
    w->done = done;
    w->total = total;
}

/* A table of a tool, which has no border to cut it at: the work for each of its parts does not grow with what follows,
 * whether it is cut by names or not. An interrupt ends the packing. */
static void test_long_files(void **unused)
{
    (void)unused;
    enum { N_LINE = 4000, MOST_LOOKS = 24 };
    static char text[N_LINE * 40];
    myth_mem *mem;
    myth_material *m;
    myth_parts p;
    size_t n = 0;
    for (uint32_t i = 0; i < N_LINE; i++)
        n += (size_t)sprintf(text + n, "{%u, %u},\n", i % 97, i % 89);
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_whole(&m, mem, "table.c", (const unsigned char *)text, n, NULL), MYTH_OK);
    for (int is_local = 0; is_local < 2; is_local++) {
        watched w = {0};
        myth_parts_opts o = {
            .soft = 200,
            .hard = 200,
            .max_part = N_LINE,
            .is_local = is_local,
            .cost = watched_cost,
            .user = &w,
            .cancel = &w.cancel,
            .on_progress = on_progress,
            .progress_user = &w,
        };
        assert_int_equal(myth_parts_make(&p, mem, m, &o, NULL), MYTH_OK);
        check(m, &p, &o);
        assert_true(p.n_part > N_LINE / 30);
        if (w.n_line > MOST_LOOKS * (uint64_t)N_LINE)
            fail_msg("%u lines, the costs of %llu asked for", N_LINE, (unsigned long long)w.n_line);
        assert_true(w.done == N_LINE && w.total == N_LINE);
        myth_parts_close(&p);
        for (uint32_t stop = 1; stop < 60; stop += 19) {
            w = (watched){.stop_at = stop};
            assert_int_equal(myth_parts_make(&p, mem, m, &o, NULL), MYTH_ECANCEL);
            assert_true(w.done < N_LINE / 4);
        }
    }
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Context gets at most half of a part while further subjects could use the rest, and afterwards what they leave. */
static void test_shares(void **unused)
{
    (void)unused;
    static const char text[] = "1aaaaaaaa\n2aaaaaaaa\n3aaaaaaaa\n4aaaaaaaa\n5aaaaaaaa\n6aaaaaaaa\n";
    myth_mem *mem;
    myth_material *m;
    myth_parts p;
    uint32_t source, first, second, n_call = 0;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_material_open(&m, mem, NULL, NULL), MYTH_OK);
    assert_int_equal(myth_material_put(m, &source, "a.c", (const unsigned char *)text, sizeof(text) - 1, NULL),
                     MYTH_OK);
    assert_int_equal(
        myth_material_add(m, &first, &(myth_piece){.first = 1, .last = 1, .is_subject = true, .symbol = "f"}, NULL),
        MYTH_OK);
    assert_int_equal(
        myth_material_add(m, &second, &(myth_piece){.first = 6, .last = 6, .is_subject = true, .symbol = "g"}, NULL),
        MYTH_OK);
    for (uint32_t n = 2; n <= 4; n++) {
        char symbol[2] = {(char)('a' + n), 0};
        assert_int_equal(
            myth_material_add(m, NULL, &(myth_piece){.first = n, .last = n, .of = first, .symbol = symbol}, NULL),
            MYTH_OK);
    }
    const uint32_t one = HEAD + 10;
    /* With room for two lines, each subject has a part, and one line of context is half of the first. With more room,
     * both subjects are in one part. */
    static const struct {
        uint32_t room, n_part, n_left, n_row;
    } want[] = {{1, 2, 3, 2}, {2, 2, 2, 3}, {3, 1, 2, 3}, {4, 1, 1, 4}, {5, 1, 0, 5}};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const myth_parts_opts o = {
            .soft = want[i].room * one,
            .hard = want[i].room * one,
            .max_part = 8,
            .cost = cost,
            .user = &n_call,
        };
        assert_int_equal(myth_parts_make(&p, mem, m, &o, NULL), MYTH_OK);
        check(m, &p, &o);
        assert_int_equal(p.n_part, want[i].n_part);
        assert_int_equal(p.n_left_out, want[i].n_left);
        assert_int_equal(p.n_row, want[i].n_row);
        myth_parts_close(&p);
    }
    myth_material_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures), cmocka_unit_test(test_shares),
                                       cmocka_unit_test(test_long_files), cmocka_unit_test(test_random_materials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
