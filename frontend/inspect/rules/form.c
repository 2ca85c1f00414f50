/* form.c - see form.h. */
#include "form.h"

const char *const myth_form_literal[MYTH_PIECE_N] = {
    [MYTH_PIECE_LIST] = "{\"findings\":[",
    [MYTH_PIECE_PATH] = "{\"file\":\"",
    [MYTH_PIECE_FIRST] = "\",\"lines\":[",
    [MYTH_PIECE_LAST] = ",",
    [MYTH_PIECE_EVIDENCE] = "],\"evidence\":\"",
    [MYTH_PIECE_RULE_ID] = "\",\"rule\":\"",
    [MYTH_PIECE_ISSUE] = "\",\"issue\":\"",
    [MYTH_PIECE_WHY] = "\",\"why\":\"",
    [MYTH_PIECE_SEVERITY] = "\",\"severity\":\"",
    [MYTH_PIECE_STATUS] = "\",\"status\":\"",
    [MYTH_PIECE_FIX] = "\",\"fix\":\"",
    [MYTH_PIECE_MISSING] = "\",\"missing\":\"",
    [MYTH_PIECE_MORE] = "\"}",
    [MYTH_PIECE_CONTEXT] = "],\"missing_context\":[",
    [MYTH_PIECE_NAME] = "\"",
    [MYTH_PIECE_NEXT] = "\"",
    [MYTH_PIECE_END] = "]}",
};

#define FULL_LIMITS                                                                                     \
    .n_finding = 16, .span = 40, .evidence = 200, .issue = 240, .why = 240, .fix = 240, .missing = 120, \
    .n_context = 8, .context = 120
static const myth_findings_limits limits[] = {
    [MYTH_PROMPT_FULL] = {FULL_LIMITS, .n_rule = MYTH_RULE_CODE_N},
    [MYTH_PROMPT_CHANGE] = {FULL_LIMITS, .n_rule = MYTH_RULE_ANSWER_N},
    [MYTH_PROMPT_COMPACT] = {.n_finding = 8, .span = 40, .evidence = 120, .n_rule = MYTH_RULE_CODE_N},
    [MYTH_PROMPT_QUESTION] =
        {.n_finding = 6, .span = 40, .evidence = 160, .issue = 300, .missing = 200, .n_context = 8, .context = 120},
    [MYTH_PROMPT_SUMMARY] = {.n_finding = 6, .span = 40, .evidence = 160, .issue = 300, .missing = 200}};

const myth_findings_limits *myth_findings_limits_of(myth_prompt_style style) { return &limits[style]; }
