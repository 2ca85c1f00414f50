/* weights_parts.c - the names of the parts of a split GGUF file: PREFIX-00001-of-00003.gguf, counted from 1.
 *
 * Source   llama.cpp, llama_split_path and gguf-split */
#include "weights_impl.h"

#include <stdio.h>
#include <string.h>

static const char form[] = "-00000-of-00000.gguf";
enum { N_FORM = sizeof(form) - 1, NO_AT = 1, COUNT_AT = 10, DIGITS = 5 };

static uint32_t number_at(const char *digits)
{
    uint32_t n = 0;
    for (int i = 0; i < DIGITS; i++)
        n = n * 10 + (uint32_t)(digits[i] - '0'); /* five digits */
    return n;
}

bool myth_part_read(myth_part_name *out, const char *path)
{
    const size_t n = strlen(path);
    if (n <= N_FORM || path[n - N_FORM - 1] == '/')
        return false;
    const char *tail = path + n - N_FORM;
    for (size_t i = 0; i < N_FORM; i++)
        if (form[i] == '0' ? tail[i] < '0' || tail[i] > '9' : tail[i] != form[i])
            return false;
    *out = (myth_part_name){.n_prefix = n - N_FORM, .no = number_at(tail + NO_AT), .count = number_at(tail + COUNT_AT)};
    return out->no >= 1 && out->no <= out->count && out->count > 1;
}

bool myth_weights_part_path(char dst[PATH_MAX], const char *path, uint32_t idx)
{
    myth_part_name p;
    if (!myth_part_read(&p, path) || idx >= p.count)
        return false;
    int n = snprintf(dst, PATH_MAX, "%.*s-%05u-of-%05u.gguf", (int)p.n_prefix, path, idx + 1, p.count);
    return n > 0 && n < PATH_MAX;
}
