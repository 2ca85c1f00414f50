/* test_args.c - the parser of command lines (which source wins, the forms of a flag, ranges, sizes, suggestions for
 * unknown words), and the option tables of every command. */
#include "tests/support/check.h"

#include "frontend/cli/help.h"

typedef struct {
    bool flag;
    uint32_t count;
    uint64_t bytes;
    float temp;
    const char *name;
    int format;
    myth_opt_list list;
} sample;

static const myth_option table[] = {
    {"flag", "-f", MYTH_OPT_FLAG, NULL, offsetof(sample, flag), NULL, 0, 0, "a flag"},
    {"count", "-c, --how-many", MYTH_OPT_U32, "N", offsetof(sample, count), "7", 1, 100, "a number"},
    {"some-bytes", NULL, MYTH_OPT_SIZE, "SIZE", offsetof(sample, bytes), NULL, 0, 0, "a size"},
    {"temp", NULL, MYTH_OPT_F32, "T", offsetof(sample, temp), "0.5", 0, 2, "a float"},
    {"name", "-n", MYTH_OPT_TEXT, "TEXT", offsetof(sample, name), NULL, 0, 0, "a text"},
    {"format", NULL, MYTH_OPT_CHOICE, "text|json|jsonl", offsetof(sample, format), "text", 0, 0, "a choice"},
    {"put", NULL, MYTH_OPT_LIST, "WHERE", offsetof(sample, list), NULL, 0, 0, "a list"},
};
static const myth_option_group group = MYTH_GROUP("sample", sample, table);

typedef struct {
    sample s;
    myth_parsed p;
    myth_error err;
    char *argv[16];
} parsed;

static myth_status parse(parsed *r, const char *line)
{
    static char words[256];
    int argc = 0;
    memset(r, 0, sizeof(*r));
    snprintf(words, sizeof(words), "%s", line);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        r->argv[argc++] = w;
    myth_args_add(&r->p, &group, &r->s);
    return myth_args_parse(&r->p, argc, r->argv, &r->err);
}

static void flag_beats_environment_beats_default(void **state)
{
    (void)state;
    parsed r;
    assert_int_equal(parse(&r, ""), MYTH_OK);
    assert_int_equal(r.s.count, 7);
    assert_false(myth_args_is_given(&r.p, "count"));
    setenv("MYTHOS_COUNT", "8", 1);
    setenv("MYTHOS_SOME_BYTES", "2KiB", 1);
    setenv("MYTHOS_FLAG", "on", 1);
    assert_int_equal(parse(&r, ""), MYTH_OK);
    assert_int_equal(r.s.count, 8);
    assert_int_equal(r.s.bytes, 2048);
    assert_true(r.s.flag);
    assert_true(myth_args_is_given(&r.p, "count"));
    assert_int_equal(parse(&r, "-c 9 --no-flag"), MYTH_OK);
    assert_int_equal(r.s.count, 9);
    assert_false(r.s.flag);
    setenv("MYTHOS_COUNT", "many", 1);
    assert_int_equal(parse(&r, ""), MYTH_EARG);
    assert_non_null(strstr(r.err.msg, "MYTHOS_COUNT"));
    unsetenv("MYTHOS_COUNT");
    unsetenv("MYTHOS_SOME_BYTES");
    unsetenv("MYTHOS_FLAG");
}

static void every_form_of_a_flag(void **state)
{
    (void)state;
    parsed r;
    assert_int_equal(parse(&r, "a --count=3 -f b --name -x --format jsonl -- -c --flag"), MYTH_OK);
    assert_int_equal(r.s.count, 3);
    assert_true(r.s.flag);
    assert_string_equal(r.s.name, "-x");
    assert_int_equal(r.s.format, 2);
    assert_int_equal(r.p.n_arg, 4);
    assert_string_equal(r.argv[0], "a");
    assert_string_equal(r.argv[1], "b");
    assert_string_equal(r.argv[2], "-c");
    assert_string_equal(r.argv[3], "--flag");
    assert_int_equal(parse(&r, "--how-many 4 -"), MYTH_OK);
    assert_int_equal(r.s.count, 4);
    assert_string_equal(r.argv[0], "-");
    assert_int_equal(parse(&r, "--name=a=b"), MYTH_OK);
    assert_string_equal(r.s.name, "a=b");
    assert_int_equal(parse(&r, "--count 3 --count 5"), MYTH_OK);
    assert_int_equal(r.s.count, 5);
}

static void a_list_takes_every_value(void **state)
{
    (void)state;
    parsed r;
    char text[64];
    assert_int_equal(parse(&r, "--put a --put=b=c x --put a"), MYTH_OK);
    assert_int_equal(r.s.list.n, 3);
    assert_string_equal(r.s.list.item[0], "a");
    assert_string_equal(r.s.list.item[1], "b=c");
    myth_args_text(myth_args_find(&r.p, "put"), text, sizeof(text));
    assert_string_equal(text, "a b=c a");
    setenv("MYTHOS_PUT", "e", 1);
    assert_int_equal(parse(&r, ""), MYTH_OK);
    assert_int_equal(r.s.list.n, 1);
    assert_int_equal(parse(&r, "--put f --put g"), MYTH_OK); /* flags replace the environment's value */
    assert_int_equal(r.s.list.n, 2);
    assert_string_equal(r.s.list.item[0], "f");
    unsetenv("MYTHOS_PUT");
    assert_int_equal(parse(&r, "--put"), MYTH_EARG);
}

static void wrong_values_name_the_flag(void **state)
{
    (void)state;
    static const char *const line[] = {
        "--count 0",  "--count 101",     "--count -1",      "--count 1x",   "--count=",     "-c 4294967297", "--temp 3",
        "--temp nan", "--some-bytes 1Q", "--some-bytes -1", "--format xml", "--format tex", "--flag=maybe"};
    parsed r;
    for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
        if (parse(&r, line[i]) != MYTH_EARG)
            print_error("accepted: %s\n", line[i]);
        assert_int_equal(r.err.code, MYTH_EARG);
        assert_int_equal(strncmp(r.err.msg, line[i], strcspn(line[i], " =")), 0);
    }
    assert_int_equal(parse(&r, "--count"), MYTH_EARG);
    assert_non_null(strstr(r.err.msg, "the value is missing"));
}

/* Both ends of a range are allowed. A value that does not fit the field's type is refused and not cut to it. */
static void ends_of_ranges(void **state)
{
    (void)state;
    typedef struct {
        uint32_t any, whole;
    } numbers;
    static const myth_option two[] = {
        {"any", NULL, MYTH_OPT_U32, "N", offsetof(numbers, any), NULL, 0, 0, "any number"},
        {"whole", NULL, MYTH_OPT_U32, "N", offsetof(numbers, whole), NULL, 5, UINT32_MAX, "from 5 on"},
    };
    static const myth_option_group both = MYTH_GROUP("numbers", numbers, two);
    static const struct {
        const char *flag;
        myth_status st;
        uint32_t any, whole;
    } row[] = {
        {"--any=0", MYTH_OK, 0, 0},
        {"--any=4294967295", MYTH_OK, UINT32_MAX, 0},
        {"--any=4294967296", MYTH_EARG, 0, 0},
        {"--any=18446744073709551616", MYTH_EARG, 0, 0},
        {"--whole=4", MYTH_EARG, 0, 0},
        {"--whole=5", MYTH_OK, 0, 5},
        {"--whole=4294967295", MYTH_OK, 0, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        numbers v = {0};
        myth_parsed p = {0};
        myth_error err;
        char flag[64], *argv[] = {flag};
        snprintf(flag, sizeof(flag), "%s", row[i].flag);
        myth_args_add(&p, &both, &v);
        if (myth_args_parse(&p, 1, argv, &err) != row[i].st || v.any != row[i].any || v.whole != row[i].whole)
            fail_msg("%s: any %u, whole %u", row[i].flag, v.any, v.whole);
    }
    parsed r;
    assert_int_equal(parse(&r, "--count 1 --temp 0"), MYTH_OK);
    assert_true(r.s.count == 1 && r.s.temp == 0);
    assert_int_equal(parse(&r, "--count 100 --temp 2"), MYTH_OK);
    assert_true(r.s.count == 100 && r.s.temp == 2);
}

static void a_list_ends_where_it_is_full(void **state)
{
    (void)state;
    struct {
        myth_opt_list list;
        int behind;
    } v = {.behind = 77};
    static const myth_option one[] = {{"put", NULL, MYTH_OPT_LIST, "WHERE", 0, NULL, 0, 0, "a list"}};
    static const myth_option_group group_of_one = {"list", one, 1, 0};
    myth_parsed p = {0};
    myth_error err;
    char word[] = "--put=x", *argv[MYTH_OPT_LIST_MAX + 1];
    for (int i = 0; i <= MYTH_OPT_LIST_MAX; i++)
        argv[i] = word;
    myth_args_add(&p, &group_of_one, &v);
    assert_int_equal(myth_args_parse(&p, MYTH_OPT_LIST_MAX, argv, &err), MYTH_OK);
    assert_int_equal(v.list.n, MYTH_OPT_LIST_MAX);
    assert_int_equal(v.behind, 77);
    for (int i = 0; i <= MYTH_OPT_LIST_MAX; i++)
        argv[i] = word;
    v.list.n = 0;
    assert_int_equal(myth_args_parse(&p, MYTH_OPT_LIST_MAX + 1, argv, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "one value too many"));
    assert_int_equal(v.list.n, MYTH_OPT_LIST_MAX);
}

/* An inserted letter, a missing one, a wrong one, and two neighbours that are swapped are one error each. A word may
 * have one error, and one more for every three letters, to be taken for another. */
static void words_that_are_near(void **state)
{
    (void)state;
    static const char *const list[] = {"ab", "format"};
    static const struct {
        const char *word, *meant;
    } row[] = {
        {"ba", "ab"},         {"abc", "ab"},         {"a", "ab"},   {"xb", "ab"},     {"xy", NULL},
        {"fromat", "format"}, {"formatt", "format"}, {"fmt", NULL}, {"tamrof", NULL}, {"form", "format"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const char *near = myth_args_nearest(row[i].word, list, 2);
        if ((near != NULL) != (row[i].meant != NULL) || (near && strcmp(near, row[i].meant)))
            fail_msg("%s: taken for %s, meant %s", row[i].word, near ? near : "nothing",
                     row[i].meant ? row[i].meant : "nothing");
    }
    static const char *const swapped[] = {"bcad"}; /* two errors, a swap and a wrong letter; three would be too many */
    assert_string_equal(myth_args_nearest("cbax", swapped, 1), "bcad");
}

static void unknown_flags_get_the_nearest(void **state)
{
    (void)state;
    parsed r;
    assert_int_equal(parse(&r, "--cuont 3"), MYTH_EARG);
    assert_non_null(strstr(r.err.msg, "did you mean --count?"));
    assert_int_equal(parse(&r, "--form json"), MYTH_EARG);
    assert_non_null(strstr(r.err.msg, "did you mean --format?"));
    assert_int_equal(parse(&r, "--no-count"), MYTH_EARG);
    assert_int_equal(parse(&r, "--zzzzzzzz"), MYTH_EARG);
    assert_null(strstr(r.err.msg, "did you mean"));
}

static void sizes_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } ok[] = {
        {"0", 0},
        {"1048576", 1 << 20},
        {"512M", 512ull << 20},
        {"512m", 512ull << 20},
        {"2GiB", 2ull << 30},
        {"2GB", 2ull << 30},
        {"1.5g", 3ull << 29},
        {"1T", 1ull << 40},
        {"100b", 100},
        {"64KiB", 65536},
    };
    uint64_t v;
    for (size_t i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
        assert_true(myth_size_parse(&v, ok[i].text));
        assert_true(v == ok[i].bytes);
    }
    static const char *const bad[] = {"", "x", "-1", "1X", "1MiBs", "inf", "1e30", "9999999T", " 1", "0.5", "0.9b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(myth_size_parse(&v, bad[i]));
}

static void help_is_seen_anywhere_before_the_end(void **state)
{
    (void)state;
    parsed r;
    assert_int_equal(parse(&r, "--count nonsense --help"), MYTH_OK);
    assert_true(r.p.wants_help);
    assert_int_equal(parse(&r, "-- --help"), MYTH_OK);
    assert_false(r.p.wants_help);
}

static bool spells(const char *also, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = also; s && (s = strstr(s, word)); s++)
        if ((s == also || s[-1] == ' ') && (s[n] == '\0' || s[n] == ','))
            return true;
    return false;
}

static const myth_option *option_of(const myth_command *c, const char *name)
{
    for (size_t g = 0; g < c->n_group; g++)
        for (size_t k = 0; k < c->group[g].n_opt; k++)
            if (strcmp(c->group[g].opt[k].name, name) == 0)
                return &c->group[g].opt[k];
    return NULL;
}

/* A flag that means different things in two commands has a variable of its own for each, so that setting one does not
 * change the other command. */
static void one_variable_has_one_meaning(void **state)
{
    (void)state;
    char name[96];
    for (int i = 0; myth_commands[i]; i++)
        for (size_t g = 0; g < myth_commands[i]->n_group; g++)
            for (size_t k = 0; k < myth_commands[i]->group[g].n_opt; k++) {
                const myth_option *o = &myth_commands[i]->group[g].opt[k];
                for (int j = 0; j < i; j++) {
                    const myth_option *other = option_of(myth_commands[j], o->name);
                    if (other &&
                        (other->kind != o->kind ||
                         (o->kind == MYTH_OPT_CHOICE && strcmp(other->value, o->value) != 0)) &&
                        !myth_args_is_own(o->name))
                        fail_msg("--%s of %s and of %s", o->name, myth_commands[i]->name, myth_commands[j]->name);
                }
            }
    const myth_option *o = option_of(myth_commands[0], "update-baseline");
    assert_non_null(o);
    myth_args_env_name(o, "inspect-diff", name, sizeof(name));
    assert_string_equal(name, "MYTHOS_INSPECT_DIFF_UPDATE_BASELINE");
    o = option_of(myth_commands[0], "seed");
    assert_non_null(o);
    myth_args_env_name(o, "inspect-diff", name, sizeof(name));
    assert_string_equal(name, "MYTHOS_SEED");
}

/* No two options of a command share a spelling; every default is accepted; every value has a name. */
static void tables_of_all_commands(void **state)
{
    (void)state;
    for (int i = 0; myth_commands[i]; i++) {
        const myth_command *c = myth_commands[i];
        static unsigned char opts[4096], global[1024];
        myth_parsed p = {0};
        assert_true(c->opts_bytes <= 1024);
        for (size_t g = 0; g < c->n_group; g++)
            myth_args_add(&p, &c->group[g], opts);
        myth_args_add(&p, &myth_group_global, global);
        assert_non_null(c->help);
        assert_non_null(c->run);
        for (int a = 0; a < p.n_slot; a++) {
            const myth_option *o = p.slot[a].opt;
            assert_true(o->help && o->help[0]);
            assert_true((o->value != NULL) == (o->kind != MYTH_OPT_FLAG));
            for (int b = 0; b < p.n_slot; b++) {
                char word[64];
                snprintf(word, sizeof(word), "--%s", p.slot[b].opt->name);
                bool clash = spells(o->also, word) || (a != b && strcmp(o->name, p.slot[b].opt->name) == 0);
                if (!clash && a != b && o->also && p.slot[b].opt->also) {
                    char list[128];
                    snprintf(list, sizeof(list), "%s", p.slot[b].opt->also);
                    for (char *w = strtok(list, ", "); w && !clash; w = strtok(NULL, ", "))
                        clash = spells(o->also, w);
                    if (strcmp(c->name, "search") == 0 && strcmp(o->also, "-t") == 0)
                        clash = false; /* -t is ripgrep's --type here: the command's own flag is found first */
                }
                if (clash)
                    print_error("%s: --%s and --%s share a spelling\n", c->name, o->name, p.slot[b].opt->name);
                assert_false(clash);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_beats_environment_beats_default),
        cmocka_unit_test(every_form_of_a_flag),
        cmocka_unit_test(one_variable_has_one_meaning),
        cmocka_unit_test(a_list_takes_every_value),
        cmocka_unit_test(wrong_values_name_the_flag),
        cmocka_unit_test(unknown_flags_get_the_nearest),
        cmocka_unit_test(ends_of_ranges),
        cmocka_unit_test(a_list_ends_where_it_is_full),
        cmocka_unit_test(words_that_are_near),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(help_is_seen_anywhere_before_the_end),
        cmocka_unit_test(tables_of_all_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
