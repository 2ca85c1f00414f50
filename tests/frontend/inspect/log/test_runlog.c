/* test_runlog.c - the run log as its users meet it: a run leaves a record of the code that it showed and of the
 * answers; a replay repeats the run byte for byte; `log why` explains it; a log that fails never makes a run fail. */
#include "runlog_case.h"
#include "tests/frontend/inspect/secrets/fake_secrets.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>

/* ---- what is recorded ---- */

static void test_record(void **state)
{
    (void)state;
    static const char *const keys[] = {"format", "run",         "began_ms",  "command",   "args",      "options",
                                       "cwd",    "binary",      "weights",   "model",     "stages",    "device",
                                       "files",  "pieces",      "prompt",    "exchanges", "dropped",   "report",
                                       "form",   "report_hash", "no_replay", "seconds",   "exit_code", "printed"};
    struct stat info;
    char path[256], sum[80];
    size_t n;
    new_log();
    put_file("a.c", source);
    assert_true(run_quietly("cd $D; $M inspect-file a.c " TINY LOG
                            "--format json --fail-level never -n 200 >report; sha256sum a.c >sum") == 0);
    json_t *j = json_of("$M log show " LOG "--json", 0);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!json_object_get(j, keys[i]))
            fail_msg("the record has no %s", keys[i]);
    expect_text(j, "command", "inspect-file");
    expect_text(j, "form", "json");
    assert_string_equal(json_string_value(json_array_get(json_object_get(j, "args"), 0)), "a.c");

    char *report = get_file("report", &n); /* the report is the bytes that were printed */
    expect_text(j, "printed", report);
    json_t *parsed = json_loads(report, 0, NULL);
    assert_true(
        json_equal(json_object_get(parsed, "findings"), json_object_get(json_object_get(j, "report"), "findings")));
    assert_true(json_equal(json_object_get(parsed, "budget"), json_object_get(json_object_get(j, "report"), "budget")));
    free(report);

    const json_t *file = json_array_get(json_object_get(j, "files"), 0),
                 *x = json_array_get(json_object_get(j, "exchanges"), 0);
    report = get_file("sum", &n);
    snprintf(sum, sizeof(sum), "sha256:%.64s", report);
    free(report);
    expect_text(file, "hash", sum);
    expect_text(file, "origin", "disk");
    assert_int_equal(json_integer_value(json_object_get(file, "bytes")), strlen(source));
    const json_t *piece = json_array_get(json_object_get(j, "pieces"), 0);
    assert_true(json_is_true(json_object_get(piece, "subject")));
    assert_int_equal(json_integer_value(json_object_get(piece, "shown_lines")), 11);

    /* The recorded prompt is the one that `mythos prompt` prints. */
    json_t *prompt = json_of("cd $D; $M prompt a.c " TINY "--json", 0);
    expect_text(x, "prompt", text_of(prompt, "text"));
    assert_int_equal(json_integer_value(json_object_get(x, "prompt_tokens")),
                     json_array_size(json_object_get(prompt, "ids")));
    expect_text(json_object_get(j, "prompt"), "hash", text_of(prompt, "hash"));
    json_decref(prompt);
    json_t *answer = json_loads(text_of(x, "answer"), 0, NULL);
    assert_non_null(json_object_get(answer, "findings"));
    json_decref(answer);
    assert_null(json_object_get(x, "ids")); /* show prints the prompt's text and not its ids */
    json_decref(parsed);
    json_decref(j);

    snprintf(path, sizeof(path), "%s/runs.db", cli_dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);

    assert_int_equal(run_quietly("cd $D; $M log show " LOG), 0);
    assert_non_null(strstr(r.out, "inspect-file"));
    snprintf(path, sizeof(path), "a.c, %zu bytes, from disk, %s", strlen(source), sum);
    assert_non_null(strstr(r.out, path));
    assert_null(strstr(r.out, "strcpy"));
    assert_int_equal(run_quietly("cd $D; $M log show 1 --prompts " LOG), 0);
    assert_non_null(strstr(r.out, "9|\tstrcpy(b, s);"));
    json_t *list = json_of("$M log list " LOG "--json", 0);
    assert_int_equal(json_array_size(list), 1);
    expect_text(json_array_get(list, 0), "subject", "a.c");
    json_decref(list);
}

static void test_flags(void **state)
{
    (void)state;
    struct stat info;
    char path[256];
    snprintf(path, sizeof(path), "%s/runs.db", cli_dir);
    new_log();
    put_file("a.c", source);
    assert_int_equal(run_quietly("$M inspect-file $D/a.c " TINY LOG "--no-log -n 30"), 3);
    assert_int_equal(run_quietly("MYTHOS_NO_LOG=1 $M inspect-file $D/a.c " TINY LOG "-n 30"), 3);
    assert_int_equal(run_quietly("$M inspect-file $D/a.c " TINY LOG "--dry-run"), 0); /* nothing was run */
    assert_true(stat(path, &info) != 0);
    assert_int_equal(run_quietly("MYTHOS_LOG=$D/runs.db $M inspect-file $D/a.c " TINY "-n 30 --no-log-prompts"), 3);
    json_t *j = json_of("$M log show " LOG "--json", 0);
    const json_t *x = json_array_get(json_object_get(j, "exchanges"), 0);
    assert_null(json_object_get(x, "prompt"));
    assert_null(json_object_get(x, "answer"));
    assert_int_equal(strncmp(text_of(x, "ids_hash"), "sha256:", 7), 0);
    json_decref(j);
    assert_int_equal(run_quietly("$M log replay " LOG), 0); /* hashes are enough */
    assert_int_equal(
        run_quietly("XDG_STATE_HOME=$D/state $M inspect-file $D/a.c " TINY "-n 30; test -f $D/state/mythos/runs.db"),
        0);
    assert_int_equal(run_quietly("$M log shw " LOG), 2);
    assert_non_null(strstr(r.err, "did you mean show?"));
    assert_int_equal(run_quietly("$M log show 9 " LOG), 66);
    assert_non_null(strstr(r.err, "it has run 1 alone"));
    assert_int_equal(run_quietly("$M log show last " LOG), 0);
    assert_int_equal(run_quietly("$M log show 1 2 " LOG), 2);
    assert_int_equal(run_quietly("$M log list --log $D/none.db"), 66);
}

/* ---- replay ---- */

/* Takes out what stands from the beginning of `open` to that of `close`. */
static void drop(char *text, const char *open, const char *close)
{
    char *from = strstr(text, open), *to = from ? strstr(from, close) : NULL;
    if (to)
        memmove(from, to, strlen(to) + 1);
}

/* Takes the commit and the day out of a report: the record has it without them, so that it can be repeated later. */
static void drop_edition(char *report)
{
    static const char open[] = "<p class=\"dim\">", close[] = "</p>\n";
    char *day = strstr(report, "inspected on "), *from = NULL, *to;
    drop(report, "\"repository\":\"", "\"commit\":");
    drop(report, "\"commit\":\"", "}");
    drop(report, "\"versionControlProvenance\":", "\"columnKind\":");
    for (char *p = report; day && (p = strstr(p, open)) && p < day; p++)
        from = p;
    if (!from)
        return;
    to = strstr(day, close) + sizeof(close) - 1;
    memmove(from, to, strlen(to) + 1);
}

/* Runs `line` with a log and replays it; the replay must give the same result. */
static void check_replay(const char *line)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), "%s " LOG ">$D/first", line);
    int code = run_quietly(whole);
    if (code != 0 && code != 1 && code != 3)
        fail_msg("%s\n  exit %d\n  %s", line, code, r.err);
    size_t n;
    char *first = get_file("first", &n);
    json_t *j = json_of("$M log replay " LOG "--json", 0);
    expect_text(j, "result", "equal");
    json_decref(j);
    j = json_of("$M log show " LOG "--json", 0);
    drop_edition(first);
    expect_text(j, "printed", first);
    assert_int_equal(json_integer_value(json_object_get(j, "exit_code")), code);
    json_decref(j);
    free(first);
}

/* Runs with the shipped model on several files, forms and options, which replays must repeat: 3 of the 20 by default,
 * chosen by the seed. */
static void test_replay(void **state)
{
    (void)state;
    static const char *const file[] = {"01_format.c",       "05_cookies.py",  "06_format.c",   "07_jv.c",
                                       "09_windows.py",     "10_tty.c",       "12_buffers.py", "14_format.c",
                                       "16_imsg.c",         "17_fdforkpty.c", "18_tty.c",      "19_format.c",
                                       "20_server-client.c"};
    static const char *const flags[] = {"--format json",
                                        "",
                                        "--format sarif",
                                        "--temp 0.8 --seed 7 --format json",
                                        "--format html",
                                        "--two-pass --format json",
                                        "-n 60 --format jsonl",
                                        "--format github --fail-level low",
                                        "--format rdjsonl -t 1 -c 2048 -ub 64",
                                        "--format checkstyle",
                                        "--format codequality",
                                        "--format junit",
                                        "--exact --format json --no-inline-ignores",
                                        "--split --max-prompt-tokens 330 --format json"};
    enum { N_FILE = sizeof(file) / sizeof(file[0]), N_FLAGS = sizeof(flags) / sizeof(flags[0]) };
    const uint32_t n = check_is_full() ? 20 : check_sample(3);
    char line[512];
    uint64_t seed = check_seed();
    uint32_t of = check_below(&seed, N_FILE), how = check_below(&seed, N_FLAGS);
    new_log();
    for (uint32_t i = 0; i < n; i++) {
        snprintf(line, sizeof(line), "$M inspect-file tests/corpus/inspect/%s " SHIPPED "%s", file[(of + i) % N_FILE],
                 flags[(how + i) % N_FLAGS]);
        check_replay(line);
    }
    check_replay("$M inspect-file tests/corpus/inspect/12_buffers.py " SHIPPED "--format html"); /* whatever the seed */
    put_file("a.c", source);
    check_replay("cd $D; MYTHOS_INSPECT_FILE_FORMAT=json MYTHOS_SEED=3 $M inspect-file a.c " TINY
                 "--temp 1 -n 300"); /* a relative path, and options from the environment */
    check_replay("$M inspect-file $D/a.c " TINY "--max-prompt-tokens 10 --format json"); /* the prompt is too long */
    put_file("b -=;'.c", source);
    check_replay("cd $D; $M inspect-file \"b -=;'.c\" " TINY "-n 100 --format json");
    check_replay("cd $D; cp a.c ./-x.c; x() { $M inspect-file --format json " TINY "-n 40 \"$@\" -- -x.c; }; x");
    check_replay("cd $D; n=$(printf 'x\\377\\n.c'); cp a.c \"$n\"; $M inspect-file \"$n\" " TINY
                 "-n 100 --format json");
}

/* A replay gives the same result when variables of the environment or the current folder differ from the run's. */
static void test_replay_ignores_environment(void **state)
{
    (void)state;
    new_log();
    put_file("a.c", source);
    assert_int_equal(run_quietly("$M inspect-file $D/a.c " TINY LOG "-n 90 --format json --fail-level never"), 3);
    assert_int_equal(
        run_quietly("MYTHOS_INSPECT_FILE_FORMAT=sarif MYTHOS_MAX_NEW_TOKENS=7 MYTHOS_TEMP=1 MYTHOS_MODEL=nowhere "
                    "MYTHOS_NO_LOG=1 MYTHOS_TWO_PASS=1 "
                    "$M log replay " LOG),
        0);
    assert_int_equal(run_quietly("cd /; $M log replay " LOG), 0);
    assert_int_equal(run_quietly("mkdir $D/tmp; TMPDIR=$D/tmp $M log replay " LOG "&& test -z \"$(ls -A $D/tmp)\""),
                     0); /* the replay's own folder is removed */
}

static void expect_reason(const char *line, const char *reason)
{
    json_t *j = json_of(line, 3);
    expect_text(j, "result", "cannot");
    const json_t *list = json_object_get(j, "reasons");
    assert_true(json_array_size(list) > 0);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strstr(json_string_value(json_array_get(list, i)), reason)) {
            json_decref(j);
            return;
        }
    fail_msg("%s\n  no reason has '%s': %s", line, reason, json_string_value(json_array_get(list, 0)));
}

static void test_cannot_be_replayed(void **state)
{
    (void)state;
    char line[512];
    uint64_t rng = check_seed();
    char secret[FAKE_MAX];
    new_log();
    put_file("a.c", source);
    assert_int_equal(run_quietly("cp models/mythos-inspect.gguf $D/m.gguf; $M inspect-file $D/a.c -m $D/m.gguf " LOG
                                 "--format json --fail-level never"),
                     0);
    assert_int_equal(run_quietly("$M log replay " LOG), 0);
    assert_int_equal(run_quietly("touch $D/a.c $D/m.gguf; $M log replay " LOG), 0); /* only bytes count, not times */
    assert_int_equal(run_quietly("printf 'int x;\\n' >>$D/a.c"), 0);
    expect_reason("$M log replay " LOG "--json", "a.c has changed");
    assert_int_equal(run_quietly("rm $D/a.c"), 0);
    expect_reason("$M log replay " LOG "--json", "a.c");
    put_file("a.c", source);
    assert_int_equal(run_quietly("$M log replay " LOG), 0);
    assert_int_equal(run_quietly("printf X | dd of=$D/m.gguf bs=1 seek=$(($(wc -c <$D/m.gguf) - 5)) conv=notrunc"),
                     0); /* changes one byte, of a tensor */
    expect_reason("$M log replay " LOG "--json", "m.gguf has changed");

    assert_int_equal(run_quietly("$M inspect-file - " TINY LOG "-n 30 <$D/a.c"), 3);
    expect_reason("$M log replay " LOG "--json", "standard input");
    assert_int_equal(run_quietly("$M inspect-file $D/none.c " TINY LOG), 66);
    expect_reason("$M log replay " LOG "--json", "before it had a report");
    fake_make(secret, &fake_kinds[2], &rng);
    snprintf(line, sizeof(line),
             "mkdir $D/asked; cp $D/a.c $D/asked; XDG_CACHE_HOME=$D/cache $M inspect-topic 'strcpy with %.100s' "
             "--findings -C $D/asked "
             "--lexical " TINY LOG "-n 30",
             secret);
    assert_int_equal(run_quietly(line), 3);
    expect_reason("$M log replay " LOG "--json", "a secret stands in the command line");
    assert_int_equal(
        run_quietly("printf '[]' >$D/base.json; $M inspect-file $D/a.c " TINY LOG "-n 30 --format json >$D/base.json"),
        3);
    assert_true(run_quietly("$M inspect-file $D/a.c " TINY LOG "-n 200 --format json --baseline $D/base.json") != 65);
    assert_int_equal(run_quietly("$M log replay " LOG), 0);
    assert_int_equal(run_quietly("echo >>$D/base.json"), 0);
    expect_reason("$M log replay " LOG "--json", "baseline");
    assert_int_equal(
        run_quietly("mkdir $D/sub; cp $D/a.c $D/sub; cd $D/sub; $M inspect-file a.c " TINY LOG "-n 30; rm -r $D/sub"),
        0);
    expect_reason("$M log replay " LOG "--json", "folder");
}

/* When the recorded report is not the replay's, the result is "different", and the first difference is shown. */
static void test_difference(void **state)
{
    (void)state;
    sqlite3 *db;
    char path[256];
    static const char *const change[] = {
        "UPDATE texts SET (n, data) = (SELECT n, data FROM texts WHERE run_id=2 AND name='report') WHERE run_id=1 AND "
        "name='report'",
    };
    new_log();
    put_file("a.c", source);
    assert_int_equal(run_quietly("$M inspect-file $D/a.c " TINY LOG "--format json --fail-level never"), 0);
    assert_int_equal(run_quietly("$M inspect-file $D/a.c " TINY LOG "-n 30 --format json --fail-level never"), 3);
    assert_int_equal(run_quietly("$M log replay 1 " LOG), 0);
    snprintf(path, sizeof(path), "%s/runs.db", cli_dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, change[0], NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    json_t *j = json_of("$M log replay 1 " LOG "--json", 1);
    expect_text(j, "result", "different");
    const json_t *d = json_object_get(j, "difference");
    assert_int_equal(strncmp(text_of(d, "what"), "the report, byte ", 17), 0);
    assert_string_not_equal(text_of(d, "recorded"), text_of(d, "now"));
    json_decref(j);
    assert_int_equal(run_quietly("$M log replay 1 " LOG), 1);
    assert_non_null(strstr(r.out, "first difference: the report, byte"));
}

/* ---- why ---- */

static const json_t *answer_to(const json_t *answers, const char *question)
{
    const json_t *a;
    size_t i;
    assert_int_equal(json_array_size(answers), 7);
    json_array_foreach(answers, i, a) if (strcmp(text_of(a, "question"), question) == 0) return a;
    fail_msg("no question %s", question);
    return NULL;
}

static void expect_answer(const char *what, const char *question, const char *answer)
{
    char line[256];
    snprintf(line, sizeof(line), "$M log why last %s " LOG "--json", what);
    json_t *j = json_of(line, 0);
    const json_t *a = answer_to(j, question);
    if (strcmp(text_of(a, "answer"), answer) != 0)
        fail_msg("%s of '%s': %s (%s), expected %s", question, what, text_of(a, "answer"), text_of(a, "says"), answer);
    assert_true(text_of(a, "says")[0] && text_of(a, "asks")[0]);
    json_decref(j);
}

/* ---- commands that search ---- */

static void put_repository(void)
{
    assert_int_equal(run_quietly("rm -rf $D/repo; mkdir -p $D/repo/src $D/repo/vendor $D/repo/examples $D/repo/build; "
                                 "cd $D/repo; git init -q; echo build/ >.gitignore; "
                                 "echo 'int x;' >build/secret_tokens.c"),
                     0);
    put_file("repo/src/session.c", "#include \"session.h\"\n\n/* Creates a session for a user. */\nint "
                                   "session_create(int user)\n{\n\tchar name[8];\n"
                                   "\tstrcpy(name, user_name(user));\n\treturn session_insert(name);\n}\n");
    put_file("repo/src/login.c",
             "int login(int user)\n{\n\tif (user < 0)\n\t\treturn -1;\n\treturn session_create(user);\n}\n");
    put_file("repo/src/paint.c", "void paint(void)\n{\n\tdraw();\n}\n");
    put_file("repo/vendor/session.c", "int session_create(int user);\n");
    put_file("repo/examples/session.c",
             "int session_create_old(int user)\n{\n\treturn user; /* creates a session */\n}\n");
    assert_int_equal(run_quietly("cd $D/repo; git add .gitignore src examples; git -c user.name=a -c user.email=a@b "
                                 "commit -qm one; git tag one"),
                     0);
}

static void test_searching_commands(void **state)
{
    (void)state; /* the shipped model: found beside the command */
    const char *state_dir = getenv("XDG_CACHE_HOME");
    char cache[256];
    new_log();
    put_repository();
    snprintf(cache, sizeof(cache), "%s/cache", cli_dir);
    setenv("XDG_CACHE_HOME", cache, 1);
    check_replay("cd $D/repo; $M inspect-topic 'where is a session created' --findings --format json");
    json_t *j = json_of("$M log show " LOG "--json", 0);
    const json_t *first = json_array_get(json_object_get(j, "candidates"), 0);
    expect_text(json_object_get(j, "texts"), "query", "where is a session created");
    expect_text(first, "fate", "taken");
    assert_true(json_object_size(json_object_get(first, "parts")) >= 5);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "index"), "files")), 4);
    json_decref(j);
    expect_answer("src/session.c:7", "missed", "no");
    expect_answer("src/session.c", "absent", "no");
    expect_answer("src/paint.c", "absent", "no"); /* the index has it */
    expect_answer("src/paint.c", "missed", "yes");
    expect_answer("build/secret_tokens.c", "absent", "yes"); /* ignored */
    expect_answer("vendor/session.c", "absent", "yes");
    expect_answer("vendor/session.c", "vendored", "yes");
    expect_answer("examples/session.c", "vendored", "yes");
    expect_answer("src/session.c", "vendored", "no");
    expect_answer("", "vendored", "yes");
    expect_answer("", "absent", "yes");
    check_replay("$M inspect-symbol session_create -C $D/repo --format json");
    expect_answer("src/session.c:7", "missed", "no");
    j = json_of("$M log show " LOG "--json",
                0); /* a caller is chosen as context; shown or not, the record says which */
    const json_t *p, *files = json_object_get(j, "files");
    bool is_chosen = false, is_shown = false;
    size_t i;
    json_array_foreach(
        json_object_get(j, "pieces"), i,
        p) if (strcmp(text_of(json_array_get(files, (size_t)json_integer_value(json_object_get(p, "file"))), "path"),
                      "src/login.c") == 0)
    {
        is_chosen = true;
        is_shown = json_integer_value(json_object_get(p, "shown_lines")) > 0;
    }
    assert_true(is_chosen);
    expect_answer("src/login.c:5", "missed", is_shown ? "no" : "yes");
    json_decref(j);

    put_file(
        "repo/src/session.c",
        "#include \"session.h\"\n\nint session_create(int user)\n{\n\tchar name[4];\n\tstrcpy(name, user_name(user));\n"
        "\treturn session_insert(name);\n}\n");
    check_replay("cd $D/repo; $M inspect-diff --format sarif");
    check_replay("cd $D/repo; git diff >$D/p.diff; $M inspect-diff --diff $D/p.diff");
    assert_int_equal(run_quietly("cd $D/repo; git add -A; git -c user.name=a -c user.email=a@b commit -qm two"), 0);
    check_replay("cd $D/repo; $M inspect-diff one..HEAD");
    expect_reason("$M log replay 3 " LOG "--json", "the diff has changed"); /* the tree is as HEAD now */
    check_replay("cd $D/repo; $M inspect-diff --format json");              /* nothing */
    assert_int_equal(run_quietly("$M log replay 4 " LOG), 0);               /* the patch is what it was */
    assert_int_equal(run_quietly(": >$D/p.diff"), 0);
    expect_reason("$M log replay 4 " LOG "--json", "the diff has changed");
    expect_reason("$M log replay 1 " LOG "--json", "session.c has changed");
    assert_int_equal(run_quietly("cd $D/repo; git checkout -q one; $M log replay 1 " LOG), 0);
    put_file("repo/src/paint.c",
             "int where_is_a_session_created(void)\n{\n\treturn session_created + session + created;\n}\n");
    expect_reason("$M log replay 1 " LOG "--json", "the index has changed"); /* it is among the hits now */
    if (state_dir)
        setenv("XDG_CACHE_HOME", state_dir, 1);
    else
        unsetenv("XDG_CACHE_HOME");
}

/* ---- a log that cannot be written ---- */

/* A run whose log cannot be written prints the same bytes and has the same exit code as one without a log; one note
 * says that it is not logged. */
static void check_unmoved(const char *how)
{
    char line[512];
    size_t n, n_plain;
    const char *run = "inspect-file $D/a.c " TINY "-n 120 --format json --fail-level info";
    snprintf(line, sizeof(line), "$M %s --no-log >$D/plain", run);
    int code = run_quietly(line);
    snprintf(line, sizeof(line), "$M %s %s >$D/logged", run, how);
    assert_int_equal(run_quietly(line), code);
    char *plain = get_file("plain", &n_plain), *logged = get_file("logged", &n);
    assert_int_equal(n, n_plain);
    assert_memory_equal(plain, logged, n);
    const char *said = strstr(r.err, "this run is not logged");
    if (!said || strstr(said + 4, "this run is"))
        fail_msg("%s: %s", how, r.err);
    free(plain);
    free(logged);
}

static void test_log_in_trouble(void **state)
{
    (void)state;
    put_file("a.c", source);
    put_file("text.db", "not a database, but a text that is long enough to hold a header of one, which it does not: so "
                        "much is plain to see here");
    check_unmoved("--log $D/text.db");
    assert_int_equal(run_quietly("$M log list --log $D/text.db"), 65);
    assert_non_null(strstr(r.err, "remove this file"));
    assert_true(run_quietly("$M inspect-file $D/a.c " TINY "-n 20 -q --log $D/text.db") == 3);
    assert_string_equal(r.err, "");
    check_unmoved("--log $D"); /* a folder */
    check_unmoved("--log /proc/nowhere/runs.db");
    check_unmoved("--log $D/a.c/runs.db");
    check_unmoved("--log /dev/null");
    check_unmoved("--log ''");
    new_log();
    assert_true(run_quietly("$M inspect-file $D/a.c " TINY LOG "-n 30") == 3);
    assert_int_equal(run_quietly("cp $D/runs.db $D/cut.db; truncate -s 9000 $D/cut.db"), 0);
    check_unmoved("--log $D/cut.db");
    assert_true(run_quietly("unset HOME XDG_STATE_HOME; $M inspect-file $D/a.c " TINY "-n 30") == 3);
    assert_non_null(strstr(r.err, "this run is not logged"));
}

/* A run goes on and prints its whole report, wherever in the log the disk is full. */
static void test_full_disk(void **state)
{
    (void)state;
    char line[512];
    size_t n, n_plain, n_unlogged = 0;
    bool is_whole = false; /* from some size on the log of the run has room */
    put_file("a.c", source);
    int code = run_quietly("$M inspect-file $D/a.c " TINY "-n 120 --format json --no-log >$D/plain");
    char *plain = get_file("plain", &n_plain);
    for (int blocks = 0; blocks < 300;
         blocks += check_is_full() ? 7 : 100) { /* blocks of 512 bytes; a pipe is not limited by them */
        new_log();
        snprintf(line, sizeof(line),
                 "(trap '' XFSZ; ulimit -f %d; $M inspect-file $D/a.c " TINY LOG
                 "-n 120 --format json; echo $? >&2) | cat >$D/logged",
                 blocks);
        run_quietly(line);
        char *logged = get_file("logged", &n);
        assert_int_equal(n, n_plain);
        assert_memory_equal(plain, logged, n);
        free(logged);
        if (run_quietly("$M log list " LOG "--json") == 0 && r.out[1] != ']') { /* told apart from a killed run */
            json_t *list = json_of("$M log list " LOG "--json", 0);
            is_whole |= strcmp(json_string_value(json_object_get(json_array_get(list, 0), "state")), "ended") == 0;
            expect_text(json_array_get(list, 0), "state", is_whole ? "ended" : "unlogged");
            json_decref(list);
            assert_int_equal(run_quietly("$M log show " LOG), 0);
            assert_int_equal(strstr(r.out, "could not be logged further") == NULL, is_whole);
            n_unlogged += !is_whole;
        }
    }
    assert_true(n_unlogged > 0);
    assert_true(code == 0 || code == 1 || code == 3);
    free(plain);
}

/* When several runs write into one log at once, all are in it afterwards, and each can be shown. */
static void test_runs_at_once(void **state)
{
    (void)state;
    char line[256];
    const int n = check_is_full() ? 12 : 4;
    new_log();
    put_file("a.c", source);
    snprintf(line, sizeof(line),
             "i=0; while [ $i -lt %d ]; do $M inspect-file $D/a.c " TINY LOG
             "-n 40 --format json >/dev/null & i=$((i+1)); done; wait",
             n);
    assert_int_equal(run_quietly(line), 0);
    assert_null(strstr(r.err, "not logged"));
    json_t *list = json_of("$M log list " LOG "--json", 0);
    assert_int_equal(json_array_size(list), n);
    for (int i = 0; i < n; i++) {
        snprintf(line, sizeof(line), "$M log show %d " LOG "--json", i + 1);
        json_t *j = json_of(line, 0);
        assert_int_equal(json_integer_value(json_object_get(j, "exit_code")), 3);
        json_decref(j);
    }
    json_decref(list);
}

/* A run that is killed leaves a record of what it had done so far, and the log can still be read and written. */
static void test_killed(void **state)
{
    (void)state;
    static char big[240000];
    size_t n = 0;
    new_log();
    while (n + 64 < sizeof(big))
        n += (size_t)snprintf(big + n, sizeof(big) - n, "int f%zu(char *s) { return s[%zu]; }\n", n, n);
    put_file("big.c", big);
    run_quietly("$M inspect-file $D/big.c " TINY LOG "--split --max-prompt-tokens 4000 -t 1 & p=$!; "
                "n=0; until [ $n = 1200 ] || $M log show " LOG
                "--json | grep -q '\"exchanges\"'; do n=$((n+1)); sleep 0.1; done; kill -9 $p; wait $p");
    assert_int_equal(r.code, 128 + SIGKILL);
    json_t *list = json_of("$M log list " LOG "--json", 0);
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "exit_code")));
    expect_text(json_array_get(list, 0), "state", "killed");
    assert_non_null(strstr(text_of(json_array_get(list, 0), "subject"), "big.c"));
    assert_int_equal(run_quietly("$M log show " LOG), 0);
    assert_non_null(strstr(r.out, "none: the run was killed"));
    json_decref(list);
    json_t *j = json_of("$M log show " LOG "--json", 0);
    expect_text(j, "command", "inspect-file");
    assert_true(json_array_size(json_object_get(j, "files")) == 1 &&
                json_array_size(json_object_get(j, "pieces")) == 1);
    text_of(json_array_get(json_object_get(j, "exchanges"), 0), "answer");
    json_decref(j);
    expect_reason("$M log replay " LOG "--json", "did not end");
    assert_int_equal(run_quietly("$M log why " LOG), 0);
    put_file("a.c", source);
    assert_true(run_quietly("$M inspect-file $D/a.c " TINY LOG "-n 30") == 3);
    assert_int_equal(run_quietly("$M log replay " LOG), 0);
}

/* A rule names its finding where the run has one of it; where it has more, the message has their numbers. */
static void test_why_of_a_rule(void **state)
{
    (void)state;
    new_log();
    put_file("two.c", "#include <stdlib.h>\n\nvoid f(char *p)\n{\n    free(p);\n    free(p);\n}\n\nvoid g(char *q)\n"
                      "{\n    free(q);\n    free(q);\n}\n");
    put_file("one.c", "#include <stdlib.h>\n\nvoid f(char *p)\n{\n    free(p);\n    free(p);\n}\n");
#define FREED "--find candidates --confidence 0 --rules double-free --fail-level never "
    assert_int_equal(run_quietly("$M inspect-file $D/one.c " LOG FREED), 0);
    assert_int_equal(run_quietly("$M inspect-file $D/two.c " LOG FREED), 0);
    assert_int_equal(run_quietly("$M log why double-free " LOG), 2);
    assert_non_null(strstr(r.err, "run 2 has 2 findings of double-free: 1, 2; name one by its number"));
    assert_int_equal(run_quietly("$M log why last use-after-free " LOG), 2);
    assert_non_null(strstr(r.err, "run 2 has no finding of use-after-free; it has 2, which mythos log show 2 lists"));
    assert_int_equal(run_quietly("$M log why 1 1 " LOG "--json >$D/by_number"), 0);
    assert_int_equal(run_quietly("$M log why 1 double-free " LOG "--json | cmp - $D/by_number"), 0);
}

static void test_why(void **state)
{
    (void)state;
    char what[64];
    new_log();
    put_file("a.c", source);
    assert_int_equal(
        run_quietly("cd $D; mkdir -p why/vendor why/.git; >why/.git/HEAD; cp a.c why/vendor/v.c; mv a.c why; "
                    "$M inspect-file why/a.c " TINY LOG "--format json --fail-level never"),
        0);
    expect_answer("", "absent", "no");
    expect_answer("", "split", "no");
    expect_answer("", "truncated", "no");
    expect_answer("", "vendored", "no");
    expect_answer("a.c", "missed", "no");
    expect_answer("a.c:4", "missed", "no");
    expect_answer("a.c:400", "missed", "yes");
    expect_answer("other.c:3", "missed", "yes");
    expect_answer("other.c", "absent", "unknown");
    expect_answer("a.c", "absent", "no");
    expect_answer("vendor/v.c", "vendored", "yes");
    expect_answer("$D/why/a.c:4", "missed", "no"); /* the file that the report calls a.c */
    json_t *j = json_of("$M log show " LOG "--json", 0);
    const json_t *finding = json_array_get(json_object_get(json_object_get(j, "report"), "findings"), 0);
    if (finding) {
        expect_answer("1", "missed", "no");
        expect_answer("1", "hallucinated", "no");
        snprintf(what, sizeof(what), "%.12s", text_of(finding, "fingerprint"));
        expect_answer(what, "missed", "no");
    }
    json_decref(j);
    assert_int_equal(run_quietly("$M log why last 99 " LOG), 2);
    assert_non_null(strstr(r.err, "has no finding 99"));
    assert_int_equal(run_quietly("$M log why " LOG), 0);
    assert_non_null(strstr(r.out, "7. "));
    assert_int_equal(run_quietly("$M log why a.c:3 " LOG), 0); /* without a number, the last run is meant */

    assert_int_equal(run_quietly("cd $D/why; $M inspect-file a.c " TINY LOG "-n 20 --fail-level never"), 3);
    expect_answer("", "truncated", "yes");
    assert_int_equal(run_quietly("cd $D/why; $M inspect-file a.c " TINY LOG "--max-prompt-tokens 20"), 3);
    expect_answer("", "truncated", "yes");
    assert_int_equal(run_quietly("cd $D/why; $M inspect-file ./vendor/v.c " TINY LOG "-n 20 --fail-level never"), 3);
    expect_answer("", "vendored", "yes");

    static char big[9000];
    size_t n = (size_t)snprintf(big, sizeof(big), "int f(char *s)\n{\n");
    while (n + 64 < sizeof(big))
        n += (size_t)snprintf(big + n, sizeof(big) - n, "\ts[%zu] = 0;\n", n);
    snprintf(big + n, sizeof(big) - n, "}\n");
    put_file("long.c", big);
    assert_int_equal(run_quietly("cd $D; $M inspect-file long.c " TINY LOG
                                 "--split --max-prompt-tokens 3600 -n 12 --fail-level never"),
                     3);
    expect_answer("", "split", "yes");
    expect_answer("long.c:5", "split", "yes");
    expect_answer("long.c:5", "missed", "no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_replay_ignores_environment),
        cmocka_unit_test(test_cannot_be_replayed),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_searching_commands),
        cmocka_unit_test(test_log_in_trouble),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_runs_at_once),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_why_of_a_rule),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
