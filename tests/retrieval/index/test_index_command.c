/* test_index_command.c - the command mythos index: its JSON, its exit codes, its check. */
#include "tests/frontend/cli/cli_run.h"
#include "retrieval/store/page_vfs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static int begin(void **state)
{
    char cache[64];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", cli_dir);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

static void make_tree(void)
{
    cli_result r;
    cli_shell(&r, "rm -rf $D/cache $D/t; mkdir -p $D/t/src && printf 'int zebra_count(int n)\\n{\\n    return "
                  "n;\\n}\\n' >$D/t/src/a.c && "
                  "printf 'def okapi(x):\\n    return zebra(x)\\n' >$D/t/b.py && printf 'GIF89a\\0' >$D/t/c.gif");
    assert_int_equal(r.code, 0);
}

static json_t *run_json(const char *args)
{
    char line[256];
    cli_result r;
    snprintf(line, sizeof(line), "index %s/t --json %s", cli_dir, args);
    return cli_json(&r, line);
}

static void numbers(void **state)
{
    (void)state;
    cli_result r;
    make_tree();
    json_t *j = run_json("--no-embed");
    assert_int_equal(cli_number(j, "files"), 2);
    assert_true(cli_number(j, "chunks") >= 2);
    assert_int_equal(cli_number(j, "bytes"), 41 + 34);
    assert_true(cli_number(j, "seconds") >= 0);
    assert_true(cli_number(j, "symbols") >= 2);
    assert_int_equal(cli_number(j, "added"), 2);
    assert_int_equal(json_object_size(json_object_get(j, "skipped")), 1);
    json_decref(j);
    j = run_json("");
    assert_int_equal(cli_number(j, "added") + cli_number(j, "changed") + cli_number(j, "removed"), 0);
    assert_int_equal(cli_number(j, "files"), 2);
    json_decref(j);
    cli_shell(&r, "printf 'x = 1\\n' >>$D/t/b.py; rm $D/t/src/a.c");
    j = run_json("");
    assert_int_equal(cli_number(j, "changed"), 1);
    assert_int_equal(cli_number(j, "removed"), 1);
    json_decref(j);
}

static void check(void **state)
{
    (void)state;
    cli_result r;
    make_tree();
    json_t *j = run_json("--check"); /* made first */
    assert_int_equal(cli_number(j, "files"), 2);
    assert_int_equal(json_array_size(json_object_get(j, "problems")), 0);
    const char *db = json_string_value(json_object_get(j, "index"));
    assert_non_null(strstr(db, "/cache/mythos/"));
    cli_shell(&r, "rm $D/t/b.py");
    json_t *again = run_json("--check"); /* not an update */
    assert_int_equal(cli_number(again, "files"), 2);
    json_decref(again);
    cli_shell(&r, "rm -r $D/cache; mkdir -p $D/late; $M index $D/late; cp $D/t/src/a.c $D/late/; $M index $D/late "
                  "--check --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "{\"files\":1,")); /* an index without files is none */
    j = (json_decref(j), run_json("--check"));
    db = json_string_value(json_object_get(j, "index"));
    char line[512];
    snprintf(line, sizeof(line),
             "n=$(stat -c %%s '%s'); i=4200; while [ $i -lt $n ]; do printf '\\377\\376\\375' | dd of='%s' bs=1 "
             "seek=$i conv=notrunc 2>/dev/null; "
             "i=$((i + 4096)); done; $M index $D/t --check",
             db, db);
    cli_shell(&r, line);
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "mythos index --rebuild"));
    cli_shell(&r, "$M index $D/t; $M index $D/t --check");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "the index was rebuilt"));
    json_decref(j);
}

/* A bit of the full-text index's first page. */
static void spoil_words(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    unsigned char byte;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name='fts_data'", -1, &q, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    const off_t at = (off_t)(sqlite3_column_int64(q, 0) - 1) * MYTH_PAGE_BYTES + 2000;
    sqlite3_finalize(q);
    sqlite3_close(db);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Words that are damaged fail a search, and no update looks at them: what the message names helps. */
static void rebuild_helps(void **state)
{
    (void)state;
    cli_result r;
    make_tree();
    json_t *j = run_json("");
    const char *db = json_string_value(json_object_get(j, "index"));
    assert_non_null(strstr(db, "/index-")); /* a version of the format has a file of its own */
    spoil_words(db);
    cli_shell(&r, "$M index $D/t && $M search okapi $D/t --lexical");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "mythos index --rebuild"));
    cli_shell(&r, "$M index $D/t --rebuild && $M search okapi $D/t --lexical");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "the index was rebuilt: as was asked"));
    cli_shell(&r, "$M index $D/t --rebuild --check");
    assert_int_equal(r.code, 2);
    json_decref(j);
}

static void refusals(void **state)
{
    (void)state;
    cli_result r;
    make_tree();
    cli_shell(&r, "mkdir -p $D/empty; $M index $D/empty");
    assert_int_equal(r.code, 66);
    cli_shell(&r, "$M index $D/nowhere");
    assert_int_equal(r.code, 66);
    cli_shell(&r, "$M index $D/t --embed-model /nowhere");
    assert_int_equal(r.code, 66);
    cli_shell(&r, "$M index $D/t --embed-model x --no-embed");
    assert_int_equal(r.code, 2);
    cli_shell(&r, "ulimit -f 8; $M index $D/t");
    assert_int_equal(r.code, 74);
    cli_shell(&r, "XDG_CACHE_HOME=/proc/none $M index $D/t");
    assert_int_equal(r.code, 73);
    cli_shell(&r, "$M index $D/t");
    assert_int_equal(r.code, 0);
}

/* A file that is cut by its text though there is a grammar makes the answer incomplete, and is listed. */
static void unstructured(void **state)
{
    (void)state;
    cli_result r;
    make_tree();
    cli_shell(&r, "head -c 60000 /dev/zero | tr '\\0' '(' >$D/t/deep.c; $M index $D/t --json");
    assert_int_equal(r.code, 3);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_non_null(j);
    json_t *list = json_object_get(j, "unstructured");
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "path")), "deep.c");
    json_decref(j);
    assert_non_null(strstr(r.err, "deep.c: "));
}

/* 3 is for what is not in the index though no rule says so, and for nothing else; each is listed. */
static void what_was_lost(void **state)
{
    (void)state;
    static const struct {
        const char *make;
        int code;
        const char *reason;
    } rows[] = {
        {"ln -s /etc $D/t/link; ln -s up $D/t/up; printf 'x\\n' >$D/t/x.log; printf '*.log\\n' >$D/t/.gitignore; mkdir "
         "-p $D/t/node_modules",
         0, NULL},
        {"mkfifo $D/t/pipe; truncate -s 70M $D/t/picture", 0, NULL}, /* no name of source    */
        {"head -c 1300000 /dev/zero | tr '\\0' '\\n' | sed 's/.*/1,/' | sed '1s/^/[/' >$D/t/large.json", 0,
         NULL},                                                                      /* data, by its text */
        {"printf '%s\\n' '@@ ) ] }' '%% ( [' ') @ ]' '}} ::' >$D/t/odd.c", 0, NULL}, /* what there is of it is known */
        {": >$D/t/empty.c; printf 'int a;\\r\\nint b;\\r\\n' >$D/t/dos.c", 0, NULL},
        {"head -c 5000000 /dev/zero >$D/t/nul.c", 3, "binary"},
        {"mkfifo $D/t/pipe.c", 3, "special"},
        {"printf 'int a;\\n' >$D/t/sparse.c; truncate -s 5G $D/t/sparse.c", 3, "large"},
        {"yes 'a word' | head -c 70000000 >$D/t/words.txt", 3, "large"},
        {"head -c 2000000 /dev/zero | tr '\\0' '#' >$D/t/.gitignore", 3, "large"},
        {"d=$D/t; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do n=$(printf 'd%.0s' $(seq 230)); mkdir "
         "$d/$n 2>/dev/null || break; cd $d/$n; d=.; done; "
         ": >f.c",
         3, "unreadable"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[1024];
        cli_result r;
        make_tree();
        cli_shell(&r, rows[i].make);
        for (int again = 0; again < 3; again++) { /* the first run, one without change, a check */
            snprintf(line, sizeof(line), "$M index $D/t --json --no-embed%s", again == 2 ? " --check" : "");
            cli_shell(&r, line);
            if (r.code != rows[i].code)
                fail_msg("%s: run %d: exit %d, expected %d: %s", rows[i].make, again, r.code, rows[i].code, r.err);
            json_t *j = json_loads(r.out, 0, NULL), *list = json_object_get(j, "unread");
            assert_non_null(j);
            assert_int_equal(cli_number(j, "lost"), rows[i].code == 3);
            assert_int_equal(json_array_size(list), rows[i].reason && again < 2);
            if (rows[i].reason && again < 2)
                assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "reason")),
                                    rows[i].reason);
            json_decref(j);
        }
    }
    make_tree();
}

/* A parser that dies is given the file once more by the next update, and no third time while the file stays as it is.
 */
static void failed_once_and_twice(void **state)
{
    (void)state;
    static const struct {
        const char *fault;
        int code;
        double n_changed;
    } run[] = {
        {"", 0, 0},          {"abort:a.c", 3, 1}, {"", 0, 1}, {"", 0, 0}, /* better the second time */
        {"abort:a.c", 3, 1}, {"abort:a.c", 3, 1}, {"", 3, 0}, {"", 3, 0}, /* given up               */
        {"", 0, 1},                                                       /* until it changes       */
    };
    cli_result r;
    make_tree();
    for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
        char line[256];
        if (i == 1 || i == 4 || i == 8)
            cli_shell(&r, "printf 'int more;\n' >>$D/t/src/a.c");
        snprintf(line, sizeof(line), "MYTHOS_CHUNK_FAULT=%s $M index $D/t --json", run[i].fault);
        cli_shell(&r, line);
        if (r.code != run[i].code)
            fail_msg("run %zu: exit %d, expected %d: %s", i, r.code, run[i].code, r.err);
        json_t *j = json_loads(r.out, 0, NULL);
        assert_non_null(j);
        if (cli_number(j, "changed") != run[i].n_changed)
            fail_msg("run %zu: %g changed, expected %g", i, cli_number(j, "changed"), run[i].n_changed);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(check),
        cmocka_unit_test(rebuild_helps),
        cmocka_unit_test(refusals),
        cmocka_unit_test(unstructured),
        cmocka_unit_test(what_was_lost),
        cmocka_unit_test(failed_once_and_twice),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
