/* test_kv_forms.c - layers that make no keys, store only values, or norm their values, and a residual that is scaled as
 * a whole. Compares with sums in double on every CPU level, and checks what op_check.c refuses. */
#include "oracle.h"

#include "tests/support/check.h"

static const char *const level_names[] = {"ref", "avx2", "avx512", "amx", "neon"};
enum { LEVEL_N = sizeof(level_names) / sizeof(level_names[0]) };

enum form { PLAIN, V_NORMED, V_IS_K, VALUES_ONLY, NO_KEYS, FORM_N };
static const char *const form_names[FORM_N] = {"plain", "normed v", "v is k", "values only", "no keys"};

static const struct kernel_case base = {
    .op = MYTH_OP_norm_qkv_rope_store,
    .rows = 5,
    .dim = 96,
    .n_head = 4,
    .n_head_kv = 2,
    .head_dim = 48,
    .type = MYTH_F32,
    .type_k = MYTH_F32,
    .type_v = MYTH_F32,
    .has_pend = true,
    .has_post = true,
    .has_head_norm = true,
};

static void take_form(struct myth_norm_qkv_rope_store_args *a, enum form form)
{
    const myth_view none_given = {0};
    a->has_v_norm = form != PLAIN;
    if (form >= V_IS_K)
        a->w_v = none_given;
    if (form >= VALUES_ONLY)
        a->k_new = a->n_k = none_given;
    if (form == NO_KEYS)
        a->w_k = a->v_new = none_given;
    a->x_scale = 0.375f;
}

static void check_head(const struct myth_norm_qkv_rope_store_args *a, uint64_t r, const double *want, myth_view got,
                       uint64_t at, const char *what)
{
    double most = 0.0, apart = 0.0;
    for (uint64_t i = 0; i < a->head_dim; i++) {
        most = fmax(most, fabs(want[i]));
        apart = fmax(apart, fabs(want[i] - (double)((const float *)view_host(got))[at + i]));
    }
    if (!(apart <= 2e-5 * most))
        fail_msg("%s of row %llu: %.2e apart, largest %.2e", what, (unsigned long long)r, apart, most);
}

static void rotate(const struct myth_norm_qkv_rope_store_args *a, uint64_t r, double *head, double scale)
{
    const uint64_t half = a->head_dim / 2;
    for (uint64_t i = 0; i < half; i++) {
        double c = value(a->rope, r, a->head_dim, 2 * i), s = value(a->rope, r, a->head_dim, 2 * i + 1), lo = head[i],
               hi = head[i + half];
        head[i] = (lo * c - hi * s) * scale;
        head[i + half] = (hi * c + lo * s) * scale;
    }
}

/* Checks all outputs of one row. x is the residual as it was before the op. */
static void check_row(const struct myth_norm_qkv_rope_store_args *a, uint64_t r, const double *x)
{
    const uint64_t hd = a->head_dim;
    double *xn = doubles(a->dim), *head = doubles(hd), *raw = doubles(hd);
    norm64(xn, x, a->w_in, a->dim, (double)a->eps);
    for (uint64_t h = 0; h < a->n_head; h++) {
        for (uint64_t i = 0; i < hd; i++)
            head[i] = dot64(a->w_q, h * hd + i, xn, a->dim);
        norm64(head, head, a->n_q, hd, (double)a->eps);
        rotate(a, r, head, (double)a->q_scale);
        check_head(a, r, head, a->q, (r * a->n_head + h) * hd, "q");
    }
    for (uint64_t h = 0; a->w_k.buf && h < a->n_head_kv; h++) {
        const uint64_t at = (h * a->cap_rows + r) * hd;
        for (uint64_t i = 0; i < hd; i++)
            raw[i] = dot64(a->w_v.buf ? a->w_v : a->w_k, h * hd + i, xn, a->dim);
        if (a->has_v_norm)
            norm64(raw, raw, (myth_view){0}, hd, (double)a->eps);
        check_head(a, r, raw, a->v_new, at, "v");
        if (!a->k_new.buf)
            continue;
        for (uint64_t i = 0; i < hd; i++)
            head[i] = dot64(a->w_k, h * hd + i, xn, a->dim);
        norm64(head, head, a->n_k, hd, (double)a->eps);
        rotate(a, r, head, 1.0);
        check_head(a, r, head, a->k_new, at, "k");
    }
    free(xn);
    free(head);
    free(raw);
}

static void forms_are_what_they_say(void **state)
{
    (void)state;
    for (int l = 0; l < LEVEL_N; l++)
        for (int form = 0; form < FORM_N; form++)
            for (int is_decode = 0; is_decode < 2; is_decode++) {
                struct rig r;
                union op_args u;
                struct kernel_case c = base;
                struct myth_norm_qkv_rope_store_args *a = &u.norm_qkv_rope_store;
                if (!rig_open(&r, level_names[l], 2, CASE_TEST, NULL))
                    continue;
                c.is_decode = is_decode;
                make_case(&r, &c, 21 + (uint64_t)form, &u);
                take_form(a, (enum form)form);
                double *x = doubles((uint64_t)c.rows * c.dim);
                for (uint64_t i = 0; i < c.rows; i++) {
                    fold64(x + i * c.dim, a->x, a->pend, a->w_post, i, c.dim, (double)a->eps);
                    for (uint32_t k = 0; k < c.dim; k++)
                        x[i * c.dim + k] *= (double)a->x_scale;
                }
                myth_norm_qkv_rope_store(r.s, a);
                if (rig_sync(&r, NULL) != MYTH_OK)
                    fail_msg("%s, %s: refused", level_names[l], form_names[form]);
                for (uint64_t i = 0; i < (uint64_t)c.rows * c.dim; i++)
                    assert_true(fabs(x[i] - (double)((const float *)view_host(a->x))[i]) < 1e-5);
                for (uint64_t i = 0; i < c.rows; i++)
                    check_row(a, i, x + i * c.dim);
                free(x);
                assert_int_equal(rig_close(&r), 0);
            }
}

/* Scaling is the last step of the prologue, and every op with a prologue does it in the same way. */
static void a_scaled_residual_is_the_residual_scaled(void **state)
{
    (void)state;
    const float scale = 0.296875f; /* exact in few bits; products with it are rounded as usual */
    for (int l = 0; l < LEVEL_N; l++) {
        struct rig r;
        union op_args u;
        struct kernel_case c = {.op = MYTH_OP_rms_norm, .rows = 4, .dim = 91, .has_pend = true, .has_post = true};
        float *kept[2];
        size_t n = (size_t)c.rows * c.dim;
        if (!rig_open(&r, level_names[l], 2, CASE_TEST, NULL))
            continue;
        for (int i = 0; i < 2; i++) {
            make_case(&r, &c, 9, &u);
            u.rms_norm.x_scale = i ? scale : 0.0f;
            struct myth_gather_norm_args g = {
                .x = u.rms_norm.x,
                .pend = u.rms_norm.pend,
                .w_post = u.rms_norm.w_post,
                .x_scale = u.rms_norm.x_scale,
                .y = rig_view(&r, MYTH_F32, c.rows, c.dim),
                .rows = rig_ids(&r, c.rows, 1),
                .n_gather = c.rows,
                .dim = c.dim,
                .eps = u.rms_norm.eps,
            };
            for (uint32_t k = 0; k < c.rows; k++)
                ((int32_t *)view_host(g.rows))[k] = (int32_t)k;
            myth_gather_norm(r.s, &g);
            myth_rms_norm(r.s, &u.rms_norm);
            assert_int_equal(rig_sync(&r, NULL), MYTH_OK);
            assert_memory_equal(view_host(g.y), view_host(u.rms_norm.x), n * 4);
            kept[i] = malloc(n * 4);
            memcpy(kept[i], view_host(u.rms_norm.x), n * 4);
            rig_clear(&r);
        }
        for (size_t i = 0; i < n; i++) {
            const float want = kept[0][i] * scale;
            assert_memory_equal(&want, &kept[1][i], 4);
        }
        free(kept[0]);
        free(kept[1]);
        assert_int_equal(rig_close(&r), 0);
    }
}

static void odd_forms_are_refused(void **state)
{
    (void)state;
    const myth_view none_given = {0};
    for (int i = 0; i < 6; i++) {
        struct rig r;
        union op_args u;
        struct myth_norm_qkv_rope_store_args *a = &u.norm_qkv_rope_store;
        assert_true(rig_open(&r, "ref", 1, CASE_TEST, NULL));
        make_case(&r, &base, 3, &u);
        switch (i) {
        case 0: a->w_k = none_given; break;   /* v_new without w_k */
        case 1: a->v_new = none_given; break; /* w_k, but no place for the values */
        case 2: a->k_new = none_given; break; /* values only, but keys cannot be made from them */
        case 3:
            a->k_new = none_given;
            a->w_v = none_given;
            a->has_v_norm = true;
            break; /* with a norm of keys */
        case 4:
            a->w_v = none_given;
            a->v_new.off = 1;
            break;
        default: a->w_k = a->k_new = a->v_new = a->n_k = none_given; /* w_v alone */
        }
        myth_norm_qkv_rope_store(r.s, a);
        if (rig_sync(&r, NULL) != MYTH_EARG)
            fail_msg("case %d was not refused", i);
        assert_int_equal(rig_close(&r), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_what_they_say),
        cmocka_unit_test(a_scaled_residual_is_the_residual_scaled),
        cmocka_unit_test(odd_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
