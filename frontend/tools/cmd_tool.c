/* cmd_tool.c - calls one of the tools, and lists them. */
#include "tools.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_model_flags model;
    const char *args;
    bool json;
} tool_opts;

enum { ARGS_BYTES = 1 << 20 };

static const myth_option tool_options[] = {
    {"args", NULL, MYTH_OPT_TEXT, "JSON", offsetof(tool_opts, args), "{}", 0, 0,
     "the arguments of the tool, as one JSON object; - reads it from standard input"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(tool_opts, json), NULL, 0, 0,
     "list the tools as [{\"name\",\"title\",\"description\",\"inputSchema\",\"outputSchema\",\"annotations\"}]; "
     "an answer always is JSON"},
};
static const myth_option_group tool_groups[] = {MYTH_GROUP("tool", tool_opts, tool_options),
                                                MYTH_GROUP_MODEL(tool_opts, model)};

static int list_tools(bool as_json)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    if (as_json)
        myth_tools_list_json(&j, true);
    else
        myth_tools_list_text(stdout);
    return MYTH_EXIT_CLEAN;
}

static myth_status read_args(json_t **out, myth_cli *cli, const char *args, myth_error *err)
{
    unsigned char *text = NULL;
    size_t n = strlen(args);
    json_error_t e;
    if (strcmp(args, "-") == 0) {
        myth_status st = myth_cli_read(&text, &n, cli->mem, "-", ARGS_BYTES, err);
        if (st != MYTH_OK)
            return st;
    }
    *out = json_loadb(text ? (const char *)text : args, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    myth_free(cli->mem, text);
    return *out ? MYTH_OK
                : myth_fail(err, MYTH_EARG, "--args: no JSON: %.120s; expected an object such as {\"query\":\"...\"}",
                            e.text);
}

static int run_tool(myth_cli *cli, const void *opts)
{
    const tool_opts *o = opts;
    const char *hint, *name = cli->n_arg ? cli->arg[0] : NULL;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_tools *t = NULL;
    json_t *args = NULL;
    char *text = NULL;
    size_t n = 0;
    bool is_found = false;
    if (!name && myth_args_is_flag(cli->parsed, "args"))
        return myth_cli_failf(cli, MYTH_EARG, "tool: --args belongs to a tool; the command is mythos tool NAME");
    if (!name)
        return list_tools(o->json);
    if (!myth_tools_has(name, &hint))
        return hint ? myth_cli_failf(cli, MYTH_EARG, "tool: unknown tool '%.60s'; did you mean %s?", name, hint)
                    : myth_cli_failf(cli, MYTH_EARG, "tool: unknown tool '%.60s'; mythos tool lists the tools", name);
    if (cli->n_arg > 1 && cli->arg[1][0] == '{')
        return myth_cli_failf(cli, MYTH_EARG,
                              "tool: %.80s: a directory is expected here; the arguments go behind --args", cli->arg[1]);
    MYTH_TRY(read_args(&args, cli, o->args, &err));
    MYTH_TRY(myth_tools_open(&t, cli, myth_cli_dir(cli, 1), &o->model, &err));
    MYTH_TRY(myth_tools_call(t, name, args, &text, &n, &is_found, &err));
    fwrite(text, 1, n, stdout);
    putchar('\n');
fail:;
    int code = st != MYTH_OK ? myth_cli_fail(cli, &err)
             : cli->n_unread ? MYTH_EXIT_INCOMPLETE
             : is_found      ? MYTH_EXIT_CLEAN
                             : MYTH_EXIT_FINDINGS;
    free(text);
    json_decref(args);
    myth_tools_close(t);
    return code;
}

const myth_command myth_cmd_tool = {
    .name = "tool",
    .args = "[NAME] [DIR]",
    .help = "call a tool that gives evidence about a directory to another program, or list the tools",
    .detail =
        "Without NAME the tools are listed with their arguments, with --json as JSON schemas. With NAME the tool is "
        "called, and its answer is printed as one JSON document on one line: what was found, left_out (how many items "
        "did not fit), complete, and notes. The whole answer has at most max_bytes bytes, and at most max_tokens "
        "tokens if that is given. Paths are relative to DIR, and files that mythos scan leaves out are not shown. "
        "Secrets that are found are replaced. The exit code is 1 when nothing was found, 2 when an argument is wrong, "
        "3 when a file or a directory could not be read or the budget is too small for any answer, and 66 when a file "
        "does not exist.",
    .group = tool_groups,
    .n_group = 2,
    .opts_bytes = sizeof(tool_opts),
    .max_arg = 2,
    .run = run_tool,
};
