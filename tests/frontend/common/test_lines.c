/* test_lines.c - lines of a file that somebody writes to while they are read: what was measured comes, or an error, and
 * never another line. */
#include "tests/support/check.h"
#include "tests/support/files.h"

#include "frontend/common/lines.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 30000, N_LINE = 12 }; /* several times what is read at once */

static myth_mem *mem;
static myth_cancel cancel;
static myth_term term = {.is_quiet = true};
static myth_cli cli;

static int begin(void **state)
{
    (void)state;
    term.notes = tmpfile();
    if (!term.notes || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    cli = (myth_cli){.mem = mem, .cancel = &cancel, .term = &term};
    return 0;
}

static int end(void **state)
{
    (void)state;
    fclose(term.notes);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* Line i of length n, with its newline, into dst [n]. */
static void make_line(char *dst, size_t n, char i)
{
    memset(dst, 'a' + i, n - 1);
    dst[n - 1] = '\n';
}

static void write_lines(const char *name, uint32_t n_line)
{
    static char text[LINE * N_LINE];
    for (uint32_t i = 0; i < n_line; i++)
        make_line(text + (size_t)i * LINE, LINE, (char)i);
    files_put(name, text, (size_t)n_line * LINE);
}

/* Writes over the bytes at `at`, and makes sure that the file's times are others. */
static void write_at(const char *name, off_t at, const char *data, size_t n)
{
    static int64_t second = 1000;
    FILE *f = fopen(files_path(name), "r+");
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    second++;
    assert_non_null(f);
    assert_int_equal(pwrite(fileno(f), data, n, at), n);
    assert_int_equal(futimens(fileno(f), times), 0);
    fclose(f);
}

static myth_lines open_it(const char *name)
{
    myth_error err = {0};
    myth_lines l;
    if (myth_lines_open(&l, &cli, files_path(name), &(myth_lines_opts){.stream_bytes = 100}, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return l;
}

/* Reads on to the end; *n_line counts the lines that are as they were written first. */
static myth_status read_on(myth_lines *l, uint32_t *n_line, myth_error *err)
{
    for (;;) {
        const char *line = NULL;
        size_t n = 0;
        const myth_status st = myth_lines_next(l, &line, &n, err);
        if (st != MYTH_OK || !line)
            return st;
        for (size_t i = 0; i < n; i++)
            if (line[i] != 'a' + (char)*n_line)
                fail_msg("line %u has %c at %zu", *n_line, line[i], i);
        ++*n_line;
    }
}

static void expect_changed(myth_status st, const myth_error *err)
{
    assert_int_equal(st, MYTH_ELIMIT);
    assert_non_null(strstr(err->msg, "changed while it was read"));
}

/* A byte is written over before it is read, or after: what looks before it keeps something sees it at once. */
static void a_check_finds_another_byte(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < N_LINE; at++) {
        myth_error err = {0};
        const char *line;
        size_t n;
        write_lines("byte", N_LINE);
        myth_lines l = open_it("byte");
        assert_int_equal(myth_lines_next(&l, &line, &n, &err), MYTH_OK);
        assert_int_equal(myth_lines_check(&l, &err), MYTH_OK);
        write_at("byte", (off_t)at * LINE + 5, "?", 1);
        expect_changed(myth_lines_check(&l, &err), &err);
        expect_changed(myth_lines_check(&l, &err), &err);
        myth_lines_close(&l);
    }
}

/* Where nothing looks, reading itself sees it with the last of the bytes. */
static void reading_finds_another_byte(void **state)
{
    (void)state;
    for (uint32_t at = 4; at < N_LINE; at++) { /* behind what one line brings into the buffer */
        myth_error err = {0};
        myth_status st = MYTH_OK;
        const char *line = "";
        size_t n;
        write_lines("byte", N_LINE);
        myth_lines l = open_it("byte");
        assert_int_equal(myth_lines_next(&l, &line, &n, &err), MYTH_OK);
        write_at("byte", (off_t)at * LINE + 5, "?", 1);
        while (st == MYTH_OK && line)
            st = myth_lines_next(&l, &line, &n, &err);
        expect_changed(st, &err);
        myth_lines_close(&l);
    }
}

/* Changed and put back between two readings of its bytes: only what was read tells. */
static void a_change_that_was_taken_back_is_found(void **state)
{
    (void)state;
    myth_error err = {0};
    const char *line = NULL;
    size_t n = 0;
    myth_status st = MYTH_OK;
    write_lines("back", N_LINE);
    myth_lines l = open_it("back");
    write_at("back", 0, "?", 1);
    assert_int_equal(myth_lines_next(&l, &line, &n, &err), MYTH_OK);
    write_at("back", 0, "a", 1);
    assert_int_equal(myth_lines_check(&l, &err), MYTH_OK);
    while (st == MYTH_OK && line)
        st = myth_lines_next(&l, &line, &n, &err);
    expect_changed(st, &err);
    expect_changed(myth_lines_check(&l, &err), &err); /* and from now on nothing is kept */
    myth_lines_close(&l);
}

/* What is added is not read, also behind a last line without its newline. */
static void what_is_added_is_not_read(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 2; cut++) {
        myth_error err = {0};
        char said[200] = "";
        uint32_t n = 0;
        write_lines("more", N_LINE);
        assert_int_equal(truncate(files_path("more"), (off_t)(LINE * N_LINE - cut)), 0);
        myth_lines l = open_it("more");
        write_at("more", (off_t)(LINE * N_LINE - cut), "xyz\n{}\n", 7);
        rewind(term.notes);
        assert_int_equal(myth_lines_check(&l, &err), MYTH_OK);
        assert_int_equal(myth_lines_check(&l, &err), MYTH_OK);
        assert_int_equal(read_on(&l, &n, &err), MYTH_OK);
        assert_int_equal(n, N_LINE);
        assert_int_equal(myth_lines_rewind(&l, &err), MYTH_OK);
        n = 0;
        assert_int_equal(read_on(&l, &n, &err), MYTH_OK);
        assert_int_equal(n, N_LINE);
        myth_lines_close(&l);
        rewind(term.notes);
        assert_true(fread(said, 1, sizeof(said) - 1, term.notes) > 0);
        assert_non_null(strstr(said, "has grown"));
    }
}

static void a_shorter_file_is_found(void **state)
{
    (void)state;
    myth_error err = {0};
    uint32_t n = 0;
    write_lines("cut", N_LINE);
    myth_lines l = open_it("cut");
    assert_int_equal(truncate(files_path("cut"), (off_t)LINE * (N_LINE - 1)), 0);
    expect_changed(read_on(&l, &n, &err), &err);
    assert_true(n < N_LINE);
    myth_lines_close(&l);
}

/* A line that is longer than any was, for which the buffer has no room. */
static void a_longer_line_is_found(void **state)
{
    (void)state;
    myth_error err = {0};
    uint32_t n = 0;
    write_lines("long", N_LINE);
    myth_lines l = open_it("long");
    for (off_t i = 4; i < 9; i++)
        write_at("long", i * LINE - 1, "d", 1);
    expect_changed(read_on(&l, &n, &err), &err);
    assert_int_equal(n, 3);
    myth_lines_close(&l);
}

/* Other times, another name or another file of the name are no change of the bytes. */
static void the_same_bytes_are_no_change(void **state)
{
    (void)state;
    myth_error err = {0};
    uint32_t n = 0;
    char moved[700];
    write_lines("same", N_LINE);
    myth_lines l = open_it("same");
    write_at("same", 0, "a", 1);
    assert_int_equal(myth_lines_check(&l, &err), MYTH_OK);
    snprintf(moved, sizeof(moved), "%s.old", files_path("same"));
    assert_int_equal(rename(files_path("same"), moved), 0);
    files_text("same", "another\n");
    assert_int_equal(read_on(&l, &n, &err), MYTH_OK);
    assert_int_equal(n, N_LINE);
    assert_int_equal(myth_lines_check(&l, &err), MYTH_OK);
    myth_lines_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_finds_another_byte),
        cmocka_unit_test(reading_finds_another_byte),
        cmocka_unit_test(a_change_that_was_taken_back_is_found),
        cmocka_unit_test(what_is_added_is_not_read),
        cmocka_unit_test(a_shorter_file_is_found),
        cmocka_unit_test(a_longer_line_is_found),
        cmocka_unit_test(the_same_bytes_are_no_change),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
