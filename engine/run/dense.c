/* dense.c - see dense.h. */
#include "dense.h"

#include "engine/base/json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DENSE_MAX = 1 << 16, CONFIG_BYTES = 8192 };

/* The path of a file in the folder of a module. False: not a folder of safetensors, or the path is too long. */
static bool module_file(char path[PATH_MAX], const myth_model *m, uint32_t number, const char *rest)
{
    const char *dir = myth_weights_dir(m->weights);
    if (!dir || myth_weights_get_format(m->weights) != MYTH_FORMAT_SAFETENSORS)
        return false;
    const int n = snprintf(path, PATH_MAX, "%s/%u_%s", dir, number, rest);
    return n > 0 && n < PATH_MAX;
}

static bool file_of(char path[PATH_MAX], const myth_model *m, uint32_t i)
{
    return module_file(path, m, i + 2, "Dense/model.safetensors");
}

/* ---- what the modules' configs say ---- */

static myth_status not_such(const char *path, const myth_json_token *key, const myth_json_token *value,
                            const char *supported, myth_error *err)
{
    return myth_fail(err, MYTH_EUNSUPPORTED, "%s: %.*s %.*s is not supported; supported: %s", path,
                     (int)(key->len < 40 ? key->len : 40), key->span, (int)(value->len < 60 ? value->len : 60),
                     value->span, supported);
}

/* One member of 1_Pooling/config.json: the mean of all tokens is what is computed. The older spelling has a switch for
 * each mode, the newer one a name, or a list of names. */
static myth_status check_pooling(myth_json *j, const myth_json_token *key, myth_error *err)
{
    static const char stem[] = "pooling_mode_", mean[] = "pooling_mode_mean_tokens";
    const size_t n_stem = sizeof(stem) - 1;
    const bool is_mode = myth_json_is(key, "pooling_mode");
    const bool is_switch = key->len > n_stem && memcmp(key->span, stem, n_stem) == 0;
    const bool is_prompt = myth_json_is(key, "include_prompt");
    myth_json_token v;
    if (!is_mode && !is_switch && !is_prompt)
        return myth_json_skip(j, err);
    myth_status st = myth_json_next(j, &v, err);
    if (st != MYTH_OK)
        return st;
    if (is_prompt)
        return v.type == MYTH_JSON_FALSE ? not_such(j->path, key, &v, "true", err) : MYTH_OK;
    if (is_switch) {
        const bool is_other = v.type == MYTH_JSON_TRUE && !myth_json_is(key, mean);
        return is_other ? not_such(j->path, key, &v, "pooling_mode_mean_tokens", err) : MYTH_OK;
    }
    const bool is_list = v.type == MYTH_JSON_ARRAY;
    while (is_list && (st = myth_json_next(j, &v, err)) == MYTH_OK && myth_json_is(&v, "mean"))
        ;
    if (st != MYTH_OK || (is_list && v.type == MYTH_JSON_ARRAY_END) || myth_json_is(&v, "mean"))
        return st;
    return not_such(j->path, key, &v, "mean", err);
}

/* One member of a dense layer's config: a plain product is what is computed. */
static myth_status check_layer(myth_json *j, const myth_json_token *key, myth_error *err)
{
    static const char identity[] = "Identity";
    const size_t n = sizeof(identity) - 1;
    const bool is_activation = myth_json_is(key, "activation_function"), is_sum = myth_json_is(key, "use_residual");
    myth_json_token v;
    if (!is_activation && !is_sum)
        return myth_json_skip(j, err);
    const myth_status st = myth_json_next(j, &v, err);
    if (st != MYTH_OK)
        return st;
    if (is_sum)
        return v.type == MYTH_JSON_TRUE ? not_such(j->path, key, &v, "false", err) : MYTH_OK;
    const bool is_plain = v.type == MYTH_JSON_NULL || (v.len >= n && memcmp(v.span + v.len - n, identity, n) == 0);
    return is_plain ? MYTH_OK : not_such(j->path, key, &v, "torch.nn.modules.linear.Identity", err);
}

/* A config that is not there says nothing. */
static myth_status check_config(const char *path,
                                myth_status (*check)(myth_json *, const myth_json_token *, myth_error *),
                                myth_error *err)
{
    char text[CONFIG_BYTES];
    myth_json j;
    myth_json_token key;
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT || errno == ENOTDIR ? MYTH_OK
                                                   : myth_fail(err, MYTH_EIO, "%s: %s", path, strerror(errno));
    const size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    if (n == sizeof(text))
        return myth_fail(err, MYTH_EFORMAT, "%s: expected less than %d bytes", path, CONFIG_BYTES);
    myth_json_start(&j, text, n, path);
    myth_status st = myth_json_next(&j, &key, err);
    if (st == MYTH_OK && key.type != MYTH_JSON_OBJECT)
        return myth_fail(err, MYTH_EFORMAT, "%s: expected an object", path);
    while (st == MYTH_OK && (st = myth_json_next(&j, &key, err)) == MYTH_OK && key.type == MYTH_JSON_KEY)
        st = check(&j, &key, err);
    return st;
}

static myth_status check_configs(const myth_model *m, myth_error *err)
{
    char path[PATH_MAX];
    myth_status st = MYTH_OK;
    if (module_file(path, m, 1, "Pooling/config.json"))
        st = check_config(path, check_pooling, err);
    for (uint32_t i = 0; i < MYTH_DENSE_N && st == MYTH_OK && myth_dense_has(m); i++)
        if (module_file(path, m, i + 2, "Dense/config.json"))
            st = check_config(path, check_layer, err);
    return st;
}

/* ---- the layers ---- */

bool myth_dense_has(const myth_model *m)
{
    char path[PATH_MAX];
    return m->config.is_bidirectional &&
           (myth_config_dense(m->weights, 0) || (file_of(path, m, 0) && access(path, F_OK) == 0));
}

static myth_status open_layer(myth_dense *d, const myth_model *m, myth_weights_level level, uint32_t i, myth_error *err)
{
    char path[PATH_MAX];
    const myth_weights_opts opts = {.level = level, .pread = myth_weights_is_read(m->weights), .is_piece = true};
    if ((d->layer[i] = myth_config_dense(m->weights, i)) != NULL)
        return MYTH_OK;
    if (!file_of(path, m, i))
        return myth_fail(err, MYTH_EFORMAT, "%s: dense layer %u is missing", myth_weights_path(m->weights), i + 2);
    myth_status st = myth_weights_open(&d->own[i], m->mem, path, &opts, err);
    if (st != MYTH_OK)
        return st;
    d->layer[i] = myth_weights_find(d->own[i], "linear.weight");
    return d->layer[i] && myth_weights_n_tensor(d->own[i]) == 1
             ? MYTH_OK
             : myth_fail(err, MYTH_EFORMAT, "%s: expected one tensor, linear.weight", path);
}

myth_status myth_dense_open(myth_dense *out, const myth_model *m, myth_weights_level level, myth_error *err)
{
    *out = (myth_dense){0};
    uint64_t n_in = m->config.d_model;
    if (m->config.is_bidirectional) {
        myth_status st = check_configs(m, err);
        if (st != MYTH_OK)
            return st;
    }
    if (!myth_dense_has(m))
        return MYTH_OK;
    for (uint32_t i = 0; i < MYTH_DENSE_N; i++) {
        myth_status st = open_layer(out, m, level, i, err);
        if (st != MYTH_OK)
            return st;
        const myth_tensor *t = out->layer[i];
        if (t->n_dim != 2 || t->dim[1] != n_in || !t->dim[0] || t->dim[0] > DENSE_MAX ||
            n_in % myth_dtype_block(t->dtype))
            return myth_fail(err, MYTH_EFORMAT, "%s: dense layer %u: expected a matrix of %llu columns",
                             myth_weights_path(m->weights), i + 2, (unsigned long long)n_in);
        n_in = t->dim[0];
    }
    return MYTH_OK;
}

void myth_dense_close(myth_dense *d)
{
    for (uint32_t i = 0; i < MYTH_DENSE_N; i++)
        myth_weights_close(d->own[i]);
    *d = (myth_dense){0};
}
