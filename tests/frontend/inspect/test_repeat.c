/* test_repeat.c - a second run over what has not changed: it prints and writes the same bytes and reads no weight, it
 * is in the log with what the first one did, and whatever changes makes it a run of its own. */
#include "frontend/inspect/kept/kept.h"
#include "tests/frontend/cli/cli_run.h"

#include <sqlite3.h>

static cli_result r;

static void must(const char *line)
{
    cli_shell(&r, line);
    if (r.code != 0)
        fail_msg("%s\n  exit %d: %s", line, r.code, r.err);
}

/* A run that repeats another makes no plan, and says that all answers are kept. */
static bool has_repeated(void)
{
    const bool is_planned = strstr(r.err, " planned; ") != NULL;
    assert_true(is_planned || strstr(r.err, " answers from earlier runs"));
    return !is_planned;
}

#define FLAGS "--cache --fail-level never -n 40 --temp 30 --prompt-style compact -m $D/m.gguf "
#define END   "; test $? -le 3; }"

static char program[300];

static void make_tree(void)
{
    cli_own_home();
    must("rm -rf $D/t $D/cache $D/state $D/m.gguf && mkdir -p $D/t && "
         "$M convert -m random:gemma3-tiny:f32 --type f32 -o $D/m.gguf -q && cd $D/t && git init -q . && "
         "for i in 1 2 3 4 5 6; do printf 'int f%s(char *p)\\n{\\n    return p[%s] + other(p);\\n}\\n' $i $i >f$i.c; "
         "done && echo 'int other(char *p);' >other.h && echo '# words' >words.md");
}

static void run_again(const char *more)
{
    char line[1024];
    snprintf(line, sizeof(line), "{ $M inspect $D/t " FLAGS "%s; test $? -le 3; }", more);
    must(line);
}

static void the_bytes_are_the_same(void **state)
{
    (void)state;
    static const char *const form[] = {"text",    "json",       "jsonl",       "sarif", "github",
                                       "rdjsonl", "checkstyle", "codequality", "junit"};
    static char want[sizeof(r.out)], notes[sizeof(r.err)];
    make_tree();
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        char more[400];
        snprintf(more, sizeof(more), "--format %s --output sarif=$D/o.sarif --output text=$D/o.txt --patch $D/o.patch",
                 form[i]);
        run_again(more);
        assert_false(has_repeated());
        snprintf(want, sizeof(want), "%s", r.out);
        snprintf(notes, sizeof(notes), "%s", r.err);
        must("for f in sarif txt patch; do mv $D/o.$f $D/was.$f; done");
        run_again(more);
        assert_true(has_repeated());
        assert_string_equal(r.out, want);
        /* every other note is said again */
        for (char *n = strtok(notes, "\n"); n; n = strtok(NULL, "\n"))
            if (!strstr(n, " planned; ") && !strstr(n, " answers from") && !strstr(r.err, n))
                fail_msg("not said again: %s", n);
        snprintf(more, sizeof(more), "--format %s --output sarif=$D/p.sarif --output text=$D/p.txt --patch $D/p.patch",
                 form[i]);
        run_again(more); /* where it is written changes nothing */
        assert_true(has_repeated());
        must("for f in sarif txt patch; do cmp $D/p.$f $D/was.$f; done");
        must("for f in sarif txt patch; do cmp $D/o.$f $D/was.$f; done; test -s $D/o.sarif");
    }
    run_again("--format json -q");
    assert_string_equal(r.err, "");
}

static void no_weight_is_read(void **state)
{
    static char want[sizeof(r.out)];
    (void)state;
    make_tree();
    run_again("--format json");
    snprintf(want, sizeof(want), "%s", r.out);
    /* other bytes under the same name, size and time: only who reads them can tell */
    must("touch -r $D/m.gguf $D/time && dd if=/dev/zero of=$D/m.gguf conv=notrunc bs=4096 count=$(($(stat -c %s "
         "$D/m.gguf) / 4096)) 2>/dev/null && touch -r $D/time $D/m.gguf");
    run_again("--format json");
    assert_true(has_repeated());
    assert_string_equal(r.out, want);
    must("touch $D/m.gguf; $M inspect $D/t " FLAGS "--format json; test $? = 65");
}

/* Each row is a change after which the run is one of its own; after it the tree is as it was, and it repeats again. */
static void what_changes_is_run(void **state)
{
    (void)state;
    static const struct {
        const char *change, *back, *more;
    } row[] = {
        {"echo 'int g;' >>f3.c", "sed -i '$d' f3.c", ""},
        {"echo 'int g;' >f9.c", "rm f9.c", ""},
        {"mv f2.c f2x.c", "mv f2x.c f2.c", ""},   /* in the same place of the order */
        {"echo more >more.md", "rm more.md", ""}, /* is counted in a note */
        {"true", "true", "--rules other"},
        {"true", "true", "--no-inline-ignores"},
        {"true", "true", "--seed 7"},
        {"true", "true", "--exact"},
        {"true", "true", "--exclude f1.c"},
        {"true", "true", "--no-cache"},
        {"true", "true", "--format html"},
        {"true", "true", "--mem-report $D/mem.json"},
        {"cp $D/m.gguf $D/n.gguf", "true", "-m $D/n.gguf"},
    };
    make_tree();
    run_again("");
    run_again("");
    assert_true(has_repeated());
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[300];
        snprintf(line, sizeof(line), "cd $D/t && %s", row[i].change);
        must(line);
        run_again(row[i].more);
        if (has_repeated())
            fail_msg("%s, %s: was not run", row[i].change, row[i].more);
        snprintf(line, sizeof(line), "cd $D/t && %s", row[i].back);
        must(line);
        run_again("");
        if (!has_repeated())
            fail_msg("after %s, %s: was run again", row[i].change, row[i].more);
    }
    must("cd $D/t && touch *.c *.h"); /* another time alone is no change */
    run_again("");
    assert_true(has_repeated());
    must("cd $D/t && mkdir sub && cd sub && { $D/m inspect .. " FLAGS "; test $? = 3; }");
    assert_true(has_repeated()); /* whatever was typed */
}

/* Other bytes under the same name, size and time of change of the bytes: what nobody can set, the time of any change,
 * tells them apart. And a repetition whose files were not read is the same. */
static void times_do_not_deceive(void **state)
{
    static char want[sizeof(r.out)];
    (void)state;
    make_tree();
    must("sleep 2.2"); /* so that what stat says of the files leads to the report */
    run_again("--format json");
    snprintf(want, sizeof(want), "%s", r.out);
    run_again("--format json");
    assert_true(has_repeated());
    assert_string_equal(r.out, want);
    must("cd $D/t && touch -r f3.c $D/time && "
         "printf 'int f%s(char *p)\\n{\\n    return p[%s] + othez(p);\\n}\\n' 3 3 >f3.c && touch -r $D/time f3.c");
    run_again("--format json");
    assert_false(has_repeated());
    must("cd $D/t && printf 'int f%s(char *p)\\n{\\n    return p[%s] + other(p);\\n}\\n' 3 3 >f3.c");
    run_again("--format json"); /* other times, the first bytes */
    assert_true(has_repeated());
    assert_string_equal(r.out, want);
}

static void a_file_is_repeated_too(void **state)
{
    static char want[sizeof(r.out)];
    (void)state;
    make_tree();
    must("{ $M inspect-file $D/t/f1.c " FLAGS "--format json" END);
    snprintf(want, sizeof(want), "%s", r.out);
    must("{ cd $D/t && $D/m inspect-file ./f1.c " FLAGS "--format json" END);
    assert_true(has_repeated());
    assert_string_equal(r.out, want);
    must("{ $D/m inspect-file - " FLAGS "--format json <$D/t/f1.c" END);
    must("{ $D/m inspect-file - " FLAGS "--format json <$D/t/f1.c" END);
    assert_false(has_repeated());
}

static void the_log_has_it(void **state)
{
    static char why[sizeof(r.out)];
    (void)state;
    make_tree();
    run_again("");
    must("$M log why");
    snprintf(why, sizeof(why), "%s", r.out);
    run_again("");
    assert_true(has_repeated());
    must("test -s $D/state/mythos/runs.db-wal"); /* not written twice: that may take longer than the run */
    must("$M log show 2 --prompts");
    assert_non_null(strstr(r.out, "run 1: nothing had changed"));
    assert_non_null(strstr(r.out, "return p[5] + other(p);")); /* the prompt, which the first record has */
    must("$M log why 2");
    assert_string_equal(r.out, why);
    must("$M log replay 2");
    assert_non_null(strstr(r.out, "run 2: equal"));
    must("$M log prune --keep 1"); /* the run that was repeated goes */
    must("{ $M log replay 2; test $? = 3; }");
    assert_non_null(strstr(r.out, "it repeats run 1, which the log does not have any more"));
    run_again("--no-log"); /* needs no record */
    assert_true(has_repeated());
}

/* A report that is kept stays when the log was trimmed: by hand, by its own bounds, or with its file. The record has
 * what was printed, and says that the run which it repeats is gone. */
static void a_trimmed_log_costs_no_run(void **state)
{
    static char want[sizeof(r.out)];
    (void)state;
    make_tree();
    run_again("--format json");
    snprintf(want, sizeof(want), "%s", r.out);
    for (int i = 0; i < 3; i++) {
        must(i == 0   ? "$M log prune --keep 0"
             : i == 1 ? "printf 'int x;\n' >$D/x.c && { $M inspect-file $D/x.c " FLAGS "--log-keep 1" END
                      : "rm -r $D/state"); /* the log begins anew, with the same numbers */
        run_again("--format json");
        assert_true(has_repeated());
        assert_string_equal(r.out, want);
        json_t *doc = NULL;
        must("$M log show last --json");
        assert_non_null(doc = json_loads(r.out, 0, NULL));
        assert_true(json_is_true(json_object_get(doc, "repeats_lost")));
        assert_string_equal(json_string_value(json_object_get(doc, "printed")), want);
        assert_null(json_object_get(doc, "pieces"));
        json_decref(doc);
        must("$M log show last");
        assert_non_null(strstr(r.out, "a run that the log does not have any more"));
        must("$M log why last");
        must("{ $M log replay last; test $? = 3; }");
        assert_non_null(strstr(r.out, "it repeats a run that the log does not have any more"));
    }
}

/* --log-keep and --log-max-size bound the log, and say nothing about what is printed. */
static void the_log_has_bounds(void **state)
{
    (void)state;
    make_tree();
    for (int i = 0; i < 5; i++) {
        run_again("--log-keep 3");
        assert_int_equal(has_repeated(), i > 0);
    }
    must("test $($M log list | wc -l) = 3");
    run_again("--log-max-size 1");
    assert_true(has_repeated());
    must("test $($M log list | wc -l) = 1");
}

/* The first path that an answer asked for; false when none did. */
static bool asked_path(char *path, size_t cap)
{
    json_t *report = json_loads(r.out, 0, NULL);
    const char *name =
        json_string_value(json_object_get(json_array_get(json_object_get(report, "context_requests"), 0), "name"));
    const char *end = name ? strstr(name, "::") : NULL;
    snprintf(path, cap, "%.*s", end ? (int)(end - name) : 0, name ? name : "");
    json_decref(report);
    return path[0] != '\0';
}

/* An answer names a file that is not there. When it comes, the answer would be another. */
static void what_was_looked_at_decides(void **state)
{
    char flags[200], path[256], line[600];
    bool is_asked = false;
    (void)state;
    make_tree();
    for (int seed = 1; seed < 60 && !is_asked; seed++) {
        snprintf(flags, sizeof(flags),
                 "--format json -n 240 --temp 60 --top-k 0 --top-p 1 --min-p 0 --seed %d --exclude 'f[2-9].c'", seed);
        snprintf(line, sizeof(line), "{ $M inspect $D/t %s --cache -m $D/m.gguf --fail-level never" END, flags);
        must(line);
        is_asked = asked_path(path, sizeof(path)) && strlen(path) < 200;
    }
    assert_true(is_asked);
    must(line);
    assert_true(has_repeated());
    must("echo 1 >$D/t/other.txt"); /* nobody looked at it, and it is counted with words.md */
    must("mv $D/t/words.md $D/words.md");
    must(line);
    assert_true(has_repeated());
    char make[900];
    snprintf(make, sizeof(make),
             "mkdir -p \"$D/t/$(dirname '%s')\" && echo 'not code' >\"$D/t/%s\" && rm $D/t/other.txt", path, path);
    must(make);
    must(line);
    assert_false(has_repeated());
}

/* Bodies that nobody wrote, under the right key and with the right checksum. */
static void damaged_reports_are_none(void **state)
{
    static char want[sizeof(r.out)];
    char path[400], folder[300];
    unsigned char whole[1 << 16];
    myth_kept_key key;
    uint64_t rng = check_seed();
    sqlite3 *db;
    sqlite3_stmt *q;
    size_t n;
    myth_kept *k;
    (void)state;
    make_tree();
    run_again("--format json");
    snprintf(want, sizeof(want), "%s", r.out);
    snprintf(folder, sizeof(folder), "%s/cache", cli_dir);
    snprintf(path, sizeof(path), "%s/mythos/answers-1.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT key, body FROM reports WHERE length(body) > 16", -1, &q, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    memcpy(key.byte, sqlite3_column_blob(q, 0), sizeof(key.byte));
    n = (size_t)sqlite3_column_bytes(q, 1);
    assert_true(n > 100 && n < sizeof(whole));
    memcpy(whole, sqlite3_column_blob(q, 1), n);
    sqlite3_finalize(q);
    sqlite3_close(db);
    for (uint32_t i = 0; i < 12; i++) {
        const size_t at = i < 6 ? check_below(&rng, (uint32_t)n) : 8 * i % 32; /* cut, or other lengths of blocks */
        unsigned char body[sizeof(whole)];
        memcpy(body, whole, n);
        memset(body + at, 0xff, i < 6 ? 0 : 8);
        assert_int_equal(myth_kept_open(&k, folder, "", 0, NULL), MYTH_OK);
        myth_kept_put_report(k, &key, body, i < 6 ? at : n);
        myth_kept_close(k);
        run_again("--format json");
        assert_string_equal(r.out, want);
    }
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "UPDATE reports SET body = zeroblob(200) WHERE length(body) > 16", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
    run_again("--format json");
    assert_false(has_repeated());
    assert_string_equal(r.out, want);
}

/* The program under a path that needs no current directory. */
static int begin(void **state)
{
    char line[700];
    if (cli_begin(state) != 0 || !realpath(cli_bin(), program))
        return -1;
    snprintf(line, sizeof(line), "ln -s '%s' '%s/m'", program, cli_dir);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_same),     cmocka_unit_test(no_weight_is_read),
        cmocka_unit_test(what_changes_is_run),        cmocka_unit_test(times_do_not_deceive),
        cmocka_unit_test(a_file_is_repeated_too),     cmocka_unit_test(the_log_has_it),
        cmocka_unit_test(what_was_looked_at_decides), cmocka_unit_test(damaged_reports_are_none),
        cmocka_unit_test(a_trimmed_log_costs_no_run), cmocka_unit_test(the_log_has_bounds),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
