/* model.c - a model's files together: weights, config, tokenizer. */
#include "model.h"

#include "engine/base/half.h"

#include <math.h>
#include <string.h>

myth_status myth_model_open(myth_model *out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                            myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_model){.mem = mem};
    MYTH_TRY(myth_weights_open(&out->weights, mem, spec, opts, err));
    MYTH_TRY(myth_config_read(&out->config, out->weights, err));
    st = myth_tokenizer_open(&out->tokenizer, mem, out->weights, err);
    if (st == MYTH_ENOTFOUND) /* a model without a vocabulary runs on ids */
        st = MYTH_OK;
    if (st == MYTH_OK)
        return MYTH_OK;
fail:
    myth_model_close(out);
    return st;
}

void myth_model_close(myth_model *m)
{
    myth_tokenizer_close(m->tokenizer);
    myth_weights_close(m->weights);
    *m = (myth_model){0};
}

/* A block is finite when its f16 fields are; 2^(e - 128) * 12 of mxfp4 while e <= 252. */
static bool is_finite_block(myth_dtype t, const unsigned char *p)
{
    const myth_dtype_info *info = myth_dtype_get(t);
    float f;
    uint16_t h;
    if (t == MYTH_F32) {
        memcpy(&f, p, 4);
        return isfinite(f);
    }
    if (t == MYTH_BF16) {
        memcpy(&h, p, 2);
        return (h & 0x7f80) != 0x7f80;
    }
    for (uint32_t i = 0; i < info->n_half; i++) {
        memcpy(&h, p + info->half_off + 2 * i, 2);
        if ((h & 0x7c00) == 0x7c00)
            return false;
    }
    return t != MYTH_MXFP4 || p[0] <= 252;
}

bool myth_tensor_is_finite(const myth_tensor *t)
{
    const unsigned char *p = t->data;
    uint32_t step = myth_dtype_block_bytes(t->dtype);
    for (uint64_t off = 0; off < t->bytes; off += step)
        if (!is_finite_block(t->dtype, p + off))
            return false;
    return true;
}

myth_status myth_model_check_tensors(const myth_model *m, myth_error *err)
{
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
        const myth_tensor *t = myth_weights_at(m->weights, i);
        if (t->data && !myth_tensor_is_finite(t))
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %.*s holds a value that is not finite",
                             myth_weights_path(m->weights), (int)t->name.len, t->name.text);
    }
    return MYTH_OK;
}
