/* test_vectors_command.c - the commands index and search with an embedding model: which texts are embedded when,
 * what is printed when there are no vectors, and the memory plan. */
#include "tests/frontend/cli/cli_run.h"
#include "retrieval/vectors/vectors.h"

#include <signal.h>
#include <unistd.h>

#define MODEL "--embed-model random:embeddinggemma-tiny:f32 "

static cli_result r;

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
    cli_shell(&r, "rm -rf $D/cache $D/t; mkdir -p $D/t/src && printf 'int open_door(int n)\\n{\\n    return n;\\n}\\n' "
                  ">$D/t/src/a.c && "
                  "printf 'def close_door(x):\\n    return x\\n' >$D/t/b.py && printf 'A house has a door and a "
                  "roof.\\n' >$D/t/c.txt");
    assert_int_equal(r.code, 0);
}

static json_t *index_json(const char *args)
{
    char line[256];
    snprintf(line, sizeof(line), "index %s/t --json %s", cli_dir, args);
    return cli_json(&r, line);
}

static const char *semantic(json_t *j) { return json_string_value(json_object_get(j, "semantic")); }

static void made_when_asked_for_and_kept_in_step(void **state)
{
    (void)state;
    make_tree();
    json_t *j = index_json("");
    assert_non_null(strstr(semantic(j), "off: the index has no vectors; mythos index --embed"));
    assert_null(json_object_get(j, "vectors"));
    const int n_chunk = (int)cli_number(j, "chunks");
    json_decref(j);
    j = index_json(MODEL);
    assert_string_equal(semantic(j), "on");
    assert_int_equal(cli_number(j, "vectors.chunks"), n_chunk);
    assert_int_equal(cli_number(j, "vectors.embedded"), n_chunk);
    assert_int_equal(cli_number(j, "vectors.missing"), 0);
    json_decref(j);
    j = index_json(MODEL);
    assert_int_equal(cli_number(j, "vectors.embedded"), 0);
    json_decref(j);
    cli_shell(&r, "mv $D/t/b.py $D/t/moved.py; printf 'A boat has a sail.\\n' >$D/t/d.txt");
    j = index_json("--no-embed");
    assert_non_null(strstr(semantic(j), "on: the index changed after its vectors were made"));
    json_decref(j);
    j = index_json(""); /* the model is known; what moved is not embedded again */
    assert_string_equal(semantic(j), "on");
    assert_int_equal(cli_number(j, "vectors.embedded"), 1);
    assert_int_equal(cli_number(j, "vectors.chunks"), n_chunk + 1);
    json_decref(j);
    j = index_json("--check");
    assert_int_equal(json_array_size(json_object_get(j, "problems")), 0);
    json_decref(j);
    cli_shell(&r, "f=$(ls $D/cache/mythos/*/index-*.db.vectors-*); printf X | dd of=$f bs=1 seek=700 conv=notrunc "
                  "2>/dev/null; $M index $D/t --check");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "vectors: "));
    cli_expect(&r, "search 'zyxwv qqqq uvuvu' $D/t", 1);
    assert_non_null(strstr(r.err, "semantic: "));
    j = index_json(""); /* made anew from what is kept */
    assert_int_equal(cli_number(j, "vectors.embedded"), 0);
    json_decref(j);
    json_decref(index_json("--check"));
}

static double part(json_t *hit, const char *name)
{
    json_t *v = json_object_get(json_object_get(hit, "parts"), name);
    return v ? json_number_value(v) : -1;
}

static void search_uses_what_is_there(void **state)
{
    (void)state;
    make_tree();
    cli_expect(&r, "search 'a door of the house' $D/t --json", 0);
    assert_non_null(strstr(r.err, "semantic: off, because the index has no vectors"));
    cli_expect(&r, "search 'zyxwv qqqq' $D/t", 1); /* nothing is found: then too */
    assert_non_null(strstr(r.err, "semantic: off, because the index has no vectors"));
    json_t *words = cli_json(&r, "search 'a door of the house' $D/t --json --lexical");
    assert_string_equal(r.err, "");
    json_decref(index_json(MODEL));
    json_t *both = cli_json(&r, "search 'a door of the house' $D/t --json");
    assert_string_equal(r.err, "");
    assert_true(json_is_array(both) && json_array_size(both) >= json_array_size(words));
    for (size_t i = 0; i < json_array_size(both); i++)
        assert_true(part(json_array_get(both, i), "semantic") >= 0);
    for (size_t i = 0; i < json_array_size(words); i++)
        assert_true(part(json_array_get(words, i), "semantic") < 0);
    json_t *zero = cli_json(&r, "search 'a door of the house' $D/t --json --weights semantic=0");
    assert_true(json_equal(zero, words));
    json_decref(zero);
    json_decref(both);
    json_decref(words);
    cli_expect(&r, "search 'a door of the house' $D/t --explain", 0);
    assert_non_null(strstr(r.out, "semantic "));
    cli_shell(&r, "printf 'door of wood, house of stone\\n' >$D/t/e.txt; $M search 'a door of the house' $D/t --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "found by their words only"));
    cli_expect(&r, "search 'a door of the house' $D/t --json --embed-model random:embeddinggemma-tiny:bf16", 66);
    assert_non_null(strstr(r.err, "made with another model"));
    cli_expect(&r, "search open_door $D/t --json", 0); /* a name is found by its words: nothing is said */
    assert_string_equal(r.err, "");
}

static void refusals(void **state)
{
    (void)state;
    make_tree();
    cli_expect(&r, "index $D/t --embed-model random:gemma3-tiny:f32", 65);
    assert_non_null(strstr(r.err, "makes no vectors"));
    cli_expect(&r, "index $D/t --embed-model /nowhere/model", 66);
    cli_expect(&r, "index $D/t --no-embed --embed", 2);
    cli_expect(&r, "search 'the door' $D/t --json", 0); /* and the words are there */
    json_decref(index_json(MODEL));
    cli_shell(
        &r, "printf 'x\\n' >$D/t/f.txt; f=$(ls $D/cache/mythos/*/index-*.db.embeddings); rm $f; $M index $D/t --json");
    assert_int_equal(r.code, 0); /* without the embeddings the vectors that are there stay */
    cli_expect(&r, "search 'the door' $D/t --json", 0);
}

/* The same tensors and another number in the file make other vectors: none of those that are kept may stay. */
static void another_configuration_is_another_model(void **state)
{
    (void)state;
    static const char key[] = "layer_norm_rms_epsilon";
    static unsigned char file[1 << 20];
    char path[128];
    make_tree();
    cli_expect(&r, "convert -m random:embeddinggemma-tiny:f32 -o $D/m.gguf", 0);
    json_t *j = index_json("--embed-model $D/m.gguf");
    const double n = cli_number(j, "vectors.embedded");
    assert_true(n > 0);
    json_decref(j);
    snprintf(path, sizeof(path), "%s/m.gguf", cli_dir);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    const size_t len = fread(file, 1, sizeof(file), f);
    size_t at = 0;
    while (at + sizeof(key) < len && memcmp(file + at, key, sizeof(key) - 1) != 0)
        at++;
    assert_true(at + sizeof(key) < len);
    const float other = 0.05f;
    fseek(f, (long)(at + sizeof(key) - 1 + 4), SEEK_SET); /* behind its type */
    fwrite(&other, sizeof(other), 1, f);
    fclose(f);
    j = index_json("--embed-model $D/m.gguf");
    assert_true(cli_number(j, "vectors.embedded") == n);
    assert_string_equal(semantic(j), "on");
    json_decref(j);
    j = index_json("--embed-model $D/m.gguf");
    assert_true(cli_number(j, "vectors.embedded") == 0);
    json_decref(j);
}

static void the_plan_is_the_ledger(void **state)
{
    (void)state;
    static const char *const run[] = {"index $D/t " MODEL "--mem-report $D/mem.json",
                                      "search 'a door of the house' $D/t --mem-report $D/mem.json"};
    make_tree();
    for (size_t i = 0; i < 2; i++) {
        cli_expect(&r, run[i], 0);
        cli_expect_planned(run[i]);
    }
    cli_shell(&r, "printf 'y\\n' >$D/t/g.txt; $M index $D/t " MODEL "--mem-limit 1MiB");
    assert_int_equal(r.code, 71);
    json_t *j = index_json("--no-embed"); /* refused before anything of it was made */
    assert_int_equal(cli_number(j, "files"), 4);
    json_decref(j);
}

static void a_corpus(void **state)
{
    (void)state;
    cli_shell(&r, "printf '{\"id\":1,\"text\":\"open the door\"}\\n{\"id\":2,\"text\":\"a "
                  "boat\"}\\n{\"id\":3,\"text\":\"the roof\"}\\n' >$D/c.jsonl; "
                  "printf '{\"id\":\"q\",\"text\":\"how to open a door\"}\\n' >$D/q.jsonl");
    json_t *words = cli_json(&r, "search --corpus $D/c.jsonl --queries $D/q.jsonl -k 10 --lexical --json");
    json_t *both = cli_json(&r, "search --corpus $D/c.jsonl --queries $D/q.jsonl -k 10 " MODEL "--json");
    assert_int_equal(json_array_size(json_object_get(json_array_get(words, 0), "ids")), 1);
    assert_int_equal(json_array_size(json_object_get(json_array_get(both, 0), "ids")),
                     3); /* every row is near by some measure */
    json_t *zero =
        cli_json(&r, "search --corpus $D/c.jsonl --queries $D/q.jsonl -k 10 " MODEL "--json --weights semantic=0");
    assert_true(json_equal(zero, words));
    json_decref(zero);
    json_decref(both);
    json_decref(words);
    cli_expect(&r, "search --corpus $D/c.jsonl --queries $D/q.jsonl --embed-model /nowhere --json", 66);
}

/* SIGINT while the model is at work: what was done is kept, exit 3, the next run goes on. */
static void interrupted(void **state)
{
    (void)state;
    make_tree();
    cli_shell(&r, "i=0; while [ $i -lt 700 ]; do printf 'word %d stands in a text of its own, %d times, and is long "
                  "enough to take a while\\n' $i $i >$D/t/f$i.txt; "
                  "i=$((i + 1)); done; $M index $D/t >/dev/null 2>&1; $M index $D/t -t 1 " MODEL ">$D/o 2>$D/e & p=$!; "
                  "n=0; while [ $n -lt 5000 ] && [ $(stat -c %s $D/cache/mythos/*/index-*.db.embeddings 2>/dev/null || "
                  "echo 0) -lt 600 ]; do sleep 0.02; n=$((n + 1)); done; "
                  "kill -INT $p; wait $p; echo code $?; cat $D/e");
    if (!strstr(r.out, "code 3"))
        fail_msg("%s", r.out);
    assert_non_null(strstr(r.out, "the next run goes on"));
    json_t *j = index_json("--check");
    assert_int_equal(json_array_size(json_object_get(j, "problems")), 0);
    const double kept = cli_number(j, "vectors.chunks");
    assert_true(kept > 0 && kept < 700);
    json_decref(j);
    j = index_json("");
    assert_string_equal(semantic(j), "on");
    assert_int_equal(cli_number(j, "vectors.chunks"), cli_number(j, "chunks"));
    assert_true(cli_number(j, "vectors.embedded") <= cli_number(j, "chunks") - kept);
    json_decref(j);
}

int main(void)
{
    if (!myth_vectors_is_built()) {
        printf("skipped: this build has no FAISS\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_when_asked_for_and_kept_in_step),
        cmocka_unit_test(search_uses_what_is_there),
        cmocka_unit_test(refusals),
        cmocka_unit_test(another_configuration_is_another_model),
        cmocka_unit_test(the_plan_is_the_ledger),
        cmocka_unit_test(a_corpus),
        cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
