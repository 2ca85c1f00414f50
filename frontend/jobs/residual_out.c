/* residual_out.c - see residual_out.h. */
#include "residual_out.h"

#include "frontend/cli/term.h"

#include <math.h>
#include <string.h>

enum { TENSORS_OF_LABEL = 5, TENSORS_OF_STATS = 6, LABELS_SHOWN = 6 };

const myth_residual_figure_kind myth_residual_figures[MYTH_RESIDUAL_FIGURE_N] = {
    {"norm", "norm of the mean", "Length of the mean", 0, false},
    {"distance", "distance", "Distance of the means to the base's", 0, true},
    {"cosine_to_base", "cosine to base", "Cosine of the means and the base's", 0, true},
    {"row_norm", "norm of rows", "Mean length of the rows", MYTH_STAT_NORMS, false},
    {"row_norm_min", "least", NULL, MYTH_STAT_NORMS, false},
    {"row_norm_max", "greatest", "Greatest length of a row", MYTH_STAT_NORMS, false},
    {"min", "least value", "Least value of a row", MYTH_STAT_MINMAX, false},
    {"max", "greatest value", "Greatest value of a row", MYTH_STAT_MINMAX, false},
    {"spread", "spread", "Spread: root of the summed variances", MYTH_STAT_VARIANCE, false},
};

double myth_residual_figure_at(const myth_residual_figure *g, int kind)
{
    const double of[MYTH_RESIDUAL_FIGURE_N] = {g->norm,     g->distance,     g->cosine_to_base,
                                               g->row_norm, g->row_norm_min, g->row_norm_max,
                                               g->min,      g->max,          g->spread};
    return of[kind];
}

static size_t n_tensor_most(uint32_t n_label, uint32_t stats)
{
    return 1 + (TENSORS_OF_LABEL + (stats ? TENSORS_OF_STATS : 0)) * (size_t)n_label;
}

static uint64_t values_of(uint32_t n_layer, uint32_t dim) { return (2 * (uint64_t)n_layer + 1) * dim; }

uint64_t myth_residual_out_bytes(const myth_residual_shape *is)
{
    return 8 * values_of(is->n_layer, is->dim) + 4 * (uint64_t)is->dim +
           n_tensor_most(is->n_label, is->stats) * sizeof(myth_safetensor);
}

uint64_t myth_residual_out_data_bytes(const myth_residual_shape *is, bool is_f64)
{
    const uint64_t n_layer = is->n_layer, rows = n_layer * is->dim * (is_f64 ? 8 : 4), away = is->n_label - 1,
                   stats = (is->stats & MYTH_STAT_NORMS ? 3 * 8 * n_layer : 0) +
                           (is->stats & MYTH_STAT_MINMAX ? 2 * rows : 0) + (is->stats & MYTH_STAT_VARIANCE ? rows : 0);
    return 8 * n_layer + is->n_label * (rows + stats + 8) + away * (rows + 8 * n_layer + 8 * n_layer * n_layer);
}

/* ---- tensors ---- */

static void name_tensor(myth_safetensor *t, const char *kind, const char *label, const char *dtype, int n_dim,
                        uint64_t a, uint64_t b)
{
    *t = (myth_safetensor){.dtype = dtype, .n_dim = n_dim, .shape = {a, b}};
    snprintf(t->name, sizeof(t->name), "%.20s%.*s", kind, MYTH_LABEL_BYTES, label);
}

static size_t list_tensors(const myth_residual_out *o, myth_safetensor *t)
{
    const char *type = o->is_f64 ? "F64" : "F32";
    size_t n = 0;
    name_tensor(&t[n++], "layers", "", "I64", 1, o->n_layer, 0);
    for (uint32_t k = 0; k < o->n_label; k++) {
        name_tensor(&t[n++], "count.", o->label[k], "I64", 1, 1, 0);
        name_tensor(&t[n++], "mean.", o->label[k], type, 2, o->n_layer, o->dim);
        if (o->stats & MYTH_STAT_NORMS) {
            name_tensor(&t[n++], "norm_mean.", o->label[k], "F64", 1, o->n_layer, 0);
            name_tensor(&t[n++], "norm_min.", o->label[k], "F64", 1, o->n_layer, 0);
            name_tensor(&t[n++], "norm_max.", o->label[k], "F64", 1, o->n_layer, 0);
        }
        if (o->stats & MYTH_STAT_MINMAX) {
            name_tensor(&t[n++], "min.", o->label[k], type, 2, o->n_layer, o->dim);
            name_tensor(&t[n++], "max.", o->label[k], type, 2, o->n_layer, o->dim);
        }
        if (o->stats & MYTH_STAT_VARIANCE)
            name_tensor(&t[n++], "variance.", o->label[k], type, 2, o->n_layer, o->dim);
    }
    for (uint32_t k = 0; k < o->n_label; k++) {
        if (k == o->base)
            continue;
        name_tensor(&t[n++], "direction.", o->label[k], type, 2, o->n_layer, o->dim);
        name_tensor(&t[n++], "distance.", o->label[k], "F64", 1, o->n_layer, 0);
        name_tensor(&t[n++], "cosine.", o->label[k], "F64", 2, o->n_layer, o->n_layer);
    }
    return n;
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double cosine_of(const double *a, const double *b, uint32_t n)
{
    const double length = sqrt(dot(a, a, n)) * sqrt(dot(b, b, n));
    return length == 0.0 ? 0.0 : dot(a, b, n) / length; /* NaN of NaN */
}

typedef struct {
    myth_safetensors file;
    double *base, *row, *away; /* [n_layer, dim] the base's means; [dim]; [n_layer, dim] directions */
    float *narrow;             /* [dim] */
} writer;

static void put_row(writer *w, const myth_residual_out *o, const double *row)
{
    if (o->is_f64) {
        myth_safetensors_put(&w->file, row, 8 * (size_t)o->dim);
        return;
    }
    for (uint32_t i = 0; i < o->dim; i++)
        w->narrow[i] = (float)row[i];
    myth_safetensors_put(&w->file, w->narrow, 4 * (size_t)o->dim);
}

static myth_status write_means(writer *w, myth_residual_out *o, uint32_t k, myth_error *err)
{
    for (uint32_t i = 0; i < o->n_layer; i++) {
        uint64_t n = 0;
        const myth_status st = o->mean(o->user, k, i, w->row, &n, err);
        if (st != MYTH_OK)
            return st;
        o->count[k] = n;
        if (i == 0) {
            const int64_t count = (int64_t)n;
            myth_safetensors_put(&w->file, &count, 8);
        }
        o->figure[(size_t)k * o->n_layer + i] = (myth_residual_figure){.norm = sqrt(dot(w->row, w->row, o->dim))};
        put_row(w, o, w->row);
    }
    return MYTH_OK;
}

static void write_norms(writer *w, const myth_residual_out *o, uint32_t k, myth_residual_figure *figure)
{
    double norm[3];
    for (uint32_t i = 0; i < o->n_layer; i++) {
        myth_residual_sums_norms(o->sums, k, i, norm);
        figure[i].row_norm = norm[0];
        figure[i].row_norm_min = norm[1];
        figure[i].row_norm_max = norm[2];
    }
    for (int which = 0; which < 3; which++)
        for (uint32_t i = 0; i < o->n_layer; i++) {
            const double v = myth_residual_figure_at(&figure[i], 3 + which);
            myth_safetensors_put(&w->file, &v, 8);
        }
}

static void write_edges(writer *w, const myth_residual_out *o, uint32_t k, myth_residual_figure *figure)
{
    double *least = w->row, *most = w->away; /* which has no directions yet */
    for (int which = 0; which < 2; which++)
        for (uint32_t i = 0; i < o->n_layer; i++) {
            myth_residual_sums_edges(o->sums, k, i, least, most);
            put_row(w, o, which ? most : least);
            figure[i].min = least[0];
            figure[i].max = most[0];
            for (uint32_t c = 1; c < o->dim; c++) {
                figure[i].min = fmin(figure[i].min, least[c]);
                figure[i].max = fmax(figure[i].max, most[c]);
            }
        }
}

static void write_variances(writer *w, const myth_residual_out *o, uint32_t k, myth_residual_figure *figure)
{
    for (uint32_t i = 0; i < o->n_layer; i++) {
        double sum = 0.0;
        myth_residual_sums_variance(o->sums, k, i, w->row);
        put_row(w, o, w->row);
        for (uint32_t c = 0; c < o->dim; c++)
            sum += w->row[c];
        figure[i].spread = sqrt(sum);
    }
}

static void write_stats(writer *w, const myth_residual_out *o, uint32_t k)
{
    myth_residual_figure *figure = o->figure + (size_t)k * o->n_layer;
    if (o->stats & MYTH_STAT_NORMS)
        write_norms(w, o, k, figure);
    if (o->stats & MYTH_STAT_MINMAX)
        write_edges(w, o, k, figure);
    if (o->stats & MYTH_STAT_VARIANCE)
        write_variances(w, o, k, figure);
}

static myth_status write_direction(writer *w, myth_residual_out *o, uint32_t k, myth_error *err)
{
    myth_residual_figure *figure = o->figure + (size_t)k * o->n_layer;
    for (uint32_t i = 0; i < o->n_layer; i++) {
        uint64_t n;
        const double *base = w->base + (size_t)i * o->dim;
        double *away = w->away + (size_t)i * o->dim;
        const myth_status st = o->mean(o->user, k, i, w->row, &n, err);
        if (st != MYTH_OK)
            return st;
        for (uint32_t c = 0; c < o->dim; c++)
            away[c] = w->row[c] - base[c];
        figure[i].cosine_to_base = cosine_of(w->row, base, o->dim);
        figure[i].distance = sqrt(dot(away, away, o->dim));
        for (uint32_t c = 0; c < o->dim && figure[i].distance > 0.0; c++)
            away[c] /= figure[i].distance;
        put_row(w, o, away);
    }
    for (uint32_t i = 0; i < o->n_layer; i++)
        myth_safetensors_put(&w->file, &figure[i].distance, 8);
    for (uint32_t i = 0; i < o->n_layer; i++)
        for (uint32_t l = 0; l < o->n_layer; l++) {
            const double c = cosine_of(w->away + (size_t)i * o->dim, w->away + (size_t)l * o->dim, o->dim);
            myth_safetensors_put(&w->file, &c, 8);
        }
    return MYTH_OK;
}

myth_status myth_residual_out_write(myth_residual_out *o, myth_mem *mem, const char *path,
                                    const myth_safetensor_meta *meta, size_t n_meta, myth_error *err)
{
    myth_status st = MYTH_OK;
    writer w = {.base = NULL};
    uint64_t n;
    const uint64_t bytes = myth_residual_out_bytes(&(myth_residual_shape){o->n_label, o->n_layer, o->dim, o->stats});
    void *block = myth_alloc(mem, MYTH_MEM_STAGING, "means", (size_t)bytes);
    if (!block)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the means of %u layers", o->n_layer);
    w.base = block;
    w.away = w.base + (size_t)o->n_layer * o->dim;
    w.row = w.away + (size_t)o->n_layer * o->dim;
    myth_safetensor *tensor = (myth_safetensor *)(void *)(w.row + o->dim);
    w.narrow = (float *)(void *)(tensor + n_tensor_most(o->n_label, o->stats));
    const size_t n_tensor = list_tensors(o, tensor);
    MYTH_TRY(myth_safetensors_begin(&w.file, path, tensor, n_tensor, meta, n_meta, err));
    for (uint32_t i = 0; i < o->n_layer; i++) {
        const int64_t layer = o->layer[i];
        myth_safetensors_put(&w.file, &layer, 8);
    }
    for (uint32_t k = 0; k < o->n_label; k++) {
        MYTH_TRY(write_means(&w, o, k, err));
        write_stats(&w, o, k);
    }
    for (uint32_t i = 0; i < o->n_layer; i++)
        MYTH_TRY(o->mean(o->user, o->base, i, w.base + (size_t)i * o->dim, &n, err));
    for (uint32_t i = 0; i < o->n_layer; i++)
        o->figure[(size_t)o->base * o->n_layer + i].cosine_to_base = 1.0;
    for (uint32_t k = 0; k < o->n_label; k++)
        if (k != o->base)
            MYTH_TRY(write_direction(&w, o, k, err));
    st = myth_safetensors_end(&w.file, err);
fail:
    myth_safetensors_abandon(&w.file);
    myth_free(mem, block);
    return st;
}

/* ---- the summary ---- */

void myth_residual_out_print_text(FILE *f, const myth_residual_out *o)
{
    const uint32_t n = o->n_label < LABELS_SHOWN ? o->n_label : LABELS_SHOWN;
    for (uint32_t k = 0; k < o->n_label; k++) {
        fprintf(f, "%-16s %llu row%s of ", k ? "" : "means", (unsigned long long)o->count[k], myth_s(o->count[k]));
        myth_term_line(f, o->label[k], strlen(o->label[k]));
        fputs(k == o->base && o->n_label > 1 ? ", the base of the directions\n" : "\n", f);
    }
    fputs("layer", f);
    for (uint32_t k = 0; k < n; k++) {
        const int len = (int)strnlen(o->label[k], 12);
        fprintf(f, "%*s", 16 - len, "|");
        myth_term_line(f, o->label[k], (size_t)len);
        fputc('|', f);
        if (k != o->base)
            fputs("    distance  cosine to base", f);
        fputs(o->stats & MYTH_STAT_NORMS ? "    row norm" : "", f);
        fputs(o->stats & MYTH_STAT_VARIANCE ? "      spread" : "", f);
    }
    if (n < o->n_label)
        fprintf(f, "   (%u more: --json)", o->n_label - n);
    fputc('\n', f);
    for (uint32_t i = 0; i < o->n_layer; i++) {
        fprintf(f, "%5u", o->layer[i]);
        for (uint32_t k = 0; k < n; k++) {
            const myth_residual_figure *g = &o->figure[(size_t)k * o->n_layer + i];
            fprintf(f, "%17.6g", g->norm);
            if (k != o->base)
                fprintf(f, "%12.6g%16.8f", g->distance, g->cosine_to_base);
            if (o->stats & MYTH_STAT_NORMS)
                fprintf(f, "%12.6g", g->row_norm);
            if (o->stats & MYTH_STAT_VARIANCE)
                fprintf(f, "%12.6g", g->spread);
        }
        fputc('\n', f);
    }
}

void myth_residual_out_print_json(myth_json_out *j, const myth_residual_out *o)
{
    myth_jout_key(j, "labels");
    myth_jout_array(j);
    for (uint32_t k = 0; k < o->n_label; k++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "label", o->label[k]);
        myth_jout_key_u64(j, "count", o->count[k]);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key_str(j, "base", o->label[o->base]);
    myth_jout_key(j, "layers");
    myth_jout_array(j);
    for (uint32_t i = 0; i < o->n_layer; i++) {
        myth_jout_object(j);
        myth_jout_key_u64(j, "layer", o->layer[i]);
        for (int v = 0; v < MYTH_RESIDUAL_FIGURE_N; v++) {
            const myth_residual_figure_kind *kind = &myth_residual_figures[v];
            if (kind->stat && !(o->stats & kind->stat))
                continue;
            myth_jout_key(j, kind->key);
            myth_jout_array(j);
            for (uint32_t k = 0; k < o->n_label; k++)
                myth_jout_f64(j, myth_residual_figure_at(&o->figure[(size_t)k * o->n_layer + i], v));
            myth_jout_end(j);
        }
        myth_jout_end(j);
    }
    myth_jout_end(j);
}
