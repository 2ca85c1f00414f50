/* mcp_methods.c - the methods of the protocol: checks a message and answers it, or puts a call off. */
#include "mcp.h"

#include "version.h"

#include <stdlib.h>
#include <string.h>

/* Keys of a request's _meta in 2026-07-28, and of an answer's. */
#define ENVELOPE     "io.modelcontextprotocol/protocolVersion"
#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define SERVER_INFO  "io.modelcontextprotocol/serverInfo"
/* The list of tools is that of the program and stays as long as the process. */
enum { LIST_TTL_MS = 3600 * 1000 };

static const char modern_version[] = "2026-07-28";
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
enum { N_VERSION = sizeof(versions) / sizeof(versions[0]) };
static const char batch_version[] = "2025-03-26", structured_since[] = "2025-06-18";

/* NULL for what is no string, and for one with a zero byte, which is none of the protocol's words. */
static const char *text_of(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    const char *text = json_string_value(v);
    return text && strlen(text) == json_string_length(v) ? text : NULL;
}

/* ---- parts of answers ---- */

/* Whether the version of the protocol has results that are JSON beside their text. */
static bool is_structured(const myth_mcp_answer *a)
{
    return a->is_modern || (a->s->version && strcmp(a->s->version, structured_since) >= 0);
}

static void put_server_info(myth_json_out *j)
{
    myth_jout_object(j);
    myth_jout_key_str(j, "name", "mythos");
    myth_jout_key_str(j, "title", "mythos, evidence about a directory of code");
    myth_jout_key_str(j, "version", MYTHOS_VERSION);
    myth_jout_end(j);
}

static void begin_result(myth_mcp_answer *a, const json_t *id)
{
    myth_mcp_open(a, id, "result");
    if (!a->is_modern)
        return;
    myth_jout_key_str(&a->j, "resultType", "complete");
    myth_jout_key(&a->j, "_meta");
    myth_jout_object(&a->j);
    myth_jout_key(&a->j, SERVER_INFO);
    put_server_info(&a->j);
    myth_jout_end(&a->j);
}

/* How long a client may keep what is in the result. */
static void put_ttl(myth_mcp_answer *a)
{
    if (!a->is_modern)
        return;
    myth_jout_key_u64(&a->j, "ttlMs", LIST_TTL_MS);
    myth_jout_key_str(&a->j, "cacheScope", "private");
}

static void put_versions(myth_json_out *j, const char *key)
{
    myth_jout_key(j, key);
    myth_jout_array(j);
    myth_jout_str(j, modern_version);
    for (int i = 0; i < N_VERSION; i++)
        myth_jout_str(j, versions[i]);
    myth_jout_end(j);
}

static void put_unknown_version(myth_mcp_answer *a, const json_t *id, const char *asked)
{
    myth_mcp_open(a, id, "error");
    myth_jout_key(&a->j, "code");
    myth_jout_i64(&a->j, MYTH_MCP_NO_VERSION);
    myth_jout_key_str(&a->j, "message", "unsupported protocol version");
    myth_jout_key(&a->j, "data");
    myth_jout_object(&a->j);
    put_versions(&a->j, "supported");
    myth_jout_key_str(&a->j, "requested", asked);
    myth_jout_end(&a->j);
    myth_mcp_close(a);
}

static void put_capabilities(myth_json_out *j)
{
    myth_jout_key(j, "capabilities");
    myth_jout_object(j);
    myth_jout_key(j, "tools");
    myth_jout_object(j);
    myth_jout_key_bool(j, "listChanged", false);
    myth_jout_end(j);
    myth_jout_end(j);
    myth_jout_key_str(j, "instructions",
                      "The tools read one directory of code. Paths are relative to it. Every answer is one JSON "
                      "document of at most max_bytes bytes, as text and as structuredContent; left_out says how many "
                      "items did not fit.");
}

/* ---- methods ---- */

static void discover(myth_mcp_answer *a, const json_t *id, const json_t *params)
{
    (void)params;
    begin_result(a, id);
    put_versions(&a->j, "supportedVersions");
    put_capabilities(&a->j);
    put_ttl(a);
    myth_mcp_close(a);
}

static void initialize(myth_mcp_answer *a, const json_t *id, const json_t *params)
{
    const char *asked = text_of(params, "protocolVersion");
    if (!asked) {
        myth_mcp_error(a, id, MYTH_MCP_NO_PARAMS, "initialize: protocolVersion is missing or no string");
        return;
    }
    if (a->s->version) {
        myth_mcp_error(a, id, MYTH_MCP_NO_REQUEST, "initialize: the session is initialized already");
        return;
    }
    a->s->version = versions[0];
    for (int i = 0; i < N_VERSION; i++)
        if (strcmp(asked, versions[i]) == 0)
            a->s->version = versions[i];
    begin_result(a, id);
    myth_jout_key_str(&a->j, "protocolVersion", a->s->version);
    myth_jout_key(&a->j, "serverInfo");
    put_server_info(&a->j);
    put_capabilities(&a->j);
    myth_mcp_close(a);
}

static void list_tools(myth_mcp_answer *a, const json_t *id, const json_t *params)
{
    if (json_object_get(params, "cursor")) { /* all tools are on the first page, which gives no cursor */
        myth_mcp_error(a, id, MYTH_MCP_NO_PARAMS, "tools/list: unknown cursor");
        return;
    }
    begin_result(a, id);
    myth_jout_key(&a->j, "tools");
    myth_tools_list_json(&a->j, is_structured(a));
    put_ttl(a);
    myth_mcp_close(a);
}

static void run_tool(myth_mcp_answer *a, const json_t *id, const char *name, const json_t *args)
{
    myth_error err = {0};
    char *text = NULL, said[2 * sizeof(err.msg)];
    size_t n = 0;
    bool is_found;
    const myth_status st = myth_tools_call(a->lane->tools, name, args, &text, &n, &is_found, &err);
    if (st != MYTH_OK)
        myth_cli_spell(said, sizeof(said), &err);
    begin_result(a, id);
    myth_jout_key(&a->j, "content");
    myth_jout_array(&a->j);
    myth_jout_object(&a->j);
    myth_jout_key_str(&a->j, "type", "text");
    myth_jout_key(&a->j, "text");
    if (st == MYTH_OK)
        myth_jout_text(&a->j, text, n);
    else
        myth_jout_str(&a->j, said);
    myth_jout_end(&a->j);
    myth_jout_end(&a->j);
    if (st == MYTH_OK && is_structured(a)) {
        myth_jout_key(&a->j, "structuredContent");
        myth_jout_json(&a->j, text, n);
    }
    myth_jout_key_bool(&a->j, "isError", st != MYTH_OK);
    myth_mcp_close(a);
    free(text);
}

static void call_tool(myth_mcp_answer *a, const json_t *id, const json_t *params)
{
    const char *name = text_of(params, "name"), *hint;
    const json_t *args = json_object_get(params, "arguments");
    if (!name)
        myth_mcp_error(a, id, MYTH_MCP_NO_PARAMS, "tools/call: name is missing or no string");
    else if (!myth_tools_has(name, &hint))
        myth_mcp_error_about(a, id, MYTH_MCP_NO_PARAMS,
                             hint ? "unknown tool; did you mean %.60s?" : "unknown tool: %.60s", hint ? hint : name);
    else if (args && !json_is_object(args))
        myth_mcp_error(a, id, MYTH_MCP_NO_PARAMS, "tools/call: arguments is no object");
    else if (!a->lane)
        a->put_off = 1 + myth_tools_may_last(name);
    else
        run_tool(a, id, name, args);
}

static void ping(myth_mcp_answer *a, const json_t *id, const json_t *params)
{
    (void)params;
    begin_result(a, id);
    myth_mcp_close(a);
}

/* Where a method may stand: before initialize, after it, in a request with an ENVELOPE. */
enum { EARLY = 1, SESSION = 2, MODERN = 4 };
static const struct {
    const char *name;
    void (*run)(myth_mcp_answer *a, const json_t *id, const json_t *params);
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

static void be_told(myth_mcp_answer *a, const json_t *m)
{
    const char *method = text_of(m, "method");
    if (method && strcmp(method, "notifications/cancelled") == 0)
        myth_mcp_cancel(a->s, json_object_get(json_object_get(m, "params"), "requestId"));
}

/* Answers a request whose ENVELOPE is wrong, and returns false. */
static bool check_envelope(myth_mcp_answer *a, const json_t *id, const json_t *meta)
{
    const char *version = text_of(meta, ENVELOPE);
    if (!version)
        myth_mcp_error(a, id, MYTH_MCP_NO_PARAMS, ENVELOPE " is no string");
    else if (strcmp(version, modern_version) != 0)
        put_unknown_version(a, id, version);
    else if (!json_is_object(json_object_get(meta, CAPABILITIES)))
        myth_mcp_error(a, id, MYTH_MCP_NO_PARAMS, CAPABILITIES " is missing or no object");
    else
        return true;
    return false;
}

void myth_mcp_message(myth_mcp_answer *a, const json_t *m)
{
    const json_t *id = json_object_get(m, "id"), *params = json_object_get(m, "params");
    const char *method = text_of(m, "method"), *rpc = text_of(m, "jsonrpc");
    if (wants_no_answer(m)) {
        be_told(a, m);
        return;
    }
    if (!json_is_string(id) && !json_is_integer(id)) {
        myth_mcp_error(a, NULL, MYTH_MCP_NO_REQUEST, "no request: the id is neither a string nor a whole number");
        return;
    }
    if (!rpc || strcmp(rpc, "2.0") != 0 || !method) {
        myth_mcp_error(a, id, MYTH_MCP_NO_REQUEST, "no request: expected \"jsonrpc\":\"2.0\" and a method");
        return;
    }
    const json_t *meta = json_object_get(params, "_meta");
    /* initialize begins a session, whatever else is in the request */
    a->is_modern = json_object_get(meta, ENVELOPE) && strcmp(method, "initialize") != 0;
    if (a->is_modern && !check_envelope(a, id, meta))
        return;
    const int where = a->is_modern ? MODERN : EARLY | SESSION;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i].name, method) != 0 || !(methods[i].where & where))
            continue;
        if (params && !json_is_object(params))
            myth_mcp_error_about(a, id, MYTH_MCP_NO_PARAMS, "%.60s: params is no object", method);
        else if (!a->is_modern && !a->s->version && !(methods[i].where & EARLY))
            myth_mcp_error_about(a, id, MYTH_MCP_NO_REQUEST, "%.60s: the session begins with initialize", method);
        else
            methods[i].run(a, id, params);
        return;
    }
    myth_mcp_error_about(a, id, MYTH_MCP_NO_METHOD, "unknown method: %.60s", method);
}

bool myth_mcp_takes_batch(myth_mcp_answer *a, const json_t *batch)
{
    const size_t n = json_array_size(batch);
    const char *version = a->s->version;
    if (n > 0 && n <= MYTH_MCP_BATCH && version && strcmp(version, batch_version) == 0)
        return true;
    myth_mcp_error(a, NULL, MYTH_MCP_NO_REQUEST,
                   n == 0               ? "no request: the batch is empty"
                   : n > MYTH_MCP_BATCH ? "no request: the batch has more than 256 messages"
                                        : "no request: batches are part of protocol version 2025-03-26 alone");
    return false;
}

void myth_mcp_batch(myth_mcp_answer *a, const json_t *batch)
{
    size_t n_answer = 0;
    const size_t n = json_array_size(batch);
    for (size_t i = 0; i < n; i++)
        n_answer += !wants_no_answer(json_array_get(batch, i));
    if (n_answer > 0)
        myth_jout_array(&a->j);
    for (size_t i = 0; i < n; i++) {
        const json_t *m = json_array_get(batch, i);
        if (a->f)
            fflush(a->f); /* sets n */
        if (a->n > MYTH_MCP_BATCH_BYTES && !wants_no_answer(m))
            myth_mcp_error(a, json_object_get(m, "id"), MYTH_MCP_BUSY,
                           "the answer of the batch has more than 16777216 bytes: send fewer messages in one");
        else
            myth_mcp_message(a, m);
    }
    if (n_answer > 0)
        myth_jout_end(&a->j);
}
