/* cmd_mcp.c - serves the tools to one client by the Model Context Protocol, over standard input and output.
 *
 * Messages  JSON-RPC 2.0, one on each line in both directions. A line of more than LINE_MAX_BYTES is skipped. Nothing
 *           that a client sends ends the process: what is wrong is answered by an error, or ignored where the protocol
 *           wants no answer
 * Versions  2026-07-28 has no session: each request has its version in its parameters (ENVELOPE), and server/discover
 *           says which there are. Before it a session begins with initialize and has the client's version, if it is one
 *           of `versions`, else the newest of them. Batches are part of 2025-03-26 alone
 * Errors    of the protocol: -32700 no JSON, -32600 no request, -32601 unknown method, -32602 wrong parameters, also
 *           an unknown tool, -32022 unknown version. What a tool refuses or cannot do is a result with isError, so that
 *           a model can read it and correct its call
 * Index     stays open for all calls and is brought up to date by each
 * End       the end of standard input, or a signal: exit code 0
 * Source    modelcontextprotocol.io, specification 2026-07-28 and before; jsonrpc.org, specification 2.0 */
#include "engine/base/array.h"
#include "tools.h"
#include "version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20, READ_BYTES = 64 << 10, BATCH_MAX = 256 };
enum { NO_JSON = -32700, NO_REQUEST = -32600, NO_METHOD = -32601, NO_PARAMS = -32602, NO_VERSION = -32022 };

/* Keys of a request's _meta in 2026-07-28, and of an answer's. */
#define ENVELOPE     "io.modelcontextprotocol/protocolVersion"
#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define SERVER_INFO  "io.modelcontextprotocol/serverInfo"
/* The list of tools is that of the program and stays as long as the process. */
enum { LIST_TTL_MS = 3600 * 1000 };

static const char modern_version[] = "2026-07-28";
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
enum { N_VERSION = sizeof(versions) / sizeof(versions[0]) };
static const char batch_version[] = "2025-03-26";

typedef struct {
    myth_model_flags model;
} mcp_opts;

static const myth_option_group mcp_groups[] = {MYTH_GROUP_MODEL(mcp_opts, model)};

typedef struct {
    myth_cli *cli;
    myth_tools *tools;
    const char *version; /* NULL until initialize */
    char *line;          /* bytes that were read and not handled */
    size_t n_line, cap_line;
    bool is_skipping; /* the line is too long: its rest is read over */
    bool is_modern;   /* the request that is answered has an ENVELOPE */
    myth_json_out j;
} server;

/* ---- answers ---- */

static void put_id(server *s, const json_t *id)
{
    myth_jout_key(&s->j, "id");
    if (json_is_string(id))
        myth_jout_text(&s->j, json_string_value(id), json_string_length(id));
    else if (json_is_integer(id))
        myth_jout_i64(&s->j, json_integer_value(id));
    else
        myth_jout_null(&s->j);
}

static void begin_answer(server *s, const json_t *id, const char *key)
{
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "jsonrpc", "2.0");
    put_id(s, id);
    myth_jout_key(&s->j, key);
    myth_jout_object(&s->j);
}

static void end_answer(server *s)
{
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
}

static void put_server_info(server *s)
{
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "name", "mythos");
    myth_jout_key_str(&s->j, "title", "mythos, evidence about a directory of code");
    myth_jout_key_str(&s->j, "version", MYTHOS_VERSION);
    myth_jout_end(&s->j);
}

static void begin_result(server *s, const json_t *id)
{
    begin_answer(s, id, "result");
    if (!s->is_modern)
        return;
    myth_jout_key_str(&s->j, "resultType", "complete");
    myth_jout_key(&s->j, "_meta");
    myth_jout_object(&s->j);
    myth_jout_key(&s->j, SERVER_INFO);
    put_server_info(s);
    myth_jout_end(&s->j);
}

/* How long a client may keep what is in the result. */
static void put_ttl(server *s)
{
    if (!s->is_modern)
        return;
    myth_jout_key_u64(&s->j, "ttlMs", LIST_TTL_MS);
    myth_jout_key_str(&s->j, "cacheScope", "private");
}

static void put_error(server *s, const json_t *id, int code, const char *text)
{
    begin_answer(s, id, "error");
    myth_jout_key(&s->j, "code");
    myth_jout_i64(&s->j, code);
    myth_jout_key_str(&s->j, "message", text);
    end_answer(s);
}

/* The same for a text with words of the client's. */
static void put_error_about(server *s, const json_t *id, int code, const char *fmt, const char *about)
{
    myth_error line;
    char text[200];
    snprintf(text, sizeof(text), fmt, about);
    myth_fail(&line, MYTH_EARG, "%s", text);
    put_error(s, id, code, line.msg);
}

static void put_versions(server *s, const char *key)
{
    myth_jout_key(&s->j, key);
    myth_jout_array(&s->j);
    myth_jout_str(&s->j, modern_version);
    for (int i = 0; i < N_VERSION; i++)
        myth_jout_str(&s->j, versions[i]);
    myth_jout_end(&s->j);
}

static void put_unknown_version(server *s, const json_t *id, const char *asked)
{
    begin_answer(s, id, "error");
    myth_jout_key(&s->j, "code");
    myth_jout_i64(&s->j, NO_VERSION);
    myth_jout_key_str(&s->j, "message", "unsupported protocol version");
    myth_jout_key(&s->j, "data");
    myth_jout_object(&s->j);
    put_versions(s, "supported");
    myth_jout_key_str(&s->j, "requested", asked);
    myth_jout_end(&s->j);
    end_answer(s);
}

/* ---- methods ---- */

static void put_capabilities(server *s)
{
    myth_jout_key(&s->j, "capabilities");
    myth_jout_object(&s->j);
    myth_jout_key(&s->j, "tools");
    myth_jout_object(&s->j);
    myth_jout_key_bool(&s->j, "listChanged", false);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_key_str(&s->j, "instructions",
                      "The tools read one directory of code. Paths are relative to it. Every answer is one JSON "
                      "document of at most max_bytes bytes; left_out says how many items did not fit.");
}

static void discover(server *s, const json_t *id, const json_t *params)
{
    (void)params;
    begin_result(s, id);
    put_versions(s, "supportedVersions");
    put_capabilities(s);
    put_ttl(s);
    end_answer(s);
}

static void initialize(server *s, const json_t *id, const json_t *params)
{
    const char *asked = json_string_value(json_object_get(params, "protocolVersion"));
    if (!asked) {
        put_error(s, id, NO_PARAMS, "initialize: protocolVersion is missing or no string");
        return;
    }
    if (s->version) {
        put_error(s, id, NO_REQUEST, "initialize: the session is initialized already");
        return;
    }
    s->version = versions[0];
    for (int i = 0; i < N_VERSION; i++)
        if (strcmp(asked, versions[i]) == 0)
            s->version = versions[i];
    begin_result(s, id);
    myth_jout_key_str(&s->j, "protocolVersion", s->version);
    myth_jout_key(&s->j, "serverInfo");
    put_server_info(s);
    put_capabilities(s);
    end_answer(s);
}

static void list_tools(server *s, const json_t *id, const json_t *params)
{
    if (json_object_get(params, "cursor")) { /* all tools are on the first page, which gives no cursor */
        put_error(s, id, NO_PARAMS, "tools/list: unknown cursor");
        return;
    }
    begin_result(s, id);
    myth_jout_key(&s->j, "tools");
    myth_tools_list_json(&s->j);
    put_ttl(s);
    end_answer(s);
}

static void call_tool(server *s, const json_t *id, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name")), *hint;
    const json_t *args = json_object_get(params, "arguments");
    myth_error err = {0};
    char *text = NULL, said[2 * sizeof(err.msg)];
    size_t n = 0;
    bool is_found;
    if (!name) {
        put_error(s, id, NO_PARAMS, "tools/call: name is missing or no string");
        return;
    }
    if (!myth_tools_has(name, &hint)) {
        put_error_about(s, id, NO_PARAMS, hint ? "unknown tool; did you mean %.60s?" : "unknown tool: %.60s",
                        hint ? hint : name);
        return;
    }
    if (args && !json_is_object(args)) {
        put_error(s, id, NO_PARAMS, "tools/call: arguments is no object");
        return;
    }
    const myth_status st = myth_tools_call(s->tools, name, args, &text, &n, &is_found, &err);
    if (st != MYTH_OK)
        myth_cli_spell(said, sizeof(said), &err);
    begin_result(s, id);
    myth_jout_key(&s->j, "content");
    myth_jout_array(&s->j);
    myth_jout_object(&s->j);
    myth_jout_key_str(&s->j, "type", "text");
    myth_jout_key(&s->j, "text");
    if (st == MYTH_OK)
        myth_jout_text(&s->j, text, n);
    else
        myth_jout_str(&s->j, said);
    myth_jout_end(&s->j);
    myth_jout_end(&s->j);
    myth_jout_key_bool(&s->j, "isError", st != MYTH_OK);
    end_answer(s);
    free(text);
}

static void ping(server *s, const json_t *id, const json_t *params)
{
    (void)params;
    begin_result(s, id);
    end_answer(s);
}

/* Where a method may stand: before initialize, after it, in a request with an ENVELOPE. */
enum { EARLY = 1, SESSION = 2, MODERN = 4 };
static const struct {
    const char *name;
    void (*run)(server *s, const json_t *id, const json_t *params);
    int where;
} methods[] = {
    {"initialize", initialize, EARLY | SESSION},  {"ping", ping, EARLY | SESSION},
    {"tools/list", list_tools, SESSION | MODERN}, {"tools/call", call_tool, SESSION | MODERN},
    {"server/discover", discover, MODERN},
};

/* ---- messages ---- */

/* Whether the message gets no answer: a notification, or a client's answer, of which we ask for none. */
static bool wants_no_answer(const json_t *m)
{
    const bool is_answer = json_object_get(m, "result") || json_object_get(m, "error");
    return json_is_object(m) && !json_object_get(m, "method") == is_answer && (is_answer || !json_object_get(m, "id"));
}

/* Answers a request whose ENVELOPE is wrong, and returns false. */
static bool check_envelope(server *s, const json_t *id, const json_t *meta)
{
    const char *version = json_string_value(json_object_get(meta, ENVELOPE));
    if (!version)
        put_error(s, id, NO_PARAMS, ENVELOPE " is no string");
    else if (strcmp(version, modern_version) != 0)
        put_unknown_version(s, id, version);
    else if (!json_is_object(json_object_get(meta, CAPABILITIES)))
        put_error(s, id, NO_PARAMS, CAPABILITIES " is missing or no object");
    else
        return true;
    return false;
}

static void handle(server *s, const json_t *m)
{
    const json_t *id = json_object_get(m, "id"), *params = json_object_get(m, "params");
    const char *method = json_string_value(json_object_get(m, "method")),
               *rpc = json_string_value(json_object_get(m, "jsonrpc"));
    if (wants_no_answer(m))
        return;
    if (!json_is_string(id) && !json_is_integer(id)) {
        put_error(s, NULL, NO_REQUEST, "no request: the id is neither a string nor a whole number");
        return;
    }
    if (!rpc || strcmp(rpc, "2.0") != 0 || !method) {
        put_error(s, id, NO_REQUEST, "no request: expected \"jsonrpc\":\"2.0\" and a method");
        return;
    }
    const json_t *meta = json_object_get(params, "_meta");
    /* initialize begins a session, whatever else is in the request */
    s->is_modern = json_object_get(meta, ENVELOPE) && strcmp(method, "initialize") != 0;
    if (s->is_modern && !check_envelope(s, id, meta))
        return;
    const int where = s->is_modern ? MODERN : EARLY | SESSION;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i].name, method) != 0 || !(methods[i].where & where))
            continue;
        if (params && !json_is_object(params))
            put_error_about(s, id, NO_PARAMS, "%.60s: params is no object", method);
        else if (!s->is_modern && !s->version && !(methods[i].where & EARLY))
            put_error_about(s, id, NO_REQUEST, "%.60s: the session begins with initialize", method);
        else
            methods[i].run(s, id, params);
        return;
    }
    put_error_about(s, id, NO_METHOD, "unknown method: %.60s", method);
}

static void handle_batch(server *s, const json_t *batch)
{
    size_t n_answer = 0;
    const size_t n = json_array_size(batch);
    if (!s->version || strcmp(s->version, batch_version) != 0 || n == 0 || n > BATCH_MAX) {
        put_error(s, NULL, NO_REQUEST,
                  n == 0          ? "no request: the batch is empty"
                  : n > BATCH_MAX ? "no request: the batch has more than 256 messages"
                                  : "no request: batches are part of protocol version 2025-03-26 alone");
        return;
    }
    for (size_t i = 0; i < n; i++)
        n_answer += !wants_no_answer(json_array_get(batch, i));
    if (n_answer == 0)
        return;
    myth_jout_array(&s->j);
    for (size_t i = 0; i < n; i++)
        handle(s, json_array_get(batch, i));
    myth_jout_end(&s->j);
}

static void handle_line(server *s, const char *line, size_t n)
{
    json_error_t e;
    if (n && line[n - 1] == '\r')
        n--;
    if (n == 0)
        return;
    json_t *m = json_loadb(line, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);
    myth_jout_start(&s->j, stdout);
    if (!m)
        put_error_about(s, NULL, NO_JSON, "no JSON: %.100s", e.text);
    else if (json_is_array(m))
        handle_batch(s, m);
    else
        handle(s, m);
    json_decref(m);
    fflush(stdout);
}

/* ---- lines ---- */

/* Handles the whole lines that were read, and keeps the rest. */
static void handle_lines(server *s)
{
    size_t at = 0;
    const char *end;
    while (at < s->n_line && !*s->cli->cancel && (end = memchr(s->line + at, '\n', s->n_line - at)) != NULL) {
        const size_t n = (size_t)(end - (s->line + at));
        if (!s->is_skipping)
            handle_line(s, s->line + at, n);
        s->is_skipping = false;
        at += n + 1;
    }
    memmove(s->line, s->line + at, s->n_line - at);
    s->n_line -= at;
    if (s->is_skipping) {
        s->n_line = 0;
    } else if (s->n_line > LINE_MAX_BYTES) {
        myth_jout_start(&s->j, stdout);
        put_error(s, NULL, NO_REQUEST, "no request: a message has more than 1048576 bytes");
        fflush(stdout);
        s->is_skipping = true;
        s->n_line = 0;
    }
}

static myth_status serve(server *s, myth_error *err)
{
    while (!*s->cli->cancel) {
        if (!MYTH_ARRAY_MORE(s->cli->mem, MYTH_MEM_STAGING, "stdin", &s->line, s->n_line, READ_BYTES, &s->cap_line))
            return myth_fail(err, MYTH_ENOMEM, "mcp: out of memory for a message");
        const ssize_t k = read(STDIN_FILENO, s->line + s->n_line, READ_BYTES);
        if (k < 0 && errno != EINTR)
            return myth_fail(err, MYTH_EIO, "stdin: %s", strerror(errno));
        if (k == 0) {
            if (s->n_line && !s->is_skipping) /* a last line without its end */
                handle_line(s, s->line, s->n_line);
            break;
        }
        s->n_line += k > 0 ? (size_t)k : 0;
        handle_lines(s);
    }
    return MYTH_OK;
}

static int run_mcp(myth_cli *cli, const void *opts)
{
    const mcp_opts *o = opts;
    myth_error err = {0};
    server s = {.cli = cli};
    myth_status st = myth_tools_open(&s.tools, cli, myth_cli_dir(cli, 0), &o->model, &err);
    if (st == MYTH_OK)
        st = serve(&s, &err);
    myth_free(cli->mem, s.line);
    myth_tools_close(s.tools);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_mcp = {
    .name = "mcp",
    .args = "[DIR]",
    .help = "serve the tools by the Model Context Protocol on standard input and output",
    .detail =
        "A client starts the process and sends JSON-RPC messages, one on each line: initialize, tools/list, "
        "tools/call, ping. The tools and their arguments are those of mythos tool. The index stays open and is brought "
        "up to date by each call that reads it. What a tool refuses is an answer with isError; a message that is wrong "
        "is an error of the protocol, and the process goes on. It ends with the end of its input or at a signal. "
        "Protocol versions: 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05.",
    .group = mcp_groups,
    .n_group = 1,
    .opts_bytes = sizeof(mcp_opts),
    .max_arg = 1,
    .run = run_mcp,
};
