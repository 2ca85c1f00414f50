/* function_marks.h - a small vocabulary with the marks of FunctionGemma: that of Gemma 4 with its marks renamed.
 *
 * Failure  asserts through cmocka */
#ifndef MYTH_TESTS_FUNCTION_MARKS_H
#define MYTH_TESTS_FUNCTION_MARKS_H

#include "tokenizer_texts.h"
#include "tests/support/files.h"

/* A text with Gemma 4's marks, in quotes of JSON or not, with those of FunctionGemma in their place. The caller frees
 * it. */
static inline char *function_marks(const char *text)
{
    static const char *const marks[][2] = {
        {"<|tool_call>", "<start_function_call>"},
        {"<tool_call|>", "<end_function_call>"},
        {"<|tool_response>", "<start_function_response>"},
        {"<tool_response|>", "<end_function_response>"},
        {"<|tool>", "<start_function_declaration>"},
        {"<tool|>", "<end_function_declaration>"},
        {"<|\"|>", "<escape>"},
        {"<|\\\"|>", "<escape>"},
        {"<|turn>", "<start_of_turn>"},
        {"<turn|>", "<end_of_turn>"},
    };
    enum { N_MARK = sizeof(marks) / sizeof(marks[0]), GROWTH = 4 };
    char *const to = malloc(GROWTH * strlen(text) + 1), *at = to;
    assert_non_null(to);
    while (*text) {
        size_t i = 0;
        while (i < N_MARK && strncmp(text, marks[i][0], strlen(marks[i][0])) != 0)
            i++;
        const char *put = i < N_MARK ? marks[i][1] : text;
        const size_t n = i < N_MARK ? strlen(put) : 1;
        memcpy(at, put, n);
        at += n;
        text += i < N_MARK ? strlen(marks[i][0]) : 1;
    }
    *at = '\0';
    return to;
}

static inline void function_marks_open(myth_tokenizer **out, myth_mem *mem)
{
    size_t n;
    myth_error err = {0};
    char *four = read_golden("small_four.json", &n), *json = function_marks(four);
    files_text("functions.json", json);
    if (myth_tokenizer_open_file(out, mem, files_path("functions.json"), &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    free(json);
    free(four);
}

#endif
