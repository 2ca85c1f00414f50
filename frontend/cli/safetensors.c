/* safetensors.c - see safetensors.h. */
#include "safetensors.h"

#include "json_out.h"

#include <errno.h>
#include <string.h>

static uint64_t bytes_of(const myth_safetensor *t)
{
    uint64_t n = t->dtype[1] == '6' ? 8 : 4;
    for (int i = 0; i < t->n_dim; i++)
        n *= t->shape[i];
    return n;
}

static void print_header(FILE *f, const myth_safetensor *tensor, size_t n, const myth_safetensor_meta *meta,
                         size_t n_meta)
{
    myth_json_out j;
    uint64_t at = 0;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key(&j, "__metadata__");
    myth_jout_object(&j);
    for (size_t i = 0; i < n_meta; i++)
        myth_jout_key_str(&j, meta[i].key, meta[i].value);
    myth_jout_end(&j);
    for (size_t i = 0; i < n; i++) {
        myth_jout_key(&j, tensor[i].name);
        myth_jout_object(&j);
        myth_jout_key_str(&j, "dtype", tensor[i].dtype);
        myth_jout_key(&j, "shape");
        myth_jout_array(&j);
        for (int d = 0; d < tensor[i].n_dim; d++)
            myth_jout_u64(&j, tensor[i].shape[d]);
        myth_jout_end(&j);
        myth_jout_key(&j, "data_offsets");
        myth_jout_array(&j);
        myth_jout_u64(&j, at);
        myth_jout_u64(&j, at += bytes_of(&tensor[i]));
        myth_jout_end(&j);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
}

myth_status myth_safetensors_begin(myth_safetensors *out, const char *path, const myth_safetensor *tensor, size_t n,
                                   const myth_safetensor_meta *meta, size_t n_meta, myth_error *err)
{
    static const unsigned char zero[8];
    unsigned char length[8];
    *out = (myth_safetensors){0};
    if (myth_out_is_special(path))
        return myth_fail(err, MYTH_ECREATE, "%s: a .safetensors file needs a regular file", path);
    myth_status st = myth_out_print_open(&out->file, &out->f, path, err);
    if (st != MYTH_OK)
        return st;
    fwrite(zero, 1, 8, out->f);
    print_header(out->f, tensor, n, meta, n_meta);
    fseek(out->f, -1, SEEK_CUR); /* over the newline */
    long end = ftell(out->f);
    do
        fputc(' ', out->f);
    while (++end % 8);
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)(end - 8) >> 8 * i);
    fseek(out->f, 0, SEEK_SET);
    fwrite(length, 1, 8, out->f);
    fseek(out->f, 0, SEEK_END);
    for (size_t i = 0; i < n; i++)
        out->left += bytes_of(&tensor[i]);
    if (ferror(out->f)) {
        st = myth_fail(err, MYTH_EIO, "%s: cannot write: %s", path, strerror(errno));
        myth_safetensors_abandon(out);
    }
    return st;
}

void myth_safetensors_put(myth_safetensors *s, const void *bytes, size_t n)
{
    fwrite(bytes, 1, n, s->f);
    s->left -= n; /* more than was announced is as wrong as less */
}

myth_status myth_safetensors_end(myth_safetensors *s, myth_error *err)
{
    const myth_status whole =
        s->left ? myth_fail(err, MYTH_EFORMAT, "%s: its values do not fill its header", s->file.path) : MYTH_OK;
    const myth_status st = myth_out_print_close(&s->file, s->f, whole, err);
    *s = (myth_safetensors){0};
    return st;
}

void myth_safetensors_abandon(myth_safetensors *s)
{
    if (s->file.path)
        myth_out_print_close(&s->file, s->f, MYTH_ECANCEL, NULL);
    *s = (myth_safetensors){0};
}
