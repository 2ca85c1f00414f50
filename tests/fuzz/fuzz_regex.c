/* fuzz_regex.c - a pattern (the first line) over any text: each way of searching must find the lines that match one
 * by one; and a line of ASCII matches as UTF just when it is found, though bytes are searched there. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "retrieval/lines/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATTERN_MAX = 120, TEXT_MAX = 2000, STEPS = 20000 };

/* Whether one line matches: 1, 0, -1 = too many steps. */
static int matches(const pcre2_code *code, pcre2_match_data *md, pcre2_match_context *mc, myth_regex_run *run,
                   const uint8_t *line, size_t n)
{
    size_t at, n_at;
    myth_status st;
    bool is_ascii = true;
    for (size_t i = 0; i < n; i++)
        is_ascii &= line[i] < 0x80;
    int rc = pcre2_match(code, is_ascii ? line : (const uint8_t *)"", is_ascii ? n : 0, 0, PCRE2_NO_JIT, md, mc);
    if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
        return -1;
    const bool is_found = myth_regex_line(run, line, n, &at, &n_at, &st);
    if (st != MYTH_OK)
        return -1;
    if (is_ascii && is_found != (rc >= 0))
        abort();
    return is_found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nl = size ? memchr(data, '\n', size) : NULL, *text = nl ? nl + 1 : data + size, *end = data + size,
                  *p = text, *line;
    size_t n_pattern = (size_t)((nl ? nl : end) - data), n_line, at, n_at;
    bool fold = n_pattern && (data[0] & 1), word = n_pattern && (data[0] & 2);
    myth_mem *mem = NULL;
    myth_regex *r = NULL;
    myth_regex_run *run = NULL;
    myth_status st = MYTH_OK;
    if (n_pattern < 2 || n_pattern > PATTERN_MAX || end - text > TEXT_MAX || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    const uint8_t *pattern = data + 1;
    n_pattern--;
    if (myth_regex_open(&r, mem, pattern, n_pattern, fold, word, NULL) == MYTH_OK &&
        myth_regex_run_open(&run, r, NULL) == MYTH_OK) {
        int code, is;
        PCRE2_SIZE off;
        uint8_t whole[PATTERN_MAX + 32];
        size_t n = 0;
        const char *before = word ? "(?<!\\w)(?:" : "", *after = word ? ")(?!\\w)" : "";
        memcpy(whole, before, n = strlen(before));
        memcpy(whole + n, pattern, n_pattern);
        memcpy(whole + n + n_pattern, after, strlen(after));
        pcre2_compile_context *cc = pcre2_compile_context_create(NULL);
        pcre2_set_newline(cc, PCRE2_NEWLINE_LF);
        pcre2_code *c =
            pcre2_compile(whole, n + n_pattern + strlen(after),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | (fold ? PCRE2_CASELESS : 0), &code, &off, cc);
        pcre2_match_data *md = pcre2_match_data_create(1, NULL);
        pcre2_match_context *mc = pcre2_match_context_create(NULL);
        pcre2_set_match_limit(mc, STEPS);
        pcre2_set_depth_limit(mc, STEPS);
        const uint8_t *s = text;
        bool is_hard = !c;
        for (const uint8_t *l = text, *e; !is_hard && l < end; l = e + 1) {
            e = memchr(l, '\n', (size_t)(end - l));
            e = e ? e : end;
            is_hard = matches(c, md, mc, run, l, (size_t)(e - l)) < 0;
        }
        while (!is_hard) {
            bool found = myth_regex_next(run, &p, end, &line, &n_line, &at, &n_at, &st);
            if (st != MYTH_OK)
                break;
            /* Lines before the one that was found do not match; it does. */
            for (is = 0; s < end && !is;) {
                const uint8_t *e = memchr(s, '\n', (size_t)(end - s));
                const uint8_t *stop = e ? e : end;
                is = matches(c, md, mc, run, s, (size_t)(stop - s));
                if (is && !(found && line == s && n_line == (size_t)(stop - s)))
                    abort();
                s = e ? e + 1 : end;
            }
            if (found != (is == 1) || (found && at + n_at > n_line))
                abort();
            if (!found)
                break;
        }
        pcre2_match_context_free(mc);
        pcre2_match_data_free(md);
        pcre2_code_free(c);
        pcre2_compile_context_free(cc);
    }
    myth_regex_run_close(run);
    myth_regex_close(r);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
