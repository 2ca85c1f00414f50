/* fuzz_rates.c - any bytes as a table of rates: whatever its rows say, what is taken from them is in order and finite,
 * and so are the seconds of tokens at any depth. */
#include "frontend/rates/rates_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take(void *user, const myth_rate_row *row)
{
    if (strlen(row->model) >= MYTH_RATES_LINE || strchr(row->type, '\n'))
        abort();
    myth_rates_take(user, row);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    myth_rates r = {.n_answer = 0};
    if (size > MYTH_RATES_BYTES)
        return 0;
    myth_rates_rows(data, size, take, &r);
    for (int k = 0; k < MYTH_RATE_N; k++) {
        if (r.n_point[k] > MYTH_RATE_POINTS)
            abort();
        for (uint32_t i = 0; i < r.n_point[k]; i++)
            if (!(r.point[k][i].tok_s > 0) || (i && r.point[k][i].depth <= r.point[k][i - 1].depth))
                abort();
        for (double depth = 0; r.n_point[k] && depth < 1e10; depth = depth * 7 + 1) {
            const double s = myth_rates_seconds(&r, (myth_rate_kind)k, depth, 1000);
            if (!isfinite(s) || s < 0)
                abort();
        }
    }
    return 0;
}
