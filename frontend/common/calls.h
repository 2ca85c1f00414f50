/* calls.h - the calls of tools in an answer, read from its ids by the marks of the model's chat template:
 *
 *   <|tool_call> "call:" name "{" [ key ":" value { "," key ":" value } ] "}" <tool_call|>       Gemma 4
 *   <start_function_call> "call:" name "{" ... "}" <end_function_call>                           FunctionGemma
 *
 * Values   a string between two <|"|> (FunctionGemma: <escape>); a number, true, false, null; a list in brackets; an
 *          object in braces, its keys bare or quoted. Any other bare word is a string, since small models leave quotes
 *          out
 * Marks    are ids: nothing inside a string ends it, and a text that only spells a mark is text
 * Broken   what has another form, names a key twice or nests deeper than MYTH_CALL_DEPTH is no call: it stays text. So
 *          does a call inside a thought
 * Output   [{"id": "call_1", "type": "function", "function": {"name", "arguments": {...}}}, ...], which is what a
 *          conversation holds as "tool_calls" (conversation.h)
 * Memory   none; piece has myth_detok_most bytes
 * Threads  one for each piece
 * Source   engine/text/chat.h: the templates that write calls; the form of the output is OpenAI's chat completion, but
 *          for the arguments, which are an object and not its text, as chat templates take them */
#ifndef MYTH_CALLS_H
#define MYTH_CALLS_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_CALL_DEPTH = 16, MYTH_CALL_NAME_MAX = 256, MYTH_CALL_KEYS_MAX = 4096 };

typedef struct {
    const myth_tokenizer *tok;
    myth_channel channel; /* where the answer begins */
    const int32_t *ids;   /* of the answer */
    uint32_t n;
    char *piece;
} myth_answer_ids;

uint32_t myth_calls_count(const myth_answer_ids *a);
/* Writes the list; the ids of its calls are numbered from `first` on. */
void myth_calls_print(const myth_answer_ids *a, myth_json_out *j, uint64_t first);
/* The finish reason of an answer with so many calls: "tool_calls" in place of "stop" where there are any. */
const char *myth_calls_finish(uint32_t n_call, myth_finish why);
/* The keys "tool_calls", when there are calls, and "finish_reason". */
void myth_calls_print_finish(const myth_answer_ids *a, myth_json_out *j, myth_finish why);
/* The text of the answer without calls and thoughts, at most cap bytes of it; returns how many. */
size_t myth_calls_text(const myth_answer_ids *a, char *to, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
