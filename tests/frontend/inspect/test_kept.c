/* test_kept.c - answers of earlier runs: a run that takes all, some or none of them from the file writes the same
 * report as one that asks the model, with rounds of context and in two passes; damaged and foreign rows are no answers;
 * a dry run and a plan count them; a killed run goes on. */
#include "frontend/inspect/inspect.h"
#include "frontend/inspect/report/outputs.h"
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#define SPEC "random:gemma3-tiny:q8_0"
enum { CTX = 8192 };

static const char code[] = "int f(char *s)\n{\n\treturn strlen(s) + 1;\n}\n\nint g(int n)\n{\n\treturn 10 / n;\n}\n";
static const char extra[] = "struct s {\n    int n;\n};\n\nvoid use(struct s *p)\n{\n    p->n++;\n}\n";

/* ---- one inspection of two files, as a report in JSON ---- */

typedef struct {
    rig r;
    uint64_t rng; /* of on_context: the same decisions for the same requests in a row */
    uint32_t n_kept, n_asked, n_opened;
} bed;

static uint32_t on_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    bed *b = user;
    uint32_t source;
    char name[32];
    const uint32_t kind = check_below(&b->rng, 4), first = 1 + check_below(&b->rng, 5);
    if (kind == 0) {
        snprintf(near, near_cap, "a.c::%s", request);
        return 0;
    }
    snprintf(name, sizeof(name), "inc/e%u.h", kind);
    if (myth_material_put(m, &source, name, (const unsigned char *)extra, sizeof(extra) - 1, NULL) != MYTH_OK)
        return 0;
    const myth_piece p = {.source = source, .first = first, .last = first + 2, .of = of, .symbol = "x"};
    return myth_material_add(m, NULL, &p, NULL) == MYTH_OK;
}

static void on_exchange(void *user, const myth_exchange *x)
{
    bed *b = user;
    b->n_kept += x->is_kept;
    b->n_asked += !x->is_kept;
}

static myth_status open_engine(void *user, myth_engine **e, myth_error *err)
{
    bed *b = user;
    (void)err;
    b->n_opened++;
    *e = b->r.engine;
    return MYTH_OK;
}

static char *inspect(bed *b, const myth_inspect_opts *opts, uint64_t rng, myth_kept *kept)
{
    static char out[2][1 << 18];
    static int turn;
    myth_material *m;
    myth_inspection *in;
    myth_inspect_opts o = *opts;
    uint32_t source;
    const myth_term plain = {0};
    const myth_inspect_engine later = {.n_ctx = CTX, .open = open_engine, .user = b};
    b->rng = rng;
    b->n_kept = b->n_asked = b->n_opened = 0;
    o.kept = kept;
    o.user = b;
    assert_ok(myth_material_open(&m, b->r.mem, NULL, &rig_err));
    for (int i = 0; i < 2; i++) {
        assert_ok(myth_material_put(m, &source, i ? "lib/b.c" : "a.c", (const unsigned char *)code, sizeof(code) - 1,
                                    &rig_err));
        assert_ok(myth_material_add(
            m, NULL, &(myth_piece){.source = source, .first = 1, .last = UINT32_MAX, .is_subject = true}, &rig_err));
    }
    assert_ok(myth_inspect_open(&in, &b->r.model, m, &o, &rig_err));
    assert_ok(myth_inspect_run_later(in, &later, &rig_err));
    char *to = out[turn ^= 1];
    FILE *f = fmemopen(to, sizeof(out[0]), "w");
    myth_output_render(f, MYTH_FORM_JSON, myth_inspect_report(in), &plain);
    fclose(f);
    myth_inspect_close(in);
    myth_material_close(m);
    return to;
}

/* ---- the file, through SQLite itself ---- */

static char place[300];

static int64_t sql(const char *text)
{
    sqlite3 *db;
    sqlite3_stmt *q = NULL;
    char path[400];
    int64_t n = -1;
    snprintf(path, sizeof(path), "%s/mythos/answers-1.db", place);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 2000);
    if (sqlite3_prepare_v2(db, text, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

static myth_kept *open_kept(uint64_t base)
{
    myth_kept *k;
    snprintf(place, sizeof(place), "%s", files_path("kept"));
    assert_ok(myth_kept_open(&k, place, &base, sizeof(base), &rig_err));
    return k;
}

static void reports_do_not_differ(void **unused)
{
    (void)unused;
    static char want[1 << 18];
    static bed b;
    uint64_t rng = check_seed();
    uint32_t n_all = 0, n_some = 0, n_context = 0;
    const uint32_t n_run = check_is_full() ? 120 : check_sample(6);
    rig_open(&b.r, SPEC,
             &(myth_engine_opts){.n_threads = 1, .n_ctx = CTX, .n_checkpoint = 1, .top_k = 1024, .n_mask = 1});
    for (uint32_t i = 0; check_goes_on(i, n_run, n_all && n_some && n_context); i++) {
        const uint64_t seed = check_rand(&rng);
        const myth_inspect_opts o = {
            .style = MYTH_PROMPT_FULL,
            .max_prompt_tokens = 6000,
            .max_new_tokens = 240,
            .n_ctx = CTX,
            .split = true,
            .is_local = check_below(&rng, 2) != 0,
            .context_rounds = check_below(&rng, 4),
            .two_pass = check_below(&rng, 4) == 0,
            .on_context = on_context,
            .on_exchange = on_exchange,
            .sample = {.temp = check_below(&rng, 6) ? 20.0f + 60.0f * check_unit(&rng) : 0.0f, .seed = seed},
        };
        snprintf(want, sizeof(want), "%s", inspect(&b, &o, seed, NULL));
        const uint32_t n_answer = b.n_asked;
        myth_kept *k = open_kept(seed);
        assert_string_equal(inspect(&b, &o, seed, k), want); /* none are there */
        assert_true(b.n_kept == 0 && b.n_opened == 1);
        assert_string_equal(inspect(&b, &o, seed, k), want); /* those that ended are */
        assert_int_equal(b.n_kept + b.n_asked, n_answer);
        n_all += b.n_kept == n_answer;
        assert_int_equal(b.n_opened, b.n_kept < n_answer);
        n_context += o.context_rounds && n_answer > 2 && b.n_kept == n_answer;
        sql("DELETE FROM answers WHERE random() % 2"); /* some of them: the sequence is brought to where they end */
        assert_string_equal(inspect(&b, &o, seed, k), want);
        n_some += b.n_kept > 0 && b.n_kept < n_answer;
        myth_kept_close(k);
    }
    rig_close(&b.r);
    printf("%u runs from kept answers alone, %u from some, %u with rounds\n", n_all, n_some, n_context);
    assert_true(n_all > 0 && n_some > 0 && n_context > 0);
}

/* ---- keys and rows ---- */

static myth_kept_key key_of(myth_kept *k, const char *a, const char *b)
{
    myth_kept_begin(k);
    myth_kept_add(k, a, strlen(a));
    myth_kept_add(k, b, strlen(b));
    return myth_kept_end(k);
}

static void rows_are_checked(void **unused)
{
    (void)unused;
    const int32_t ids[] = {3, 1, 4, 1, 5};
    int32_t got[8];
    uint32_t n = 0;
    myth_finish why;
    myth_kept *k = open_kept(7), *other;
    const myth_kept_key key = key_of(k, "ab", "c"), cut = key_of(k, "a", "bc");
    assert_memory_not_equal(&key, &cut, sizeof(key));
    assert_false(myth_kept_get(k, &key, got, 8, &n, &why));
    myth_kept_put(k, &key, ids, 5, MYTH_FINISH_LENGTH);
    assert_true(myth_kept_get(k, &key, got, 8, &n, &why));
    assert_true(n == 5 && why == MYTH_FINISH_LENGTH && !memcmp(got, ids, sizeof(ids)));
    assert_false(myth_kept_get(k, &key, got, 4, &n, &why)); /* longer than there is room */
    assert_false(myth_kept_get(k, &cut, got, 8, &n, &why));
    other = open_kept(8); /* another program, model or device */
    const myth_kept_key foreign = key_of(other, "ab", "c");
    assert_false(myth_kept_get(other, &foreign, got, 8, &n, &why));
    myth_kept_close(other);
    sql("UPDATE answers SET ids = zeroblob(20)");
    assert_false(myth_kept_get(k, &key, got, 8, &n, &why));
    myth_kept_put(k, &key, ids, 0, MYTH_FINISH_STOP); /* an empty answer is one */
    assert_true(myth_kept_get(k, &key, got, 8, &n, &why) && n == 0);
    sql("UPDATE answers SET finish = 99");
    assert_false(myth_kept_get(k, &key, got, 8, &n, &why));
    myth_kept_close(k);
}

/* Whatever stands in the place of the file, a run can keep answers. */
static void another_file_is_made_anew(void **unused)
{
    (void)unused;
    static const char none[] = "no database at all, but long enough to have a header of one, and more bytes than the "
                               "hundred that SQLite reads of it first";
    static const char *const was[] = {none, "", "SQLite format 3"};
    const int32_t ids[] = {1};
    int32_t got[1];
    uint32_t n;
    myth_finish why;
    for (size_t i = 0; i < sizeof(was) / sizeof(was[0]); i++) {
        files_clear("kept");
        files_mkdir("kept/mythos");
        files_text("kept/mythos/answers-1.db", was[i]);
        myth_kept *k = open_kept(1);
        const myth_kept_key key = key_of(k, "x", "y");
        myth_kept_put(k, &key, ids, 1, MYTH_FINISH_STOP);
        assert_true(myth_kept_get(k, &key, got, 1, &n, &why));
        myth_kept_close(k);
    }
    files_clear("kept");
    files_mkdir("kept/mythos");
    sql("CREATE TABLE answers(other INT)"); /* tables of somebody else */
    myth_kept *k = open_kept(1);
    const myth_kept_key key = key_of(k, "x", "y");
    myth_kept_put(k, &key, ids, 1, MYTH_FINISH_STOP);
    assert_true(myth_kept_get(k, &key, got, 1, &n, &why));
    myth_kept_close(k);
    assert_int_equal(myth_kept_open(&k, NULL, "", 0, &rig_err), MYTH_ENOTFOUND);
    assert_int_equal(myth_kept_open(&k, "/proc/none", "", 0, &rig_err), MYTH_EIO);
}

/* Another process at work: before the statement of this number of a connection that is being opened, it opens the file,
 * too, and keeps an answer. */
static struct {
    uint32_t at, seen;
    bool is_inside, has_kept;
} other;

static int before_statement(unsigned kind, void *user, void *statement, void *text)
{
    const int32_t ids[] = {7};
    (void)kind;
    (void)user;
    (void)statement;
    (void)text;
    if (other.is_inside || other.seen++ != other.at)
        return 0;
    other.is_inside = true;
    myth_kept *k;
    if (myth_kept_open(&k, place, "b", 1, &rig_err) == MYTH_OK) {
        const myth_kept_key key = key_of(k, "of", "another");
        int32_t got[1];
        uint32_t n;
        myth_finish why;
        myth_kept_put(k, &key, ids, 1, MYTH_FINISH_STOP);
        other.has_kept = myth_kept_get(k, &key, got, 1, &n, &why);
        myth_kept_close(k);
    }
    other.is_inside = false;
    return 0;
}

static int trace(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, before_statement, NULL);
}

/* Wherever in the making of a file another process makes it, too: what that one keeps is there afterwards. */
static void two_processes_make_one_file(void **unused)
{
    (void)unused;
    uint32_t n_kept = 0;
    snprintf(place, sizeof(place), "%s", files_path("kept"));
    other.seen = 1;
    for (other.at = 0; other.seen > other.at; other.at++) {
        myth_kept *k;
        int32_t got[1];
        uint32_t n;
        myth_finish why;
        files_clear("kept");
        other.seen = 0;
        other.has_kept = false;
        assert_int_equal(sqlite3_auto_extension((void (*)(void))trace), SQLITE_OK);
        const myth_status st = myth_kept_open(&k, place, "b", 1, &rig_err);
        sqlite3_reset_auto_extension();
        if (st == MYTH_OK)
            myth_kept_close(k);
        assert_ok(myth_kept_open(&k, place, "b", 1, &rig_err));
        const myth_kept_key key = key_of(k, "of", "another");
        if (other.has_kept && !myth_kept_get(k, &key, got, 1, &n, &why))
            fail_msg("before statement %u: the answer of the other process is gone", other.at);
        n_kept += other.has_kept;
        myth_kept_close(k);
    }
    assert_true(n_kept >= 4);
}

/* ---- the command ---- */

static cli_result r;

static void must(const char *line)
{
    cli_shell(&r, line);
    if (r.code != 0)
        fail_msg("%s\n  exit %d: %s", line, r.code, r.err);
}

#define AGAIN "$M inspect $D/t --cache --fail-level never --format json -n 40 -m random:gemma3-tiny:f32 "

static void make_tree(void)
{
    cli_own_home();
    must("rm -rf $D/t $D/cache && mkdir -p $D/t && cd $D/t && for i in 1 2 3 4 5 6 7 8; do printf 'int f%s(char "
         "*p)\\n{\\n    return p[%s];\\n}\\n' $i $i >f$i.c; done");
}

static uint32_t n_from_earlier(void)
{
    unsigned n = 0;
    const char *at = strstr(r.err, " answers from earlier runs");
    while (at && at > r.err && at[-1] != '\n')
        at--;
    if (at)
        sscanf(at, "%u of", &n);
    return n;
}

static void a_second_run_asks_nothing(void **state)
{
    static char want[sizeof(r.out)];
    (void)state;
    make_tree();
    must("{ " AGAIN "; test $? = 3; }");
    assert_int_equal(n_from_earlier(), 0);
    snprintf(want, sizeof(want), "%s", r.out);
    must("{ " AGAIN "; test $? = 3; }");
    assert_int_equal(n_from_earlier(), 8);
    assert_string_equal(r.out, want);
    must("echo '/* more */' >>$D/t/f3.c && { " AGAIN "; test $? = 3; }"); /* the others are what they were */
    assert_int_equal(n_from_earlier(), 7);
    must("{ " AGAIN "--temp 0.7 --seed 3; test $? = 3; }"); /* other settings have other answers */
    assert_int_equal(n_from_earlier(), 0);
    must("{ " AGAIN "--no-cache; test $? = 3; }");
    assert_int_equal(n_from_earlier(), 0);
    must("$M log replay last"); /* compares with the model, not with what was kept */
    assert_null(strstr(r.err, "from earlier runs"));
}

/* The prompts have the same ids: two merges that it uses come in another order. */
static void answers_are_of_the_same_tokenizer(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t n;
    } run[] = {{"one", 0}, {"one", 8}, {"two", 0}, {"two", 8}, {"one", 8}};
    char line[512];
    make_tree();
    must("sed 's/<unused1>/<end_of_turn>/g' tests/fuzz/corpus/tokenizer_json/seed-new >$D/one && "
         "sed 's/\\[\"a\",\"b\"\\],\\(.*\\)\\]\\]/\\1],[\"a\",\"b\"]]/' $D/one >$D/two && ! cmp -s $D/one $D/two");
    for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
        snprintf(line, sizeof(line), "{ cp $D/%s $D/tok.json && " AGAIN "--tokenizer $D/tok.json; test $? = 3; }",
                 run[i].name);
        must(line);
        assert_int_equal(n_from_earlier(), run[i].n);
    }
}

static json_t *dry(const char *command)
{
    cli_shell(&r, command);
    if (r.code != 0)
        fail_msg("%s\n  exit %d: %s", command, r.code, r.err);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_non_null(j);
    return j;
}

static double number(const json_t *j, const char *in, const char *key)
{
    return json_number_value(json_object_get(in ? json_object_get(j, in) : j, key));
}

/* A dry run knows which parts the run would ask about, and expects seconds for these alone. */
static void a_dry_run_counts_what_is_kept(void **state)
{
    (void)state;
    make_tree();
    must("rm -rf $D/state");
    json_t *j = dry(AGAIN "--dry-run");
    assert_true(number(j, NULL, "kept_parts") == 0);
    json_decref(j);
    must("test ! -e $D/cache"); /* it only looks */
    must("{ " AGAIN "; test $? = 3; }");
    j = dry(AGAIN "--dry-run");
    assert_true(number(j, NULL, "kept_parts") == 8 &&
                json_is_true(json_object_get(json_object_get(j, "expected"), "known")));
    assert_true(number(j, "expected", "seconds_to") == 0);
    json_decref(j);
    must("echo 'int more;' >>$D/t/f3.c");
    j = dry(AGAIN "--dry-run");
    assert_true(number(j, NULL, "kept_parts") == 7);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(json_is_true(json_object_get(json_array_get(json_object_get(j, "parts"), i), "kept")), i != 2);
    const double one = number(j, "expected", "prefill_tokens");
    json_decref(j);
    j = dry(AGAIN "--dry-run --no-cache");
    assert_true(number(j, NULL, "kept_parts") == 0);
    assert_true(one > 0 && number(j, "expected", "prefill_tokens") > one);
    json_decref(j);
    j = dry(AGAIN "--dry-run --seed 9 --temp 1");
    assert_true(number(j, NULL, "kept_parts") == 0);
    json_decref(j);
}

/* plan has the defaults of inspect-file, its prompts and its keys. */
static void a_plan_counts_what_is_kept(void **state)
{
    (void)state;
    make_tree();
    must("{ $M inspect-file $D/t/f1.c --cache -m random:gemma3-tiny:f32 --fail-level never; test $? -le 3; }");
    json_t *j = dry("$M plan --for inspect-file $D/t/f1.c --json -m random:gemma3-tiny:f32");
    assert_string_equal(json_string_value(json_object_get(json_object_get(j, "expected"), "source")),
                        "every answer is kept from an earlier run");
    json_decref(j);
    j = dry("$M plan --for inspect-file $D/t/f2.c --json -m random:gemma3-tiny:f32");
    assert_true(number(j, "expected", "prefill_tokens") > 0);
    json_decref(j);
    /* a file of several parts: the prompts are those of the command */
    must("for i in $(seq 100); do printf 'int g%s(char *p)\n{\n    return p[%s] / p[%s];\n}\n\n' $i $i $i; done "
         ">$D/t/g.c");
    j = dry("$M plan --for inspect-file $D/t/g.c --json -c 6144 -m random:gemma3-tiny:f32");
    json_t *of = dry("$M inspect-file $D/t/g.c --dry-run --format json -c 6144 -m random:gemma3-tiny:f32");
    assert_true(json_array_size(json_object_get(of, "parts")) > 1);
    assert_true(number(of, "expected", "prefill_tokens") > 0);
    assert_true(number(j, "expected", "prefill_tokens") == number(of, "expected", "prefill_tokens"));
    json_decref(of);
    json_decref(j);
}

static void a_killed_run_goes_on(void **state)
{
    static char want[sizeof(r.out)];
    char file[400], db[400];
    FILE *f;
    int pid = 0;
    (void)state;
    make_tree();
    must("{ " AGAIN "--no-cache; test $? = 3; }");
    snprintf(want, sizeof(want), "%s", r.out);
    snprintf(place, sizeof(place), "%s/cache", cli_dir);
    snprintf(file, sizeof(file), "%s/pid", cli_dir);
    snprintf(db, sizeof(db), "%s/mythos/answers-1.db", place);
    must(AGAIN "-t 1 >/dev/null 2>&1 & echo $! >$D/pid");
    f = fopen(file, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    fclose(f);
    for (int i = 0; i < 6000 && (access(db, F_OK) != 0 || sql("SELECT count(*) FROM answers") < 3); i++)
        usleep(5000);
    kill(pid, SIGKILL); /* at whatever it is doing then; it may have ended */
    usleep(20000);
    must("{ " AGAIN "; test $? = 3; }");
    assert_true(n_from_earlier() >= 3);
    assert_string_equal(r.out, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_do_not_differ),         cmocka_unit_test(rows_are_checked),
        cmocka_unit_test(another_file_is_made_anew),     cmocka_unit_test(two_processes_make_one_file),
        cmocka_unit_test(a_second_run_asks_nothing),     cmocka_unit_test(answers_are_of_the_same_tokenizer),
        cmocka_unit_test(a_dry_run_counts_what_is_kept), cmocka_unit_test(a_plan_counts_what_is_kept),
        cmocka_unit_test(a_killed_run_goes_on),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
