/* test_code_lines.c - the lines of code that have a name beside its definitions and recorded uses. In every file of
 * tests/corpus/mentions a line with "@no" has the names in comments and strings alone; every other line that has one as
 * a word must be in the answer, once. What a mention is said to do is written behind it: @assigns, @part (of it),
 * @compares, @returns, @passes, or @word where nothing is certain; where nothing is written, nothing is asked. */
#include "tests/retrieval/index/index_tree.h"
#include "retrieval/names/code_mask.h"
#include "retrieval/retrieval.h"

#include <ctype.h>
#include <dirent.h>

static const char *const names[] = {"g_level", "MAX_DEPTH", "limit", "on_done", "work"};
enum { FILES = 32, LINES = 128, N_NAME = sizeof(names) / sizeof(names[0]) };

static struct {
    char name[64];
    bytes text;
    const char *line[LINES];
    uint32_t n_line;
} file[FILES];
static uint32_t n_file;
static myth_mem *mem;
static myth_index *index_;

static void read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "tests/corpus/mentions/%.60s", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(n_file < FILES);
    snprintf(file[n_file].name, sizeof(file[n_file].name), "%.60s", name);
    for (int c; (c = fgetc(f)) != EOF;)
        bytes_put(&file[n_file].text, &(char){(char)c}, 1);
    fclose(f);
    snprintf(path, sizeof(path), "m/src/%.60s", name);
    files_put_deep(path, (char *)file[n_file].text.data, file[n_file].text.len);
    bytes_put(&file[n_file].text, "", 1);
    for (char *p = (char *)file[n_file].text.data, *end; *p; p = end + 1) {
        end = strchr(p, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_true(file[n_file].n_line + 1 < LINES);
        file[n_file].line[++file[n_file].n_line] = p;
    }
    n_file++;
}

static void update(void)
{
    myth_index_stats stats;
    myth_error err = {0};
    if (myth_index_update(index_, &(myth_index_update_opts){0}, &stats, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static int begin(void **state)
{
    (void)state;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    DIR *dir = opendir("tests/corpus/mentions");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            read_file(e->d_name);
    closedir(dir);
    assert_true(n_file >= 14);
    index_ = open_index("m", "m.db", mem, false);
    update();
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < n_file; i++)
        bytes_free(&file[i].text);
    myth_index_close(index_);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static void find(myth_usage *u, const char *name)
{
    myth_error err = {0};
    if (myth_usage_find_all(u, index_, name, NULL, &err) != MYTH_OK)
        fail_msg("%s: %s", name, err.msg);
    assert_true(u->has_mentions);
}

/* ---- every line ---- */

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool has_word(const char *line, const char *name)
{
    for (const char *p = line; (p = strstr(p, name)); p++)
        if ((p == line || !is_of_name(p[-1])) && !is_of_name(p[strlen(name)]))
            return true;
    return false;
}

static uint8_t seen[FILES][LINES];
enum { IS_USE = 1, IS_MENTION = 2 };

static void see(const char *path, uint32_t line, uint8_t how)
{
    for (uint32_t i = 0; i < n_file; i++)
        if (strcmp(path + 4, file[i].name) == 0) {
            assert_true(line >= 1 && line <= file[i].n_line);
            if (how == IS_MENTION && seen[i][line])
                fail_msg("%s:%u is there twice", path, line);
            seen[i][line] |= how;
            return;
        }
    fail_msg("%s is no file", path);
}

static void see_places(const myth_usage_places *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->place[i].strength == MYTH_WHY_NAME && p->place[i].n_lines == 0 && !p->place[i].name[0])
            continue; /* a test by the name of its file */
        see(p->place[i].path, p->place[i].line, IS_USE);
        for (uint32_t k = 0; k < p->place[i].n_lines; k++)
            see(p->place[i].path, p->place[i].lines[k], IS_USE);
        assert_true(p->place[i].n_lines == 0 || p->place[i].n_lines > 1);
    }
}

static void see_all(const myth_usage *u)
{
    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < u->n_definition; i++) {
        see(u->definition[i].path, u->definition[i].line, IS_USE);
        see_places(&u->definition[i].callers);
        see_places(&u->definition[i].tests);
        see_places(&u->definition[i].exports);
    }
    for (uint32_t i = 0; i < u->mentions.n; i++)
        see(u->mentions.place[i].path, u->mentions.place[i].line, IS_MENTION);
    assert_int_equal(u->mentions.n_more, 0);
    assert_int_equal(u->n_unlooked, 0);
}

static void every_line_of_code_is_there_and_no_other(void **state)
{
    (void)state;
    for (int k = 0; k < N_NAME; k++) {
        myth_usage u;
        uint32_t n_line = 0;
        find(&u, names[k]);
        assert_string_equal(u.word, names[k]);
        see_all(&u);
        for (uint32_t i = 0; i < n_file; i++)
            for (uint32_t line = 1; line <= file[i].n_line; line++) {
                const char *text = file[i].line[line];
                const bool is_wanted = has_word(text, names[k]) && !strstr(text, "@no");
                if (is_wanted && !seen[i][line])
                    print_error("%s: missing %s:%u: %s\n", names[k], file[i].name, line, text);
                if (!is_wanted && seen[i][line])
                    print_error("%s: not code %s:%u: %s\n", names[k], file[i].name, line, text);
                n_line += is_wanted != (seen[i][line] != 0);
            }
        assert_int_equal(n_line, 0);
        myth_usage_free(&u);
    }
}

static void what_a_line_does_is_said_where_it_is_certain(void **state)
{
    static const struct {
        const char *mark, *why;
    } said[] = {
        {"@assigns", "assigns it"}, {"@part", "assigns a part of it"}, {"@compares", "compares it"},
        {"@returns", "returns it"}, {"@passes", "passes it"},          {"@word", "the same word in code"},
    };
    uint32_t n_said = 0, n_wrong = 0;
    (void)state;
    for (int k = 0; k < N_NAME; k++) {
        myth_usage u;
        find(&u, names[k]);
        for (uint32_t i = 0; i < u.mentions.n; i++) {
            const myth_usage_place *p = &u.mentions.place[i];
            const char *text = NULL, *want = NULL;
            for (uint32_t f = 0; f < n_file; f++)
                text = strcmp(p->path + 4, file[f].name) == 0 ? file[f].line[p->line] : text;
            assert_non_null(text);
            for (size_t s = 0; s < sizeof(said) / sizeof(said[0]); s++)
                want = strstr(text, said[s].mark) ? said[s].why : want;
            const bool is_word = strcmp(p->why, "the same word in code") == 0;
            /* one line may have several of the names; the mark is about one of them */
            if (want && strcmp(p->why, want) != 0 && !is_word) {
                print_error("%s %s:%u: %s, wanted %s: %s\n", names[k], p->path, p->line, p->why, want, text);
                n_wrong++;
            }
            n_said += want && strcmp(p->why, want) == 0 && !is_word;
        }
        myth_usage_free(&u);
    }
    assert_int_equal(n_wrong, 0);
    print_message("%u lines say what they do\n", n_said);
    assert_true(n_said >= 50);
}

/* Texts of one mark again and again, and any marks: only bytes become blanks, ends of lines stay, and it ends. */
static void any_text_is_masked(void **state)
{
    static const char *const mark[] = {
        "\"",   "'",    "`",     "{",  "}",  "(",        ")",      "${",     "#{",  "\\",   "\n",  "f\"{",  "R\"x(",
        ")x\"", "r#\"", "$@\"{", "/*", "*/", "//",       "/[",     "\"\"\"", "f'{", "<!--", "-->", "word",  " ",
        "\r\n", "--[[", "]]",    "{-", "-}", "=begin\n", "\n=end", "\\(",    "#",   "\"$(", "`${", "\"\\\n"};
    enum { N_MARK = sizeof(mark) / sizeof(mark[0]), TEXT = 4000, RANDOM = 300 };
    uint64_t rng = 7;
    const myth_language *l;
    (void)state;
    for (uint32_t i = 0; i < N_MARK + RANDOM; i++) {
        bytes text = {0};
        while (text.len < (i < N_MARK ? TEXT : 1 + check_below(&rng, TEXT)))
            bytes_text(&text, mark[i < N_MARK ? i : check_below(&rng, N_MARK)]);
        for (uint32_t k = 0; (l = myth_language_at(k)); k++) {
            unsigned char *got = malloc(text.len); /* of this size: nothing beyond it is read */
            assert_non_null(got);
            memcpy(got, text.data, text.len);
            assert_true(myth_code_mask(got, text.len, mem, l));
            for (size_t at = 0; at < text.len; at++)
                if (got[at] != text.data[at] && (got[at] != ' ' || text.data[at] == '\n' || text.data[at] == '\r'))
                    fail_msg("%s: byte %zu of text %u became %d", l->name, at, i, got[at]);
            free(got);
        }
        bytes_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_code_is_there_and_no_other),
        cmocka_unit_test(what_a_line_does_is_said_where_it_is_certain),
        cmocka_unit_test(any_text_is_masked),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
