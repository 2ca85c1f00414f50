/* test_moved.c - a chat whose limit changes and which is paused, between turns and in the middle of answers: the
 * answers of one that nobody disturbs, no memory while it waits, and nothing left in the temporary folder. */
#include "tests/frontend/cli/meminfo.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CHAT "chat -m random:gemma3-tiny:f32 --temp 1 -n 48 --ignore-eos "

static cli_result r;
static json_error_t json_err;

/* ---- a chat through a pipe that stays open ---- */

static struct {
    pid_t pid;
    FILE *in, *out;
} talk;

/* Begins "$M ARGS --control $D/s" with $D/tmp for its temporary files; notes go to $D/notes. */
static void begin_chat(const char *args)
{
    char line[1024], path[128];
    int in[2], out[2];
    assert_true(pipe(in) == 0 && pipe(out) == 0);
    snprintf(line, sizeof(line), "mkdir -p %s/tmp && TMPDIR=%s/tmp exec '%s' %s --control %s/s 2>%s/notes", cli_dir,
             cli_dir, cli_bin(), args, cli_dir, cli_dir);
    talk.pid = fork();
    assert_true(talk.pid >= 0);
    if (talk.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
        }
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    talk.in = fdopen(in[1], "w");
    talk.out = fdopen(out[0], "r");
    assert_true(talk.in && talk.out);
    snprintf(path, sizeof(path), "%s/s", cli_dir);
    for (int i = 0; i < 2000 && access(path, F_OK) != 0; i++)
        usleep(5000);
}

static int end_chat(void)
{
    int st = 0;
    fclose(talk.in);
    assert_int_equal(waitpid(talk.pid, &st, 0), talk.pid);
    fclose(talk.out);
    return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

static void say(const char *text)
{
    fprintf(talk.in, "\"%s\"\n", text);
    fflush(talk.in);
}

/* The next line that the chat prints. */
static json_t *hear(void)
{
    static char line[1 << 16];
    if (!fgets(line, sizeof(line), talk.out))
        fail_msg("the chat has ended");
    json_t *j = json_loads(line, JSON_ALLOW_NUL, &json_err);
    if (!j)
        fail_msg("%s: %s", json_err.text, line);
    return j;
}

/* The answer to a line on the socket. */
static json_t *ask(const char *line)
{
    static char got[1 << 16];
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = 0;
    snprintf(a.sun_path, sizeof(a.sun_path), "%s/s", cli_dir);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    for (int i = 0; connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0; i++) { /* there, and not listening yet */
        assert_true(i < 2000);
        usleep(5000);
    }
    assert_true(dprintf(fd, "%s\n", line) > 0);
    for (ssize_t k; !memchr(got, '\n', n) && (k = recv(fd, got + n, sizeof(got) - 1 - n, 0)) > 0;)
        n += (size_t)k;
    close(fd);
    got[n] = '\0';
    json_t *j = json_loads(got, 0, &json_err);
    assert_non_null(j);
    return j;
}

/* Asks until the chat has begun, before which it takes no limit. */
static void assert_done(const char *line)
{
    for (bool is_done = false; !is_done; usleep(2000)) {
        json_t *a = ask(line);
        const char *why = json_string_value(json_object_get(a, "error"));
        is_done = json_is_true(json_object_get(a, "ok"));
        if (!is_done && !strstr(why ? why : "", "a chat that has begun"))
            fail_msg("%s: %s", line, why);
        json_decref(a);
    }
}

static json_t *stats(void)
{
    json_t *a = ask("{\"cmd\":\"stats\"}"), *s = json_incref(json_object_get(a, "stats"));
    json_decref(a);
    assert_non_null(s);
    return s;
}

/* Waits until the chat is as it says when it holds nothing, and checks that it does. */
static void assert_waits(void)
{
    for (bool waits = false; !waits; usleep(2000)) {
        json_t *s = stats();
        const json_t *swapped = json_object_get(s, "swapped");
        waits = strcmp(json_string_value(json_object_get(s, "phase")), "waiting") == 0;
        if (waits) {
            assert_int_equal(json_integer_value(json_object_get(s, "used_bytes")), 0);
            assert_string_equal(json_string_value(json_object_get(swapped, "to")), "disk");
            assert_true(json_integer_value(json_object_get(swapped, "bytes")) > 0);
        }
        json_decref(s);
    }
}

static void assert_tmp_is_empty(void)
{
    cli_shell(&r, "ls -A $D/tmp; ls $D/s 2>&1 | grep -c 'No such'");
    assert_string_equal(r.out, "1\n");
}

/* ---- what is said ---- */

enum { TURNS = 10 };
static char text[TURNS][300];
static json_t *want[TURNS];

/* Messages of some lengths, and the answers of a chat that nobody disturbs. */
static void make_talk(const char *args, uint64_t *rng)
{
    char line[512], path[128];
    snprintf(path, sizeof(path), "%s/turns", cli_dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < TURNS; i++) {
        size_t n = (size_t)snprintf(text[i], sizeof(text[i]), "%d ", i);
        for (uint32_t k = 5 + check_below(rng, 150); k > 0; k--)
            text[i][n++] = (char)('a' + check_below(rng, 26));
        text[i][n] = '\0';
        fprintf(f, "\"%s\"\n", text[i]);
    }
    fclose(f);
    snprintf(line, sizeof(line), "$M %s --json <$D/turns", args);
    cli_shell(&r, line);
    const char *at = r.out;
    for (int i = 0; i < TURNS; i++) {
        json_decref(want[i]);
        want[i] = json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &json_err);
        if (!want[i])
            fail_msg("%s: %s: %.300s, %s", line, json_err.text, at, r.err);
        at = strchr(at, '\n') + 1;
    }
}

/* usage has what was computed, which an answer that was begun twice has more of. */
static void assert_same(int turn, const json_t *got)
{
    static const char *const key[] = {"content", "finish_reason", "context", "error"};
    for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++) {
        const json_t *a = json_object_get(want[turn], key[i]), *b = json_object_get(got, key[i]);
        if ((a || b) && !json_equal(a, b))
            fail_msg("turn %d: %s is %s, not %s", turn, key[i], json_dumps(b, JSON_ENCODE_ANY),
                     json_dumps(a, JSON_ENCODE_ANY));
    }
}

static void disturb(uint64_t *rng)
{
    switch (check_below(rng, 4)) {
    case 0: assert_done("{\"cmd\":\"limit\",\"size\":\"1GiB\"}"); break;
    case 1: assert_done("{\"cmd\":\"limit\",\"size\":\"15MiB\"}"); break;
    default:
        assert_done("{\"cmd\":\"pause\"}");
        assert_waits();
        assert_done("{\"cmd\":\"resume\"}");
        if (check_below(rng, 4) == 0) { /* a limit that nothing fits, then one that it fits */
            assert_done("{\"cmd\":\"limit\",\"size\":\"1MiB\"}");
            assert_waits();
            assert_done("{\"cmd\":\"limit\",\"size\":\"200MiB\"}");
        }
        break;
    }
}

static void a_chat_goes_on_as_if_nothing_was(void **state)
{
    (void)state;
    static const char *const flags[] = {"-c 512 --on-full recompute", "-c 768 --on-full drop", "",
                                        "-c 512 --grammar 'root ::= [a-z]{40} [0-9]{9}' --mem-limit 100MiB"};
    char args[512];
    uint64_t rng = check_seed();
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        uint32_t n_again = 0;
        snprintf(args, sizeof(args), CHAT "%s", flags[i]);
        make_talk(args, &rng);
        snprintf(args, sizeof(args), CHAT "--json %s", flags[i]);
        begin_chat(args);
        for (int turn = 0; turn < TURNS; turn++) {
            if (check_below(&rng, 2))
                disturb(&rng);
            say(text[turn]);
            if (check_below(&rng, 4)) {
                usleep(check_below(&rng, 10000));
                assert_done("{\"cmd\":\"limit\",\"size\":\"500MiB\"}");
            }
            json_t *got = hear();
            assert_same(turn, got);
            n_again += !json_equal(json_object_get(got, "usage"), json_object_get(want[turn], "usage"));
            json_decref(got);
        }
        assert_int_equal(end_chat(), 0);
        assert_tmp_is_empty();
        printf("%s: %u answers were begun again\n", args, n_again);
    }
}

static void assert_waits_for_a_limit(const char *size)
{
    char line[100];
    snprintf(line, sizeof(line), "{\"cmd\":\"limit\",\"size\":\"%s\"}", size);
    json_t *a = ask(line); /* it is under the limit, and waits: who asked learns why */
    const char *why = json_string_value(json_object_get(a, "waiting"));
    if (!json_is_true(json_object_get(a, "ok")) || !why || !strstr(why, "needs "))
        fail_msg("%s: %s", line, json_dumps(a, 0));
    json_decref(a);
    assert_waits();
    json_t *s = stats();
    assert_non_null(strstr(json_string_value(json_object_get(s, "reason")), "needs "));
    json_decref(s);
}

static void assert_limit(json_int_t mib)
{
    json_t *s = stats();
    assert_int_equal(json_integer_value(json_object_get(s, "limit_bytes")), mib << 20);
    json_decref(s);
}

/* A limit that names one device is that device's alone: the host keeps its own. */
static void a_limit_of_one_device_is_of_no_other(void **state)
{
    (void)state;
    begin_chat(CHAT "--json --mem-limit 700MiB");
    assert_done("{\"cmd\":\"limit\",\"size\":\"vulkan:0=1GiB\"}");
    assert_limit(700);
    assert_done("{\"cmd\":\"limit\",\"size\":\"host=600MiB\"}");
    assert_limit(600);
    assert_done("{\"cmd\":\"limit\",\"size\":\"500MiB\"}");
    assert_limit(500);
    assert_int_equal(end_chat(), 0);
    assert_tmp_is_empty();
}

/* In a shorter context it goes on as a chat of that context does that was given this one's messages. */
static void a_smaller_limit_makes_a_smaller_context(void **state)
{
    (void)state;
    static const char *const how[] = {"auto", "drop", "recompute"};
    char args[512];
    uint64_t rng = check_seed();
    const size_t first = check_below(&rng, 3);
    for (size_t i = check_is_full() ? 0 : first; i < (check_is_full() ? 3 : first + 1); i++) {
        int turn = 0;
        snprintf(args, sizeof(args), CHAT "--on-full %s", how[i]);
        make_talk(args, &rng);
        snprintf(args, sizeof(args), CHAT "--json --on-full %s", how[i]);
        begin_chat(args);
        for (; turn < TURNS / 2; turn++) {
            say(text[turn]);
            json_t *got = hear();
            assert_same(turn, got);
            json_decref(got);
        }
        assert_waits_for_a_limit("1MiB");
        assert_waits_for_a_limit("2MiB"); /* it says so again */
        json_t *a = ask("{\"cmd\":\"limit\",\"size\":\"10500KiB\"}");
        assert_true(json_is_true(json_object_get(a, "ok")) && !json_object_get(a, "waiting"));
        json_decref(a);
        json_t *got[TURNS] = {NULL};
        for (int t = turn; t < TURNS; t++) {
            say(text[t]);
            got[t] = hear();
        }
        const json_int_t n_ctx = json_integer_value(json_object_get(json_object_get(got[turn], "context"), "limit"));
        assert_true(n_ctx > 0 && n_ctx < 4096);
        assert_int_equal(end_chat(), 0);
        assert_tmp_is_empty();
        cli_shell(&r, "cat $D/notes");
        assert_non_null(strstr(r.out, "the chat does not fit this limit: needs"));
        assert_non_null(strstr(r.out, "4096 before"));

        snprintf(args, sizeof(args),
                 "rm -f $D/k; head -%d $D/turns | $M " CHAT
                 "--json --on-full %s --session $D/k >$D/first && tail -n +%d "
                 "$D/turns | $M " CHAT "--json --on-full %s --session $D/k -c %d",
                 turn, how[i], turn + 1, how[i], (int)n_ctx);
        cli_shell(&r, args);
        assert_int_equal(r.code, 0);
        const char *at = r.out;
        for (int t = turn; t < TURNS; t++) {
            json_decref(want[t]);
            want[t] = json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &json_err);
            at = strchr(at, '\n') + 1;
            assert_same(t, got[t]);
            json_decref(got[t]);
        }
    }
}

/* An answer to the same message samples otherwise each time, also when the chat was moved in between. */
static void another_answer_is_another_one(void **state)
{
    (void)state;
    static const char *const line[] = {"\"one\"", "{\"command\":\"/retry\"}", "{\"command\":\"/retry\"}"};
    json_t *first[3], *got;
    for (int moves = 0; moves < 2; moves++) {
        begin_chat(CHAT "--json");
        for (int i = 0; i < 3; i++) {
            if (moves) {
                assert_done("{\"cmd\":\"pause\"}");
                assert_waits();
                assert_done("{\"cmd\":\"resume\"}");
            }
            fprintf(talk.in, "%s\n", line[i]);
            fflush(talk.in);
            got = hear();
            if (moves)
                assert_true(json_equal(json_object_get(got, "content"), json_object_get(first[i], "content")));
            else
                first[i] = json_incref(got);
            json_decref(got);
        }
        assert_int_equal(end_chat(), 0);
    }
    assert_false(json_equal(json_object_get(first[0], "content"), json_object_get(first[2], "content")));
    for (int i = 0; i < 3; i++)
        json_decref(first[i]);
}

/* ---- ends ---- */

/* A signal, or cancel, while it holds nothing: what was said is in the file of --session. */
static void a_chat_that_holds_nothing_ends_whole(void **state)
{
    (void)state;
    char args[512];
    uint64_t rng = check_seed();
    make_talk(CHAT, &rng);
    for (int how = 0; how < 3; how++) {
        snprintf(args, sizeof(args), "rm -f %s/k", cli_dir);
        assert_int_equal(system(args), 0);
        snprintf(args, sizeof(args), CHAT "--json --session %s/k", cli_dir);
        begin_chat(args);
        for (int turn = 0; turn < 3; turn++) {
            say(text[turn]);
            json_t *got = hear();
            assert_same(turn, got);
            json_decref(got);
        }
        assert_done("{\"cmd\":\"pause\"}");
        assert_waits();
        say(text[3]);
        if (how == 2)
            assert_done("{\"cmd\":\"cancel\"}");
        else
            kill(talk.pid, how ? SIGINT : SIGTERM);
        assert_int_equal(end_chat(), 3);
        assert_tmp_is_empty();
        cli_shell(&r, "tail -n +4 $D/turns | $M " CHAT "--json --session $D/k");
        assert_int_equal(r.code, 0);
        json_t *got = json_loads(r.out, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &json_err);
        assert_non_null(got);
        assert_same(3, got);
        json_decref(got);
    }
    /* One that is killed leaves nothing either. */
    begin_chat(CHAT "--json");
    assert_done("{\"cmd\":\"pause\"}");
    assert_waits();
    kill(talk.pid, SIGKILL);
    assert_int_equal(end_chat(), 128 + SIGKILL);
    cli_shell(&r, "ls -A $D/tmp");
    assert_string_equal(r.out, "");
}

static void obey(const char *command)
{
    fprintf(talk.in, "{\"command\":\"%s\"}\n", command);
    fflush(talk.in);
    json_t *got = hear();
    assert_true(json_is_true(json_object_get(got, "ok")));
    json_decref(got);
}

/* Killed behind an answer, or behind a command: both are in the file of --session, with no part of a file beside it. */
static void a_killed_chat_has_its_turns(void **state)
{
    (void)state;
    char args[512];
    uint64_t rng = check_seed();
    make_talk(CHAT "-sys brief", &rng);
    for (int pins = 0; pins < 2; pins++) {
        cli_shell(&r, "rm -rf $D/folder; mkdir $D/folder");
        snprintf(args, sizeof(args), CHAT "--json --session %s/folder/k", cli_dir);
        begin_chat(args);
        obey("/system brief");
        for (int turn = 0; turn < 3; turn++) {
            say(text[turn]);
            json_t *got = hear();
            assert_same(turn, got);
            json_decref(got);
        }
        if (pins)
            obey("/pin 2");
        kill(talk.pid, SIGKILL);
        assert_int_equal(end_chat(), 128 + SIGKILL);
        cli_shell(&r, "ls $D/folder; grep -o 'pinned.:true' $D/folder/k | wc -l");
        assert_string_equal(r.out, pins ? "k\nk.lock\n1\n" : "k\nk.lock\n0\n");
        cli_shell(&r, "tail -n +4 $D/turns | $M " CHAT "--json --session $D/folder/k");
        assert_int_equal(r.code, 0);
        json_t *got = json_loads(r.out, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &json_err);
        assert_non_null(got);
        assert_same(3, got);
        json_decref(got);
    }
}

/* What is typed in one piece is answered in one piece, however often the answer is begun: the text is printed once. */
static void a_text_is_printed_once(void **state)
{
    (void)state;
    char line[512];
    cli_shell(&r, "printf 'tell me\\n' | $M " CHAT "-c 4096 -n 400 >$D/plain");
    assert_int_equal(r.code, 0);
    snprintf(line, sizeof(line), CHAT "-c 4096 -n 400 >%s/got", cli_dir);
    begin_chat(line);
    fputs("tell me\n", talk.in);
    fflush(talk.in);
    for (int i = 0; i < 4; i++) {
        usleep(15000);
        assert_done("{\"cmd\":\"limit\",\"size\":\"1GiB\"}");
    }
    assert_int_equal(end_chat(), 0);
    cli_shell(&r, "cmp $D/plain $D/got");
    assert_int_equal(r.code, 0);
}

static void a_file_holds_its_limit(void **state)
{
    (void)state;
    char args[256];
    json_int_t limit = 0;
    cli_shell(&r, "echo 100MiB >$D/limit");
    snprintf(args, sizeof(args), CHAT "--json --mem-limit @%s/limit", cli_dir);
    begin_chat(args);
    say("hello");
    json_decref(hear());
    cli_shell(&r, "echo 90MiB >$D/limit.new && mv $D/limit.new $D/limit");
    for (; limit != 90 << 20; usleep(2000)) {
        json_t *s = stats();
        limit = json_integer_value(json_object_get(s, "limit_bytes"));
        json_decref(s);
    }
    say("again");
    json_t *got = hear();
    assert_non_null(json_object_get(got, "content"));
    json_decref(got);
    assert_int_equal(end_chat(), 0);
}

/* Other processes take nearly all memory: the chat gives back its own, and goes on when they have less. */
static void a_chat_makes_room_for_others(void **state)
{
    (void)state;
    char path[128];
    uint64_t rng = check_seed();
    make_talk(CHAT, &rng);
    snprintf(path, sizeof(path), "%s/use", cli_dir);
    setenv("MYTHOS_MEMINFO", path, 1);
    meminfo_use(500);
    begin_chat(CHAT "--json");
    for (int turn = 0; turn < 4; turn++) {
        if (turn == 2) {
            meminfo_use(970);
            assert_waits();
        }
        say(text[turn]);
        if (turn == 2)
            meminfo_use(500);
        json_t *got = hear();
        assert_same(turn, got);
        json_decref(got);
    }
    assert_int_equal(end_chat(), 0);
    unsetenv("MYTHOS_MEMINFO");
    cli_shell(&r, "grep -c 'the chat pauses' $D/notes; grep -c 'the chat goes on' $D/notes");
    assert_string_equal(r.out, "1\n1\n");
}

static int end_all(void **state)
{
    for (int i = 0; i < TURNS; i++)
        json_decref(want[i]);
    return cli_end(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chat_goes_on_as_if_nothing_was),
        cmocka_unit_test(a_limit_of_one_device_is_of_no_other),
        cmocka_unit_test(a_smaller_limit_makes_a_smaller_context),
        cmocka_unit_test(another_answer_is_another_one),
        cmocka_unit_test(a_chat_that_holds_nothing_ends_whole),
        cmocka_unit_test(a_killed_chat_has_its_turns),
        cmocka_unit_test(a_text_is_printed_once),
        cmocka_unit_test(a_file_holds_its_limit),
        cmocka_unit_test(a_chat_makes_room_for_others),
    };
    signal(SIGPIPE, SIG_IGN);
    alarm(300); /* a chat that waits for ever fails the test */
    return cmocka_run_group_tests(tests, cli_begin, end_all);
}
