/* fuzz_json.c - the JSON reader on any bytes: ends, stays inside the buffer, and what it accepts it reads the same way
 * twice. */
#include "engine/base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    myth_json j;
    myth_json_token t, again;
    uint64_t last = 0;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    myth_json_start(&j, data, size, "fuzz");
    for (;;) {
        myth_json before = j;
        if (myth_json_next(&j, &t, NULL) != MYTH_OK) {
            if (myth_json_next(&j, &again, NULL) == MYTH_OK)
                abort(); /* an error must stay */
            break;
        }
        if (t.off < last || t.off > size || t.depth < 0 || t.depth > MYTH_JSON_DEPTH)
            abort();
        last = t.off;
        if (t.type == MYTH_JSON_KEY || t.type == MYTH_JSON_STRING) {
            size_t n = myth_json_text(text, &t);
            if (n > t.len)
                abort(); /* unescaping never grows */
            text[n] = 0;
            if (strlen(text) == n && !myth_json_is(&t, text))
                abort();
        }
        int64_t i;
        uint64_t u;
        double f;
        if (myth_json_i64(&i, &t) && i >= 0 && (!myth_json_u64(&u, &t) || u != (uint64_t)i) && t.span[0] != '-')
            abort();
        myth_json_f64(&f, &t);
        if (t.type == MYTH_JSON_END)
            break;
        /* Skipping the whole value ends at depth 0: tried at the first token only, to stay linear. */
        if (t.depth == 0 && before.pos == 0) {
            myth_json skip = before;
            if (myth_json_skip(&skip, NULL) == MYTH_OK && skip.depth != 0)
                abort();
        }
    }
    free(text);
    return 0;
}
