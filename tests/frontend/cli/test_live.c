/* test_live.c - jobs whose limit changes, which are paused and go on: the same bytes as undisturbed, never over the
 * limit, and an answer to everything that is asked. */
#include "tests/frontend/cli/meminfo.h"

#include "engine/base/asan.h"
#include "frontend/cli/live.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static cli_result r;
static json_error_t json_err;

/* ---- levels ---- */

static void levels_have_hysteresis(void **state)
{
    (void)state;
    static const struct {
        uint64_t used;
        myth_memory_level is;
    } step[] = {
        {0, MYTH_LEVEL_NORMAL},     {849, MYTH_LEVEL_NORMAL},  {850, MYTH_LEVEL_WARNING},  {801, MYTH_LEVEL_WARNING},
        {799, MYTH_LEVEL_NORMAL},   {845, MYTH_LEVEL_NORMAL},  {950, MYTH_LEVEL_CRITICAL}, {901, MYTH_LEVEL_CRITICAL},
        {899, MYTH_LEVEL_WARNING},  {949, MYTH_LEVEL_WARNING}, {999, MYTH_LEVEL_CRITICAL}, {820, MYTH_LEVEL_WARNING},
        {999, MYTH_LEVEL_CRITICAL}, {100, MYTH_LEVEL_NORMAL},
    };
    myth_memory_level level = MYTH_LEVEL_NORMAL;
    for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++) {
        level = myth_memory_level_of(step[i].used, 1000, level);
        assert_int_equal(level, step[i].is);
    }
    assert_int_equal(myth_memory_level_of(10, 0, MYTH_LEVEL_NORMAL), MYTH_LEVEL_NORMAL);
    /* From any level, one value gives one of at most two, and a value far from every border one. */
    for (uint64_t used = 0; used <= 1000; used++) {
        const myth_memory_level low = myth_memory_level_of(used, 1000, MYTH_LEVEL_NORMAL),
                                high = myth_memory_level_of(used, 1000, MYTH_LEVEL_CRITICAL);
        assert_true(low <= high && high - low <= 1);
    }
}

/* ---- a job in the background ---- */

/* Begins "$M ARGS --control $D/s"; its output goes to $D/job.out and job.err. */
static pid_t begin_job(const char *args)
{
    char line[2048], socket_path[128];
    snprintf(socket_path, sizeof(socket_path), "%s/s", cli_dir);
    snprintf(line, sizeof(line), "M='%s'; D='%s'; exec $M %s --control $D/s >$D/job.out 2>$D/job.err </dev/null",
             cli_bin(), cli_dir, args);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 2000 && access(socket_path, F_OK) != 0; i++)
        usleep(5000);
    return pid;
}

static int end_job(pid_t pid)
{
    int st = 0;
    assert_int_equal(waitpid(pid, &st, 0), pid);
    return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

static int connect_to(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof(a.sun_path), "%s/s", cli_dir);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The answer to a line; NULL: the job has ended. */
static json_t *ask(const char *line)
{
    static char got[1 << 16];
    size_t n = 0;
    const int fd = connect_to();
    if (fd < 0)
        return NULL;
    if (send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line) || send(fd, "\n", 1, MSG_NOSIGNAL) != 1) {
        close(fd);
        return NULL;
    }
    for (ssize_t k;
         n + 1 < sizeof(got) && !memchr(got, '\n', n) && (k = recv(fd, got + n, sizeof(got) - 1 - n, 0)) > 0;)
        n += (size_t)k;
    close(fd);
    got[n] = '\0';
    return n ? json_loads(got, 0, &json_err) : NULL;
}

static bool is_ok(json_t *answer)
{
    const bool is = json_is_true(json_object_get(answer, "ok"));
    json_decref(answer);
    return is;
}

static void assert_error(const char *line, const char *text)
{
    json_t *a = ask(line);
    assert_non_null(a);
    assert_true(json_is_false(json_object_get(a, "ok")));
    if (!strstr(json_string_value(json_object_get(a, "error")), text))
        fail_msg("%s: %s", line, json_string_value(json_object_get(a, "error")));
    json_decref(a);
}

static json_int_t used_of(const json_t *sample) { return json_integer_value(json_object_get(sample, "used_bytes")); }

/* Asks until the job has a journal, without which it cannot go on. */
static void assert_obeyed(const char *line)
{
    for (;;) {
        json_t *a = ask(line);
        if (!a)
            fail_msg("%s: the job has ended", line);
        const char *why = json_string_value(json_object_get(a, "error"));
        const bool is_early = why && strstr(why, "with a journal");
        if (why && !is_early)
            fail_msg("%s: %s", line, why);
        json_decref(a);
        if (!is_early)
            return;
        usleep(5000);
    }
}

static json_int_t stat_of(const char *key)
{
    json_t *a = ask("{\"cmd\":\"stats\"}");
    const json_int_t v = a ? json_integer_value(json_object_get(json_object_get(a, "stats"), key)) : -1;
    json_decref(a);
    return v;
}

static void await_plan(pid_t pid)
{
    int st;
    while (stat_of("planned_bytes") <= 0) {
        if (waitpid(pid, &st, WNOHANG) == pid)
            fail_msg("the job has ended before it had a plan: status %d", st);
        usleep(5000);
    }
}

static void put_prompts(const char *name, uint32_t n)
{
    char path[128];
    uint64_t rng = 7;
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++) {
        fputs("{\"text\":\"", f);
        for (uint32_t k = 20 + check_below(&rng, 150); k > 0; k--)
            fputc((int)('a' + check_below(&rng, 26)), f);
        fputs("\"}\n", f);
    }
    fclose(f);
}

static bool is_same(const char *a, const char *b)
{
    char line[256];
    snprintf(line, sizeof(line), "cmp $D/%s $D/%s", a, b);
    cli_shell(&r, line);
    return r.code == 0;
}

/* ---- limits, pauses ---- */

static const struct {
    const char *name, *args;
} jobs[] = {
    {"residuals", "residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 4 --layers all"},
    {"logprobs", "logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0"},
    {"generate", "generate --jsonl $D/p.jsonl -m random:gemma3-tiny:q8_0 -n 40 -np 4 --temp 1 --seed 3 -c 512"},
    {"embed", "embed --jsonl $D/e.jsonl"},
};

/* The lines of the report: each is whole, in its order, and no use is over the limit of its line. */
static void check_report(void)
{
    char path[128], line[1 << 14];
    double last = -1;
    uint32_t n = 0;
    bool has_plan = false, has_end = false;
    snprintf(path, sizeof(path), "%s/report.jsonl", cli_dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (; fgets(line, sizeof(line), f); n++) {
        json_t *s = json_loads(line, 0, &json_err);
        if (!s)
            fail_msg("%s: %s", json_err.text, line);
        const json_int_t limit = json_integer_value(json_object_get(s, "limit_bytes"));
        const char *event = json_string_value(json_object_get(s, "event"));
        assert_int_equal(json_integer_value(json_object_get(s, "schema")), 1);
        assert_true(json_number_value(json_object_get(s, "seconds")) >= last);
        last = json_number_value(json_object_get(s, "seconds"));
        assert_true(!limit || used_of(s) <= limit);
        assert_true(n > 0 || strcmp(event, "begin") == 0);
        assert_false(has_end);
        has_plan |= strcmp(event, "plan") == 0;
        has_end = strcmp(event, "end") == 0;
        if (strcmp(event, "waiting") == 0)
            assert_int_equal(used_of(s), 0);
        json_decref(s);
    }
    fclose(f);
    assert_true(n >= 3 && has_plan && has_end);
}

static void a_job_goes_on_in_another_way(void **state)
{
    (void)state;
    char line[512];
    uint64_t rng = check_seed();
    put_prompts("p.jsonl", cli_lines(240));
    put_prompts("e.jsonl", cli_lines(5000)); /* the shipped embedder is fast */
    for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
        snprintf(line, sizeof(line), "%s -o $D/want", jobs[i].args);
        cli_expect(&r, line, 0);
        uint32_t n_changed = 0, n_paused = 0;
        snprintf(line, sizeof(line), "%s -o $D/got --mem-report $D/report.jsonl", jobs[i].args);
        const pid_t pid = begin_job(line);
        for (uint32_t k = 0; k < 6; k++) {
            usleep(1000 * (30 + check_below(&rng, 80)));
            if (check_below(&rng, 2)) {
                snprintf(line, sizeof(line), "{\"cmd\":\"limit\",\"size\":\"%uMiB\"}", 40 + check_below(&rng, 100));
                n_changed += is_ok(ask(line));
            } else if (is_ok(ask("{\"cmd\":\"pause\"}"))) {
                n_paused++;
                assert_int_equal(stat_of("used_bytes"), 0);
                usleep(30000);
                assert_true(is_ok(ask("{\"cmd\":\"resume\"}")));
            }
        }
        assert_int_equal(end_job(pid), 0);
        if (!is_same("want", "got"))
            fail_msg("%s: another file", jobs[i].name);
        check_report();
        printf("%s: %u limits, %u pauses\n", jobs[i].name, n_changed, n_paused);
        cli_shell(&r, "test ! -e $D/s && test ! -e $D/got.journal && rm $D/want $D/got");
        assert_int_equal(r.code, 0);
    }
}

/* A limit that the job does not fit: it waits without memory, and goes on under one that it fits. */
static void a_job_waits_for_its_memory(void **state)
{
    (void)state;
    put_prompts("p.jsonl", cli_lines(1000));
    cli_expect(&r, "residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/want", 0);
    const pid_t pid = begin_job("residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/got");
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"1MiB\"}");
    for (json_t *a = NULL; !a;) {
        a = ask("{\"cmd\":\"stats\"}");
        assert_non_null(a);
        const char *phase = json_string_value(json_object_get(json_object_get(a, "stats"), "phase"));
        const bool waits = strcmp(phase, "waiting") == 0;
        json_decref(a);
        a = waits ? json_true() : NULL;
        usleep(5000);
    }
    assert_int_equal(stat_of("used_bytes"), 0);
    json_t *why = ask("{\"cmd\":\"stats\"}");
    assert_non_null(strstr(json_string_value(json_object_get(json_object_get(why, "stats"), "reason")), "needs "));
    json_decref(why);
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"1GiB\"}");
    assert_int_equal(end_job(pid), 0);
    assert_true(is_same("want", "got"));
    cli_shell(&r, "grep -c 'waiting, without memory' $D/job.err; rm $D/want $D/got");
    assert_string_equal(r.out, "1\n");
}

static void await_phase(const char *phase)
{
    for (bool is = false; !is; usleep(5000)) {
        json_t *a = ask("{\"cmd\":\"stats\"}");
        if (!a)
            fail_msg("the job has ended before it was %s", phase);
        is = strcmp(json_string_value(json_object_get(json_object_get(a, "stats"), "phase")), phase) == 0;
        json_decref(a);
    }
}

static uint32_t count_events(const char *event)
{
    char line[256];
    snprintf(line, sizeof(line), "grep -c '\"event\":\"%s\"' $D/report.jsonl", event);
    cli_shell(&r, line);
    return (uint32_t)atoi(r.out);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Makes $D/want, with so many prompts that the job takes some seconds on this machine: pressure counts after one. */
static void put_long_job(void)
{
    enum { SECONDS = 6 };
    double took = 0;
    uint32_t n = cli_lines(4000);
    while (took < SECONDS) {
        const double begin = seconds_now();
        cli_shell(&r, "rm -f $D/want");
        put_prompts("p.jsonl", n);
        cli_expect(&r, "logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0 -o $D/want -t 1", 0);
        took = seconds_now() - begin;
        n *= took > 1 ? 1 + (uint32_t)(SECONDS / took) : 6;
    }
}

/* Other processes take nearly all memory: the job gives back its own, and goes on when they have less. */
static void a_job_makes_room_for_others(void **state)
{
    (void)state;
    char path[128];
    put_long_job();
    snprintf(path, sizeof(path), "%s/use", cli_dir);
    setenv("MYTHOS_MEMINFO", path, 1);
    meminfo_use(500);
    pid_t pid = begin_job("logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0 -o $D/got -t 1 --mem-report $D/report.jsonl");
    await_plan(pid);
    meminfo_use(970);
    await_phase("waiting");
    assert_int_equal(stat_of("used_bytes"), 0);
    meminfo_use(920); /* still critical */
    usleep(300000);
    await_phase("waiting");
    meminfo_use(500);
    await_phase("run");
    meminfo_use(980); /* again, and this time somebody wants it to go on */
    await_phase("waiting");
    assert_obeyed("{\"cmd\":\"resume\"}");
    assert_int_equal(end_job(pid), 0);
    assert_true(is_same("want", "got"));
    check_report();
    assert_int_equal(count_events("paused"), 2);
    assert_true(count_events("waiting") == 2 && count_events("critical") == 2 && count_events("ready") == 3);
    cli_shell(&r, "grep -c 'the job pauses' $D/job.err; grep -c 'the job goes on' $D/job.err; rm $D/got");
    assert_string_equal(r.out, "2\n1\n");

    /* A machine that was full when the job was planned is no pressure. */
    meminfo_use(990);
    cli_shell(&r, "head -1200 $D/p.jsonl >$D/few.jsonl");
    pid = begin_job("logprobs $D/few.jsonl -m random:gemma3-tiny:q8_0 -o $D/got -t 1 --mem-report $D/report.jsonl");
    assert_int_equal(end_job(pid), 0);
    assert_true(count_events("paused") == 0 && count_events("critical") == 1);
    unsetenv("MYTHOS_MEMINFO");
    cli_shell(&r, "rm $D/want $D/got");
}

static void a_file_holds_the_limit(void **state)
{
    (void)state;
    put_prompts("p.jsonl", cli_lines(1500));
    cli_expect(&r, "residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/want", 0);
    cli_shell(&r, "printf '700MiB\\n' >$D/limit");
    const pid_t pid =
        begin_job("residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/got --mem-limit @$D/limit");
    await_plan(pid);
    assert_int_equal(stat_of("limit_bytes"), 700ll << 20);
    cli_shell(&r, "printf 'nonsense\\n' >$D/limit.new && mv $D/limit.new $D/limit");
    usleep(100000);
    cli_shell(&r, "printf '600MiB\\n' >$D/limit.new && mv $D/limit.new $D/limit");
    json_int_t limit = 0;
    while (limit >= 0 && limit != 600ll << 20) {
        usleep(5000);
        limit = stat_of("limit_bytes");
    }
    assert_int_equal(limit, 600ll << 20); /* the job has not ended before */
    assert_int_equal(end_job(pid), 0);
    assert_true(is_same("want", "got"));
    cli_shell(&r, "grep -c 'the limit stays as it was' $D/job.err; rm $D/want $D/got");
    assert_string_equal(r.out, "1\n");
    cli_shell(&r, "printf '\\n# by night\\n\\t600MiB # of 2GiB \\r\\n1MiB\\n' >$D/limit");
    const char *text;
    char room[MYTH_LIMIT_TEXT], path[128];
    snprintf(path, sizeof(path), "@%s/limit", cli_dir);
    assert_int_equal(myth_cli_limit_text(&text, room, path, NULL), MYTH_OK);
    assert_string_equal(text, "600MiB");
    cli_shell(&r, "printf '# none\\n \\n' >$D/limit");
    assert_int_equal(myth_cli_limit_text(&text, room, path, NULL), MYTH_EARG);
    cli_expect(&r, "scan $D --mem-limit 0x10", 2);
    cli_expect(&r, "scan $D --mem-limit @$D/none", 66);
    cli_shell(&r, ": >$D/limit; $M scan $D --mem-limit @$D/limit");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "the file has no limit"));
}

/* A limit that comes before the job can be interrupted, here while it looks at many prompts, is taken later. */
static void a_file_that_changes_early_is_obeyed(void **state)
{
    (void)state;
    put_prompts("p.jsonl", cli_lines(60000));
    cli_shell(&r, "printf '700MiB\n' >$D/limit");
    const pid_t pid =
        begin_job("residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/got --mem-limit @$D/limit");
    cli_shell(&r, "printf '600MiB\n' >$D/limit.new && mv $D/limit.new $D/limit");
    json_int_t limit = 0;
    while (limit >= 0 && limit != 600ll << 20) {
        usleep(5000);
        limit = stat_of("limit_bytes");
    }
    assert_int_equal(limit, 600ll << 20);
    assert_obeyed("{\"cmd\":\"cancel\"}");
    assert_int_equal(end_job(pid), 3);
    cli_shell(&r, "rm -f $D/got*");
}

/* Limits that the job fits as it runs do not interrupt it, however often they come. */
static void a_limit_that_changes_nothing_is_taken_at_once(void **state)
{
    (void)state;
    char line[128];
    put_prompts("p.jsonl", cli_lines(60000));
    const pid_t pid = begin_job("residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/got "
                                "--mem-limit 1GiB --mem-report $D/report.jsonl");
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"2GiB\"}");
    for (uint32_t i = 3; i < 9; i++) {
        snprintf(line, sizeof(line), "{\"cmd\":\"limit\",\"size\":\"%uGiB\"}", i);
        assert_obeyed(line);
        assert_int_equal(stat_of("limit_bytes"), (json_int_t)i << 30);
    }
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"vulkan:7=1GiB\"}");
    assert_error("{\"cmd\":\"limit\",\"size\":-5}", "expected a size");
    assert_obeyed("{\"cmd\":\"limit\",\"size\":1073741824}");
    assert_int_equal(stat_of("limit_bytes"), 1 << 30);
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"300MiB\"}");
    assert_int_equal(stat_of("limit_bytes"), 300ll << 20);
    assert_int_equal(count_events("plan"), 1);
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"1MiB\"}"); /* not this one */
    await_phase("waiting");
    assert_int_equal(count_events("plan"), 2);
    assert_obeyed("{\"cmd\":\"cancel\"}");
    end_job(pid);
    cli_shell(&r, "rm -f $D/got*");
}

/* Who has one connection pauses, lowers and resumes on it: each line has its answer before the next one. */
static void a_limit_of_a_paused_job_is_answered(void **state)
{
    (void)state;
    put_prompts("p.jsonl", cli_lines(60000));
    const pid_t pid = begin_job("residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 2 -o $D/got");
    assert_obeyed("{\"cmd\":\"pause\"}");
    for (int i = 0; i < 2; i++) { /* one that it fits, and one that it does not */
        json_t *a = ask(i ? "{\"cmd\":\"limit\",\"size\":\"1MiB\"}" : "{\"cmd\":\"limit\",\"size\":\"1GiB\"}");
        assert_true(json_is_true(json_object_get(a, "ok")) && json_is_true(json_object_get(a, "paused")));
        json_decref(a);
    }
    assert_obeyed("{\"cmd\":\"limit\",\"size\":\"700MiB\"}");
    assert_obeyed("{\"cmd\":\"resume\"}");
    await_phase("run");
    assert_int_equal(stat_of("limit_bytes"), 700ll << 20);
    assert_obeyed("{\"cmd\":\"cancel\"}");
    assert_int_equal(end_job(pid), 3);
    cli_shell(&r, "rm -f $D/got*");
}

/* The report of a run that is refused says so, and why; its first line has the limit. */
static void a_refusal_is_reported(void **state)
{
    (void)state;
    static const char run[] = "generate -p x -m random:gemma3-tiny:q8_0 --mem-limit 1MiB --mem-report $D/";
    char line[256];
    snprintf(line, sizeof(line), "%sreport.jsonl", run);
    cli_expect(&r, line, 71);
    check_report();
    assert_int_equal(count_events("refused"), 1);
    cli_shell(&r, "grep -c '\"event\":\"begin\".*\"limit_bytes\":1048576,' $D/report.jsonl; "
                  "grep '\"reason\":\"needs ' $D/report.jsonl | grep -c 'refused\\|\"end\"'; "
                  "grep -c '\"phase\":\"run\"' $D/report.jsonl");
    assert_string_equal(r.out, "1\n2\n0\n");
    snprintf(line, sizeof(line), "%sreport.json", run);
    cli_expect(&r, line, 71);
    cli_shell(&r, "tr -d ' \\n' <$D/report.json | grep -c '^{\"schema\":1,\"limit_bytes\":1048576,\"fits\":false,'");
    assert_string_equal(r.out, "1\n");
}

/* The layers of a report, and what belongs to none, have all weights, keys and values of its classes together. */
static void check_layers(const json_t *report)
{
    static const char *const key[] = {"weights_bytes", "kv_bytes"};
    const json_t *layers = json_object_get(report, "layers");
    double sum[2] = {0};
    assert_int_equal(json_array_size(layers), 7);
    for (size_t l = 0; l <= json_array_size(layers); l++) {
        const json_t *layer = l < json_array_size(layers) ? json_array_get(layers, l) : json_object_get(report, "rest");
        assert_string_equal(json_string_value(json_object_get(layer, "device")), "cpu");
        for (int k = 0; k < 2; k++)
            sum[k] += cli_number(layer, key[k]);
    }
    assert_true(sum[0] == cli_number(report, "classes.weights.planned"));
    assert_true(sum[1] > 0 && sum[1] == cli_number(report, "classes.kv_global.planned") +
                                            cli_number(report, "classes.kv_local.planned"));
    assert_true(cli_number(report, "sequences.n") == 3 && cli_number(report, "sequences.n_ctx") == 96);
    assert_true(cli_number(report, "sequences.kv_bytes") * 3 == sum[1]);
}

/* A report, and of a stream the line of each plan, says what layers and sequences take. */
static void a_plan_is_reported_by_layer_and_sequence(void **state)
{
    (void)state;
    char path[128];
    cli_shell(&r, "printf '\"a\"\\n\"b\"\\n\"c\"\\n\"d\"\\n' >$D/p.jsonl");
    for (int is_stream = 0; is_stream < 2; is_stream++) {
        cli_expect(&r,
                   is_stream ? "generate --jsonl $D/p.jsonl -m random:gemma3-tiny:q8_0 -np 3 -c 96 -n 2 -o $D/got "
                               "--resume off --mem-report $D/report.jsonl"
                             : "generate --jsonl $D/p.jsonl -m random:gemma3-tiny:q8_0 -np 3 -c 96 -n 2 -o $D/got "
                               "--resume off --mem-mode reserve --mem-report $D/report.json",
                   0);
        if (is_stream) {
            cli_shell(&r, "grep -c '\"layers\":' $D/report.jsonl; grep '\"event\":\"plan\"' $D/report.jsonl >$D/plan");
            assert_string_equal(r.out, "1\n");
        }
        snprintf(path, sizeof(path), "%s/%s", cli_dir, is_stream ? "plan" : "report.json");
        json_t *report = json_load_file(path, 0, &json_err);
        assert_non_null(report);
        check_layers(report);
        if (!is_stream &&
            !MYTH_HAS_ASAN) { /* all that was booked is resident: what is more, the program has beside it */
            const double rss = cli_number(report, "rss_anon_peak_bytes"), booked = cli_number(report, "peak_bytes");
            assert_true(cli_number(report, "unbooked_bytes") == (rss > booked ? rss - booked : 0));
            assert_true(rss > 0 && rss - booked <= 8 << 20);
        }
        json_decref(report);
    }
    cli_expect(&r, "plan -m random:gemma3-tiny:q8_0 --mem-report $D/report.json", 0);
    cli_shell(&r, "tr -d ' \\n' <$D/report.json | grep -c '\"unbooked_bytes\":null,\"devices\":\\[\\]}'");
    assert_string_equal(r.out, "1\n");
    cli_shell(&r, "rm -f $D/got*");
}

/* ---- what is asked wrongly ---- */

static void everything_gets_an_answer(void **state)
{
    (void)state;
    struct stat is;
    char path[128], longer[6000];
    put_prompts("p.jsonl", cli_lines(2500));
    pid_t pid = begin_job("logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0 -o $D/got");
    snprintf(path, sizeof(path), "%s/s", cli_dir);
    assert_int_equal(stat(path, &is), 0);
    assert_int_equal(is.st_mode & 0777, 0600);
    await_plan(pid);
    assert_error("nonsense", "JSON object");
    assert_error("[]", "JSON object");
    assert_error("{\"cmd\":1}", "JSON object");
    assert_error("{\"cmd\":\"stats\",\"cmd\":\"cancel\"}", "JSON object");
    assert_error("{\"cmd\":\"stop\"}", "one of stats, limit");
    assert_error("{\"cmd\":\"limit\"}", "\"size\" is missing");
    assert_error("{\"cmd\":\"limit\",\"size\":0.5}", "\"size\" is missing");
    assert_error("{\"cmd\":\"limit\",\"size\":\"0.5\"}", "50%");
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_error(longer, "longer than");
    cli_expect(&r, "logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0 -o $D/other --control $D/s", 73);
    assert_non_null(strstr(r.err, "another run listens there"));
    assert_obeyed("{\"cmd\":\"cancel\"}");
    assert_int_equal(end_job(pid), 3);
    cli_shell(&r, "cat $D/job.err");
    assert_non_null(strstr(r.out, "interrupted after"));

    /* A paused job that is cancelled, and one that gets a signal. */
    for (int i = 0; i < 2; i++) {
        pid = begin_job("logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0 -o $D/got");
        assert_obeyed("{\"cmd\":\"pause\"}");
        if (i)
            kill(pid, SIGINT);
        else
            assert_obeyed("{\"cmd\":\"cancel\"}");
        assert_int_equal(end_job(pid), 3);
    }
    cli_expect(&r, "logprobs $D/p.jsonl -m random:gemma3-tiny:q8_0 -o $D/got", 0); /* it goes on */
    assert_non_null(strstr(r.err, "goes on"));

    /* One that is left in the middle of a batch keeps what it has committed. */
    pid = begin_job("residuals $D/p.jsonl -m random:gemma3-tiny:q8_0 --batch 8 -o $D/means");
    await_phase("run");
    usleep(50000);
    assert_obeyed("{\"cmd\":\"cancel\"}");
    assert_int_equal(end_job(pid), 3);
    cli_shell(&r, "cat $D/job.err");
    assert_non_null(strstr(r.out, "interrupted after"));

    /* Commands that cannot go on say so; a socket that nobody serves is replaced. */
    cli_shell(&r, "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"'$D'/s\")' || true");
    pid = begin_job("generate -p x -m random:gemma3-270m:q8_0 -n 3000 -c 4096 --ignore-eos");
    await_plan(pid);
    assert_error("{\"cmd\":\"limit\",\"size\":\"1GiB\"}", "only jobs with a journal");
    assert_error("{\"cmd\":\"pause\"}", "only jobs with a journal");
    assert_obeyed("{\"cmd\":\"cancel\"}");
    assert_int_equal(end_job(pid), 3);
    cli_expect(&r, "scan $D --control $D/none/s", 73);
    cli_expect(&r, "scan $D --control $D/p.jsonl", 73);
    cli_shell(&r, "test -f $D/p.jsonl");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "$M scan $D --control $D/$(printf %0120d 1)");
    assert_int_equal(r.code, 2);
}

/* Input that cannot be read again. */
static void a_pipe_cannot_be_read_again(void **state)
{
    (void)state;
    put_prompts("p.jsonl", cli_lines(300));
    cli_shell(&r, "mkfifo $D/pipe; (cat $D/p.jsonl >$D/pipe) & true");
    const pid_t pid = begin_job("logprobs $D/pipe -m random:gemma3-tiny:q8_0 -o $D/piped");
    await_plan(pid);
    for (json_t *a; (a = ask("{\"cmd\":\"pause\"}"));) {
        const char *why = json_string_value(json_object_get(a, "error"));
        const bool is_early = why && strstr(why, "with a journal");
        if (!is_early)
            assert_non_null(strstr(why ? why : "", "cannot be read a second time"));
        json_decref(a);
        if (!is_early)
            break;
        usleep(5000);
    }
    assert_int_equal(end_job(pid), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_hysteresis),
        cmocka_unit_test(a_job_goes_on_in_another_way),
        cmocka_unit_test(a_job_waits_for_its_memory),
        cmocka_unit_test(a_file_holds_the_limit),
        cmocka_unit_test(a_file_that_changes_early_is_obeyed),
        cmocka_unit_test(a_limit_that_changes_nothing_is_taken_at_once),
        cmocka_unit_test(a_limit_of_a_paused_job_is_answered),
        cmocka_unit_test(a_plan_is_reported_by_layer_and_sequence),
        cmocka_unit_test(a_refusal_is_reported),
        cmocka_unit_test(a_job_makes_room_for_others),
        cmocka_unit_test(everything_gets_an_answer),
        cmocka_unit_test(a_pipe_cannot_be_read_again),
    };
    alarm(check_is_full() ? 1200 : 600); /* a job that waits for ever fails the test */
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
