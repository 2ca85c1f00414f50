/* test_vectors_faults.c - vectors when things go wrong: kill -9 at any moment of an update with embedding, flipped
 * bytes in every file, no memory.
 *
 * Kill    a child process updates index and vectors and is killed: at any call that changes a file; at those that
 *         write, sync and rename the vectors; at those after them; or at a random time. Then the index must open
 *         undamaged, every vector must belong to the text it is stored for, and the next run must give the same as
 *         a fresh one
 * Flip    a byte of the vectors, the embeddings or the database is changed: an answer must be as before or an
 *         error, the check must find whatever an answer would fail at, and the next run must repair it */
#include "tests/retrieval/index/index_tree.h"
#include "tests/retrieval/index/kill_at.h"
#include "words_embedder.h"

#include <signal.h>
#include <sys/wait.h>

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

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static myth_status update_all(const char *tree, const char *db, myth_mem *own, myth_vectors_stats *stats,
                              myth_error *err)
{
    myth_index *x = NULL;
    const myth_text_embedder e = words_embedder(&state);
    myth_vectors_update_opts o = {.embedder = &e, .n_threads = 1};
    myth_index_opts opts = {
        .root = files_path(tree),
        .path = files_path(db),
        .worker_path = getenv("MYTHOS_BIN"),
        .n_threads = 1,
    };
    myth_status st = myth_index_open(&x, own, &opts, err);
    if (st == MYTH_OK)
        st = myth_index_update(x, NULL, NULL, err);
    if (st == MYTH_OK)
        st = myth_vectors_update(x, &o, stats, err);
    myth_index_close(x);
    return st;
}

static void remove_all(const char *db)
{
    static char line[512];
    index_remove(db);
    snprintf(line, sizeof(line), "rm -f '%s'.vectors-*", files_path(db));
    assert_int_equal(system(line), 0);
}

/* Cosines of every chunk that has a vector, by place; fails when one is not what its text gives. */
static uint32_t dump_vectors(bytes *out, const char *tree, const char *db, uint32_t *n_chunk)
{
    myth_error err = {0};
    myth_index *x = open_index(tree, db, mem, true);
    myth_vectors *v = NULL;
    sqlite3_stmt *q;
    float asked[WORDS_DIM], of[WORDS_DIM], score;
    uint32_t n = 0;
    *n_chunk = 0;
    words_vector(asked, "parse the request", 17);
    const myth_status st = myth_vectors_open(&v, x, &err);
    if (st != MYTH_OK && st != MYTH_ENOTFOUND && st != MYTH_ELOST)
        fail_msg("%s", err.msg);
    assert_int_equal(
        sqlite3_prepare_v2(myth_store_db(myth_index_store(x)),
                           "SELECT chunks.id, chunks.hash, span(file_id, off, chunks.bytes), path, off FROM "
                           "chunks JOIN files ON files.id = file_id ORDER BY path, off",
                           -1, &q, NULL),
        SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        uint64_t content;
        char line[PATH_CAP];
        memcpy(&content, sqlite3_column_blob(q, 1), 8);
        ++*n_chunk;
        if (!v || !myth_vectors_score(v, asked, sqlite3_column_int64(q, 0), content, &score))
            continue;
        words_kept(of, sqlite3_column_blob(q, 2), (size_t)sqlite3_column_bytes(q, 2));
        if (fabs(words_dot(of, asked) - (double)score) > 1e-5)
            fail_msg("a chunk of %.*s has the vector of another text", sqlite3_column_bytes(q, 3),
                     (const char *)sqlite3_column_blob(q, 3));
        snprintf(line, sizeof(line), "%.*s:%lld %.9g\n",
                 sqlite3_column_bytes(q, 3) < 400 ? sqlite3_column_bytes(q, 3) : 400,
                 (const char *)sqlite3_column_blob(q, 3), (long long)sqlite3_column_int64(q, 4), (double)score);
        bytes_text(out, line);
        n++;
    }
    sqlite3_finalize(q);
    myth_vectors_close(v);
    myth_index_close(x);
    return n;
}

static void equals_fresh(const char *tree, const char *db)
{
    bytes a = {0}, b = {0};
    uint32_t n_chunk;
    myth_error err = {0};
    remove_all("fresh.db");
    if (update_all(tree, "fresh.db", mem, NULL, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    uint32_t has = dump_vectors(&a, tree, db, &n_chunk);
    assert_int_equal(has, n_chunk);
    has = dump_vectors(&b, tree, "fresh.db", &n_chunk);
    assert_int_equal(has, n_chunk);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    bytes_free(&a);
    bytes_free(&b);
}

static void check_whole(const char *tree, const char *db)
{
    bytes b = {0};
    index_dump(&b, tree, db, mem);
    bytes_free(&b);
}

/* ---- kill -9 ---- */

/* Whether some kill fell on the vectors and, of the full count, on each kind of their calls and on the log. */
static bool kills_have_met(const kill_tally *t)
{
    const uint32_t *v = t->n[KILL_VECTORS];
    return check_is_full() ? v[KILL_WRITE] && v[KILL_SYNC] && v[KILL_RENAME] && t->n[KILL_WAL][KILL_WRITE]
                           : v[KILL_WRITE] + v[KILL_SYNC] + v[KILL_RENAME] > 0;
}

static void killed(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    const uint32_t n = check_is_full() ? 200 : 12;
    uint32_t n_partly = 0, n_chunk, i = 0;
    kill_run run[2];
    kill_tally tally = {0};
    double whole[2];
    myth_error err = {0};
    tree_make("kill", 30, &rng);
    kill_open();
    for (int k = 0; k < 2; k++) { /* made, updated */
        if (k)
            tree_change("kill", 15, &rng);
        state = (words_state){.pause_ns = 200000};
        const double start = now_s();
        kill_begin(0, 0);
        assert_int_equal(update_all("kill", "k.db", mem, NULL, &err), MYTH_OK);
        run[k] = kill_run_of();
        whole[k] = now_s() - start;
        assert_true(run[k].n_vectors >= 3 && run[k].last_vectors < run[k].n);
    }
    for (; check_goes_on(i, n, kills_have_met(&tally)); i++) {
        const int k = i % 3 != 0;
        const kill_run *r = &run[k];
        const bool by_clock = i % 4 == 3;
        if (k == 0)
            remove_all("k.db");
        else
            tree_change("kill", 15, &rng);
        const uint32_t behind = r->first_vectors + check_below(&rng, r->n - r->first_vectors + 1);
        if (i % 4 == 1) { /* each kind as often */
            kill_call aim;
            do
                aim = (kill_call)check_below(&rng, KILL_CALL_N);
            while (!r->n_vectors_call[aim]);
            kill_begin_at(aim, 1 + check_below(&rng, r->n_vectors_call[aim]), check_below(&rng, 1000));
        } else {
            kill_begin(by_clock ? 0 : i % 4 == 0 ? 1 + check_below(&rng, r->n) : behind, check_below(&rng, 1000));
        }
        pid_t child = fork();
        if (child == 0) {
            state = (words_state){.pause_ns = 200000};
            update_all("kill", "k.db", mem, NULL, NULL);
            _exit(0);
        }
        if (by_clock) {
            const double wait = 1.1 * whole[k] * (double)check_unit(&rng);
            nanosleep(
                &(struct timespec){.tv_sec = (time_t)wait, .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)},
                NULL);
            kill(child, SIGKILL);
        }
        int st;
        assert_int_equal(waitpid(child, &st, 0), child);
        kill_end();
        kill_note(&tally, WIFSIGNALED(st));
        if (by_clock) /* how fast the machine is now */
            whole[k] *= WIFSIGNALED(st) ? 1.1 : 0.6;
        myth_index *x = NULL;
        myth_index_opts opts = {.root = files_path("kill"), .path = files_path("k.db")};
        if (myth_index_open(&x, mem, &opts, &err) != MYTH_OK)
            fail_msg("kill %u: %s", i, err.msg);
        myth_index_close(x);
        check_whole("kill", "k.db");
        bytes b = {0};
        const uint32_t has = dump_vectors(&b, "kill", "k.db", &n_chunk);
        n_partly += has > 0 && has < n_chunk;
        bytes_free(&b);
        state = (words_state){0};
        if (update_all("kill", "k.db", mem, NULL, &err) != MYTH_OK)
            fail_msg("kill %u: %s", i, err.msg);
        check_whole("kill", "k.db");
        equals_fresh("kill", "k.db");
    }
    kill_print(&tally, i);
    kill_close();
    print_message("%u left an index with some of its vectors\n", n_partly);
    assert_true(tally.n_ended < i / 2 && kills_have_met(&tally));
}

/* What was begun and not ended goes with the next run; what it embedded is not embedded again. */
static void what_was_embedded_is_kept(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    myth_error err = {0};
    myth_vectors_stats stats;
    char path[PATH_CAP];
    struct stat info = {0};
    tree_make("kept", 60, &rng);
    remove_all("kept.db");
    pid_t child = fork();
    if (child == 0) {
        state = (words_state){.pause_ns = 1000000};
        update_all("kept", "kept.db", mem, NULL, NULL);
        _exit(0);
    }
    snprintf(path, sizeof(path), "%s.embeddings", files_path("kept.db"));
    for (int i = 0; i < 4000 && info.st_size < 600; i++) { /* until a batch is there */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (stat(path, &info) != 0)
            info.st_size = 0;
    }
    kill(child, SIGKILL);
    int st;
    assert_int_equal(waitpid(child, &st, 0), child);
    assert_int_equal(stat(path, &info), 0);
    const uint64_t n_kept = ((uint64_t)info.st_size - 512) / (16 + 2 * WORDS_DIM);
    assert_true(n_kept > 0);
    state = (words_state){0};
    assert_int_equal(update_all("kept", "kept.db", mem, &stats, &err), MYTH_OK);
    const uint64_t rest = stats.n_embedded;
    remove_all("kept.db");
    assert_int_equal(update_all("kept", "kept.db", mem, &stats, &err), MYTH_OK);
    assert_int_equal(stats.n_embedded, n_kept + rest);
}

/* A process reads while another updates again and again: what it gets is of the text it asks for. */
static void a_reader_and_a_maker(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    myth_error err = {0};
    uint32_t n_read = 0, n_with = 0, n_chunk;
    int st;
    tree_make("read", 15, &rng);
    remove_all("r.db");
    state = (words_state){0};
    assert_int_equal(update_all("read", "r.db", mem, NULL, &err), MYTH_OK);
    pid_t child = fork();
    if (child == 0) {
        for (uint32_t i = 0; i < (check_is_full() ? 150u : 12u); i++) {
            tree_change("read", 4, &rng);
            if (update_all("read", "r.db", mem, NULL, NULL) != MYTH_OK)
                _exit(1);
        }
        _exit(0);
    }
    while (waitpid(child, &st, WNOHANG) == 0) {
        bytes b = {0};
        n_with += dump_vectors(&b, "read", "r.db", &n_chunk) > 0;
        n_read++;
        bytes_free(&b);
    }
    assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 0);
    print_message("%u reads beside the updates, %u of them with vectors\n", n_read, n_with);
    assert_true(n_with > 0);
    check_whole("read", "r.db");
    equals_fresh("read", "r.db");
}

/* ---- flipped bytes ---- */

typedef struct {
    char name[PATH_CAP];
    unsigned char *data;
    size_t n;
} whole_file;

static void slurp(whole_file *w, const char *name)
{
    snprintf(w->name, sizeof(w->name), "%s", name);
    FILE *f = fopen(files_path(name), "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    w->n = (size_t)ftell(f);
    rewind(f);
    assert_non_null(w->data = malloc(w->n));
    assert_int_equal(fread(w->data, 1, w->n, f), w->n);
    fclose(f);
}

static void drop_line(void *arg, const char *line)
{
    (void)arg;
    (void)line;
}

/* The name of the one file of vectors. */
static void find_vectors(char name[PATH_CAP], const char *db)
{
    char prefix[128];
    uint32_t n = 0;
    snprintf(prefix, sizeof(prefix), "%s.vectors-", db);
    DIR *d = opendir(files_dir());
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            snprintf(name, PATH_CAP, "%.255s", e->d_name);
            n++;
        }
    closedir(d);
    assert_int_equal(n, 1); /* others are removed */
}

/* Ten searches, as text; MYTH_OK and everything of them, or why not. */
static myth_status ask(bytes *out, myth_index *x)
{
    static const char *const text[] = {
        "parse the request", "count errors", "session of the user", "delete file",          "token buffer",
        "cache index",       "file",         "user request parse",  "error in the session", "buffer count"};
    myth_vectors *v = NULL;
    myth_error err = {0};
    myth_status st = myth_vectors_open(&v, x, &err);
    for (int i = 0; i < 10 && st == MYTH_OK; i++) {
        float q[WORDS_DIM];
        myth_vector_hit hit[10];
        uint32_t n = 0;
        words_vector(q, text[i], strlen(text[i]));
        st = myth_vectors_search(v, q, 10, hit, &n, &err);
        for (uint32_t k = 0; k < n && st == MYTH_OK; k++) {
            char line[128];
            sqlite3_stmt *s = NULL;
            int rc = sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT hash FROM chunks WHERE id = ?1", -1,
                                        &s, NULL);
            sqlite3_bind_int64(s, 1, hit[k].chunk_id);
            rc = rc == SQLITE_OK ? sqlite3_step(s) : rc;
            const bool is_it = rc == SQLITE_ROW && sqlite3_column_bytes(s, 0) == 8 &&
                               memcmp(sqlite3_column_blob(s, 0), &hit[k].content, 8) == 0;
            st = rc == SQLITE_DONE ? MYTH_OK : myth_store_fail(myth_index_store(x), rc, &err);
            sqlite3_finalize(s);
            snprintf(line, sizeof(line), "%lld %.9g\n", (long long)hit[k].chunk_id, (double)hit[k].score);
            if (is_it && st == MYTH_OK)
                bytes_text(out, line);
        }
    }
    myth_vectors_close(v);
    return st;
}

static void flipped(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    const uint32_t n = check_is_full() ? 1000 : 45;
    uint32_t n_open = 0, n_ask = 0, n_check = 0, n_harmless = 0;
    char name[PATH_CAP];
    whole_file file[3];
    bytes want = {0};
    myth_error err = {0};
    tree_make("flip", 40, &rng);
    remove_all("f.db");
    state = (words_state){0};
    assert_int_equal(update_all("flip", "f.db", mem, NULL, &err), MYTH_OK);
    find_vectors(name, "f.db");
    slurp(&file[0], name);
    slurp(&file[1], "f.db.embeddings");
    slurp(&file[2], "f.db");
    myth_index *x = open_index("flip", "f.db", mem, true);
    assert_int_equal(ask(&want, x), MYTH_OK);
    myth_index_close(x);
    assert_true(want.len > 500);
    for (uint32_t i = 0; i < n; i++) {
        whole_file *w = &file[i % 3];
        const size_t at = i % 12 < 3 ? (size_t)(check_rand(&rng) % (w->n < 512 ? w->n : 512))
                                     : (size_t)(check_rand(&rng) % w->n); /* some in the header */
        const unsigned char bit = (unsigned char)(1u << check_below(&rng, 8));
        remove_all("f.db");
        w->data[at] ^= bit;
        for (int k = 0; k < 3; k++)
            files_put(file[k].name, file[k].data, file[k].n);
        w->data[at] ^= bit;
        uint64_t n_problem = 0;
        bytes got = {0};
        myth_index_opts opts = {.root = files_path("flip"), .path = files_path("f.db"), .is_read_only = true};
        const myth_status opened = myth_index_open(&x, mem, &opts, &err);
        myth_status asked = MYTH_OK, checked = MYTH_OK;
        if (opened == MYTH_OK) {
            asked = ask(&got, x);
            if (asked == MYTH_OK && (got.len != want.len || memcmp(got.data, want.data, want.len) != 0))
                fail_msg("byte %zu of %s: bit %u: an answer is another", at, w->name, bit);
            checked = myth_index_check(x, drop_line, NULL, &n_problem, &err);
            if (asked != MYTH_OK && checked == MYTH_OK && n_problem == 0)
                fail_msg("byte %zu of %s: a search fails, the check does not", at, w->name);
            if (i % 3 == 0 && asked == MYTH_OK)
                fail_msg("byte %zu of %s: bit %u: not found", at, w->name, bit); /* the checksum is over all of it */
            myth_index_close(x);
        }
        if (i % 3 != 2) { /* of a damaged database the message says that it must go */
            assert_int_equal(opened, MYTH_OK);
            if (update_all("flip", "f.db", mem, NULL, &err) != MYTH_OK)
                fail_msg("byte %zu of %s: not repaired: %s", at, w->name, err.msg);
            bytes_free(&got);
            got = (bytes){0};
            x = open_index("flip", "f.db", mem, true);
            assert_int_equal(ask(&got, x), MYTH_OK);
            assert_int_equal(got.len, want.len);
            assert_memory_equal(got.data, want.data, want.len);
            assert_int_equal(myth_index_check(x, fail_line, (void *)(uintptr_t) "repaired", &n_problem, &err), MYTH_OK);
            myth_index_close(x);
        }
        n_open += opened != MYTH_OK;
        n_ask += opened == MYTH_OK && asked != MYTH_OK;
        n_check += opened == MYTH_OK && asked == MYTH_OK && (checked != MYTH_OK || n_problem);
        n_harmless += opened == MYTH_OK && asked == MYTH_OK && checked == MYTH_OK && !n_problem;
        bytes_free(&got);
    }
    print_message("%u bytes: %u found at open, %u by a search, %u by the check, %u harmless\n", n, n_open, n_ask,
                  n_check, n_harmless);
    for (int k = 0; k < 3; k++)
        free(file[k].data);
    bytes_free(&want);
}

/* Cut anywhere, as a full disk or another program leaves it. */
static void cut(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    char name[PATH_CAP];
    whole_file file[2];
    myth_error err = {0};
    tree_make("cut", 15, &rng);
    remove_all("c.db");
    assert_int_equal(update_all("cut", "c.db", mem, NULL, &err), MYTH_OK);
    find_vectors(name, "c.db");
    slurp(&file[0], name);
    slurp(&file[1], "c.db.embeddings");
    for (uint32_t i = 0; i < (check_is_full() ? 200u : 12u); i++) {
        whole_file *w = &file[i % 2];
        bytes b = {0};
        myth_index *x = open_index("cut", "c.db", mem, true);
        find_vectors(name, "c.db");
        files_put(i % 2 ? w->name : name, w->data, i < 2 ? 0 : (size_t)(check_rand(&rng) % w->n));
        if (i % 2 == 0)
            assert_int_not_equal(ask(&b, x), MYTH_OK);
        myth_index_close(x);
        if (update_all("cut", "c.db", mem, NULL, &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        check_whole("cut", "c.db");
        x = open_index("cut", "c.db", mem, true);
        assert_int_equal(ask(&b, x), MYTH_OK);
        myth_index_close(x);
        bytes_free(&b);
    }
    for (int k = 0; k < 2; k++)
        free(file[k].data);
}

/* ---- no memory ---- */

static void no_memory(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    uint32_t n = 0, n_failed = 0;
    myth_mem *own;
    myth_error err = {0};
    tree_make("mem", 4, &rng);
    remove_all("mem.db");
    assert_int_equal(myth_mem_open(&own, 0, NULL), MYTH_OK);
    assert_int_equal(update_all("mem", "mem.db", own, NULL, &err), MYTH_OK);
    for (uint64_t nth = 1;; nth += check_is_full() ? 1 : 1 + check_below(&rng, 5)) {
        myth_index *x = NULL;
        myth_vectors *v = NULL;
        const myth_text_embedder e = words_embedder(&state);
        myth_vectors_update_opts o = {
            .embedder = &e,
            .n_threads = 1,
            .kind = n % 2 ? MYTH_VECTORS_IVF : MYTH_VECTORS_SQ8,
        };
        myth_index_opts opts = {.root = files_path("mem"), .path = files_path("mem.db"), .n_threads = 1};
        char path[PATH_CAP];
        snprintf(path, sizeof(path), "%s.embeddings", files_path("mem.db"));
        unlink(path);
        assert_int_equal(myth_index_open(&x, own, &opts, &err), MYTH_OK);
        const uint64_t before = myth_mem_n_alloc(own);
        myth_mem_set_fault(own, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_vectors_update(x, &o, NULL, &err);
        if (st == MYTH_OK)
            st = myth_vectors_open(&v, x, &err);
        if (st == MYTH_OK) {
            myth_vector_hit hit[3];
            uint32_t n_hit;
            float q[WORDS_DIM];
            words_vector(q, "file", 4);
            st = myth_vectors_search(v, q, 3, hit, &n_hit, &err);
        }
        myth_vectors_close(v);
        const bool is_past = myth_mem_n_alloc(own) - before < nth;
        myth_mem_set_fault(own, NULL);
        if (st != MYTH_OK && st != MYTH_ENOMEM)
            fail_msg("allocation %llu: %s: %s", (unsigned long long)nth, myth_status_name(st), err.msg);
        n_failed += st == MYTH_ENOMEM;
        n++;
        uint64_t n_problem = 0;
        assert_int_equal(myth_index_check(x, fail_line, (void *)(uintptr_t) "after a failure", &n_problem, &err),
                         MYTH_OK);
        myth_index_close(x);
        assert_int_equal(myth_mem_total(own, MYTH_MEM_HOST).live, 0);
        if (is_past)
            break;
    }
    print_message("%u of %u runs ran out of memory\n", n_failed, n);
    assert_true(n_failed > n / 2);
    assert_int_equal(myth_mem_close(own), 0);
}

int main(void)
{
    if (!myth_vectors_is_built()) {
        printf("skipped: this build has no FAISS\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),
        cmocka_unit_test(what_was_embedded_is_kept),
        cmocka_unit_test(a_reader_and_a_maker),
        cmocka_unit_test(flipped),
        cmocka_unit_test(cut),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
