/* dense.c - see dense.h. */
#include "dense.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { DENSE_MAX = 1 << 16 };

/* False: not a folder of safetensors, or the path is too long. */
static bool file_of(char path[PATH_MAX], const myth_model *m, uint32_t i)
{
    const char *dir = myth_weights_dir(m->weights);
    if (!dir || myth_weights_get_format(m->weights) != MYTH_FORMAT_SAFETENSORS)
        return false;
    const int n = snprintf(path, PATH_MAX, "%s/%u_Dense/model.safetensors", dir, i + 2);
    return n > 0 && n < PATH_MAX;
}

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
    if (!myth_dense_has(m))
        return MYTH_OK;
    uint64_t n_in = m->config.d_model;
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
