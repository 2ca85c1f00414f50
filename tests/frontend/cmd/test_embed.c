/* test_embed.c - the embed command as its users meet it: one text, many lines or a list of files; prompts, texts that
 * are too long, refusals, an interrupt, memory. */
#include "tests/frontend/cli/cli_run.h"

#include <math.h>

#define ENCODER "embed -m random:embeddinggemma-tiny:f32 "

static cli_result r;

/* Values of the "embedding" of one JSON line. */
static size_t read_vector(double *v, size_t cap, const char *line)
{
    json_error_t e;
    json_t *j = json_loads(line, JSON_DISABLE_EOF_CHECK, &e);
    assert_non_null(j);
    const json_t *a = json_object_get(j, "embedding");
    size_t n = json_array_size(a);
    assert_true(n <= cap);
    for (size_t i = 0; i < n; i++)
        v[i] = json_number_value(json_array_get(a, i));
    json_decref(j);
    return n;
}

static double length_of(const double *v, size_t n)
{
    double ss = 0.0;
    for (size_t i = 0; i < n; i++)
        ss += v[i] * v[i];
    return sqrt(ss);
}

static void a_text_and_a_line_give_the_same_vector(void **state)
{
    (void)state;
    double one[64], line[64], other[64], half[32];
    cli_shell(&r, "printf 'int x = 1;' | \"$M\" " ENCODER "--json");
    assert_int_equal(r.code, 0);
    assert_int_equal(read_vector(one, 64, r.out), 64);
    assert_true(fabs(length_of(one, 64) - 1.0) < 1e-5);
    cli_shell(&r, "printf '\"other\"\\n\\n{\"id\": \"a\\\\nb\", \"text\":\"int x = 1;\"}\\n{\"text\":\"\",\"id\":7}' | "
                  "\"$M\" " ENCODER "--jsonl");
    assert_int_equal(r.code, 0);
    assert_int_equal(read_vector(other, 64, r.out), 64);
    const char *second = strchr(r.out, '\n') + 1, *third = strchr(second, '\n') + 1;
    read_vector(line, 64, second);
    assert_memory_equal(one, line, sizeof(one));
    assert_memory_not_equal(one, other, sizeof(one));
    assert_ptr_equal(strstr(second, "{\"id\":\"a\\nb\","), second);
    assert_ptr_equal(strstr(third, "{\"id\":7,"), third);
    cli_shell(&r, "printf 'int x = 1;' | \"$M\" " ENCODER "--json --dim 32");
    assert_int_equal(read_vector(half, 32, r.out), 32);
    double scale = length_of(one, 32);
    for (int i = 0; i < 32; i++)
        assert_true(fabs(half[i] - one[i] / scale) < 1e-6);
}

static void a_prompt_stands_before_the_text(void **state)
{
    (void)state;
    double with[64], by_hand[64];
    cli_shell(&r, "printf 'free list' | \"$M\" " ENCODER "--json --prompt code");
    read_vector(with, 64, r.out);
    cli_shell(&r, "printf 'task: code retrieval | query: free list' | \"$M\" " ENCODER "--json");
    read_vector(by_hand, 64, r.out);
    assert_memory_equal(with, by_hand, sizeof(with));
    cli_expect(&r, ENCODER "--prompt poem", 2);
    assert_non_null(strstr(r.err, "document"));
}

static void what_is_too_long_is_cut_and_marked(void **state)
{
    (void)state;
    double cut[64], by_hand[64];
    cli_shell(&r, "head -c 400 /dev/zero | tr '\\0' 'a' | \"$M\" " ENCODER
                  "--json"); /* each byte is a token; the model takes 256 */
    assert_int_equal(r.code, 0);
    read_vector(cut, 64, r.out);
    assert_non_null(strstr(r.out, "\"tokens\":256,\"truncated\":true"));
    assert_non_null(strstr(r.err, "cut"));
    cli_shell(&r, "head -c 254 /dev/zero | tr '\\0' 'a' | \"$M\" " ENCODER "--json");
    read_vector(by_hand, 64, r.out);
    assert_non_null(strstr(r.out, "\"truncated\":false"));
    assert_memory_equal(cut, by_hand, sizeof(cut));
}

static void refusals_name_the_cause(void **state)
{
    (void)state;
    cli_shell(&r, "printf '{\"text\": 3}\\n' | \"$M\" " ENCODER "--jsonl");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "line 1"));
    cli_shell(&r, "printf '\"a\"\\n[1]\\n' | \"$M\" " ENCODER "--jsonl");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "line 2"));
    cli_expect(&r, ENCODER "--json --jsonl", 2);
    cli_expect(&r, ENCODER "--dim 65", 2);
    cli_expect(&r, "embed " TINY, 65);
    assert_non_null(strstr(r.err, "EmbeddingGemma"));
    cli_expect(&r, "generate -m random:embeddinggemma-tiny:f32 -p a -n 2", 65);
    assert_non_null(strstr(r.err, "embeddings"));
}

/* A run that waits for a line of its input ends at once with SIGTERM and removes the output that it had begun. */
static void sigterm_ends_a_run_that_waits_for_a_line(void **state)
{
    (void)state;
    cli_shell(&r,
              "mkfifo \"$D/in\"; sleep 60 >\"$D/in\" & S=$!; \"$M\" " ENCODER
              "--jsonl \"$D/in\" -o \"$D/t.jsonl\" & P=$!; i=0; "
              "until ls \"$D\"/t.jsonl.journal >/dev/null 2>&1 || [ $i -ge 200 ]; do sleep 0.05; i=$((i + 1)); done; "
              "kill -TERM $P; wait $P; echo $?; kill $S; ls \"$D\"; rm -f \"$D/in\"");
    assert_string_equal(r.out, "3\nerr\nin\nout\n");
}

/* With more lines than one group has, from a file or a pipe, the order stays, and each vector is the one that its text
 * has alone. */
static void any_number_of_lines_keeps_its_order(void **state)
{
    (void)state;
    double v[64], alone[64];
    cli_shell(
        &r,
        "for i in $(seq 150); do printf '{\"id\":%d,\"text\":\"text %d\"}\\n' $i $((i % 7)); done >\"$D/in.jsonl\"; "
        "\"$M\" " ENCODER "--jsonl \"$D/in.jsonl\" -o \"$D/a.jsonl\" && cat \"$D/in.jsonl\" | \"$M\" " ENCODER
        "--jsonl >\"$D/b.jsonl\" && "
        "cmp \"$D/a.jsonl\" \"$D/b.jsonl\" && wc -l <\"$D/a.jsonl\" && sed -n 75p \"$D/a.jsonl\" && ls \"$D\"");
    assert_int_equal(r.code, 0);
    assert_int_equal(strtol(r.out, NULL, 10), 150);
    assert_null(strstr(r.out, ".tmp"));
    const char *line = strchr(r.out, '\n') + 1;
    assert_ptr_equal(strstr(line, "{\"id\":75,"), line);
    read_vector(v, 64, line);
    cli_shell(&r, "printf 'text 5' | \"$M\" " ENCODER "--json");
    read_vector(alone, 64, r.out);
    assert_memory_equal(v, alone, sizeof(v));
}

static void files_of_a_list_are_texts(void **state)
{
    (void)state;
    double v[64], alone[64];
    cli_shell(&r, "printf 'int x = 1;' >\"$D/a b.c\"; printf 'other' >\"$D/c.c\"; printf '%s\\n\\n%s' \"$D/a b.c\" "
                  "\"$D/c.c\" >\"$D/list\"; "
                  "\"$M\" " ENCODER "--files \"$D/list\"");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "/a b.c\",\"embedding\""));
    assert_non_null(strstr(strchr(r.out, '\n'), "/c.c\",\"embedding\""));
    read_vector(v, 64, r.out);
    cli_shell(&r, "printf 'int x = 1;' | \"$M\" " ENCODER "--json");
    read_vector(alone, 64, r.out);
    assert_memory_equal(v, alone, sizeof(v));
    cli_shell(&r, "printf '%s\\n/no/such/file' \"$D/c.c\" >\"$D/list\"; \"$M\" " ENCODER "--files \"$D/list\"");
    assert_int_equal(r.code, 66);
    assert_non_null(strstr(r.err, "line 2: /no/such/file"));
}

/* The file has a head of 128 bytes and then [texts, dim] float32. */
static void npy_holds_a_row_for_each_text(void **state)
{
    (void)state;
    char path[256], head[129] = "";
    double v[64];
    float row[64];
    cli_shell(&r, "for i in $(seq 70); do printf '\"text %d\"\\n' $i; done | \"$M\" " ENCODER
                  "--jsonl -o \"$D/v.npy\" --format npy --dim 32");
    assert_int_equal(r.code, 0);
    snprintf(path, sizeof(path), "%s/v.npy", cli_dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(head, 1, 128, f), 128);
    assert_memory_equal(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_non_null(strstr(head + 10, "'shape': (70, 32)"));
    assert_int_equal(head[127], '\n');
    assert_int_equal(fseek(f, 128 + 41 * 32 * 4, SEEK_SET), 0);
    assert_int_equal(fread(row, 4, 32, f), 32);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal(ftell(f), 128 + 70 * 32 * 4);
    fclose(f);
    cli_shell(&r, "printf 'text 42' | \"$M\" " ENCODER "--json --dim 32");
    assert_int_equal(read_vector(v, 64, r.out), 32);
    for (int i = 0; i < 32; i++)
        assert_true((float)v[i] == row[i]);
    cli_expect(&r, ENCODER "--format npy --jsonl", 2);
}

/* A failure after the first group of lines leaves no new file, and an old one stays as it was. */
static void a_failure_leaves_no_file(void **state)
{
    (void)state;
    for (int npy = 0; npy < 2; npy++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "{ for i in $(seq 70); do printf '\"text\"\\n'; done; echo '[1]'; } >\"$D/bad.jsonl\"; echo old "
                 ">\"$D/keep\"; "
                 "\"$M\" " ENCODER "--jsonl \"$D/bad.jsonl\" -o \"$D/keep\" --format %s",
                 npy ? "npy" : "jsonl");
        cli_shell(&r, line);
        assert_int_equal(r.code, 65);
        assert_non_null(strstr(r.err, "line 71"));
        cli_shell(&r, "cat \"$D/keep\"; ls \"$D\" | grep -c tmp; rm \"$D/keep.journal\"");
        assert_string_equal(r.out, "old\n0\n");
    }
    cli_shell(&r, "head -c 5000 /dev/zero | tr '\\0' 'a' | sed 's/.*/\"&\"/' | \"$M\" " ENCODER
                  "--jsonl --line-bytes 4096");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "line 1: longer than --line-bytes"));
}

/* Killed at any moment, the same command goes on, and the file is the one of a run that nobody killed. Other flags are
 * refused by name. */
static void a_killed_run_goes_on(void **state)
{
    (void)state;
    char line[2048];
    cli_shell(&r, "for i in $(seq 4000); do printf '{\"id\":%d,\"text\":\"text %d of many\"}\\n' $i $i; done "
                  ">\"$D/k.jsonl\"");
    for (int npy = 0; npy < 2; npy++) {
        snprintf(
            line, sizeof(line),
            "E='" ENCODER "--jsonl'; F='--format %s'; \"$M\" $E \"$D/k.jsonl\" -o \"$D/whole\" $F; "
            "begin() { \"$M\" $E \"$D/k.jsonl\" -o \"$D/part\" $F 2>>\"$D/log\" & P=$!; i=0; "
            "until [ -e \"$D/part.journal\" ] || [ $i -ge 500 ]; do sleep 0.01; i=$((i + 1)); done; }; "
            "end() { kill -9 $P 2>/dev/null; wait $P 2>/dev/null; }; begin; sleep 0.03; end; "
            "\"$M\" $E \"$D/k.jsonl\" -o \"$D/part\" $F --prompt query; echo $?; n=0; "
            "while [ $n -lt %d ] && [ ! -e \"$D/part\" ]; do n=$((n + 1)); begin; sleep 0.0$((n %% 7)); end; done; "
            "[ -e \"$D/part\" ] || \"$M\" $E \"$D/k.jsonl\" -o \"$D/part\" $F; "
            "cmp \"$D/whole\" \"$D/part\" && ls \"$D\" | grep -c part && rm \"$D/part\" \"$D/whole\"",
            npy ? "npy" : "jsonl", check_is_full() ? 100 : 4);
        cli_shell(&r, line);
        if (r.code)
            fail_msg("%s%s", r.out, r.err);
        assert_string_equal(r.out, "2\n1\n");
        assert_non_null(strstr(r.err, "another --prompt (none, now query)"));
    }
}

/* A hundred times as many lines take the same memory. */
static void memory_does_not_grow_with_the_texts(void **state)
{
    (void)state;
    json_int_t peak[2];
    for (int i = 0; i < 2; i++) {
        char line[512], path[256];
        json_error_t e;
        snprintf(line, sizeof(line),
                 "for i in $(seq %d); do printf '\"text %%d\"\\n' $i; done | \"$M\" " ENCODER
                 "--jsonl --mem-report \"$D/m.json\" >/dev/null",
                 i ? 500 : 5);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        snprintf(path, sizeof(path), "%s/m.json", cli_dir);
        json_t *j = json_load_file(path, 0, &e);
        assert_non_null(j);
        peak[i] = json_integer_value(json_object_get(j, "peak_bytes"));
        json_decref(j);
    }
    assert_int_equal(peak[0], peak[1]);
    assert_true(peak[0] > 0);
}

static void the_plan_is_the_ledger(void **state)
{
    (void)state;
    cli_shell(&r, "printf '\"a\"\\n\"bcd\"\\n' | \"$M\" " ENCODER "--jsonl --mem-report \"$D/mem.json\"");
    assert_int_equal(r.code, 0);
    cli_expect_planned("embed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_and_a_line_give_the_same_vector),
        cmocka_unit_test(a_prompt_stands_before_the_text),
        cmocka_unit_test(what_is_too_long_is_cut_and_marked),
        cmocka_unit_test(refusals_name_the_cause),
        cmocka_unit_test(sigterm_ends_a_run_that_waits_for_a_line),
        cmocka_unit_test(any_number_of_lines_keeps_its_order),
        cmocka_unit_test(files_of_a_list_are_texts),
        cmocka_unit_test(npy_holds_a_row_for_each_text),
        cmocka_unit_test(a_failure_leaves_no_file),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(memory_does_not_grow_with_the_texts),
        cmocka_unit_test(the_plan_is_the_ledger),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
