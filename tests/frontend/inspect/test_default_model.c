/* test_default_model.c - the model that ships, with 20 of the files on which it was measured (tests/corpus/inspect,
 * models/README.md): the reports' form, their citations, and at least as many defects as its measured score makes
 * certain. With a broken export, tokenizer or prompt it finds next to nothing. */
#include "frontend/inspect/inspect.h"
#include "tests/support/rig.h"

#include <ctype.h>

#define MODEL  "models/mythos-inspect.gguf"
#define CORPUS "tests/corpus/inspect/"

enum { FILE_MAX = 64, BYTES_MAX = 16384, NEAR = 1 };

/* One line of expected.txt: a file and its known defect. An empty rule = the file has none. */
typedef struct {
    char path[128], rule[32];
    uint32_t line;
} expected;

static uint32_t read_expected(expected e[FILE_MAX], uint32_t *min_hits, uint32_t *max_alarms)
{
    char path[1024], line[256], word[32];
    uint32_t n = 0;
    FILE *f = fopen(check_path(path, sizeof(path), CORPUS "expected.txt"), "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        if (line[0] == '#' || isspace((unsigned char)line[0]))
            continue;
        if (sscanf(line, "hits >= %u", min_hits) == 1 || sscanf(line, "alarms <= %u", max_alarms) == 1)
            continue;
        assert_true(n < FILE_MAX);
        assert_int_equal(sscanf(line, "%127s %31s %u", e[n].path, word, &e[n].line), 3);
        snprintf(e[n].rule, sizeof(e[n].rule), "%s", strcmp(word, "-") ? word : "");
        n++;
    }
    fclose(f);
    return n;
}

static size_t read_corpus(unsigned char dst[BYTES_MAX], const char *name)
{
    char rest[256], path[1024];
    snprintf(rest, sizeof(rest), CORPUS "%s", name);
    FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
    assert_non_null(f);
    size_t n = fread(dst, 1, BYTES_MAX, f);
    assert_true(feof(f));
    fclose(f);
    return n;
}

static void check_finding(const myth_report *r, uint32_t i)
{
    const myth_finding *f = &r->finding[i];
    myth_citation c;
    assert_int_equal(myth_verify(&c, f, r->block, r->n_part, r->finding, i), MYTH_CITES);
    assert_true(c.line >= f->first && c.line <= f->last);
    assert_true(f->rule >= 0 && (uint32_t)f->rule < myth_rule_count());
}

static bool is_hit(const myth_finding *f, const expected *e)
{
    return *e->rule && !strcmp(myth_rules[f->rule].id, e->rule) && f->first <= e->line + NEAR &&
           e->line <= f->first + NEAR;
}

static void test_held_out_files(void **unused)
{
    (void)unused;
    static unsigned char bytes[BYTES_MAX];
    expected e[FILE_MAX];
    uint32_t min_hits = 0, max_alarms = 0, n_hit = 0, n_alarm = 0, n_defect = 0;
    uint32_t n = read_expected(e, &min_hits, &max_alarms);
    char path[1024];
    rig r;
    assert_true(n >= 20 && min_hits > 0);
    rig_open(&r, check_path(path, sizeof(path), MODEL),
             &(myth_engine_opts){.n_threads = 1, .n_ctx = 2048, .n_checkpoint = 1, .top_k = 64, .n_mask = 1});
    for (uint32_t i = 0; i < n; i++) {
        myth_material *material;
        myth_inspection *in = NULL;
        myth_inspect_opts o = {
            .style = MYTH_PROMPT_COMPACT,
            .max_prompt_tokens = MYTH_INSPECT_PROMPT_TOKENS,
            .max_new_tokens = MYTH_INSPECT_NEW_TOKENS,
            .n_ctx = 2048,
        };
        size_t len = read_corpus(bytes, e[i].path);
        bool hit = false;
        assert_ok(myth_material_whole(&material, r.mem, e[i].path, bytes, len, &rig_err));
        assert_ok(myth_inspect_open(&in, &r.model, material, &o, &rig_err));
        assert_ok(myth_inspect_run(in, r.engine, &rig_err));
        const myth_report *report = myth_inspect_report(in);
        assert_true(report->complete && report->n_dropped == 0);
        for (uint32_t k = 0; k < report->n_finding; k++) {
            check_finding(report, k);
            bool now = !hit && is_hit(&report->finding[k], &e[i]);
            hit = hit || now;
            n_alarm += !now;
        }
        n_hit += hit;
        n_defect += *e[i].rule != '\0';
        myth_inspect_close(in);
        myth_material_close(material);
    }
    rig_close(&r);
    printf("%u files: %u of %u defects found (at least %u), %u false alarms (at most %u)\n", n, n_hit, n_defect,
           min_hits, n_alarm, max_alarms);
    assert_true(n_hit >= min_hits);
    assert_true(n_alarm <= max_alarms);
}

/* The model's file names the prompt that this build makes. */
static void test_trained_for_this_prompt(void **unused)
{
    (void)unused;
    char path[1024], hash[MYTH_PROMPT_HASH_LEN + 1];
    myth_prompt_style style = MYTH_PROMPT_FULL;
    myth_str trained;
    uint32_t n_tok = 0;
    rig r;
    rig_open(&r, check_path(path, sizeof(path), MODEL), &(myth_engine_opts){.n_threads = 1, .n_ctx = 64, .top_k = 1});
    const myth_meta *meta = myth_weights_meta(r.model.weights);
    assert_ok(myth_prompt_style_of(&style, meta, &rig_err));
    assert_int_equal(style, MYTH_PROMPT_COMPACT);
    myth_prompt_hash(hash, style);
    assert_true(myth_meta_str(&trained, meta, "mythos.prompt_hash") && myth_str_is(trained, hash));
    assert_true(myth_meta_u32(&n_tok, meta, "mythos.trained_tokens") && n_tok >= 256);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trained_for_this_prompt),
                                       cmocka_unit_test(test_held_out_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
