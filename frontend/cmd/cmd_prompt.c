/* cmd_prompt.c - prints the prompt that inspect-file would build. Needs only a tokenizer and a configuration.
 *
 * Batch    reads a JSON object from each line and prints one for each, to train a model on exactly these tokens:
 *            in   {"path":"a.c", "code":"...", "findings":[{"lines":[3,4], "rule":"off-by-one", "evidence":"...",
 *                 ...}]}
 *            out  {"path","ids","answer","answer_ids"}   or   {"path","error"}
 *          With "within":[a,b] the prompt has only these lines, as for a part of a split file, numbered from 1; the
 *          lines of findings are still those of the file. Without "code" the file
 *          at path is read. Without "findings" the output has no answer. A finding needs lines and rule; evidence
 *          defaults to the first cited line that is not blank, severity to the rule's, status to likely, and the texts
 *          to "". answer_ids ends with the end-of-turn id. An answer that the prompt's grammar does not allow is an
 *          error. */
#include "frontend/inspect/answer/findings.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/cli.h"
#include "retrieval/retrieval.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_model_flags model;
    const char *batch, *style;
    bool json, text;
} prompt_opts;

static const myth_option options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(prompt_opts, json), NULL, 0, 0,
     "print ids, text and layout hash as JSON, one line for each file"},
    {"batch", NULL, MYTH_OPT_TEXT, "FILE", offsetof(prompt_opts, batch), NULL, 0, 0,
     "read JSON lines with path, code and findings (- = standard input); see the man page"},
    {"text", NULL, MYTH_OPT_FLAG, NULL, offsetof(prompt_opts, text), NULL, 0, 0,
     "with --batch: also print the prompt's text"},
    {"prompt-style", "--style", MYTH_OPT_TEXT, "STYLE", offsetof(prompt_opts, style), NULL, 0, 0,
     "compact or full; the default is what the model was trained for"},
};

static const myth_option_group groups[] = {MYTH_GROUP("prompt", prompt_opts, options),
                                           MYTH_GROUP_MODEL(prompt_opts, model)};

typedef struct {
    myth_cli *cli;
    const prompt_opts *o;
    myth_model model;
    myth_prompt_style style;
    myth_json_out out;
} run;

/* Everything that is allocated for one file. */
typedef struct {
    unsigned char *bytes;
    myth_source src;
    myth_block block;
    int32_t *ids;
    size_t n_ids;
    char *text;
    char *answer;
    size_t answer_len;
    int32_t *answer_ids;
    size_t n_answer_ids;
} item;

static void item_close(run *r, item *it)
{
    myth_mem *mem = r->cli->mem;
    myth_free(mem, it->answer_ids);
    myth_free(mem, it->answer);
    myth_free(mem, it->text);
    myth_free(mem, it->ids);
    myth_source_close(&it->src);
    myth_free(mem, it->bytes);
    memset(it, 0, sizeof(*it));
}

/* code NULL: the file at path is read. within NULL: all lines. */
static myth_status item_open(run *r, item *it, const char *path, const char *code, size_t code_len,
                             const json_t *within, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_mem *mem = r->cli->mem;
    myth_prompt p = {.style = r->style, .block = &it->block, .n_block = 1};
    size_t bound;
    if (!code) {
        MYTH_TRY(myth_cli_read(&it->bytes, &code_len, mem, path, MYTH_SOURCE_MAX, err));
        code = (const char *)it->bytes;
    }
    MYTH_TRY(myth_source_open(&it->src, mem, path, (const unsigned char *)code, code_len, err));
    it->block = (myth_block){.src = &it->src, .first = 1, .last = it->src.n_line};
    if (within) {
        json_int_t first = json_integer_value(json_array_get(within, 0)),
                   last = json_integer_value(json_array_get(within, 1));
        if (first < 1 || last < first || last > it->src.n_line)
            return myth_fail(err, MYTH_EARG, "within: got [%lld, %lld], the file has lines 1 to %u", (long long)first,
                             (long long)last, it->src.n_line);
        it->block.first = (uint32_t)first;
        it->block.last = (uint32_t)last;
        myth_blocks_number(&it->block, 0, 1);
    }
    bound = myth_prompt_bound(&p);
    it->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "prompt ids", bound, sizeof(int32_t));
    if (!it->ids)
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %zu ids", path, bound);
    st = myth_prompt_encode(r->model.tokenizer, mem, myth_chat_form_of(&r->model.config, r->model.tokenizer), &p,
                            it->ids, bound, &it->n_ids, err);
fail:
    return st;
}

static myth_status write_text(run *r, item *it, myth_error *err)
{
    const myth_tokenizer *t = r->model.tokenizer;
    size_t len = myth_prompt_text(NULL, 0, t, it->ids, it->n_ids);
    it->text = myth_alloc(r->cli->mem, MYTH_MEM_STAGING, "prompt text", len);
    if (!it->text)
        return myth_fail(err, MYTH_ENOMEM, "prompt: out of memory for %zu bytes", len);
    myth_prompt_text(it->text, len, t, it->ids, it->n_ids);
    if (r->o->json || r->o->batch) {
        myth_jout_key(&r->out, "text");
        myth_jout_text(&r->out, it->text, len);
    } else {
        myth_term_data(r->cli->term, stdout, it->text, len);
        putchar('\n');
    }
    return MYTH_OK;
}

/* ---- files named as arguments ---- */

static int print_file(run *r, const char *path)
{
    item it = {0};
    myth_error err = {0};
    myth_place place;
    size_t n = 0;
    myth_place_find(&place, path);
    myth_status st = myth_cli_read(&it.bytes, &n, r->cli->mem, path, MYTH_SOURCE_MAX, &err);
    if (st == MYTH_OK)
        st = item_open(r, &it, place.path, (const char *)it.bytes, n, NULL, &err);
    if (st == MYTH_OK && r->o->json) {
        char hash[MYTH_PROMPT_HASH_LEN + 1];
        myth_prompt_hash(hash, r->style);
        myth_jout_start(&r->out, stdout);
        myth_jout_object(&r->out);
        myth_jout_key_str(&r->out, "path", place.path);
        myth_jout_key_str(&r->out, "style", myth_prompt_style_name(r->style));
        myth_jout_key_str(&r->out, "hash", hash);
        myth_jout_key(&r->out, "ids");
        myth_jout_ids(&r->out, it.ids, it.n_ids);
        st = write_text(r, &it, &err);
        myth_jout_end(&r->out);
    } else if (st == MYTH_OK) {
        st = write_text(r, &it, &err);
    }
    item_close(r, &it);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(r->cli, &err);
}

/* ---- batch ---- */

static myth_str json_str(const json_t *v, const char *key)
{
    const json_t *s = json_object_get(v, key);
    return json_is_string(s) ? (myth_str){json_string_value(s), json_string_length(s)} : (myth_str){"", 0};
}

/* Copies the first cited line that is not blank, cut after a whole character to the grammar's limit. */
static size_t default_evidence(char *dst, size_t cap, const myth_block *b, const myth_finding *f, size_t limit)
{
    uint32_t idx = b->src->line[f->first - 1].next, off, len;
    if (idx >= b->src->n_line)
        return 0;
    myth_line_trim(b->src, idx, &off, &len);
    const unsigned char *p = b->src->bytes + off;
    while (len && (myth_spell(NULL, 0, p, len) > limit || myth_spell_lossy(NULL, 0, p, len) > cap))
        do
            len--;
        while (len && (p[len] & 0xc0) == 0x80);
    return myth_spell_lossy(dst, cap, p, len);
}

enum { EVIDENCE_CAP = 512 };

static myth_status read_finding(run *r, const item *it, myth_finding *f, const json_t *v, char evidence[EVIDENCE_CAP],
                                myth_error *err)
{
    const json_t *lines = json_object_get(v, "lines");
    myth_str rule = json_str(v, "rule"), severity = json_str(v, "severity"), status = json_str(v, "status");
    memset(f, 0, sizeof(*f));
    json_int_t first = json_integer_value(json_array_get(lines, 0)),
               last = json_integer_value(json_array_get(lines, 1));
    if (first < it->block.first || last < first || last > it->block.last)
        return myth_fail(err, MYTH_EARG, "lines: got [%lld, %lld], the prompt has lines %u to %u", (long long)first,
                         (long long)last, it->block.first, it->block.last);
    f->first = (uint32_t)first;
    f->last = (uint32_t)last;
    f->rule = myth_rule_find(rule.text, rule.len);
    if (f->rule < 0)
        return myth_fail(err, MYTH_EARG, "rule: unknown rule \"%.*s\"", (int)(rule.len < 40 ? rule.len : 40),
                         rule.text);
    f->severity = myth_rules[f->rule].severity;
    for (int i = 0; i < MYTH_SEVERITY_N; i++)
        if (myth_str_is(severity, myth_severity_name((myth_severity)i)))
            f->severity = (myth_severity)i;
    f->status = MYTH_LIKELY;
    for (int i = 0; i < MYTH_FINDING_STATUS_N; i++)
        if (myth_str_is(status, myth_finding_status_name((myth_finding_status)i)))
            f->status = (myth_finding_status)i;
    f->evidence = json_str(v, "evidence");
    if (!f->evidence.len) {
        size_t limit = (size_t)myth_findings_limits_of(r->style)->evidence;
        f->evidence = (myth_str){evidence, default_evidence(evidence, EVIDENCE_CAP, &it->block, f, limit)};
    }
    f->issue = json_str(v, "issue");
    f->why = json_str(v, "why");
    f->fix = json_str(v, "fix");
    f->missing = json_str(v, "missing");
    return MYTH_OK;
}

/* Checks that the grammar of the prompt allows exactly this answer. */
static myth_status check_answer(const run *r, const item *it, myth_error *err)
{
    uint64_t state[MYTH_AUTOMATON_STATE_MAX / 8];
    myth_findings_grammar g = {.block = &it->block, .n_block = 1, .limits = myth_findings_limits_of(r->style)};
    myth_automaton a;
    myth_findings_automaton(&a, &g);
    a.start(a.self, state);
    for (size_t i = 0; i < it->answer_len; i++)
        if (!a.step(a.self, state, (uint8_t)it->answer[i])) {
            size_t from = i > 40 ? i - 40 : 0;
            return myth_fail(err, MYTH_EARG, "answer: the grammar does not allow byte %zu, after %.*s", i,
                             (int)(i - from), it->answer + from);
        }
    return MYTH_OK;
}

static myth_status build_answer(run *r, item *it, const json_t *list, const json_t *context, myth_error *err)
{
    myth_finding f[MYTH_FINDING_MAX];
    myth_str names[MYTH_CONTEXT_MAX];
    char evidence[MYTH_FINDING_MAX][EVIDENCE_CAP];
    myth_mem *mem = r->cli->mem;
    myth_status st = MYTH_OK;
    size_t n = json_array_size(list), n_names = json_array_size(context), bound;
    if (n > MYTH_FINDING_MAX || n_names > MYTH_CONTEXT_MAX)
        return myth_fail(err, MYTH_EARG, "%zu findings, the limit is %d", n, (int)MYTH_FINDING_MAX);
    for (size_t i = 0; i < n; i++)
        MYTH_TRY(read_finding(r, it, &f[i], json_array_get(list, i), evidence[i], err));
    for (size_t i = 0; i < n_names; i++)
        names[i] =
            (myth_str){json_string_value(json_array_get(context, i)), json_string_length(json_array_get(context, i))};
    it->answer_len = myth_answer_write(NULL, 0, &it->block, f, (uint32_t)n, names, (uint32_t)n_names);
    it->answer = myth_alloc(mem, MYTH_MEM_STAGING, "answer", it->answer_len);
    bound = myth_tokenizer_bound(it->answer_len) + 1;
    it->answer_ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "answer ids", bound, sizeof(int32_t));
    if (!it->answer || !it->answer_ids)
        return myth_fail(err, MYTH_ENOMEM, "answer: out of memory for %zu bytes", it->answer_len);
    myth_answer_write(it->answer, it->answer_len, &it->block, f, (uint32_t)n, names, (uint32_t)n_names);
    MYTH_TRY(check_answer(r, it, err));
    MYTH_TRY(myth_tokenizer_encode(r->model.tokenizer, mem, MYTH_TOK_CONTENT, it->answer, it->answer_len,
                                   it->answer_ids, bound - 1, &it->n_answer_ids, err));
    const myth_special_ids *special = myth_tokenizer_special(r->model.tokenizer);
    it->answer_ids[it->n_answer_ids++] = special->end_of_turn >= 0 ? special->end_of_turn : special->eos;
fail:
    return st;
}

static bool batch_line(run *r, const char *line, size_t len, size_t number)
{
    item it = {0};
    myth_error err = {0};
    json_error_t jerr;
    json_t *v = json_loadb(line, len, JSON_ALLOW_NUL, &jerr);
    myth_str path = json_str(v, "path"), code = json_str(v, "code");
    const json_t *list = json_object_get(v, "findings");
    bool has_code = json_is_string(json_object_get(v, "code"));
    myth_status st = MYTH_OK;
    if (!v || !path.len)
        st = myth_fail(&err, MYTH_EFORMAT, "line %zu: %s", number, v ? "no path" : jerr.text);
    if (st == MYTH_OK)
        st = item_open(r, &it, path.text, has_code ? code.text : NULL, code.len, json_object_get(v, "within"), &err);
    if (st == MYTH_OK && json_is_array(list))
        st = build_answer(r, &it, list, json_object_get(v, "missing_context"), &err);
    myth_jout_start(&r->out, stdout);
    myth_jout_object(&r->out);
    myth_jout_key(&r->out, "path");
    myth_jout_text(&r->out, path.text, path.len);
    if (st == MYTH_OK) {
        myth_jout_key(&r->out, "ids");
        myth_jout_ids(&r->out, it.ids, it.n_ids);
        if (it.answer) {
            myth_jout_key(&r->out, "answer");
            myth_jout_text(&r->out, it.answer, it.answer_len);
            myth_jout_key(&r->out, "answer_ids");
            myth_jout_ids(&r->out, it.answer_ids, it.n_answer_ids);
        }
        if (r->o->text)
            st = write_text(r, &it, &err);
    }
    if (st != MYTH_OK) {
        char text[sizeof(err.msg) + 128];
        myth_cli_spell(text, sizeof(text), &err);
        myth_jout_key_str(&r->out, "error", text);
    }
    myth_jout_end(&r->out);
    item_close(r, &it);
    json_decref(v);
    return st == MYTH_OK;
}

static int run_batch(run *r, const char *path)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    if (!f)
        return errno == ENOENT || errno == ENOTDIR
                 ? myth_cli_failf(r->cli, MYTH_ENOTFOUND, "%s: no such file", path)
                 : myth_cli_failf(r->cli, MYTH_EIO, "%s: cannot open: %s", path, strerror(errno));
    char *line = NULL;
    size_t cap = 0, number = 0, n_bad = 0;
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0 && !myth_cancelled(r->cli->cancel);) {
        number++;
        n_bad += !batch_line(r, line, (size_t)n, number);
    }
    const int failed = ferror(f) ? errno : 0;
    free(line);
    if (f != stdin)
        fclose(f);
    if (failed)
        return myth_cli_failf(r->cli, MYTH_EIO, "%s: %s", path,
                              failed == EISDIR ? "a directory where a file is expected" : strerror(failed));
    if (n_bad)
        return myth_cli_failf(r->cli, MYTH_EFORMAT,
                              "%.120s: %zu of %zu line%s %s refused; the output says why, beside \"error\"", path,
                              n_bad, number, myth_s(number), n_bad == 1 ? "was" : "were");
    return MYTH_EXIT_CLEAN;
}

static int run_prompt(myth_cli *cli, const void *opts)
{
    run r = {.cli = cli, .o = opts};
    myth_error err = {0};
    myth_status st;
    int code = MYTH_EXIT_CLEAN;
    if (!r.o->batch && !cli->n_arg)
        return myth_cli_failf(cli, MYTH_EARG,
                              "prompt: PATH is missing; name files, or a list of them with --batch FILE");
    if (r.o->batch && cli->n_arg)
        return myth_cli_failf(
            cli, MYTH_EARG, "prompt: --batch has the files, so %.120s is one too many; give one of both", cli->arg[0]);
    if (r.o->text && !r.o->batch)
        return myth_cli_failf(cli, MYTH_EARG,
                              "prompt: --text adds the text to the lines of --batch; without it the text "
                              "is printed anyway");
    MYTH_TRY(myth_cli_model_open(cli, &r.model, &r.o->model, NULL, MYTH_WEIGHTS_CONFIG, &err));
    if (!r.model.tokenizer) {
        st = myth_fail(&err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give a model with one",
                       myth_weights_path(r.model.weights));
        goto fail;
    }
    MYTH_TRY(myth_prompt_style_of(&r.style, myth_weights_meta(r.model.weights), &err));
    if (r.o->style && !myth_prompt_style_from_name(&r.style, r.o->style)) {
        st = myth_fail(&err, MYTH_EARG, "--prompt-style: got \"%s\", expected compact or full", r.o->style);
        goto fail;
    }
    if (r.o->batch)
        code = run_batch(&r, r.o->batch);
    for (int i = 0; i < cli->n_arg && !myth_cancelled(cli->cancel); i++)
        code = myth_exit_worse(code, print_file(&r, cli->arg[i]));
fail:
    myth_model_close(&r.model);
    return st == MYTH_OK ? code : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_prompt = {
    .name = "prompt",
    .args = "[PATH...]",
    .help = "print the prompt that inspect-file builds",
    .detail = "With --batch, each line of the input is an object with path, and optionally code (the file's text), "
              "within (first and "
              "last line of the part to show), findings (the answer to train on: lines and rule, optionally evidence, "
              "severity, status, "
              "issue, why, fix, missing) and missing_context. Each line of the output has path, ids, and with "
              "findings answer and "
              "answer_ids (ending in the end of turn), or path and error.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(prompt_opts),
    .min_arg = 0,
    .max_arg = 1 << 20,
    .run = run_prompt,
};
