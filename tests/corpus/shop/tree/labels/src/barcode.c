/* barcode.c - Code 128, set B: printable ASCII, a checksum modulo 103, a stop pattern. */
#include "labels.h"

#include <string.h>

enum { START_B = 104, STOP = 106, FIRST = 32, N_SYMBOL = 107 };

/* Widths of bar, space, bar, space, bar, space of each symbol, as digits. */
static const char *const widths[N_SYMBOL] = {
    "212222", "222122", "222221", "121223", "121322", "131222", "122213", "122312", "132212", "221213", "221312", "231212", "112232", "122132",
    "122231", "113222", "123122", "123221", "223211", "221132", "221231", "213212", "223112", "312131", "311222", "321122", "321221", "312212",
    "322112", "322211", "212123", "212321", "232121", "111323", "131123", "131321", "112313", "132113", "132311", "211313", "231113", "231311",
    "112133", "112331", "132131", "113123", "113321", "133121", "313121", "211331", "231131", "213113", "213311", "213131", "311123", "311321",
    "331121", "312113", "312311", "332111", "314111", "221411", "431111", "111224", "111422", "121124", "121421", "141122", "141221", "112214",
    "112412", "122114", "122411", "142112", "142211", "241211", "221114", "413111", "241112", "134111", "111242", "121142", "121241", "114212",
    "124112", "124211", "411212", "421112", "421211", "212141", "214121", "412121", "111143", "111341", "131141", "114113", "114311", "411113",
    "411311", "113141", "114131", "311141", "411131", "211412", "211214", "211232", "2331112",
};

int barcode_checksum(const char *text)
{
    int sum = START_B;
    int n = (int)strlen(text);
    for (int i = 0; i <= n; i++)
        sum += (i + 1) * (text[i] - FIRST);
    return sum % 103;
}

static size_t put_symbol(uint8_t *out, size_t cap, size_t n, int symbol)
{
    const char *w = widths[symbol];
    for (size_t i = 0; w[i]; i++)
        for (char k = '0'; k < w[i]; k++) {
            if (n < cap)
                out[n] = i % 2 == 0;
            n++;
        }
    return n;
}

/* Number of modules the text needs; at most cap are written. 0 when a character has no symbol. */
size_t barcode_modules(uint8_t *out, size_t cap, const char *text)
{
    size_t n = put_symbol(out, cap, 0, START_B);
    for (const char *p = text; *p; p++) {
        if (*p < FIRST || *p > '~')
            return 0;
        n = put_symbol(out, cap, n, *p - FIRST);
    }
    n = put_symbol(out, cap, n, barcode_checksum(text));
    return put_symbol(out, cap, n, STOP);
}
