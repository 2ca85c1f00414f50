/* test_runlog_many.c - the record of a run over many files: which parts show a piece is what the blocks of the prompts
 * say, file by file. */
#include "runlog_case.h"

/* Lines first .. last of a file that the blocks of a part have. */
static json_int_t n_shown(const json_t *part, const char *path, json_int_t first, json_int_t last)
{
    json_int_t n = 0;
    const json_t *b;
    size_t i;
    json_array_foreach(json_object_get(part, "blocks"), i, b)
    {
        const json_t *lines = json_object_get(b, "lines");
        json_int_t from = json_integer_value(json_array_get(lines, 0)),
                   to = json_integer_value(json_array_get(lines, 1));
        from = from > first ? from : first;
        to = to < last ? to : last;
        if (!strcmp(text_of(b, "path"), path) && from <= to)
            n += to - from + 1;
    }
    return n;
}

static void pieces_stand_in_the_parts_that_show_them(void **state)
{
    (void)state;
    const json_t *p, *part;
    size_t i, k, n_split = 0;
    assert_int_equal(
        run_quietly("mkdir $D/many && cd $D/many && for f in a b c d e; do for i in $(seq 40); do printf 'int "
                    "%s%s(int a)\\n{\\n    return a + %s;\\n}\\n\\n' $f $i $i; done >$f.c; done && $M "
                    "inspect . " TINY LOG "--prompt-style compact --max-prompt-tokens 700 -n 1 --fail-level never"),
        3);
    json_t *j = json_of("$M log show " LOG "--json", 0);
    const json_t *files = json_object_get(j, "files"), *parts = json_object_get(json_object_get(j, "prompt"), "parts");
    assert_int_equal(json_array_size(files), 5);
    assert_true(json_array_size(parts) > 5);
    assert_true(json_array_size(json_object_get(j, "pieces")) >= 5);
    json_array_foreach(json_object_get(j, "pieces"), i, p)
    {
        const char *path =
            text_of(json_array_get(files, (size_t)json_integer_value(json_object_get(p, "file"))), "path");
        const json_t *lines = json_object_get(p, "lines"), *in = json_object_get(p, "parts");
        json_int_t n = 0;
        size_t n_in = 0;
        json_array_foreach(parts, k, part)
        {
            const json_int_t here = n_shown(part, path, json_integer_value(json_array_get(lines, 0)),
                                            json_integer_value(json_array_get(lines, 1)));
            if (here)
                assert_int_equal(json_integer_value(json_array_get(in, n_in++)), k);
            n += here;
        }
        assert_true(n_in > 0);
        assert_int_equal(json_array_size(in), n_in);
        assert_int_equal(json_integer_value(json_object_get(p, "shown_lines")), n);
        n_split += n_in > 1;
    }
    assert_true(n_split > 0);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_stand_in_the_parts_that_show_them),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
