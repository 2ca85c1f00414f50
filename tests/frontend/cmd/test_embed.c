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
    assert_non_null(strstr(r.err, "1 text was cut to 256 tokens, the most that the model takes; the longest has 402"));
    cli_shell(&r, "head -c 254 /dev/zero | tr '\\0' 'a' | \"$M\" " ENCODER "--json");
    read_vector(by_hand, 64, r.out);
    assert_non_null(strstr(r.out, "\"truncated\":false"));
    assert_memory_equal(cut, by_hand, sizeof(cut));
}

/* A note counts the texts that were cut, and says by what and what keeps them whole. */
static void a_cut_names_its_flag(void **state)
{
    static const struct {
        const char *flags, *says;
    } row[] = {
        {"-ub 32", "2 texts were cut to 32 tokens, the rows of a step (-ub); give -ub 102; the longest has 102"},
        {"-ub 32 -c 64", "cut to 32 tokens, the rows of a step (-ub); give -ub 102 and a -c as large;"},
        {"-c 64", "2 texts were cut to 64 tokens (-c); give -c 102; the longest has 102"},
    };
    (void)state;
    cli_shell(&r,
              "a=$(head -c 100 /dev/zero | tr '\\0' 'a'); printf '\"%s\"\\n\"b\"\\n\"%s\"\\n' $a $a >$D/long.jsonl");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[256];
        snprintf(line, sizeof(line), ENCODER "--jsonl $D/long.jsonl %s", row[i].flags);
        cli_expect(&r, line, 0);
        if (!strstr(r.err, row[i].says))
            fail_msg("%s: %s", row[i].flags, r.err);
    }
    cli_expect(&r, ENCODER "--jsonl $D/long.jsonl -ub 102", 0);
    assert_null(strstr(r.err, "cut"));
    cli_shell(&r, "rm $D/long.jsonl");
}

/* What a refusal proposes for one text embeds all of it. */
static void a_refusal_proposes_no_cut(void **state)
{
    (void)state;
    double whole[64], small[64];
    char list[1024], line[1200];
    cli_shell(&r, "head -c 200 /dev/zero | tr '\\0' 'a' >$D/one; $M " ENCODER "--json $D/one");
    assert_int_equal(r.code, 0);
    const size_t n = read_vector(whole, 64, r.out);
    cli_expect(&r, ENCODER "--json $D/one --mem-limit 1700K", 71);
    const char *fits = strstr(r.err, "fits with:");
    if (!fits)
        fail_msg("%s", r.err);
    snprintf(list, sizeof(list), "%.*s", (int)strcspn(fits + 10, "\n;"), fits + 10);
    for (char *rest = list, *change; (change = strsep(&rest, ","));) {
        snprintf(line, sizeof(line), ENCODER "--json $D/one %s %s", strstr(change, "-limit") ? "" : "--mem-limit 1700K",
                 change);
        cli_expect(&r, line, 0);
        if (!strstr(r.out, "\"truncated\":false"))
            fail_msg("%s: %s", line, r.err);
        assert_int_equal(read_vector(small, 64, r.out), n);
        if (!strstr(change, "-ctk"))
            assert_memory_equal(whole, small, n * sizeof(*whole));
    }
    cli_shell(&r, "rm $D/one");
}

/* pandas writes null where there is no id. */
static void a_null_id_is_none(void **state)
{
    (void)state;
    cli_shell(
        &r, "printf '{\"text\":\"a\",\"id\":null}\\n{\"id\":null,\"text\":\"a\"}\\n{\"text\":\"a\"}\\n' | $M " ENCODER
            "--jsonl - >$D/ids; head -n 1 $D/ids | cmp - $D/ids 2>&1 | grep -c EOF; sort -u $D/ids | wc -l; rm $D/ids");
    assert_string_equal(r.out, "1\n1\n");
    assert_null(strstr(r.err, "no text"));
}

static void refusals_name_the_cause(void **state)
{
    (void)state;
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

/* Without --format the name of the file says the form; an array of safetensors has the rows of the .npy. */
static void the_name_says_the_form(void **state)
{
    (void)state;
    cli_shell(&r,
              "for i in $(seq 70); do printf '\"text %d\"\\n' $i; done >\"$D/n.jsonl\"; echo 3 >>\"$D/n.jsonl\"; "
              "for f in n.npy n.safetensors n.txt; do \"$M\" " ENCODER
              "--jsonl \"$D/n.jsonl\" --dim 32 -o \"$D/$f\"; done; "
              "\"$M\" " ENCODER "--jsonl \"$D/n.jsonl\" --dim 32 -o \"$D/as.npy\" --format jsonl; "
              "cmp \"$D/as.npy\" \"$D/n.txt\" && head -c 12 \"$D/n.txt\" && head -c 6 \"$D/n.npy\" | tail -c 5 && "
              "tail -c +129 \"$D/n.npy\" >\"$D/values\" && tail -c 9088 \"$D/n.safetensors\" | cmp - \"$D/values\" && "
              "tail -c +9 \"$D/n.safetensors\" | head -c 90 && wc -c <\"$D/values\"; rm \"$D\"/n.* \"$D\"/as.npy "
              "\"$D\"/values");
    assert_int_equal(r.code, 0);
    static const char want[] =
        "{\"embedding\"NUMPY{\"__metadata__\":{},\"embeddings\":{\"dtype\":\"F32\",\"shape\":[71,32],"
        "\"data_offsets\":[0,9088]}}";
    if (strncmp(r.out, want, sizeof(want) - 1) != 0)
        fail_msg("%s", r.out);
}

/* Lines with every kind of fault, the last one behind more lines than a group has; without them, in `good`. */
static void write_faults(void)
{
    cli_shell(&r,
              "{ printf '\"a\"\\n{\"text\":3,\"id\":\"x\"}\\nnot json\\n\\n\"\\377\"\\n{\"id\":5}\\n[1]\\n'; "
              "printf '{\"text\":\"b\",\"id\":\"%s\"}\\n' $(head -c 1100 /dev/zero | tr '\\0' i); "
              "for i in $(seq 70); do printf '{\"text\":\"text %d\",\"id\":%d}\\n' $i $i; done; echo '{\"text\":'; } "
              ">\"$D/bad.jsonl\"; sed -n '1p;9,78p' \"$D/bad.jsonl\" >\"$D/good.jsonl\"");
    assert_int_equal(r.code, 0);
}

/* The tokens of a dry run are those of the run, the bytes of an array its file's; nothing is written, and seconds are
 * known once the model ran. */
static void a_dry_run_counts_what_a_run_has(void **state)
{
    (void)state;
    double sum = 0.0;
    write_faults();
    cli_shell(&r, "{ head -c 400 /dev/zero | tr '\\0' 'a' | sed 's/.*/\"&\"/'; echo; } >>\"$D/bad.jsonl\"");
    json_t *j = cli_json(&r, ENCODER "--jsonl $D/bad.jsonl -o $D/dry.npy --prompt query --dry-run --json");
    cli_shell(&r, "ls $D | grep dry");
    assert_string_equal(r.out, "");
    assert_int_equal((int)cli_number(j, "texts"), 79);
    assert_int_equal((int)cli_number(j, "faults"), 7);
    assert_int_equal((int)cli_number(j, "truncated"), 1);
    assert_int_equal((int)cli_number(j, "dim"), 64);
    assert_int_equal((int)cli_number(j, "output_bytes"), 128 + 79 * 64 * 4);
    cli_expect(&r, ENCODER "--jsonl $D/bad.jsonl -o $D/dry.jsonl --prompt query --json", 3);
    json_t *done = json_loads(r.out, 0, NULL);
    assert_non_null(done);
    assert_int_equal((int)cli_number(done, "rows"), 79);
    assert_int_equal((int)cli_number(done, "run_rows"), 79);
    assert_int_equal((int)cli_number(done, "faults"), 7);
    assert_int_equal((int)cli_number(done, "truncated"), 1);
    json_decref(done);
    cli_shell(&r, "sed -n 's/.*\"tokens\":\\([0-9]*\\).*/\\1/p' $D/dry.jsonl");
    for (char *at = r.out; *at; at = strchr(at, '\n') + 1)
        sum += strtod(at, NULL);
    assert_true(sum > 0.0 && sum == cli_number(j, "tokens"));
    json_decref(j);
    cli_expect(&r, ENCODER "--jsonl $D/bad.jsonl --dry-run", 0);
    assert_non_null(strstr(r.out, "texts                79\nat fault             7\n"));
    assert_non_null(strstr(r.out, "\nexpected         "));
    cli_shell(&r, "rm $D/dry.jsonl");
}

/* A line that is no text is a row with its error, and the others are as without it. */
static void faults_are_rows(void **state)
{
    (void)state;
    static const char want[] = "{\"id\":\"x\",\"error\":\"line 2: \\\"text\\\": expected one string\"}\n"
                               "{\"error\":\"line 3: JSON: offset 1: expected true, false or null, got 'o'\"}\n"
                               "{\"error\":\"line 5: JSON: offset 1: expected UTF-8, got byte 0xff\"}\n"
                               "{\"id\":5,\"error\":\"line 6: no \\\"text\\\"\"}\n"
                               "{\"error\":\"line 7: expected a JSON string, or an object with \\\"text\\\"\"}\n"
                               "{\"error\":\"line 8: an id of 1102 bytes, at most 1024\"}\n"
                               "{\"error\":\"line 79: JSON: offset 8: expected a value, got the end of the text\"}\n";
    write_faults();
    cli_shell(&r, "\"$M\" " ENCODER "--jsonl \"$D/bad.jsonl\" -o \"$D/o\"");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "7 lines are no text: \"error\" in its row says why"));
    cli_shell(&r,
              "\"$M\" " ENCODER "--jsonl <\"$D/bad.jsonl\" | cmp - \"$D/o\" && ls \"$D\" | grep -c journal; "
              "\"$M\" " ENCODER "--jsonl <\"$D/good.jsonl\" >\"$D/g\"; grep -v '\"error\"' \"$D/o\" | cmp - \"$D/g\"");
    assert_string_equal(r.out, "0\n");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "grep '\"error\":' \"$D/o\"; wc -l <\"$D/o\"; rm \"$D/o\"");
    if (strncmp(r.out, want, sizeof(want) - 1) != 0 || strcmp(r.out + sizeof(want) - 1, "78\n") != 0)
        fail_msg("%s", r.out);
}

/* An .npy has no place for words: row i stays that of text i, and is NaN where there is none. */
static void faults_of_an_array_are_named(void **state)
{
    (void)state;
    float v[78 * 2], w[71 * 2];
    char path[256];
    write_faults();
    cli_shell(&r, "\"$M\" " ENCODER "--jsonl \"$D/bad.jsonl\" --dim 2 -o \"$D/o\" --format npy");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "line 2: \"text\": expected one string; its row, 1, is NaN\n"));
    assert_non_null(strstr(r.err, "line 8: an id of 1102 bytes, at most 1024; its row, 6, is NaN\n"));
    assert_non_null(strstr(r.err, "the text; its row, 77, is NaN\n"));
    cli_shell(&r, "\"$M\" " ENCODER "--jsonl \"$D/good.jsonl\" --dim 2 -o \"$D/g\" --format npy");
    assert_int_equal(r.code, 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", cli_dir, i ? "g" : "o");
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        assert_int_equal(fseek(f, 128, SEEK_SET), 0);
        assert_int_equal(fread(i ? w : v, 8, i ? 71 : 78, f), i ? 71 : 78);
        assert_int_equal(fgetc(f), EOF);
        fclose(f);
    }
    for (int i = 1; i < 7; i++)
        assert_true(isnan(v[2 * i]) && isnan(v[2 * i + 1]));
    assert_true(isnan(v[2 * 77]));
    assert_memory_equal(v, w, 8);
    assert_memory_equal(v + 14, w + 2, 70 * 8);
    cli_shell(&r, "rm \"$D/o\" \"$D/g\"");
}

/* A file of the list that was there at first and cannot be read when its turn comes. */
static void a_file_that_vanishes_is_a_row(void **state)
{
    (void)state;
    cli_shell(&r,
              "echo y >\"$D/a.txt\"; echo x >\"$D/b.txt\"; { for i in $(seq 4000); do echo \"$D/a.txt\"; done; "
              "echo \"$D/b.txt\"; echo \"$D/a.txt\"; } >\"$D/list\"; "
              "\"$M\" " ENCODER "--files \"$D/list\" -o \"$D/o\" & P=$!; i=0; "
              "until [ -e \"$D/o.journal\" ] || [ $i -ge 1000 ]; do sleep 0.01; i=$((i + 1)); done; rm \"$D/b.txt\"; "
              "wait $P; echo $?; wc -l <\"$D/o\"; sed -n 4001p \"$D/o\"; rm \"$D/o\"");
    assert_ptr_equal(strstr(r.out, "3\n4002\n{\"id\":\""), r.out);
    assert_non_null(strstr(r.out, "/b.txt\",\"error\":\"line 4001: "));
}

/* What a job goes on with is compared by the files' bytes: not by their size and time, which may stay as they were. */
static void a_file_that_changes_is_noticed(void **state)
{
    (void)state;
    cli_shell(
        &r,
        "for i in $(seq 2000); do echo \"text $i of many\" >\"$D/t$i.txt\"; echo \"$D/t$i.txt\"; done >\"$D/list\"; "
        "touch -d '2020-01-01' \"$D\"/t*.txt; "
        "\"$M\" " ENCODER "--files \"$D/list\" -o \"$D/o\" & P=$!; i=0; "
        "until [ $(wc -c <\"$D/o.journal-wal\") -gt 120000 ] || [ $i -ge 1000 ]; do sleep 0.01; i=$((i + 1)); done; "
        "kill -9 $P; wait $P; "
        "[ -e \"$D/o\" ] && rm \"$D/o\"; cp \"$D/t3.txt\" \"$D/kept\"; echo 'text 3 or many' >\"$D/t3.txt\"; "
        "touch -d '2020-01-01' \"$D/t3.txt\"; test -e \"$D/o.journal\" || exit 77; "
        "\"$M\" " ENCODER "--files \"$D/list\" -o \"$D/o\"");
    if (r.code != 77) {
        assert_int_equal(r.code, 2);
        assert_non_null(strstr(r.err, "content of the prompts"));
        cli_shell(&r, "cp \"$D/kept\" \"$D/t3.txt\"; \"$M\" " ENCODER "--files \"$D/list\" -o \"$D/o\"");
        assert_int_equal(r.code, 0);
        assert_non_null(strstr(r.err, "goes on"));
    }
    /* while it runs, the last of many, which is read at the end */
    cli_shell(
        &r,
        "rm -f \"$D/o\" \"$D\"/o.journal*; { for i in $(seq 4000); do echo \"$D/t1.txt\"; done; echo \"$D/t2.txt\"; } "
        ">\"$D/list\"; \"$M\" " ENCODER "--files \"$D/list\" -o \"$D/o\" & P=$!; i=0; "
        "until [ -e \"$D/o.journal\" ] || [ $i -ge 1000 ]; do sleep 0.01; i=$((i + 1)); done; "
        "echo 'text 2 or many' >\"$D/t2.txt\"; wait $P; c=$?; rm -f \"$D/o\" \"$D\"/o.journal*; exit $c");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "line 4001: "));
    assert_non_null(strstr(r.err, "t2.txt: changed while it was read"));
}

/* A line of a pipe that is too long for its buffer is passed over, wherever it ends. */
static void a_line_that_is_too_long_is_a_row(void **state)
{
    (void)state;
    static const unsigned n[] = {4095, 4096, 65536, 69631, 69632, 69633, 200000};
    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
        for (int is_last = 0; is_last < 2; is_last++) {
            char line[512];
            snprintf(line, sizeof(line),
                     "{ echo '\"a\"'; head -c %u /dev/zero | tr '\\0' a | sed 's/.*/\"&\"/'; %s } | "
                     "\"$M\" " ENCODER "--jsonl --line-bytes 4096 | cut -c 1-40",
                     n[i], is_last ? "" : "echo; echo '\"b\"';");
            cli_shell(&r, line);
            const char *second = strchr(r.out, '\n') + 1;
            assert_ptr_equal(strstr(second, "{\"error\":\"line 2: longer than --line-by"), second);
            const char *third = strchr(second, '\n') + 1;
            assert_ptr_equal(strstr(third, is_last ? "" : "{\"embedding\":["), third);
        }
}

/* A failure leaves no new file, and an old one stays as it was; what was kept before it is in the journal. */
static void a_failure_leaves_no_file(void **state)
{
    (void)state;
    for (int npy = 0; npy < 2; npy++) {
        char line[512];
        snprintf(
            line, sizeof(line),
            "mkfifo \"$D/in\"; { for i in $(seq 70); do printf '\"text\"\\n'; done; sleep 60; } >\"$D/in\" & S=$!; "
            "echo old >\"$D/keep\"; \"$M\" " ENCODER "--jsonl \"$D/in\" -o \"$D/keep\" --format %s & P=$!; sleep 1; "
            "kill -TERM $P; wait $P; echo $?; kill $S; cat \"$D/keep\"; ls \"$D\" | grep -c 'tmp\\|journal'; rm "
            "\"$D/in\"",
            npy ? "npy" : "jsonl");
        cli_shell(&r, line);
        assert_string_equal(r.out, "3\nold\n0\n");
    }
}

/* Killed at any moment, the same command goes on, and the file is the one of a run that nobody killed; where the kill
 * came when the file was there and its journal, too, the command ends with the file alone. Other flags are refused by
 * name. */
static void a_killed_run_goes_on(void **state)
{
    (void)state;
    char line[2048];
    snprintf(line, sizeof(line),
             "for i in $(seq %u); do printf '{\"id\":%%d,\"text\":\"text %%d of many\"}\\n' $i $i; done "
             ">\"$D/k.jsonl\"",
             cli_lines(4000));
    cli_shell(&r, line);
    for (int npy = 0; npy < 2; npy++) {
        snprintf(
            line, sizeof(line),
            "E='" ENCODER "--jsonl'; F='--format %s'; \"$M\" $E \"$D/k.jsonl\" -o \"$D/whole\" $F; "
            "begin() { \"$M\" $E \"$D/k.jsonl\" -o \"$D/part\" $F 2>>\"$D/log\" & P=$!; i=0; "
            "until [ -e \"$D/part.journal\" ] || [ $i -ge 500 ]; do sleep 0.01; i=$((i + 1)); done; }; "
            "end() { kill -9 $P 2>/dev/null; wait $P 2>/dev/null; }; begin; i=0; "
            "until [ $(wc -c <\"$D/part.journal-wal\") -gt 120000 ] || [ $i -ge 500 ]; do sleep 0.01; i=$((i + 1)); "
            "done; "
            "end; "
            "\"$M\" $E \"$D/k.jsonl\" -o \"$D/part\" $F --prompt query; echo $?; n=0; "
            "while [ $n -lt %d ] && [ ! -e \"$D/part\" ]; do n=$((n + 1)); begin; sleep 0.0$((n %% 7)); end; done; "
            "[ -e \"$D/part\" ] && [ ! -e \"$D/part.journal\" ] || \"$M\" $E \"$D/k.jsonl\" -o \"$D/part\" $F; "
            "cmp \"$D/whole\" \"$D/part\" && ls \"$D\" | grep -c part && rm \"$D/part\" \"$D/whole\"",
            npy ? "npy" : "jsonl", check_is_full() ? 100 : 4);
        cli_shell(&r, line);
        if (r.code)
            fail_msg("%s%s", r.out, r.err);
        assert_string_equal(r.out, "2\n1\n");
        assert_non_null(strstr(r.err, "another --prompt (none, now query)"));
    }
}

/* What a command found that was killed, the next one still says. */
static void faults_before_a_kill_count(void **state)
{
    (void)state;
    char line[1024];
    for (int npy = 0; npy < 2; npy++) {
        snprintf(line, sizeof(line),
                 "{ echo no; for i in $(seq 4000); do echo '\"a text of many\"'; done; } >\"$D/f.jsonl\"; "
                 "E='" ENCODER
                 "--jsonl'; F='--format %s'; \"$M\" $E \"$D/f.jsonl\" -o \"$D/f\" $F 2>/dev/null & P=$!; i=0; "
                 "until [ $(cat \"$D/f.journal-wal\" 2>/dev/null | wc -c) -gt 120000 ] || [ $i -ge 500 ]; "
                 "do sleep 0.01; i=$((i + 1)); done; kill -9 $P; wait $P; "
                 "\"$M\" $E \"$D/f.jsonl\" -o \"$D/f\" $F; echo $?; rm \"$D/f\"",
                 npy ? "npy" : "jsonl");
        cli_shell(&r, line);
        assert_string_equal(r.out, "3\n");
        assert_non_null(strstr(r.err, "goes on"));
        assert_non_null(strstr(r.err, npy ? "line 1: JSON: offset 1: " : "1 line is no text"));
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
    for (int npy = 0; npy < 2; npy++) {
        cli_shell(&r, npy ? "printf '\"a\"\\n3\\n' >\"$D/two\"; \"$M\" " ENCODER
                            "--jsonl \"$D/two\" -o \"$D/o\" --format npy --mem-report \"$D/mem.json\""
                          : "printf '\"a\"\\n3\\n' >\"$D/two\"; \"$M\" " ENCODER
                            "--jsonl \"$D/two\" -o \"$D/o\" --mem-report \"$D/mem.json\"");
        assert_int_equal(r.code, 3);
        cli_expect_planned(npy ? "embed -o, npy" : "embed -o");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_and_a_line_give_the_same_vector),
        cmocka_unit_test(a_prompt_stands_before_the_text),
        cmocka_unit_test(what_is_too_long_is_cut_and_marked),
        cmocka_unit_test(a_cut_names_its_flag),
        cmocka_unit_test(a_refusal_proposes_no_cut),
        cmocka_unit_test(a_null_id_is_none),
        cmocka_unit_test(refusals_name_the_cause),
        cmocka_unit_test(sigterm_ends_a_run_that_waits_for_a_line),
        cmocka_unit_test(any_number_of_lines_keeps_its_order),
        cmocka_unit_test(files_of_a_list_are_texts),
        cmocka_unit_test(npy_holds_a_row_for_each_text),
        cmocka_unit_test(the_name_says_the_form),
        cmocka_unit_test(a_dry_run_counts_what_a_run_has),
        cmocka_unit_test(faults_are_rows),
        cmocka_unit_test(faults_of_an_array_are_named),
        cmocka_unit_test(a_file_that_vanishes_is_a_row),
        cmocka_unit_test(a_file_that_changes_is_noticed),
        cmocka_unit_test(a_line_that_is_too_long_is_a_row),
        cmocka_unit_test(a_failure_leaves_no_file),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(faults_before_a_kill_count),
        cmocka_unit_test(memory_does_not_grow_with_the_texts),
        cmocka_unit_test(the_plan_is_the_ledger),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
