/* test_chunk_worker.c - a worker that hangs, sleeps, dies, gives wrong answers or runs out of memory: only one file
 * loses its syntax tree. */
#include "tests/support/chunks.h"
#include "engine/base/asan.h"
#include "retrieval/parse/chunk_wire.h"
#include "retrieval/limits.h"
#include "retrieval/parse/grammars.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char good[] = "int first(void)\n{\n    return 1;\n}\n";

static myth_mem *mem;
static myth_chunker *chunker;

static int set_up(void **state)
{
    (void)state;
    unsetenv("MYTHOS_CHUNK_FAULT");
    return myth_mem_open(&mem, 0, NULL) != MYTH_OK ||
           myth_chunker_open(&chunker, mem, chunks_worker(), NULL) != MYTH_OK;
}

static int tear_down(void **state)
{
    (void)state;
    unsetenv("MYTHOS_CHUNK_FAULT");
    myth_chunker_close(chunker);
    return myth_mem_close(mem) != 0;
}

static myth_chunks cut(myth_chunker *c, const char *path)
{
    myth_chunks k;
    assert_int_equal(myth_chunk_file(&k, c, "c", path, (const unsigned char *)good, sizeof(good) - 1, NULL), MYTH_OK);
    chunks_check(path, &k, (const unsigned char *)good, sizeof(good) - 1);
    return k;
}

static void expect_good(myth_chunker *c)
{
    myth_chunks k = cut(c, "good.c");
    if (!k.is_structured || k.is_failed)
        fail_msg("good.c: %s", k.note);
    assert_int_equal(k.n_symbol, 1);
    assert_string_equal(k.names + k.symbol[0].name, "first");
    myth_chunks_free(&k, mem);
}

/* The file is cut by its text, its note says what happened, and the next one has its tree. */
static void expect_fault(const char *fault, const char *note)
{
    char value[64];
    snprintf(value, sizeof(value), "%s:bad", fault);
    setenv("MYTHOS_CHUNK_FAULT", value, 1);
    const bool is_slow = strcmp(fault, "sleep") == 0 || strcmp(fault, "hang") == 0; /* these are waited for */
    for (int i = 0; i < (is_slow ? 1 : 3); i++) {
        expect_good(chunker);
        myth_chunks k = cut(chunker, "bad.c");
        if (k.is_structured || !k.is_failed || !strstr(k.note, note))
            fail_msg("%s: '%s', expected it to say '%s'", fault, k.note, note);
        assert_int_equal(k.n_chunk, 1);
        assert_int_equal(k.chunk[0].kind, MYTH_CHUNK_TEXT);
        if (i == 0)
            printf("%s: %s\n", fault, k.note);
        myth_chunks_free(&k, mem);
    }
    expect_good(chunker);
}

static void hangs(void **state)
{
    (void)state;
    /* under AddressSanitizer the worker may use up its processor time before the deadline: that ends it too */
    expect_fault("hang", MYTH_HAS_ASAN ? "parse: " : "not finished after");
}
static void sleeps(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN && check_quick() > 1) {
        check_skip("the deadline is 45 s under AddressSanitizer");
    }
    expect_fault("sleep", "its worker stood still for");
}

static myth_chunks cut_text(const char *path, const char *text, size_t n)
{
    myth_chunks k;
    assert_int_equal(myth_chunk_file(&k, chunker, "c", path, (const unsigned char *)text, n, NULL), MYTH_OK);
    return k;
}

/* A file that takes twice as long as parses once had, on a machine that is busy with something else. */
static void slow_clock(void **state)
{
    (void)state;
    setenv("MYTHOS_CHUNK_FAULT", "slow:bad", 1);
    myth_chunks fast = cut(chunker, "good.c"), slow = cut(chunker, "bad.c");
    assert_true(slow.is_structured && !slow.is_failed);
    assert_int_equal(slow.n_chunk, fast.n_chunk);
    assert_memory_equal(slow.chunk, fast.chunk, fast.n_chunk * sizeof(*fast.chunk));
    assert_int_equal(slow.n_symbol, fast.n_symbol);
    assert_memory_equal(slow.symbol, fast.symbol, fast.n_symbol * sizeof(*fast.symbol));
    myth_chunks_free(&fast, mem);
    myth_chunks_free(&slow, mem);
}

/* A file whose worker seldom gets a processor, for longer than one may stand still. */
static void busy_machine(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN || check_quick() > 1)
        check_skip("the worker dozes for 13 s, and longer under AddressSanitizer");
    setenv("MYTHOS_CHUNK_FAULT", "doze:bad", 1);
    myth_chunks slow = cut(chunker, "bad.c");
    if (!slow.is_structured || slow.is_failed)
        fail_msg("'%s'", slow.note);
    myth_chunks_free(&slow, mem);
}

/* Too many steps are too many each time: the file is not tried again, and its note has no time in it. */
static void too_many_steps(void **state)
{
    (void)state;
    enum { N = 1000000 };
    char *text = malloc(N + 1), want[64];
    for (size_t at = 0; at < N; at += 10)
        memcpy(text + at, at % 1000 ? "a;b;c;d;e;" : "a;b;c;d;\n\n", 10);
    snprintf(want, sizeof(want), "more than %d steps", MYTH_PARSE_STEPS);
    for (int i = 0; i < 2; i++) {
        myth_chunks k = cut_text("steps.c", text, N);
        if (k.is_structured || k.is_failed || !k.is_lost || !strstr(k.note, want))
            fail_msg("'%s', expected it to say '%s'", k.note, want);
        myth_chunks_free(&k, mem);
    }
    expect_good(chunker);
    free(text);
}

static void aborts(void **state)
{
    (void)state;
    expect_fault("abort", MYTH_HAS_ASAN ? "worker" : "signal 6");
}
static void leaves(void **state)
{
    (void)state;
    expect_fault("exit", "status 3");
}
static void lies(void **state)
{
    (void)state;
    expect_fault("garbage", "answer is invalid");
}
static void stops_in_its_answer(void **state)
{
    (void)state;
    expect_fault("short", "exited with status 0");
}

static void takes_all_memory(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN) {
        check_skip("AddressSanitizer allows no limit on the address space");
    }
    expect_fault("memory", "exited with status 4");
}

static void opens_nothing(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN) {
        check_skip("AddressSanitizer allows no filter of system calls");
    }
    expect_fault("open", "exited with status 6");
}

/* A parser has no use for what the environment of its user holds. */
static void the_environment_stays_outside(void **state)
{
    (void)state;
    setenv("MYTHOS_TEST_PASSWORD", "hunter2", 1);
    expect_fault("environ", "exited with status 6");
    unsetenv("MYTHOS_TEST_PASSWORD");
}

static void *kill_soon(void *arg)
{
    usleep(20000);
    kill(*(int *)arg, SIGKILL);
    return NULL;
}

static void killed_in_a_request(void **state)
{
    (void)state;
    setenv("MYTHOS_CHUNK_FAULT", "sleep:bad", 1);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        expect_good(chunker);
        int pid = myth_chunker_worker_pid(chunker);
        assert_true(pid > 0);
        assert_int_equal(pthread_create(&thread, NULL, kill_soon, &pid), 0);
        myth_chunks k = cut(chunker, "bad.c");
        pthread_join(thread, NULL);
        assert_true(!k.is_structured && k.is_failed);
        assert_non_null(strstr(k.note, "signal 9"));
        myth_chunks_free(&k, mem);
    }
    expect_good(chunker);
}

/* Between two files it is no file's fault: the next one has a new worker and its tree. */
static void killed_between_requests(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        expect_good(chunker);
        int pid = myth_chunker_worker_pid(chunker);
        kill(pid, SIGKILL);
        usleep(20000);
        expect_good(chunker);
        assert_int_not_equal(myth_chunker_worker_pid(chunker), pid);
    }
}

static uint32_t n_open_files(void)
{
    uint32_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void no_file_is_left_open(void **state)
{
    (void)state;
    setenv("MYTHOS_CHUNK_FAULT", "exit:bad", 1);
    expect_good(chunker);
    uint32_t before = n_open_files();
    for (int i = 0; i < 20; i++) {
        myth_chunks k = cut(chunker, "bad.c");
        myth_chunks_free(&k, mem);
        expect_good(chunker);
    }
    assert_int_equal(n_open_files(), before);
}

static void no_such_worker(void **state)
{
    (void)state;
    myth_chunker *c;
    assert_int_equal(myth_chunker_open(&c, mem, "/nonexistent/mythos", NULL), MYTH_OK);
    for (int i = 0; i < 3; i++) {
        myth_chunks k = cut(c, "good.c");
        assert_true(!k.is_structured && k.n_chunk == 1);
        assert_non_null(strstr(k.note, "cannot start"));
        assert_true(!k.is_failed && k.is_unasked); /* not this file's fault */
        myth_chunks_free(&k, mem);
    }
    myth_chunker_close(c);
    assert_int_equal(myth_chunker_open(&c, mem, NULL, NULL), MYTH_OK);
    myth_chunks k = cut(c, "good.c");
    assert_true(!k.is_structured && k.note[0] == '\0');
    myth_chunks_free(&k, mem);
    myth_chunker_close(c);
}

/* A program that is no worker at all: it ends, or says nothing. */
static void another_program(void **state)
{
    static const char *const programs[] = {"/bin/true", "/bin/false"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        myth_chunker *c;
        assert_int_equal(myth_chunker_open(&c, mem, programs[i], NULL), MYTH_OK);
        myth_chunks k = cut(c, "good.c");
        assert_true(!k.is_structured && k.note[0] != '\0');
        myth_chunks_free(&k, mem);
        myth_chunker_close(c);
    }
}

static void *cut_many(void *arg)
{
    myth_chunker *c = NULL;
    bool *is_good = arg;
    *is_good = myth_chunker_open(&c, mem, chunks_worker(), NULL) == MYTH_OK;
    for (int i = 0; i < 50 && *is_good; i++) {
        myth_chunks k;
        const char *path = i % 10 == 9 ? "bad.c" : "good.c";
        *is_good = myth_chunk_file(&k, c, "c", path, (const unsigned char *)good, sizeof(good) - 1, NULL) == MYTH_OK &&
                   k.is_structured == (i % 10 != 9);
        myth_chunks_free(&k, mem);
    }
    myth_chunker_close(c);
    return NULL;
}

static void several_at_a_time(void **state)
{
    pthread_t thread[4];
    bool is_good[4];
    (void)state;
    setenv("MYTHOS_CHUNK_FAULT", "exit:bad", 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, cut_many, &is_good[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        assert_true(is_good[i]);
    }
}

static bool read_all(int fd, void *dst, size_t n)
{
    for (char *p = dst; n > 0;) {
        ssize_t got = read(fd, p, n);
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

/* A worker whose input ends gives everything back and leaves with 0; one that is asked nonsense leaves with 1. */
static void ends_with_its_input(void **state)
{
    (void)state;
    for (int is_nonsense = 0; is_nonsense < 2; is_nonsense++) {
        int pair[2], status = 0;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            dup2(pair[1], 0);
            dup2(pair[1], 1);
            close(pair[0]);
            close(pair[1]);
            execl(chunks_worker(), "mythos", "--chunk-worker", (char *)NULL);
            _exit(127);
        }
        close(pair[1]);
        myth_chunk_request q = {
            .magic = MYTH_WIRE_MAGIC,
            .verb = MYTH_WIRE_LOAD,
            .grammar = (uint32_t)myth_grammar_find("c"),
        };
        myth_chunk_answer a;
        assert_int_equal(write(pair[0], &q, sizeof(q)), sizeof(q));
        assert_true(read_all(pair[0], &a, sizeof(a)) && a.magic == MYTH_WIRE_MAGIC && !a.is_failed);
        q.verb = MYTH_WIRE_CUT;
        q.n = sizeof(good) - 1;
        assert_int_equal(write(pair[0], &q, sizeof(q)), sizeof(q));
        assert_int_equal(write(pair[0], good, sizeof(good) - 1), sizeof(good) - 1);
        assert_true(read_all(pair[0], &a, sizeof(a)) && a.n_chunk == 1 && a.n_symbol == 1);
        uint64_t rest =
            a.n_chunk * sizeof(myth_chunk) + a.n_symbol * sizeof(myth_symbol) + a.n_ref * sizeof(myth_ref) + a.n_names;
        char bytes[4096];
        assert_true(rest <= sizeof(bytes) && read_all(pair[0], bytes, rest));
        q.magic ^= 1;
        if (is_nonsense)
            assert_int_equal(write(pair[0], &q, sizeof(q)), sizeof(q));
        shutdown(pair[0], SHUT_WR);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), is_nonsense);
        close(pair[0]);
    }
}

int main(void)
{
    if (!myth_chunk_has_grammar("c")) {
        printf("this build has no parsers\n");
        return CHECK_SKIP;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hangs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sleeps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_clock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(busy_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aborts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_in_its_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_all_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(opens_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_environment_stays_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_in_a_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_between_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_file_is_left_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_such_worker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_at_a_time, set_up, tear_down),
        cmocka_unit_test(ends_with_its_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
