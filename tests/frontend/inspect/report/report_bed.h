/* report_bed.h - reports that a test makes by hand: one source and findings about its lines, which can then be rendered
 * in any form into a string. */
#ifndef MYTH_TESTS_REPORT_BED_H
#define MYTH_TESTS_REPORT_BED_H

#include "frontend/inspect/report/marks.h"
#include "frontend/inspect/report/outputs.h"
#include "tests/support/check.h"

enum { BED_FINDINGS = 64, BED_TEXT = 1 << 16 };

typedef struct {
    myth_mem *mem;
    myth_source src;
    myth_block block;
    myth_finding finding[BED_FINDINGS];
    myth_citation citation[BED_FINDINGS];
    myth_str context[1];
    myth_marks marks;
    myth_report report;
    char path[512], code[BED_TEXT], text[BED_TEXT];
    size_t text_used;
} bed;

/* Begins a report about this code. The bed keeps copies of the path and of the code, which needs no NUL. */
static inline void bed_open(bed *b, const char *path, const void *code, size_t len)
{
    memset(b, 0, sizeof(*b));
    assert_true(len <= sizeof(b->code));
    snprintf(b->path, sizeof(b->path), "%s", path);
    memcpy(b->code, code, len);
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_source_open(&b->src, b->mem, b->path, (const unsigned char *)b->code, len, NULL), MYTH_OK);
    b->block = (myth_block){.src = &b->src, .first = 1, .last = b->src.n_line};
    b->report = (myth_report){
        .model = "m.gguf",
        .path = b->path,
        .prompt_tokens = 12,
        .max_new_tokens = 34,
        .n_part = 1,
        .finish_reason = "stop",
        .complete = true,
        .block = &b->block,
        .finding = b->finding,
        .citation = b->citation,
        .context = b->context,
    };
}

/* Copies a text into the bed; valid until bed_close. */
static inline myth_str bed_text(bed *b, const void *p, size_t len)
{
    assert_true(b->text_used + len <= sizeof(b->text));
    char *at = memcpy(b->text + b->text_used, p, len);
    b->text_used += len;
    return (myth_str){at, len};
}

static inline myth_str bed_str(bed *b, const char *s) { return bed_text(b, s, strlen(s)); }

/* Adds a finding about lines first .. last. Its evidence is line `line` without the blanks around it. */
static inline myth_finding *bed_add(bed *b, const char *rule, uint32_t first, uint32_t last, uint32_t line)
{
    uint32_t i = b->report.n_finding++, off, len;
    assert_true(i < BED_FINDINGS && line <= b->src.n_line);
    myth_line_trim(&b->src, line - 1, &off, &len);
    b->citation[i] = (myth_citation){.line = line, .off = off, .len = len};
    b->finding[i] = (myth_finding){
        .first = first,
        .last = last,
        .rule = myth_rule_find(rule, strlen(rule)),
        .status = MYTH_LIKELY,
        .evidence = {b->code + off, len},
    };
    assert_true(b->finding[i].rule >= 0);
    b->finding[i].severity = myth_rules[b->finding[i].rule].severity;
    return &b->finding[i];
}

static inline void bed_mark(bed *b, bool use_suppressions, const myth_baseline *base)
{
    assert_int_equal(
        myth_marks_open(&b->marks, b->mem, &b->report, &b->block, 1, BED_FINDINGS, use_suppressions, base, NULL),
        MYTH_OK);
    myth_marks_fill(&b->marks, &b->report);
}

static inline void bed_close(bed *b)
{
    myth_marks_close(&b->marks);
    myth_source_close(&b->src);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

/* Returns the report in a form, *len bytes; the caller frees it. */
static inline char *bed_render(const bed *b, myth_form form, size_t *len)
{
    myth_term term = {0};
    static char *text; /* static, because gcc 12 warns that a local one's memory ends with the function */
    FILE *f = open_memstream(&text, len);
    assert_non_null(f);
    myth_output_render(f, form, &b->report, &term);
    assert_int_equal(fclose(f), 0);
    return text;
}

#endif
