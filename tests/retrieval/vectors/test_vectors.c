/* test_vectors.c - vectors of an index against those that the test computes itself: each search against a
 * comparison with all vectors; updates; which texts the model gets; stops; two processes at once; searches by words
 * and meaning together. */
#include "tests/retrieval/index/index_tree.h"
#include "words_embedder.h"
#include "frontend/eval/corpus.h"
#include "retrieval/rank/search.h"
#include "retrieval/vectors/vectors_faiss.h"

#include <signal.h>
#include <sys/wait.h>

enum { CHUNKS_MAX = 8192 };

static myth_mem *mem;
static words_state state;

static int begin(void **unused)
{
    (void)unused;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **unused)
{
    (void)unused;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* ---- what the test knows ---- */

typedef struct {
    int64_t id;
    uint64_t content;
    float v[WORDS_DIM];
    char place[PATH_CAP]; /* path and offset */
} known_chunk;

static known_chunk known[CHUNKS_MAX];
static uint32_t n_known;

/* Every chunk of an index with the vector of its text. */
static void read_known(myth_index *x)
{
    sqlite3_stmt *q;
    myth_error err = {0};
    n_known = 0;
    myth_store *s = myth_index_store(x);
    assert_int_equal(
        sqlite3_prepare_v2(myth_store_db(s),
                           "SELECT chunks.id, chunks.hash, span(file_id, off, chunks.bytes), path, off FROM chunks "
                           "JOIN files ON files.id = file_id ORDER BY chunks.id",
                           -1, &q, NULL),
        SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        assert_true(n_known < CHUNKS_MAX);
        known_chunk *k = &known[n_known++];
        k->id = sqlite3_column_int64(q, 0);
        assert_int_equal(sqlite3_column_bytes(q, 1), 8);
        memcpy(&k->content, sqlite3_column_blob(q, 1), 8);
        words_kept(k->v, sqlite3_column_blob(q, 2), (size_t)sqlite3_column_bytes(q, 2));
        snprintf(k->place, sizeof(k->place), "%.*s:%lld",
                 sqlite3_column_bytes(q, 3) < 400 ? sqlite3_column_bytes(q, 3) : 400,
                 (const char *)sqlite3_column_blob(q, 3), (long long)sqlite3_column_int64(q, 4));
    }
    sqlite3_finalize(q);
    (void)err;
}

static void update_vectors(myth_index *x, myth_vectors_kind kind, bool with_model, myth_vectors_stats *stats)
{
    myth_error err = {0};
    const myth_text_embedder e = words_embedder(&state);
    myth_vectors_update_opts o = {.embedder = with_model ? &e : NULL, .kind = kind, .n_threads = 1};
    if (myth_vectors_update(x, &o, stats, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

/* Index and vectors of a tree, anew or in step. */
static myth_index *updated(const char *tree, const char *db, myth_vectors_kind kind, myth_vectors_stats *stats)
{
    myth_error err = {0};
    myth_index *x = open_index(tree, db, mem, false);
    if (myth_index_update(x, NULL, NULL, &err) != MYTH_OK)
        fail_msg("%s: %s", db, err.msg);
    update_vectors(x, kind, true, stats);
    return x;
}

static void check_index(myth_index *x)
{
    uint64_t n_problem = 0;
    assert_int_equal(myth_index_check(x, fail_line, (void *)(uintptr_t) "check", &n_problem, NULL), MYTH_OK);
    assert_int_equal(n_problem, 0);
}

static myth_vectors *open_vectors(myth_index *x)
{
    myth_error err = {0};
    myth_vectors *v = NULL;
    if (myth_vectors_open(&v, x, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return v;
}

static int by_score(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x > y ? -1 : x < y;
}

/* The best k cosines over all chunks, and one query. */
static void brute_force(float *best, uint32_t k, const float *query)
{
    static float all[CHUNKS_MAX];
    for (uint32_t i = 0; i < n_known; i++)
        all[i] = (float)words_dot(known[i].v, query);
    qsort(all, n_known, sizeof(*all), by_score);
    memcpy(best, all, (k < n_known ? k : n_known) * sizeof(*best));
}

static const known_chunk *find_known_chunk(int64_t id)
{
    for (uint32_t i = 0; i < n_known; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

static void random_query(float q[WORDS_DIM], uint64_t *rng)
{
    char text[200];
    snprintf(text, sizeof(text), "%s %s %s %s", word(rng), word(rng), word(rng), word(rng));
    words_vector(q, text, strlen(text));
}

/* Searches beside brute force: the share of the true k that were found; every hit is a chunk with its own score, within
 * `slack`. */
static double compare_searches(myth_index *x, uint32_t n_query, float slack, uint64_t *rng)
{
    enum { K = 20 };
    myth_vectors *v = open_vectors(x);
    uint32_t n_found = 0, n_all = 0;
    read_known(x);
    assert_int_equal(myth_vectors_about(v)->n_row, n_known);
    for (uint32_t i = 0; i < n_query; i++) {
        float q[WORDS_DIM], best[K];
        myth_vector_hit hit[K];
        uint32_t n;
        random_query(q, rng);
        brute_force(best, K, q);
        assert_int_equal(myth_vectors_search(v, q, K, hit, &n, NULL), MYTH_OK);
        assert_true(n <= K && n <= n_known);
        for (uint32_t k = 0; k < n; k++) {
            const known_chunk *c = find_known_chunk(hit[k].chunk_id);
            assert_non_null(c);
            assert_true(c->content == hit[k].content);
            assert_true(fabs((double)hit[k].score - words_dot(c->v, q)) <= slack);
            float again;
            assert_true(myth_vectors_score(v, q, c->id, c->content, &again));
            assert_true(fabsf(again - hit[k].score) <= 1e-5f);
            assert_false(myth_vectors_score(v, q, c->id, c->content ^ 1, &again));
            if (k)
                assert_true(hit[k - 1].score > hit[k].score ||
                            (hit[k - 1].score == hit[k].score && hit[k - 1].chunk_id < hit[k].chunk_id));
        }
        /* Equal scores are equally right: by how many hits reach the k-th true score. */
        const uint32_t k_true = K < n_known ? K : n_known;
        for (uint32_t k = 0; k < n; k++)
            n_found += words_dot(find_known_chunk(hit[k].chunk_id)->v, q) >= (double)best[k_true - 1] - 1e-6;
        n_all += k_true;
    }
    myth_vectors_close(v);
    return (double)n_found / n_all;
}

/* ---- kinds ---- */

static void kinds_beside_brute_force(void **unused)
{
    (void)unused;
    static const struct {
        myth_vectors_kind kind;
        float slack;
        double least;
    } row[] = {
        {MYTH_VECTORS_FLAT, 1e-5f, 1},
        {MYTH_VECTORS_SQ8, 0.02f, 0.9},
        {MYTH_VECTORS_IVF, 0.02f, 0.3},
        {MYTH_VECTORS_FLAT, 1e-5f, 1},
    };
    uint64_t rng = check_seed();
    myth_vectors_stats stats;
    tree_make("kinds", 300, &rng); /* so that the lists that are searched hold more than the K rows asked for */
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_index *x = updated("kinds", "kinds.db", row[i].kind, &stats);
        assert_int_equal(stats.kind, row[i].kind);
        assert_int_equal(stats.n_vector, stats.n_chunk);
        assert_true(i == 0 || stats.n_embedded == 0); /* another kind asks the model nothing */
        check_index(x);
        double recall = compare_searches(x, 40, row[i].slack, &rng);
        print_message("%s: %llu vectors, recall@20 %.3f\n", myth_vectors_kind_name(stats.kind),
                      (unsigned long long)stats.n_vector, recall);
        if (recall < row[i].least)
            fail_msg("%s: recall %.3f, expected %.2f", myth_vectors_kind_name(stats.kind), recall, row[i].least);
        myth_index_close(x);
    }
}

/* ---- what is given to the model ---- */

static uint64_t n_given(myth_index *x, const char *what)
{
    myth_error err = {0};
    myth_vectors_stats stats;
    myth_vectors_work work;
    const myth_text_embedder e = words_embedder(&state);
    if (myth_index_update(x, NULL, NULL, &err) != MYTH_OK || myth_vectors_measure(&work, x, &e, &err) != MYTH_OK)
        fail_msg("%s: %s", what, err.msg);
    state.n_text = 0;
    update_vectors(x, MYTH_VECTORS_AUTO, true, &stats);
    assert_int_equal(stats.n_embedded, state.n_text);
    assert_int_equal(work.n_missing, state.n_text);
    assert_int_equal(stats.n_missing, 0);
    check_index(x);
    return state.n_text;
}

static void a_text_is_embedded_once(void **unused)
{
    (void)unused;
    char from[PATH_CAP], to[PATH_CAP];
    myth_index *x;
    index_remove("once.db");
    files_mkdir("once");
    files_text("once/a.txt", "the car is red\n");
    files_text("once/b.txt", "the door is open\n");
    files_text("once/copy.txt", "the car is red\n");
    x = open_index("once", "once.db", mem, false);
    assert_int_equal(n_given(x, "first"), 2); /* a copy is the same text */
    assert_int_equal(n_given(x, "again"), 0);
    files_text("once/c.txt", "a new one\n");
    assert_int_equal(n_given(x, "added"), 1);
    snprintf(from, sizeof(from), "%s", files_path("once/b.txt"));
    snprintf(to, sizeof(to), "%s", files_path("once/moved.txt"));
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(n_given(x, "renamed"), 0);
    unlink(to);
    assert_int_equal(n_given(x, "removed"), 0);
    files_text("once/back.txt", "the door is open\n");
    assert_int_equal(n_given(x, "back"), 0); /* a branch that comes back */
    files_text("once/a.txt", "the car is blue\n");
    assert_int_equal(n_given(x, "changed"), 1);
    myth_index_close(x);
    /* The database anew, what is kept stays: no model is needed. */
    static const char *const gone[] = {"once.db", "once.db-wal", "once.db-shm"};
    for (size_t i = 0; i < 3; i++)
        unlink(files_path(gone[i]));
    myth_vectors_stats stats;
    x = open_index("once", "once.db", mem, false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    update_vectors(x, MYTH_VECTORS_AUTO, false, &stats);
    assert_int_equal(stats.n_vector, stats.n_chunk);
    assert_int_equal(stats.n_missing, 0);
    check_index(x);
    uint64_t rng = check_seed();
    assert_true(compare_searches(x, 5, 1e-5f, &rng) == 1);
    myth_index_close(x);
}

/* Another model: nothing of the one before is taken for it. */
static void another_model_begins_anew(void **unused)
{
    (void)unused;
    myth_error err = {0};
    myth_vectors_stats stats;
    uint64_t rng = check_seed();
    tree_make("other", 6, &rng);
    myth_index *x = updated("other", "other.db", MYTH_VECTORS_AUTO, &stats);
    myth_text_embedder e = words_embedder(&state);
    memcpy(e.model, "words, version 2", 16);
    myth_vectors_update_opts o = {.embedder = &e, .n_threads = 1};
    state.n_text = 0;
    assert_int_equal(myth_vectors_update(x, &o, &stats, &err), MYTH_OK);
    assert_true(state.n_text > 0);
    assert_int_equal(stats.n_vector, stats.n_chunk);
    myth_vectors *v = open_vectors(x);
    assert_memory_equal(myth_vectors_about(v)->model, "words, version 2", 16);
    myth_vectors_close(v);
    check_index(x);
    myth_index_close(x);
}

/* ---- in step ---- */

/* place -> cosine with a fixed query, of every chunk. */
static void dump_vectors(bytes *out, myth_index *x)
{
    float q[WORDS_DIM], score;
    char line[PATH_CAP + 64];
    myth_vectors *v = open_vectors(x);
    words_vector(q, "parse the request", 17);
    read_known(x);
    static uint32_t order[CHUNKS_MAX];
    for (uint32_t i = 0; i < n_known; i++)
        order[i] = i;
    for (uint32_t i = 1; i < n_known; i++) /* by place: few */
        for (uint32_t k = i; k > 0 && strcmp(known[order[k]].place, known[order[k - 1]].place) < 0; k--) {
            uint32_t t = order[k];
            order[k] = order[k - 1];
            order[k - 1] = t;
        }
    for (uint32_t i = 0; i < n_known; i++) {
        const known_chunk *c = &known[order[i]];
        assert_true(myth_vectors_score(v, q, c->id, c->content, &score));
        snprintf(line, sizeof(line), "%s %.9g\n", c->place, (double)score);
        bytes_text(out, line);
    }
    assert_int_equal(myth_vectors_about(v)->n_row, n_known);
    myth_vectors_close(v);
}

static void equals_fresh(myth_index *x, const char *tree)
{
    bytes a = {0}, b = {0};
    index_remove("fresh.db");
    myth_index *fresh = updated(tree, "fresh.db", MYTH_VECTORS_AUTO, NULL);
    dump_vectors(&a, x);
    dump_vectors(&b, fresh);
    if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
        fail_msg("vectors differ from those made anew:\n%.*s\n---\n%.*s", (int)(a.len < 400 ? a.len : 400),
                 (char *)a.data, (int)(b.len < 400 ? b.len : 400), (char *)b.data);
    bytes_free(&a);
    bytes_free(&b);
    myth_index_close(fresh);
}

static void in_step_with_every_change(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    myth_vectors_stats stats;
    tree_make("step", 20, &rng);
    for (uint32_t i = 0; i < (check_is_full() ? 60u : 8u); i++) {
        static const myth_vectors_kind kind[] = {MYTH_VECTORS_AUTO, MYTH_VECTORS_SQ8, MYTH_VECTORS_FLAT,
                                                 MYTH_VECTORS_IVF};
        myth_index *x = updated("step", "step.db", kind[i % 4], &stats);
        assert_int_equal(stats.n_vector, stats.n_chunk);
        check_index(x);
        if (i % 4 == 0)
            equals_fresh(x, "step");
        myth_index_close(x);
        tree_change("step", 1 + check_below(&rng, 8), &rng);
    }
}

/* The index goes on without its vectors: those that are left are of the text they say, and nothing is wrong with that.
 */
static void behind_is_never_wrong(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    tree_make("behind", 20, &rng);
    myth_index_close(updated("behind", "behind.db", MYTH_VECTORS_AUTO, NULL));
    for (int i = 0; i < 10; i++) {
        uint32_t n_with = 0;
        tree_change("behind", 3, &rng);
        myth_index *x = open_index("behind", "behind.db", mem, false);
        assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
        myth_vectors *v = open_vectors(x);
        assert_true(myth_vectors_about(v)->is_behind);
        read_known(x);
        float q[WORDS_DIM], score;
        random_query(q, &rng);
        for (uint32_t k = 0; k < n_known; k++) {
            if (!myth_vectors_score(v, q, known[k].id, known[k].content, &score))
                continue;
            n_with++;
            assert_true(fabs((double)score - words_dot(known[k].v, q)) < 1e-5);
        }
        assert_true(n_with > 0);
        myth_vectors_close(v);
        check_index(x);
        myth_index_close(x);
    }
    myth_index *x = updated("behind", "behind.db", MYTH_VECTORS_AUTO, NULL);
    equals_fresh(x, "behind");
    myth_index_close(x);
}

/* ---- stops ---- */

static void a_stop_keeps_what_is_done(void **unused)
{
    (void)unused;
    myth_error err = {0};
    myth_vectors_stats stats;
    uint64_t rng = check_seed();
    myth_cancel stop = 0;
    const myth_text_embedder e = words_embedder(&state);
    myth_vectors_update_opts o = {.embedder = &e, .n_threads = 1, .is_cancelled = &stop};
    tree_make("stop", 150, &rng);
    myth_index *x = open_index("stop", "stop.db", mem, false);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_OK);
    state = (words_state){.stop_at = 70, .stop = &stop};
    assert_int_equal(myth_vectors_update(x, &o, &stats, &err), MYTH_ECANCEL);
    assert_non_null(strstr(err.msg, "the next run goes on"));
    const uint64_t first = state.n_text;
    assert_true(first >= 70 && stats.n_missing > 0 && stats.n_vector >= first);
    check_index(x);
    myth_vectors *v = open_vectors(x); /* and can be searched */
    assert_int_equal(myth_vectors_about(v)->n_row, stats.n_vector);
    myth_vectors_close(v);
    stop = 0;
    state = (words_state){0};
    assert_int_equal(myth_vectors_update(x, &o, &stats, &err), MYTH_OK);
    assert_int_equal(stats.n_missing, 0);
    myth_vectors_work work;
    index_remove("all.db");
    myth_index *all = open_index("stop", "all.db", mem, false);
    assert_int_equal(myth_index_update(all, NULL, NULL, &err), MYTH_OK);
    assert_int_equal(myth_vectors_measure(&work, all, &e, &err), MYTH_OK);
    assert_int_equal(work.n_missing, first + state.n_text); /* nothing was embedded twice */
    myth_index_close(all);
    check_index(x);
    myth_index_close(x);
}

static void two_makers(void **unused)
{
    (void)unused;
    myth_error err = {0};
    uint64_t rng = check_seed();
    int st;
    tree_make("two", 30, &rng);
    myth_index *x = open_index("two", "two.db", mem, false);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_OK);
    pid_t child = fork();
    if (child == 0) {
        state = (words_state){.pause_ns = 20000000};
        myth_index_close(updated("two", "two.db", MYTH_VECTORS_AUTO, NULL));
        _exit(0);
    }
    const myth_text_embedder e = words_embedder(&state);
    myth_vectors_update_opts o = {.embedder = &e, .n_threads = 1, .wait_ms = 1};
    state = (words_state){0};
    myth_status got = MYTH_OK;
    for (int i = 0; i < 200 && got == MYTH_OK; i++) { /* the child comes to it */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        char path[PATH_CAP];
        snprintf(path, sizeof(path), "%s.vectors.lock", files_path("two.db"));
        struct stat info;
        if (stat(path, &info) == 0 && info.st_size > 0)
            got = myth_vectors_update(x, &o, NULL, &err);
    }
    if (got == MYTH_ELOST) {
        char pid[32];
        snprintf(pid, sizeof(pid), "process %ld", (long)child);
        assert_non_null(strstr(err.msg, pid));
    }
    /* Words go on while the model is at work. */
    assert_int_equal(myth_index_update(x, &(myth_index_update_opts){.wait_ms = 2000}, NULL, &err), MYTH_OK);
    myth_search_opts so = {.query = "parse the session", .k = 5};
    myth_hits hits;
    assert_int_equal(myth_search(&hits, x, &so, &err), MYTH_OK);
    assert_true(hits.n_hit > 0);
    myth_hits_free(&hits);
    assert_int_equal(waitpid(child, &st, 0), child);
    assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 0);
    assert_int_equal(got, MYTH_ELOST);
    o.wait_ms = 0;
    assert_int_equal(myth_vectors_update(x, &o, NULL, &err), MYTH_OK);
    check_index(x);
    myth_index_close(x);
}

static void bad_models(void **unused)
{
    (void)unused;
    myth_error err = {0};
    myth_vectors *v;
    uint64_t rng = check_seed();
    tree_make("bad", 4, &rng);
    myth_index *x = open_index("bad", "bad.db", mem, false);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_OK);
    assert_int_equal(myth_vectors_open(&v, x, &err), MYTH_ENOTFOUND);
    assert_int_equal(err.remedy, MYTH_REMEDY_MAKE_VECTORS);
    assert_int_equal(myth_vectors_update(x, NULL, NULL, &err), MYTH_ENOTFOUND);
    myth_text_embedder e = words_embedder(&state);
    e.dim = MYTH_VECTORS_DIM + 1;
    assert_int_equal(myth_vectors_update(x, &(myth_vectors_update_opts){.embedder = &e}, NULL, &err),
                     MYTH_EUNSUPPORTED);
    myth_index_close(x);
    myth_index *reader = open_index("bad", "bad.db", mem, true);
    e = words_embedder(&state);
    assert_int_equal(myth_vectors_update(reader, &(myth_vectors_update_opts){.embedder = &e}, NULL, &err), MYTH_EARG);
    myth_index_close(reader);
}

/* ---- words and meaning ---- */

static double part(const myth_hit *h, const char *name)
{
    for (uint32_t i = 0; i < h->n_part; i++)
        if (strcmp(h->part[i].name, name) == 0)
            return h->part[i].value;
    return NAN;
}

static void meaning_brings_what_words_miss(void **unused)
{
    (void)unused;
    myth_error err = {0};
    myth_hits words_only, both, none;
    float q[WORDS_DIM];
    files_mkdir("mean");
    files_text("mean/a.txt", "automobile repair manual\n");
    files_text("mean/b.txt", "car\n");
    files_text("mean/c.txt", "banana bread\n");
    files_text("mean/d.txt", "quick sort of numbers\n");
    state = (words_state){0};
    myth_index *x = updated("mean", "mean.db", MYTH_VECTORS_AUTO, NULL);
    myth_vectors *v = open_vectors(x);
    const char *query = "car repair shop";
    words_vector(q, query, strlen(query));
    myth_search_opts so = {.query = query, .k = 10, .weights = "semantic=0.5"};
    assert_int_equal(myth_search(&words_only, x, &so, &err), MYTH_OK);
    so.vectors = v;
    so.query_vector = q;
    assert_int_equal(myth_search(&both, x, &so, &err), MYTH_OK);
    assert_true(words_only.n_hit < both.n_hit); /* candidates that share no word */
    assert_int_equal(both.n_without, 0);
    double top = 0, mean = 0, greatest = -INFINITY;
    for (uint32_t i = 0; i < words_only.n_hit; i++)
        top = fmax(top, part(&words_only.hit[i], "path") + part(&words_only.hit[i], "names") +
                            part(&words_only.hit[i], "body"));
    read_known(x);
    for (uint32_t i = 0; i < n_known; i++) {
        mean += words_dot(known[i].v, q) / n_known;
        greatest = fmax(greatest, words_dot(known[i].v, q));
    }
    assert_true(top > 0 && greatest > mean);
    for (uint32_t i = 0; i < both.n_hit; i++) {
        const myth_hit *h = &both.hit[i];
        double lexical = 0, near = fmax(0, (words_dot(find_known_chunk(h->chunk_id)->v, q) - mean) / (greatest - mean));
        for (uint32_t k = 0; k < words_only.n_hit; k++)
            if (words_only.hit[k].chunk_id == h->chunk_id)
                lexical = part(&words_only.hit[k], "path") + part(&words_only.hit[k], "names") +
                          part(&words_only.hit[k], "body");
        const double of_words = part(h, "path") + part(h, "names") + part(h, "body");
        assert_true(fabs(of_words - 0.5 * lexical) < 1e-6 * top);
        assert_true(fabs(part(h, "semantic") - 0.5 * top * near) < 1e-4 * top);
        assert_true(fabs(part(h, "file_sum") - (of_words + part(h, "semantic"))) < 1e-6 * top); /* one chunk a file */
    }
    myth_hits_free(&both);
    so.weights = "semantic=0"; /* then it is the search by words, to the bit */
    assert_false(myth_search_wants_vectors(&so, mem));
    assert_int_equal(myth_search(&none, x, &so, &err), MYTH_OK);
    assert_int_equal(none.n_hit, words_only.n_hit);
    for (uint32_t i = 0; i < none.n_hit; i++)
        assert_true(none.hit[i].chunk_id == words_only.hit[i].chunk_id && none.hit[i].score == words_only.hit[i].score);
    myth_hits_free(&none);
    so.weights = NULL;
    assert_true(myth_search_wants_vectors(&so, mem));
    so.query = "parse_json";
    assert_false(myth_search_wants_vectors(&so, mem));
    so.query = "\"red car\"";
    assert_false(myth_search_wants_vectors(&so, mem));
    so.query = "The red car is lost\n\nafter the second door is opened"; /* a report has words enough */
    assert_false(myth_search_wants_vectors(&so, mem));
    myth_hits_free(&words_only);
    myth_vectors_close(v);
    myth_index_close(x);
}

static bool is_path(void *user, const char *path) { return strcmp(path, user) == 0; }

/* Of a filtered search the nearest are those of the wanted files, however many others are nearer. */
static void a_filter_chooses_the_nearest(void **unused)
{
    (void)unused;
    enum { N_NEARER = 60 };
    char name[32], text[64];
    myth_error err = {0};
    myth_hits hits;
    float q[WORDS_DIM];
    files_mkdir("far");
    for (int i = 0; i < N_NEARER; i++) {
        snprintf(name, sizeof(name), "far/n%02d.txt", i);
        snprintf(text, sizeof(text), "car repair number%d\n", i);
        files_text(name, text);
    }
    files_text("far/wanted.txt", "banana bread\n");
    state = (words_state){0};
    myth_index *x = updated("far", "far.db", MYTH_VECTORS_AUTO, NULL);
    myth_vectors *v = open_vectors(x);
    words_vector(q, "car repair shop", 15);
    char path[] = "wanted.txt";
    const myth_search_opts so = {
        .query = "car repair shop",
        .k = 2,
        .weights = "semantic=0.5",
        .wants_file = is_path,
        .user = path,
        .vectors = v,
        .query_vector = q,
    };
    assert_int_equal(myth_search(&hits, x, &so, &err), MYTH_OK);
    assert_int_equal(hits.n_hit, 1);
    assert_string_equal(hits.hit[0].path, "wanted.txt");
    assert_int_equal(hits.n_near, 1);
    myth_hits_free(&hits);
    myth_vectors_close(v);
    myth_index_close(x);
}

static void a_chunk_without_a_vector_keeps_its_match(void **unused)
{
    (void)unused;
    myth_error err = {0};
    myth_hits hits;
    float q[WORDS_DIM];
    files_mkdir("keep");
    files_text("keep/a.txt", "red apple\n");
    files_text("keep/b.txt", "green apple tree\n");
    state = (words_state){0};
    myth_index *x = updated("keep", "keep.db", MYTH_VECTORS_AUTO, NULL);
    files_text("keep/c.txt", "apple apple pie\n");
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    myth_vectors *v = open_vectors(x);
    words_vector(q, "apple", 5);
    myth_search_opts so = {
        .query = "the apple of",
        .k = 10,
        .weights = "semantic=0.5",
        .vectors = v,
        .query_vector = q,
    };
    assert_int_equal(myth_search(&hits, x, &so, &err), MYTH_OK);
    assert_int_equal(hits.n_hit, 3);
    assert_int_equal(hits.n_without, 1);
    for (uint32_t i = 0; i < hits.n_hit; i++)
        if (strcmp(hits.hit[i].path, "c.txt") == 0)
            assert_true(part(&hits.hit[i], "semantic") == 0 && part(&hits.hit[i], "body") > 0);
        else
            assert_true(part(&hits.hit[i], "semantic") >= 0);
    myth_hits_free(&hits);
    myth_vectors_close(v);
    myth_index_close(x);
}

/* Rows of one piece and no names: a score is its match, so that it can be written out. */
static void a_corpus_by_hand(void **unused)
{
    (void)unused;
    enum { N = 40 };
    static char text[N][80];
    static const char *const query[] = {"parse a request and count", "zebra unicorn", "session of the user with error"};
    const double share = 0.4; /* the default */
    myth_error err = {0};
    myth_corpus *by_words, *both;
    const myth_text_embedder e = words_embedder(&state);
    uint64_t rng = check_seed();
    assert_int_equal(myth_corpus_open(&by_words, mem, &err), MYTH_OK);
    assert_int_equal(myth_corpus_open(&both, mem, &err), MYTH_OK);
    assert_int_equal(myth_corpus_embed(both, &e, &err), MYTH_OK);
    for (int i = 0; i < N; i++) {
        snprintf(text[i], sizeof(text[i]), "%s %s of %s and %s", word(&rng), word(&rng), word(&rng), word(&rng));
        myth_corpus_row row = {.id = "x", .n_id = 1, .text = text[i], .n_text = strlen(text[i])};
        assert_int_equal(myth_corpus_add(by_words, &row, &err), MYTH_OK);
        assert_int_equal(myth_corpus_add(both, &row, &err), MYTH_OK);
    }
    assert_int_equal(myth_corpus_embed(both, &e, &err), MYTH_EARG); /* too late */
    for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++) {
        myth_corpus_hit hit[N];
        uint32_t n;
        double lexical[N] = {0}, near[N], top = 0, mean = 0, greatest = -INFINITY;
        float q[WORDS_DIM], v[WORDS_DIM];
        words_vector(q, query[i], strlen(query[i]));
        assert_int_equal(myth_corpus_search(by_words, query[i], strlen(query[i]), NULL, N, hit, &n, &err), MYTH_OK);
        for (uint32_t k = 0; k < n; k++)
            lexical[hit[k].row] = hit[k].score;
        for (int k = 0; k < N; k++) {
            words_vector(v, text[k], strlen(text[k]));
            near[k] = words_dot(v, q);
            top = fmax(top, lexical[k]);
            mean += near[k] / N;
            greatest = fmax(greatest, near[k]);
        }
        top = top > 0 ? top : 1;
        assert_int_equal(myth_corpus_search(both, query[i], strlen(query[i]), NULL, N, hit, &n, &err), MYTH_OK);
        assert_true(n >= N - 1); /* the nearest fifty: all */
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t r = hit[k].row;
            const double wanted =
                (1 - share) * lexical[r] + share * top * fmax(0, (near[r] - mean) / (greatest - mean));
            assert_true(fabs(hit[k].score - wanted) < 1e-4 * top);
            assert_true(k == 0 || hit[k - 1].score > hit[k].score ||
                        (hit[k - 1].score == hit[k].score && hit[k - 1].row < r));
        }
    }
    myth_corpus_close(both);
    myth_corpus_close(by_words);
}

/* Lists around centres: the same for any number of threads, and the lists near a query have what is near it. The last
 * test: FAISS's threads do not go through a fork. */
static void lists_have_what_is_near(void **unused)
{
    (void)unused;
    enum { N = 4000, DIM = 32, LISTS = 63, CENTRES = 40, PROBED = 4, K = 10, QUERIES = 50 };
    static float x[N * DIM], one[LISTS * DIM], two[LISTS * DIM], trained[2 * DIM];
    static int64_t list[N], again[N], place[K];
    static unsigned char code[N * DIM];
    static uint32_t row[N];
    float centre[CENTRES * DIM], score[K];
    uint64_t rng = check_seed();
    uint32_t n_found = 0;
    for (int i = 0; i < CENTRES * DIM; i++)
        centre[i] = check_unit(&rng) - 0.5f;
    for (int i = 0; i < N; i++) {
        const float *c = centre + check_below(&rng, CENTRES) * DIM;
        double ss = 0;
        for (int d = 0; d < DIM; d++) {
            x[i * DIM + d] = c[d] + 0.3f * (check_unit(&rng) - 0.5f);
            ss += (double)x[i * DIM + d] * (double)x[i * DIM + d];
        }
        for (int d = 0; d < DIM; d++)
            x[i * DIM + d] /= (float)sqrt(ss);
    }
    myth_faiss_set_threads(1);
    assert_true(myth_faiss_cluster(one, LISTS, x, N, DIM) && myth_faiss_assign(list, one, LISTS, x, N, DIM));
    myth_faiss_set_threads(2);
    assert_true(myth_faiss_cluster(two, LISTS, x, N, DIM) && myth_faiss_assign(again, two, LISTS, x, N, DIM));
    assert_memory_equal(one, two, sizeof(one));
    assert_memory_equal(list, again, sizeof(list));
    for (int d = 0; d < DIM; d++) {
        float least = INFINITY, greatest = -INFINITY;
        for (int i = 0; i < N; i++) {
            least = fminf(least, x[i * DIM + d]);
            greatest = fmaxf(greatest, x[i * DIM + d]);
        }
        trained[d] = least;
        trained[DIM + d] = greatest - least;
    }
    uint64_t end[LISTS], n = 0;
    static float sorted[N * DIM];
    for (int c = 0; c < LISTS; c++) {
        for (uint32_t i = 0; i < N; i++)
            if (list[i] == c) {
                memcpy(sorted + n * DIM, x + i * DIM, DIM * sizeof(float));
                row[n++] = i;
            }
        end[c] = n;
    }
    assert_int_equal(n, N);
    assert_true(myth_faiss_sq8_encode(code, trained, sorted, N, DIM));
    for (int i = 0; i < QUERIES; i++) {
        const float *q = x + check_below(&rng, N) * DIM;
        int64_t near[PROBED], best[K];
        float s[PROBED > K ? PROBED : K];
        uint64_t from[PROBED], to[PROBED];
        assert_true(myth_faiss_flat_search(s, best, x, N, DIM, q, K));
        assert_true(myth_faiss_flat_search(s, near, one, LISTS, DIM, q, PROBED));
        for (int p = 0; p < PROBED; p++) {
            from[p] = near[p] ? end[near[p] - 1] : 0;
            to[p] = end[near[p]];
        }
        assert_true(myth_faiss_sq8_search(score, place, code, trained, from, to, PROBED, DIM, q, K));
        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                n_found += place[a] >= 0 && row[place[a]] == (uint32_t)best[b];
    }
    print_message("%d of %d lists: recall@%d %.3f\n", PROBED, LISTS, K, (double)n_found / (K * QUERIES));
    assert_true(n_found > 0.8 * K * QUERIES);
}

int main(void)
{
    if (!myth_vectors_is_built()) {
        printf("skipped: this build has no FAISS\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_beside_brute_force),
        cmocka_unit_test(a_text_is_embedded_once),
        cmocka_unit_test(another_model_begins_anew),
        cmocka_unit_test(in_step_with_every_change),
        cmocka_unit_test(behind_is_never_wrong),
        cmocka_unit_test(a_stop_keeps_what_is_done),
        cmocka_unit_test(two_makers),
        cmocka_unit_test(bad_models),
        cmocka_unit_test(meaning_brings_what_words_miss),
        cmocka_unit_test(a_filter_chooses_the_nearest),
        cmocka_unit_test(a_chunk_without_a_vector_keeps_its_match),
        cmocka_unit_test(a_corpus_by_hand),
        cmocka_unit_test(lists_have_what_is_near),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
