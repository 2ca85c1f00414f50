/* test_eval.c - mythos eval from outside: a small set of questions whose measures are known, the gate, comparisons,
 * what is refused. The shipped repository is held to its own gate. */
#include "tests/frontend/cli/cli_run.h"

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_result r;
    /* Two files that can be told apart by one word each, and questions for them: one right, one wrong, one for both. */
    cli_shell(
        &r,
        "mkdir -p $D/s/tree/src && cd $D/s && printf 'int open_door(int n)\\n{\\n    return n + 1;\\n}\\n' "
        ">tree/src/door.c && "
        "printf 'int paint_wall(int n)\\n{\\n    return n / 0;\\n}\\n' >tree/src/wall.c && "
        "printf '%s\\n' "
        "'{\"id\":\"a\",\"kind\":\"symbol\",\"text\":\"open_door\",\"expect\":[{\"path\":\"src/"
        "door.c\",\"symbol\":\"open_door\"}]}' "
        "'{\"id\":\"b\",\"kind\":\"symbol\",\"text\":\"paint_wall\",\"expect\":[{\"path\":\"src/door.c\"}]}' "
        "'{\"id\":\"c\",\"kind\":\"prose\",\"text\":\"door "
        "wall\",\"expect\":[{\"path\":\"src/door.c\"},{\"path\":\"src/wall.c\"}],\"tags\":[\"both\"]}' "
        ">questions.jsonl && echo '{\"path\":\"src/wall.c\",\"line\":3,\"rule\":\"division-by-zero\",\"text\":\"return "
        "n / 0;\"}' >defects.jsonl && "
        "echo '{\"floors\":{\"all\":{\"recall@12\":0.66,\"mrr\":0.66},\"both\":{\"precision@12\":1}}}' >good.json && "
        "echo '{\"floors\":{\"all\":{\"recall@12\":0.67},\"symbol\":{\"acc@1\":0.6}}}' >bad.json && "
        "echo '{\"floors\":{\"all\":{\"recall@12\":0.1}},\"against\":{\"lexical\":{\"all\":{\"recall@12\":0.67}}}}' "
        ">against.json && "
        "echo '{\"floors\":{\"all\":{\"recall@13\":0.1}}}' >odd.json && echo "
        "'{\"floors\":{\"metrics\":{\"grounding\":1}}}' >model.json");
    return r.code;
}

#define SMALL "eval shop --data $D/s --part retrieval -m random:gemma3-tiny:f32 "

static json_t *group(json_t *j, int config, const char *name)
{
    size_t i;
    json_t *g,
        *groups = json_object_get(json_array_get(json_object_get(j, "configurations"), (size_t)config), "groups");
    json_array_foreach(groups, i, g) if (strcmp(json_string_value(json_object_get(g, "group")), name) == 0) return g;
    return NULL;
}

static double mean(json_t *j, int config, const char *name, const char *part, const char *measure)
{
    return json_number_value(
        json_object_get(json_object_get(json_object_get(group(j, config, name), part), measure), "mean"));
}

static void equal(double got, double want)
{
    if (got < want - 1e-6 || got > want + 1e-6)
        print_error("got %g, expected %g\n", got, want);
    assert_true(got > want - 1e-6 && got < want + 1e-6);
}

static void measures_are_those_of_the_answers(void **state)
{
    (void)state;
    static cli_result r, again;
    json_t *j = cli_json(&r, SMALL "--json");
    assert_int_equal(json_integer_value(json_object_get(j, "n")), 3);
    equal(mean(j, 0, "all", "measures", "recall@12"), 2.0 / 3); /* a and c all, b nothing */
    equal(mean(j, 0, "all", "measures", "mrr"), 2.0 / 3);
    equal(mean(j, 0, "symbol", "measures", "acc@1"), 0.5);
    equal(mean(j, 0, "both", "measures", "precision@12"), 1);
    equal(mean(j, 0, "prose", "measures", "ndcg@10"), 1);
    assert_int_equal(json_array_size(json_object_get(j, "tasks")), 3);
    equal(cli_number(j, "metrics.retrieval_recall.value"), 2.0 / 3);
    assert_true(cli_number(j, "metrics.prompt_efficiency.value") > 0 &&
                cli_number(j, "metrics.prompt_efficiency.value") < 1);
    assert_true(json_is_null(json_object_get(json_object_get(json_object_get(j, "metrics"), "grounding"), "value")));
    json_decref(j);
    cli_run(&again, SMALL "--json");
    assert_string_equal(r.out, again.out);
    cli_expect(&r, SMALL, 0);
    assert_non_null(strstr(r.out, "recall@12"));
    assert_non_null(strstr(r.out, "no model was run"));
}

static void comparisons_are_paired(void **state)
{
    (void)state;
    static cli_result r;
    json_t *j = cli_json(&r, SMALL "--json --against lexical --against col_names=0,col_path=0,col_body=0");
    assert_int_equal(json_array_size(json_object_get(j, "configurations")), 3);
    assert_null(json_object_get(group(j, 0, "all"), "difference"));
    equal(mean(j, 1, "all", "difference", "recall@12"), 0);
    equal(mean(j, 2, "all", "difference", "mrr"),
          mean(j, 2, "all", "measures", "mrr") - mean(j, 0, "all", "measures", "mrr"));
    json_decref(j);
}

/* A search with vectors is compared with one by words alone. */
static void hybrid_beside_lexical(void **state)
{
    (void)state;
    static cli_result r;
    json_t *j = cli_json(&r, SMALL "--json --embed-model random:embeddinggemma-tiny:f32 --against lexical");
    json_t *c = json_object_get(j, "configurations");
    assert_string_equal(json_string_value(json_object_get(json_array_get(c, 0), "name")), "hybrid");
    assert_true(json_is_false(json_object_get(json_array_get(c, 0), "lexical")) &&
                json_is_true(json_object_get(json_array_get(c, 1), "lexical")));
    equal(mean(j, 1, "all", "measures", "recall@12"), 2.0 / 3);
    assert_true(mean(j, 0, "all", "measures", "recall@12") >=
                2.0 / 3); /* files with near vectors are found in addition */
    json_decref(j);
    cli_expect(&r, SMALL "--embed-model $D/none.gguf", 66);
}

/* A question for which nothing is found counts as zero. A child process without a model (here because the program was
 * copied into a folder without one) ends the evaluation. Both have exit code 66, so the code alone does not tell. */
static void a_failing_child_is_a_failure(void **state)
{
    (void)state;
    static cli_result r;
    json_t *j = cli_json(&r, SMALL "--json --against topic");
    equal(mean(j, 1, "all", "measures", "recall@12"), 2.0 / 3);
    json_decref(j);
    cli_shell(&r, "cp -r $D/s $D/odd && echo '{\"id\":\"a\",\"kind\":\"symbol\",\"text\":\"qqzzyyxx\","
                  "\"expect\":[{\"path\":\"src/door.c\"}]}' >$D/odd/questions.jsonl && "
                  "$M eval shop --data $D/odd --part retrieval -m random:gemma3-tiny:f32 --json --against topic");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "mkdir $D/bin && cp $M $D/bin/mythos && cd $D/bin && ./mythos eval shop --data $D/s --part retrieval "
                  "--against topic");
    if (r.code != 66)
        print_error("exit %d, expected 66\n%s%s\n", r.code, r.out, r.err);
    assert_int_equal(r.code, 66);
    assert_non_null(strstr(r.err, "mythos inspect-topic: exit 66: "));
}

static void the_gate(void **state)
{
    (void)state;
    static cli_result r;
    cli_expect(&r, SMALL "--gate $D/s/good.json", 0);
    assert_non_null(strstr(r.out, "gate: 3 floors, 0 below"));
    cli_expect(&r, SMALL "--gate $D/s/bad.json", 1);
    assert_non_null(strstr(r.out, "below the gate: all recall@12"));
    assert_non_null(strstr(r.out, "below the gate: symbol acc@1"));
    cli_expect(&r, SMALL "--gate $D/s/against.json", 0);
    assert_non_null(strstr(r.out, "gate: 1 floor, 0 below, 1 not measured"));
    cli_expect(&r, SMALL "--against lexical --gate $D/s/against.json", 1);
    assert_non_null(strstr(r.out, "below the gate: lexical all recall@12"));
    cli_expect(&r, SMALL "--gate $D/s/odd.json", 2);
    assert_non_null(strstr(r.err, "recall@13"));
    cli_expect(&r, SMALL "--gate $D/s/model.json", 0);
    assert_non_null(strstr(r.out, "1 not measured"));
    cli_expect(&r, SMALL "--gate $D/s/questions.jsonl", 65);
    cli_expect(&r, SMALL "--gate $D/s/none.json", 66);
}

/* The inspector is run and its answers are measured, here with a model of random weights. */
static void answers(void **state)
{
    (void)state;
    static cli_result r;
    json_t *j = cli_json(&r, "eval shop --data $D/s --part answers -m random:gemma3-tiny:f32 --json");
    assert_int_equal((int)cli_number(j, "answers.planted"), 1);
    assert_int_equal((int)cli_number(j, "answers.files"), 1);
    assert_true(cli_number(j, "metrics.diagnosis_recall.value") >= 0);
    json_t *grounding = json_object_get(json_object_get(json_object_get(j, "metrics"), "grounding"), "value");
    assert_true(json_is_null(grounding) || json_number_value(grounding) <= 1);
    assert_true(
        json_is_null(json_object_get(json_object_get(json_object_get(j, "metrics"), "retrieval_recall"), "value")));
    json_decref(j);
}

/* Reports name the files of a repository from its top, which may be above the data; --find says who finds. */
static void a_tree_inside_of_a_repository(void **state)
{
    (void)state;
    static cli_result r;
    static const char *const who[] = {"candidates", "both"};
    cli_shell(&r, "mkdir $D/g && cp -R $D/s $D/g/data && cd $D/g && git init -q . && "
                  "printf '%s\\n' '#include <stdlib.h>' 'int first(int n)' '{' '    int *p = malloc(n);' "
                  "'    return p[0];' '}' >data/tree/src/first.c && echo "
                  "'{\"path\":\"src/first.c\",\"line\":5,\"rule\":\"missing-null-check\",\"text\":\"return p[0];\"}' "
                  ">data/defects.jsonl");
    assert_int_equal(r.code, 0);
    for (int i = 0; i < 2; i++) {
        char line[160];
        snprintf(line, sizeof(line), "eval shop --data $D/g/data --part answers --find %s --confidence 0 --json",
                 who[i]);
        json_t *j = cli_json(&r, line);
        assert_true(cli_number(j, "metrics.diagnosis_recall.value") == 1);
        json_decref(j);
    }
    json_t *j = cli_json(&r, "eval shop --data $D/g/data --part answers --confidence 1 --json");
    assert_true(cli_number(j, "metrics.diagnosis_recall.value") == 0);
    json_decref(j);
    /* what inspect-topic shows is named in the same way */
    double recall[2];
    for (int i = 0; i < 2; i++) {
        char line[96];
        snprintf(line, sizeof(line), "eval shop --data $D/%s --part retrieval --against topic --json",
                 i ? "g/data" : "s");
        j = cli_json(&r, line);
        const json_t *topic = json_array_get(json_object_get(j, "configurations"), 1),
                     *all = json_array_get(json_object_get(topic, "groups"), 0),
                     *of = json_object_get(json_object_get(all, "measures"), "recall@12");
        recall[i] = json_number_value(json_object_get(of, "mean"));
        json_decref(j);
    }
    assert_true(recall[0] > 0 && recall[0] == recall[1]);
}

/* When the data has a planted change, inspect-diff is evaluated, too. */
static void a_planted_change(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(
        &r, "cp -R $D/s $D/d && cd $D/d && echo "
            "'{\"path\":\"src/door.c\",\"line\":3,\"rule\":\"other\",\"text\":\"return n - 1;\"}' >regression.jsonl && "
            "printf '%s\\n' 'diff --git a/src/door.c b/src/door.c' '--- a/src/door.c' '+++ b/src/door.c' '@@ -1,4 +1,4 "
            "@@' ' int open_door(int n)' ' {' '-    return n + 1;' '+    return n - 1;' ' }' "
            ">regression.patch");
    assert_int_equal(r.code, 0);
    cli_run(&r, "inspect-diff --help");
    bool has_diff = r.code == 0;
    json_t *j = cli_json(&r, "eval shop --data $D/d --part answers -m random:gemma3-tiny:f32 --json");
    assert_int_equal((int)cli_number(j, "answers.changes"), has_diff ? 1 : 0);
    assert_true(!has_diff == !json_object_get(json_object_get(j, "metrics"), "regression_recall"));
    json_decref(j);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        int code;
        const char *says;
    } row[] = {
        {"eval", 2, "NAME"},
        {"eval nonsense", 2, "cosqa"},
        {"eval cosqa --data $D/nowhere", 66, "--data"},
        {"eval cosqa", 66, "--data DIR says where cosqa/cosqa-retrieval-dev-500.json is"},
        {"eval swe-lite --repos $D", 66, "--data DIR says where swe-lite-dev.jsonl is"},
        {"eval cosqa --data $D/s", 66, "cosqa"},
        {"eval cosqa --part answers", 2, "--part"},
        {"eval shop --data $D/s --against nonsense", 2, "--against"},
        {"eval shop --data $D/s --part retrieval --against base", 2, "base"},
        {"eval c-commits --data $D/s --against topic", 2, "topic"},
        {"eval shop --data $D/s --part retrieval --weights nonsense=1", 2, "nonsense"},
        {"eval shop --data $D/s --part answers -m $D/none.gguf", 66, "none.gguf"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        static cli_result r;
        cli_expect(&r, row[i].args, row[i].code);
        if (!strstr(r.err, row[i].says))
            print_error("mythos %s: no \"%s\" in %s\n", row[i].args, row[i].says, r.err);
        assert_non_null(strstr(r.err, row[i].says));
    }
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r,
              "mkdir $D/t && export TMPDIR=$D/t XDG_CACHE_HOME=$D/c XDG_STATE_HOME=$D/l && $M " SMALL " >/dev/null && "
              "$M eval shop --data $D/s --part answers -m random:gemma3-tiny:f32 >/dev/null && test -z \"$(ls $D/t)\" "
              "&& test ! -e $D/c && test ! -e $D/l");
    assert_int_equal(r.code, 0);
    /* a signal arrives while the run's temporary folder exists */
    static const char *const sig[] = {"INT", "TERM", "HUP"};
    for (int i = 0; i < 3; i++) {
        char line[512];
        snprintf(line, sizeof(line),
                 "export TMPDIR=$D/t; $M eval shop -m random:gemma3-tiny:f32 >/dev/null & P=$!; n=0; until ls "
                 "$D/t/mythos-eval-*/cache >/dev/null 2>&1; do "
                 "n=$((n + 1)); [ $n -gt 500 ] && exit 9; sleep 0.02; done; kill -%s $P; wait $P; e=$?; test -z \"$(ls "
                 "$D/t)\" && exit $e",
                 sig[i]);
        cli_shell(&r, line);
        if (r.code != 3)
            fail_msg("%s: exit %d: %s", sig[i], r.code, r.err);
    }
}

/* The file that a task expects exists only in an old commit of a repository, which is made here. */
static void trees_of_commits(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(
        &r,
        "command -v git >/dev/null || exit 77; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a "
        "GIT_COMMITTER_EMAIL=a@a "
        "HOME=$D GIT_CONFIG_NOSYSTEM=1; mkdir -p $D/repos/me+thing $D/data && cd $D/repos/me+thing && git init -q repo "
        "&& cd repo && mkdir src && "
        "printf 'int turn_key(int n)\\n{\\n    return n;\\n}\\n' >src/key.c && printf 'int x;\\n' >src/other.c && "
        "printf 'turn_key\\n' >notes.md && "
        "git add . && git commit -qm one && git rev-parse HEAD >$D/one && git rm -q src/key.c && git commit -qm two && "
        "printf '{\"id\":\"t\",\"repo\":\"me/thing\",\"base_commit\":\"%s\",\"query\":\"turn_key returns its "
        "argument\",\"gold\":[{\"file\":\"src/key.c\"}]}\\n' "
        "\"$(cat $D/one)\" >$D/data/commits-dev.jsonl && cp -R .git $D/repos/bare");
    if (r.code == 77)
        check_skip("no git");
    assert_int_equal(r.code, 0);
    cli_shell(&r, "rm -rf $D/repos/me+thing/repo2; mv $D/repos/me+thing/repo/.git $D/repos/g && rm -rf "
                  "$D/repos/me+thing && mv $D/repos/g $D/repos/me+thing");
    assert_int_equal(r.code, 0);
    json_t *j = cli_json(&r, "eval c-commits --data $D/data --repos $D/repos --against base --json");
    equal(mean(j, 0, "all", "measures", "acc@1"), 1);
    equal(mean(j, 1, "all", "measures", "acc@1"), 1);
    json_decref(j);
    cli_expect(&r, "eval c-commits --data $D/data", 2);
    assert_non_null(strstr(r.err, "--repos"));
    cli_expect(&r, "eval c-commits --data $D/data --repos $D/data", 66);
    assert_non_null(strstr(r.err, "me/thing"));
    cli_shell(&r, "sed -i 's/\"base_commit\":\"..../\"base_commit\":\"0000/' $D/data/commits-dev.jsonl; $M eval "
                  "c-commits --data $D/data --repos $D/repos");
    assert_int_equal(r.code, 66);
    assert_non_null(strstr(r.err, "no commit 0000"));
}

static void batches(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r, "mkdir -p $D/data/cosqa && echo '{\"def close_it(x): pass\":3,\"def open_file(path): pass\":5}' "
                  ">$D/data/cosqa/code_idx_map.txt && "
                  "echo '[{\"doc\":\"open a file\",\"retrieval_idx\":5},{\"doc\":\"close it\",\"retrieval_idx\":3}]' "
                  ">$D/data/cosqa/cosqa-retrieval-dev-500.json");
    assert_int_equal(r.code, 0);
    json_t *j = cli_json(&r, "eval cosqa --data $D/data --json --against b=0.5");
    equal(mean(j, 0, "all", "measures", "ndcg@10"), 1);
    equal(mean(j, 1, "all", "difference", "recall@100"), 0);
    json_decref(j);
}

static void the_shipped_repository_holds_its_gate(void **state)
{
    (void)state;
    static cli_result r;
    cli_expect(&r,
               check_is_full() ? "eval shop --part retrieval --against topic --gate tests/corpus/shop/gate.json"
                               : "eval shop --part retrieval --gate tests/corpus/shop/gate.json",
               0);
    assert_non_null(strstr(r.out, " 0 below"));
    assert_null(strstr(r.out, "gate: 0 floors"));
}

/* The four questions of the first design: what inspect-topic shows has every expected file, at most twelve chunks, and
 * at least half of them are in one. With vectors and without. */
static void the_four_questions_are_answered(void **state)
{
    (void)state;
    static cli_result r;
    static const char *const question[] = {"session-creation", "reset-tokens", "deletion-authorisation", "raw-sql"};
    cli_shell(&r, "mkdir -p $D/y && cp -R tests/corpus/shop/tree tests/corpus/shop/defects.jsonl $D/y && grep y54 "
                  "tests/corpus/shop/questions.jsonl >$D/y/questions.jsonl");
    assert_int_equal(r.code, 0);
    for (int embed = 0; embed < 2; embed++) {
        cli_shell(&r, embed ? "$M eval shop --data $D/y --part retrieval --embed --against topic --json >$D/topic.json"
                            : "$M eval shop --data $D/y --part retrieval --against topic --json >$D/topic.json");
        if (embed && r.code == 66) /* this build has no embedder */
            return;
        assert_int_equal(r.code, 0);
        char path[256];
        snprintf(path, sizeof(path), "%s/topic.json", cli_dir);
        json_t *j = json_load_file(path, 0, NULL), *t;
        size_t i, n = 0;
        assert_non_null(j);
        json_array_foreach(json_object_get(j, "tasks"), i, t) for (int q = 0; q < 4; q++)
        {
            if (strcmp(json_string_value(json_object_get(t, "id")), question[q]) != 0)
                continue;
            json_t *topic = json_array_get(json_object_get(t, "against"), 0);
            double recall = json_number_value(json_object_get(topic, "recall@12")),
                   precision = json_number_value(json_object_get(topic, "precision@12"));
            print_message("%s, %s: recall %.2f, precision %.2f\n", question[q], embed ? "hybrid" : "lexical", recall,
                          precision);
            assert_true(recall == 1);
            assert_true(precision >= 0.5);
            n++;
        }
        assert_int_equal(n, 4);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_those_of_the_answers),
        cmocka_unit_test(comparisons_are_paired),
        cmocka_unit_test(hybrid_beside_lexical),
        cmocka_unit_test(a_failing_child_is_a_failure),
        cmocka_unit_test(the_gate),
        cmocka_unit_test(answers),
        cmocka_unit_test(a_tree_inside_of_a_repository),
        cmocka_unit_test(a_planted_change),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(trees_of_commits),
        cmocka_unit_test(batches),
        cmocka_unit_test(the_shipped_repository_holds_its_gate),
        cmocka_unit_test(the_four_questions_are_answered),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
