/* residual_report.c - the figures of a job of residuals as one HTML page: a plot each (SVG, no scripts, nothing from
 * elsewhere), and all of them once more in a table. */
#include "residual_out.h"

#include "engine/base/escape.h"

#include <math.h>
#include <string.h>

enum { WIDE = 720, HIGH = 260, LEFT = 64, RIGHT = 16, TOP = 12, BOTTOM = 32, COLOR_N = 8, TICK_N = 5 };

/* Told apart by people who see colours differently (Okabe, Ito). */
static const char *const color[COLOR_N] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                           "#e69f00", "#56b4e9", "#000000", "#8c8c00"};

enum { COSINE = 2 };

static double value_of(const myth_residual_out *o, int k, uint32_t label, uint32_t i)
{
    return myth_residual_figure_at(&o->figure[(size_t)label * o->n_layer + i], k);
}

static bool has_kind(const myth_residual_out *o, int k)
{
    const myth_residual_figure_kind *kind = &myth_residual_figures[k];
    return (!kind->stat || o->stats & kind->stat) && (!kind->is_beside || o->n_label > 1);
}

/* Whether a label has the figure. */
static bool has_value(const myth_residual_out *o, int k, uint32_t label)
{
    return has_kind(o, k) && o->count[label] && !(myth_residual_figures[k].is_beside && label == o->base);
}

static void print_text(FILE *f, const char *text)
{
    for (size_t n = strlen(text), used; n > 0; text += used, n -= used) {
        char shown[MYTH_ESCAPED_MAX];
        const size_t len = myth_escape(shown, text, n, &used);
        for (size_t i = 0; i < len; i++)
            if (strchr("<>&\"'", shown[i]) && shown[i])
                fprintf(f, "&#%d;", shown[i]);
            else
                fputc(shown[i], f);
    }
}

typedef struct {
    double low, high;
} range;

static range range_of(const myth_residual_out *o, int k)
{
    range r = {k == COSINE ? 1.0 : 0.0, k == COSINE ? 1.0 : 0.0};
    for (uint32_t l = 0; l < o->n_label; l++)
        for (uint32_t i = 0; i < o->n_layer; i++) {
            r.low = fmin(r.low, value_of(o, k, l, i));
            r.high = fmax(r.high, value_of(o, k, l, i));
        }
    if (r.high - r.low < 1e-12)
        r.low -= 1.0;
    return r;
}

static double x_of(const myth_residual_out *o, uint32_t i)
{
    const double width = WIDE - LEFT - RIGHT;
    return LEFT + (o->n_layer > 1 ? width * i / (o->n_layer - 1) : width / 2);
}

static double y_of(range r, double v) { return TOP + (HIGH - TOP - BOTTOM) * (r.high - v) / (r.high - r.low); }

static void print_axes(FILE *f, const myth_residual_out *o, range r)
{
    for (int t = 0; t < TICK_N; t++) {
        const double v = r.low + (r.high - r.low) * t / (TICK_N - 1), y = y_of(r, v);
        fprintf(f, "<line class=g x1=%d x2=%d y1=%.1f y2=%.1f /><text x=%d y=%.1f text-anchor=end>%.4g</text>\n", LEFT,
                WIDE - RIGHT, y, y, LEFT - 6, y + 4, v);
    }
    const uint32_t step = o->n_layer / 16 + 1;
    for (uint32_t i = 0; i < o->n_layer; i += step)
        fprintf(f, "<text x=%.1f y=%d text-anchor=middle>%u</text>\n", x_of(o, i), HIGH - 10, o->layer[i]);
}

static void print_plot(FILE *f, const myth_residual_out *o, int k)
{
    const char *title = myth_residual_figures[k].plot;
    const range r = range_of(o, k);
    fprintf(f, "<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" role=img aria-label=\"%s\">\n", title, WIDE, HIGH, title);
    print_axes(f, o, r);
    for (uint32_t l = 0; l < o->n_label; l++) {
        if (!has_value(o, k, l))
            continue;
        fprintf(f, "<polyline stroke=\"%s\" points=\"", color[l % COLOR_N]);
        for (uint32_t i = 0; i < o->n_layer; i++)
            fprintf(f, "%.1f,%.1f ", x_of(o, i), y_of(r, value_of(o, k, l, i)));
        fputs("\" />\n", f);
        for (uint32_t i = 0; i < o->n_layer; i++)
            fprintf(f, "<circle r=2.5 fill=\"%s\" cx=%.1f cy=%.1f><title>%u: %.6g</title></circle>\n",
                    color[l % COLOR_N], x_of(o, i), y_of(r, value_of(o, k, l, i)), o->layer[i], value_of(o, k, l, i));
    }
    fputs("</svg>\n<p>", f);
    for (uint32_t l = 0; l < o->n_label; l++) {
        if (!has_value(o, k, l))
            continue;
        fprintf(f, "<span class=k style=\"color:%s\">&#9632;</span> ", color[l % COLOR_N]);
        print_text(f, o->label[l]);
        fputc(' ', f);
    }
    fputs("</p>\n", f);
}

static void print_table(FILE *f, const myth_residual_out *o)
{
    fputs("<h2>All figures</h2>\n<table><tr><th>residual", f);
    for (uint32_t l = 0; l < o->n_label; l++)
        for (int k = 0; k < MYTH_RESIDUAL_FIGURE_N; k++)
            if (has_value(o, k, l)) {
                fprintf(f, "<th>%s", myth_residual_figures[k].column);
                if (k == 0) {
                    fputs(" of ", f);
                    print_text(f, o->label[l]);
                }
            }
    fputs("</tr>\n", f);
    for (uint32_t i = 0; i < o->n_layer; i++) {
        fprintf(f, "<tr><td>%u", o->layer[i]);
        for (uint32_t l = 0; l < o->n_label; l++)
            for (int k = 0; k < MYTH_RESIDUAL_FIGURE_N; k++)
                if (has_value(o, k, l))
                    fprintf(f, k == COSINE ? "<td>%.6f" : "<td>%.6g", value_of(o, k, l, i));
        fputs("</tr>\n", f);
    }
    fputs("</table>\n", f);
}

myth_status myth_residual_out_report(const myth_residual_out *o, const char *path, const char *title, myth_error *err)
{
    myth_out file = {0};
    FILE *f = NULL;
    const myth_status st = myth_out_print_open(&file, &f, path, err);
    if (st != MYTH_OK)
        return st;
    fputs("<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\n"
          "<title>Residuals</title>\n<style>body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;"
          "padding:0 1em;color:#111;background:#fff}svg{width:100%}svg text{font-size:11px;fill:#444}"
          "polyline{fill:none;stroke-width:1.5}.g{stroke:#ddd}table{border-collapse:collapse;font-size:13px}"
          "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"
          "td{font-variant-numeric:tabular-nums}</style>\n<h1>Residuals of ",
          f);
    print_text(f, title);
    fputs("</h1>\n<p>", f);
    for (uint32_t l = 0; l < o->n_label; l++) {
        fprintf(f, "%s%llu row%s of ", l ? ", " : "", (unsigned long long)o->count[l], o->count[l] == 1 ? "" : "s");
        print_text(f, o->label[l]);
    }
    if (o->n_label > 1) {
        fputs("; the base is ", f);
        print_text(f, o->label[o->base]);
    }
    fputs(".</p>\n", f);
    for (int k = 0; k < MYTH_RESIDUAL_FIGURE_N; k++)
        if (has_kind(o, k) && myth_residual_figures[k].plot)
            print_plot(f, o, k);
    print_table(f, o);
    fputs("</html>\n", f);
    return myth_out_print_close(&file, f, MYTH_OK, err);
}
