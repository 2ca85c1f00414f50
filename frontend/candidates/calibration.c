/* calibration.c - reads a judge's calibration from its model and applies it. */
#include "calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_MAX = 32768 };

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* Reads a decimal number that ends at `end`. */
static bool read_number(float *out, const char *text, const char *end)
{
    char *stop;
    if (text + strspn(text, "+-.0123456789eE") < end)
        return false;
    *out = strtof(text, &stop);
    return stop == end && stop > text && isfinite(*out);
}

static bool has_row(const myth_calibration *c, const char *name, size_t n)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (strlen(c->row[i].name) == n && memcmp(c->row[i].name, name, n) == 0)
            return true;
    return false;
}

/* Reads "confidence=P", "tests=OFFSET", "RULE=SCALE:OFFSET" or "RULE/ROW=SCALE:OFFSET", each name once. */
static bool read_word(myth_calibration *c, const char *word, bool *has_tests)
{
    const char *is = strchr(word, '='), *end = word + strlen(word);
    if (!is || is == word)
        return false;
    const size_t n = (size_t)(is - word);
    if (n == strlen("confidence") && memcmp(word, "confidence", n) == 0)
        return c->confidence == 0 && read_number(&c->confidence, is + 1, end) && c->confidence > 0 &&
               c->confidence <= 1;
    if (n == strlen("tests") && memcmp(word, "tests", n) == 0) {
        const bool is_second = *has_tests;
        *has_tests = true;
        return !is_second && read_number(&c->tests, is + 1, end);
    }
    const char *mid = strchr(is, ':');
    if (!mid || n >= MYTH_CALIBRATION_NAME || c->n == MYTH_CALIBRATION_ROWS || has_row(c, word, n))
        return false;
    memcpy(c->row[c->n].name, word, n);
    c->row[c->n].name[n] = '\0';
    return read_number(&c->row[c->n].scale, is + 1, mid) && c->row[c->n].scale > 0 &&
           read_number(&c->row[c->n++].offset, mid + 1, end);
}

myth_status myth_calibration_read(myth_calibration *out, myth_str text, myth_error *err)
{
    bool has_tests = false;
    *out = (myth_calibration){0};
    for (size_t at = 0, n; at < text.len; at += n) {
        char word[96];
        for (n = 0; at + n < text.len && !is_space(text.text[at + n]);)
            n++;
        if (n && n < sizeof(word)) {
            memcpy(word, text.text + at, n);
            word[n] = '\0';
        }
        const bool is_text = n < sizeof(word) && (!n || strlen(word) == n);
        if (!is_text || (n && !read_word(out, word, &has_tests)))
            return myth_fail(err, MYTH_EFORMAT,
                             "calibration: \"%.*s\" is none of confidence=P, tests=OFFSET, RULE[/ROW]=SCALE:OFFSET, or "
                             "stands there twice",
                             (int)(n < 60 ? n : 60), text.text + at);
        n += !n;
    }
    return MYTH_OK;
}

void myth_calibration_file(char *dst, size_t cap, const char *model)
{
    struct stat st;
    const bool is_folder = stat(model, &st) == 0 && S_ISDIR(st.st_mode);
    snprintf(dst, cap, "%s%s", model, is_folder ? "/mythos.judge" : ".judge");
}

myth_status myth_calibration_open(myth_calibration *out, const myth_model *model, myth_error *err)
{
    myth_str text;
    char path[4096];
    unsigned char *bytes = NULL;
    size_t n = 0;
    struct stat st;
    *out = (myth_calibration){0};
    if (myth_meta_str(&text, myth_weights_meta(model->weights), "mythos.judge"))
        return myth_calibration_read(out, text, err);
    myth_calibration_file(path, sizeof(path), myth_weights_path(model->weights));
    if (stat(path, &st) != 0)
        return MYTH_OK;
    myth_status status = myth_cli_read(&bytes, &n, model->mem, path, TEXT_MAX, err);
    if (status == MYTH_OK)
        status = myth_calibration_read(out, (myth_str){(const char *)bytes, n}, err);
    myth_free(model->mem, bytes);
    return status;
}

myth_status myth_calibration_trained(uint32_t *n_tok, const myth_model *model, myth_error *err)
{
    const myth_meta *meta = myth_weights_meta(model->weights);
    const char *path = myth_weights_path(model->weights);
    myth_str languages;
    *n_tok = 0;
    if (myth_meta_str(&languages, meta, "mythos.languages") &&
        (languages.len > MYTH_CALIBRATION_LANGUAGES || memchr(languages.text, '\0', languages.len)))
        return myth_fail(err, MYTH_EFORMAT, "%.160s: mythos.languages: expected at most %d bytes of names", path,
                         MYTH_CALIBRATION_LANGUAGES);
    if (myth_meta_u32(n_tok, meta, "mythos.trained_tokens") && *n_tok > model->config.n_ctx_train)
        return myth_fail(err, MYTH_EFORMAT, "%.160s: mythos.trained_tokens: got %u, the model was made for %u", path,
                         *n_tok, model->config.n_ctx_train);
    return MYTH_OK;
}

/* How closely a name of the calibration fits a place: its row, its rule, any; 0 = not at all. */
static int closeness(const char *name, const char *rule, const char *row)
{
    const size_t n = strlen(rule);
    if (strcmp(name, "*") == 0)
        return 1;
    if (strncmp(name, rule, n) != 0)
        return 0;
    return name[n] == '\0' ? 2 : name[n] == '/' && strcmp(name + n + 1, row) == 0 ? 3 : 0;
}

double myth_calibration_probability(const myth_calibration *c, const char *rule, const char *row, float score,
                                    bool is_test)
{
    double scale = 1, offset = 0;
    int best = 0;
    for (uint32_t i = 0; i < c->n && best < 3; i++) {
        const int close = closeness(c->row[i].name, rule, row);
        if (close <= best)
            continue;
        best = close;
        scale = (double)c->row[i].scale;
        offset = (double)c->row[i].offset;
    }
    offset += is_test ? (double)c->tests : 0.0;
    return 1.0 / (1.0 + exp(-(scale * (double)score + offset)));
}
