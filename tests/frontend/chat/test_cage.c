/* test_cage.c - a 270M model in Q8_0 answers in 400 MiB of address space, where anything that was not planned fails: a
 * catalogue of tools is read once and saved, and a second process answers a question of 13 tokens behind it without
 * computing the catalogue again. A job of many requests runs where it may have its plan and 2 %, and is refused before
 * it has read any weights where it may have 5 % less, in a group of processes with a limit and by an address space.
 * What a process has reserved is not taken by a hog beside it. */
#include "tests/frontend/cli/cli_run.h"

#include "engine/base/asan.h"
#include "frontend/cli/exit.h"

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The limit counts every mapping: program, libraries, stacks, weights and cache. Without the variable glibc maps 64 MiB
 * and more for each thread that allocates, of which nothing is used. */
#define CAGE "(ulimit -v 409600; export MALLOC_ARENA_MAX=1; "
#define CHAT "\"$M\" chat -m random:gemma3-270m:q8_0 -c 640 -n 13 --temp 0 -t 1 --json --session \"$D/cage.chat\" "

static cli_result r;

static json_t *answer(void)
{
    if (r.code != 0)
        fail_msg("exit %d: %s%s", r.code, r.out, r.err);
    json_error_t e;
    json_t *j = json_loads(r.out, JSON_DISABLE_EOF_CHECK, &e);
    assert_non_null(j);
    return j;
}

/* What the process held in memory that no file backs is the plan to 8 MiB, and never more than that beyond it. */
static void check_memory(const char *name)
{
    char path[700];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    json_t *rep = json_load_file(path, 0, NULL);
    assert_non_null(rep);
    const double peak = cli_number(rep, "peak_bytes"), rss = cli_number(rep, "rss_anon_peak_bytes");
    printf("%s: %.1f MiB planned, %.1f MiB resident\n", name, peak / 1048576, rss / 1048576);
    assert_true(peak > 280e6 && peak < 400e6);
    assert_true(rss <= peak + (8 << 20));
    json_decref(rep);
}

/* A chat that has a system text alone, about nine tools. */
static void write_catalogue(void)
{
    char path[700], text[4096] = "Tools:";
    size_t n = strlen(text);
    for (int i = 0; i < 9; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, " tool_%d(path, line) does thing %d to a file.", i, i);
    snprintf(path, sizeof(path), "%s/tools.json", cli_dir);
    json_t *j = json_pack("{s: [{s: s, s: s}]}", "messages", "role", "system", "content", text);
    assert_non_null(j);
    assert_int_equal(json_dump_file(j, path, 0), 0);
    json_decref(j);
}

static void a_tool_call_fits_in_400_mib(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN) {
        check_skip("AddressSanitizer allows no limit on the address space");
    }
    write_catalogue();
    cli_shell(&r, "printf '\"call tool 3 on a.c\"\\n' | " CAGE CHAT
                  "--messages \"$D/tools.json\" --mem-report \"$D/first.json\")");
    json_t *first = answer();
    const json_int_t n_catalogue = (json_int_t)cli_number(first, "usage.computed_tokens");
    assert_int_equal(n_catalogue, (json_int_t)cli_number(first, "usage.prompt_tokens"));
    assert_true(n_catalogue > 300);
    check_memory("first.json");
    cli_shell(&r, "printf '\"tool 5 on line 7 of b.c\"\\n' | " CAGE CHAT "--mem-report \"$D/second.json\")");
    json_t *second = answer();
    const json_int_t n_prompt = (json_int_t)cli_number(second, "usage.prompt_tokens");
    assert_true(n_prompt > n_catalogue);
    assert_true(cli_number(second, "usage.computed_tokens") <= 64);
    assert_int_equal((json_int_t)cli_number(second, "usage.completion_tokens"), 13);
    check_memory("second.json");
    json_decref(first);
    json_decref(second);
}

/* Without a limit of its own a run has the one that the process has: the context that it may choose becomes
 * smaller; one that is asked for is refused with what would fit, which is accepted. */
static void what_is_left_is_the_limit(void **state)
{
    (void)state;
    char line[512];
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer allows no limit on the address space");
#define RUN "\"$M\" generate -p hello -m random:gemma3-270m:q8_0 -n 2 --temp 0 -t 1 -q"
    cli_shell(&r, "ulimit -v 360000; export MALLOC_ARENA_MAX=1; " RUN);
    assert_int_equal(r.code, 0);
    cli_shell(&r, "ulimit -v 360000; export MALLOC_ARENA_MAX=1; " RUN " -c 32000");
    assert_int_equal(r.code, 71);
    assert_non_null(strstr(r.err, "the limit is what this machine"));
    assert_null(strstr(r.err, "--mem-limit"));
    const char *fits = strstr(r.err, "fits with: ");
    assert_non_null(fits);
    fits += strlen("fits with: ");
    snprintf(line, sizeof(line), "ulimit -v 360000; export MALLOC_ARENA_MAX=1; " RUN " %.*s", (int)strcspn(fits, ",;"),
             fits);
    cli_shell(&r, line);
    if (r.code != 0)
        fail_msg("%s: exit %d: %s", line, r.code, r.err);
}

/* A limit that is given gives no memory: one above what is left is no limit, none is advised that is, and what nothing
 * makes fit is said to be too large. */
static void a_limit_gives_no_memory(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer allows no limit on the address space");
#define SMALL "ulimit -v 360000; export MALLOC_ARENA_MAX=1; "
    cli_shell(&r, SMALL RUN " --mem-limit 1GiB"); /* a smaller context, as without it */
    assert_int_equal(r.code, 0);
    cli_shell(&r, SMALL RUN " --mem-limit 1GiB -c 32000");
    assert_int_equal(r.code, 71);
    assert_non_null(strstr(r.err, "the limit is what this machine"));
    assert_null(strstr(r.err, "--mem-limit"));
    cli_shell(&r, SMALL RUN " --mem-limit 300MiB -c 512 -ub 512");
    const char *raise = strstr(r.err, "--mem-limit ");
    if (r.code != 71 || !raise || strtod(raise + 12, NULL) > 351)
        fail_msg("exit %d: %s", r.code, r.err);
    cli_shell(&r, SMALL RUN " --mem-limit 300MiB -c 32000 -ub 4096"); /* at least 384 MiB */
    assert_true(r.code == 71 && strstr(r.err, "needs ") && !strstr(r.err, "the limit is"));
    for (const char *at = r.err; (at = strstr(at, "--mem-limit ")); at++)
        assert_true(strtod(at + 12, NULL) <= 351);
    cli_shell(&r, SMALL "\"$M\" generate -p hello -m random:gemma3-1b:q8_0 --mem-limit 1GiB");
    assert_true(r.code == 71 && strstr(r.err, "take a smaller model"));
}

/* `plan` says that it fits where the run runs, and that it does not where the run is refused; the machine of --as, and
 * one that has a limit given, has as much as it has. */
static void a_plan_knows_what_is_left(void **state)
{
    (void)state;
    uint32_t n_fits = 0;
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer allows no limit on the address space");
    for (uint32_t n_ctx = 2000; n_ctx <= 32000; n_ctx += 6000) {
        char line[512];
        snprintf(line, sizeof(line), SMALL RUN " --dry-run -c %u", n_ctx);
        cli_shell(&r, line);
        const bool runs = r.code == 0;
        snprintf(line, sizeof(line), SMALL "\"$M\" plan --json -m random:gemma3-270m:q8_0 -t 1 -c %u", n_ctx);
        cli_shell(&r, line);
        json_t *plan = answer();
        if (json_is_true(json_object_get(plan, "fits")) != runs)
            fail_msg("-c %u %s: %s", n_ctx, runs ? "runs" : "is refused", r.out);
        assert_true(runs || json_is_true(json_object_get(plan, "limit_is_left"))); /* or made smaller by it */
        n_fits += runs;
        json_decref(plan);
    }
    assert_true(n_fits > 0 && n_fits < 6);
    cli_shell(&r, SMALL "\"$M\" plan -m random:gemma3-1b:q8_0");
    assert_true(r.code == 0 && strstr(r.out, "does not fit") && strstr(r.out, "the limit is what this machine"));
    cli_shell(&r, SMALL "\"$M\" info -m random:gemma3-1b:q8_0");
    assert_true(r.code == 0 && strstr(r.out, "does not fit") && strstr(r.out, "the limit is what this machine"));
    cli_shell(&r, SMALL "\"$M\" plan -m random:gemma3-1b:q8_0 --as zen5-2-cores");
    assert_true(r.code == 0 && !strstr(r.out, "does not fit"));
    cli_shell(&r, SMALL "\"$M\" plan -m random:gemma3-1b:q8_0 --mem-limit 4GiB");
    assert_true(r.code == 0 && strstr(r.out, ": fits") && strstr(r.err, "the plan is for another one"));
}

/* ---- the plan and 2 % ---- */

#define JOB                                                                                                  \
    "\"$M\" generate -m random:gemma3-270m:q8_0 --jsonl \"$D/many\" -n 2 --temp 0 -t 1 -np 4 -c 512 -ub 64 " \
    "--device cpu --resume off -q "

typedef struct {
    const char *mount, *limit, *use, *peak;
} group_version;

/* Makes a group of processes whose memory can be limited: its folder, and the names of its files. NULL: it cannot be
 * made, and r.err says why. */
static const group_version *make_group(char folder[96])
{
    static const group_version version[] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.max_usage_in_bytes"},
        {"/sys/fs/cgroup", "memory.max", "memory.current", "memory.peak"}};
    for (size_t i = 0; i < sizeof(version) / sizeof(version[0]); i++) {
        char line[400];
        snprintf(folder, 96, "%s/mythos-test-%ld", version[i].mount, (long)getpid());
        snprintf(line, sizeof(line),
                 "mkdir %s && { test -w %s/%s && test -r %s/%s && sh -c 'echo $$ >%s/cgroup.procs' || { rmdir %s; "
                 "false; }; }",
                 folder, folder, version[i].limit, folder, version[i].peak, folder, folder);
        cli_shell(&r, line);
        if (r.code == 0)
            return &version[i];
    }
    return NULL;
}

/* The bytes of the job's plan. */
static double planned(void)
{
    cli_shell(&r, JOB "-o \"$D/o\" --dry-run --json");
    json_t *j = answer();
    const double bytes = cli_number(j, "plan.total_bytes");
    json_decref(j);
    return bytes;
}

static void write_requests(uint32_t n)
{
    char line[160];
    snprintf(line, sizeof(line),
             "for i in $(seq %u); do echo \"{\\\"text\\\":\\\"request number $i\\\"}\"; done >$D/many", n);
    cli_shell(&r, line);
    cli_shell(&r, JOB "-o \"$D/alone\"");
    if (r.code != 0)
        fail_msg("exit %d: %s", r.code, r.err);
}

static void in_a_group(double plan)
{
    static const char *const mode[] = {"share", "reserve"};
    char folder[96], line[1024];
    const group_version *g = make_group(folder);
    if (!g) {
        check_left_out("a group of processes", "it cannot be made here: %.160s", r.err);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const bool fits = k < 2;
        if (k == 0 && check_quick() > 1) /* what is reserved takes more */
            continue;
        snprintf(line, sizeof(line),
                 "echo %.0f >%s/%s; echo 0 2>/dev/null >%s/%s; (echo 0 >%s/cgroup.procs; exec " JOB
                 "--mem-mode %s -o \"$D/got\"); c=$?; cat %s/%s; test $c != 0 || cmp $D/alone $D/got || c=99; exit $c",
                 plan * (fits ? 1.02 : 0.95), folder, g->limit, folder, g->peak, folder, mode[k % 2], folder, g->peak);
        cli_shell(&r, line);
        if (r.code != (fits ? 0 : MYTH_EXIT_MEMORY))
            break;
        const double most = strtod(r.out, NULL);
        printf("%s, %s: %.1f MiB planned, the group had %.1f\n", mode[k % 2], fits ? "+2 %" : "-5 %", plan / 1048576,
               most / 1048576);
        if (fits ? most > 1.02 * plan || (k == 1 && most < plan) : most > plan / 4) {
            r.code = -1; /* a limit that was passed, a reservation that was not taken, weights that were read */
            break;
        }
    }
    const cli_result last = r;
    cli_shell(&r, (snprintf(line, sizeof(line), "rmdir %s", folder), line));
    if (last.code != MYTH_EXIT_MEMORY)
        fail_msg("exit %d: %s%s", last.code, last.out, last.err);
}

/* What the process may map besides its plan is what it has mapped before it plans, as a first refusal says. */
static void in_an_address_space(double plan)
{
    enum { KIB = 350000 };
    char line[1024];
    double left = 0;
    snprintf(line, sizeof(line), "ulimit -v %d; export MALLOC_ARENA_MAX=1; " JOB "-o \"$D/got\" -c 30000", KIB);
    cli_shell(&r, line);
    const char *at = strstr(r.err, ", limit ");
    if (r.code != MYTH_EXIT_MEMORY || !at || sscanf(at, ", limit %lf MiB", &left) != 1)
        fail_msg("exit %d: %s", r.code, r.err);
    for (int fits = 1; fits >= 0; fits--) {
        snprintf(line, sizeof(line), "ulimit -v %.0f; export MALLOC_ARENA_MAX=1; " JOB "-o \"$D/got\"",
                 KIB + (plan * (fits ? 1.02 : 0.95) / 1048576 - left) * 1024);
        cli_shell(&r, line);
        if (r.code != (fits ? 0 : MYTH_EXIT_MEMORY))
            fail_msg("%s: exit %d: %s", line, r.code, r.err);
        cli_shell(&r, "test ! -e $D/got || { cmp $D/alone $D/got && rm $D/got; }");
        assert_int_equal(r.code, 0);
    }
}

static void the_plan_and_two_percent_are_enough(void **state)
{
    (void)state;
    const uint32_t n = check_trials(100, 12);
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer takes more than the plan");
    write_requests(n);
    const double plan = planned();
    in_a_group(plan);
    in_an_address_space(plan);
    printf("%u requests at plan + 2 %%, none at plan - 5 %%\n", n);
}

/* ---- a hog beside what is reserved ---- */

static double number_of(const char *folder, const char *name)
{
    char path[160], text[32] = "";
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (f && !fgets(text, sizeof(text), f))
        text[0] = '\0';
    if (f)
        fclose(f);
    return strtod(text, NULL);
}

/* A process of the group that takes 10 to 90 % of what is left of the limit, again and again, once the group has as
 * much as was reserved. Counts in *n how often it did. */
static pid_t begin_hog(const char *folder, const group_version *g, double limit, double reserved, uint64_t rng,
                       volatile uint32_t *n)
{
    const pid_t hog = fork();
    if (hog)
        return hog;
    char path[160];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
    FILE *f = fopen(path, "w");
    if (!f || fputs("0", f) < 0 || fclose(f) != 0)
        _exit(1);
    for (;;) {
        const double left = limit - number_of(folder, g->use), share = 0.1 + 0.8 * check_unit(&rng);
        const size_t bytes = left > 1 << 20 ? (size_t)(share * left) : 0;
        if (limit - left >= reserved && bytes) {
            unsigned char *taken =
                mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            if (taken != MAP_FAILED && limit - left >= reserved) {
                usleep(1000 * check_below(&rng, 20));
                munmap(taken, bytes);
                ++*n;
            }
        }
        usleep(1000 * check_below(&rng, 20));
    }
}

/* What is reserved is the process's own: others of its group that take the rest, and give it back, change nothing. */
static void a_hog_takes_nothing_that_is_reserved(void **state)
{
    (void)state;
    char folder[96], line[1024];
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer takes more than the plan");
    write_requests(check_trials(100, 30));
    const double plan = planned(), limit = floor(1.25 * plan / 4096) * 4096;
    const group_version *g = make_group(folder);
    if (!g)
        check_skip("no group of processes can be made here: %.160s", r.err);
    volatile uint32_t *n = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(n != MAP_FAILED);
    snprintf(line, sizeof(line), "echo %.0f >%s/%s", limit, folder, g->limit);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    const pid_t hog = begin_hog(folder, g, limit, 0.98 * plan, check_seed(), n);
    snprintf(line, sizeof(line),
             "(echo 0 >%s/cgroup.procs; exec " JOB "--mem-mode reserve -o $D/got) && cmp $D/alone $D/got", folder);
    cli_shell(&r, line);
    const cli_result last = r;
    kill(hog, SIGKILL);
    int status;
    waitpid(hog, &status, 0);
    snprintf(line, sizeof(line), "for i in 1 2 3 4 5; do rmdir %s 2>/dev/null && break; sleep 0.1; done", folder);
    cli_shell(&r, line);
    if (last.code)
        fail_msg("exit %d: %s%s", last.code, last.out, last.err);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    printf("the rest was taken %u times\n", *n);
    assert_true(*n > 0);
    munmap((void *)(uintptr_t)n, 4096);
}

/* Two processes at a time, each with 40 % of one device, and of the host: both finish, with the answers of one alone. A
 * process that needs more than it may have is refused beside them. */
static void processes_share_a_device(void **state)
{
    (void)state;
    static const char *const device[] = {"cpu", "vulkan:0"};
    for (int d = 0; d < 2; d++) {
        char line[2048], run[512];
        snprintf(run, sizeof(run),
                 "\"$M\" generate " TINY "-p \"one two three\" -n 60 --temp 0.8 --seed 4 -t 1 --device %s", device[d]);
        snprintf(line, sizeof(line), "%s >\"$D/alone\"", run);
        cli_shell(&r, line);
        if (d && r.code) {
            check_count_skipped(__func__, "no vulkan:0 here");
            continue;
        }
        snprintf(
            line, sizeof(line),
            "for k in 1 2; do for i in $(seq %u); do %s --mem-limit '%s' --mem-report \"$D/report$k\" >\"$D/got$k\" || "
            "touch \"$D/failed\"; cmp \"$D/alone\" \"$D/got$k\" || touch \"$D/failed\"; done & done; "
            "%s --mem-limit %s=100KiB 2>&1; c=$?; wait; test $c = 71 && ! test -e \"$D/failed\"",
            check_is_full() ? 100 : 3, run, d ? "host=40%,vulkan:0=40%" : "40%", run, d ? "vulkan:0" : "host");
        cli_shell(&r, line);
        if (r.code != 0)
            fail_msg("%s: exit %d: %s%s", device[d], r.code, r.out, r.err);
        for (int k = 1; k <= 2; k++) {
            char path[128];
            snprintf(path, sizeof(path), "%s/report%d", cli_dir, k);
            json_t *report = json_load_file(path, 0, NULL);
            const json_t *own = d ? json_array_get(json_object_get(report, "devices"), 0) : report;
            assert_non_null(own);
            assert_true(cli_number(own, "peak_bytes") > 1e6); /* it was this device */
            json_decref(report);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_call_fits_in_400_mib),
        cmocka_unit_test(what_is_left_is_the_limit),
        cmocka_unit_test(a_limit_gives_no_memory),
        cmocka_unit_test(a_plan_knows_what_is_left),
        cmocka_unit_test(the_plan_and_two_percent_are_enough),
        cmocka_unit_test(a_hog_takes_nothing_that_is_reserved),
        cmocka_unit_test(processes_share_a_device),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
