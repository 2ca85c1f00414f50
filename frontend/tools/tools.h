/* tools.h - evidence about a directory for other programs: tools that are called by a name with a JSON object of
 * arguments and answer with one JSON document within a budget.
 *
 * Adding    a myth_tool in a tool_*.c and a row in tools.def. The table of its arguments is what checks a call and what
 *           the listed JSON schema says, so that both agree
 * Arguments a call with an unknown argument, another type, a number out of its range or a text that is too long is
 *           refused before any work
 * Budget    every tool takes max_bytes, and max_tokens in tokens of the model. The whole answer is counted, and what
 *           did not fit is counted in it as left_out (reply.h)
 * Root      every path is relative to the directory. What the scan leaves out is not shown, and no link is followed
 * Secrets   that the detectors find are replaced in everything that comes from a file (redact.h)
 * State     the index stays open from one call to the next and is brought up to date in every call that needs it
 * Owner     the caller frees an answer with free, and closes the tools before the run ends
 * Threads   one for each myth_tools
 * Errors    MYTH_EARG wrong arguments; MYTH_ENOTFOUND an unknown tool, a missing file; and what the retriever returns.
 *           After an error the tools can be called again */
#ifndef MYTH_TOOLS_H
#define MYTH_TOOLS_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_tools myth_tools;

/* dir and model are lent until close. dir is checked here, and read by the calls. */
myth_status myth_tools_open(myth_tools **out, myth_cli *cli, const char *dir, const myth_model_flags *model,
                            myth_error *err);
void myth_tools_close(myth_tools *t); /* takes NULL */

/* Calls a tool with an object of arguments; NULL = none are given. *text: the answer, without a newline at its end.
 * *is_found: it shows something. MYTH_ENOTFOUND with *text NULL and err->msg: no such tool, or a missing file. */
myth_status myth_tools_call(myth_tools *t, const char *name, const json_t *args, char **text, size_t *n, bool *is_found,
                            myth_error *err);
/* Whether there is a tool of this name; hint gets the one that was probably meant, or NULL. */
bool myth_tools_has(const char *name, const char **hint);
/* Whether the tool runs in a process of its own and may last, so that others should not wait for it. */
bool myth_tools_may_last(const char *name);
/* Writes the array of all tools, each {"name","title","description","inputSchema","outputSchema","annotations"}, as
 * tools/list of the Model Context Protocol has it. has_output false: without the schema of the answer. */
void myth_tools_list_json(myth_json_out *j, bool has_output);
/* Prints the same for people, with the arguments of each tool. */
void myth_tools_list_text(FILE *f);

#ifdef __cplusplus
}
#endif
#endif
