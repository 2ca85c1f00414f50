/* cmd_mcp.c - serves the tools to one client by the Model Context Protocol, over standard input and output.
 *
 * Messages  JSON-RPC 2.0, one on each line in both directions. A line of more than LINE_MAX_BYTES is skipped. Nothing
 *           that a client sends ends the process: what is wrong is answered by an error, or ignored where the protocol
 *           wants no answer
 * Order     calls of tools wait for a thread that runs them (mcp.h); everything else is answered at once, also before a
 *           call that came earlier
 * Versions  2026-07-28 has no session: each request has its version in its parameters (ENVELOPE), and server/discover
 *           says which there are. Before it a session begins with initialize and has the client's version, if it is one
 *           of `versions`, else the newest of them. Batches are part of 2025-03-26 alone
 * Errors    of the protocol: -32700 no JSON, -32600 no request, -32601 unknown method, -32602 wrong parameters, also
 *           an unknown tool, -32603 too many calls wait, -32022 unknown version. What a tool refuses or cannot do is a
 *           result with isError, so that a model can read it and correct its call
 * Index     stays open for all calls and is brought up to date by each
 * End       the end of standard input, a client that reads no more, or a signal: exit code 0
 * Source    modelcontextprotocol.io, specification 2026-07-28 and before; jsonrpc.org, specification 2.0 */
#include "mcp.h"
#include "engine/base/array.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20, READ_BYTES = 64 << 10 };
enum { BUSY_MS = 100, IDLE_MS = 1000 }; /* between two looks at the calls, and at a signal that was missed */

typedef struct {
    myth_model_flags model;
} mcp_opts;

static const myth_option_group mcp_groups[] = {MYTH_GROUP_MODEL(mcp_opts, model)};

typedef struct {
    myth_mcp mcp;
    char *line; /* bytes that were read and not handled */
    size_t n_line, cap_line;
    bool is_skipping; /* the line is too long: its rest is read over */
} server;

/* Whether jansson refuses JSON that is well formed as far as it was read. */
static bool is_out_of_bounds(const json_error_t *e)
{
    switch (json_error_code(e)) {
    case json_error_null_character:
    case json_error_null_byte_in_key:
    case json_error_numeric_overflow:
    case json_error_stack_overflow: return true;
    default: return false;
    }
}

static void handle_line(server *s, const char *line, size_t n)
{
    myth_mcp_answer a;
    json_error_t e;
    if (n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        line += 3;
        n -= 3;
    }
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    if (n == 0)
        return;
    json_t *m = json_loadb(line, n, MYTH_MCP_JSON, &e);
    myth_mcp_answer_begin(&a, &s->mcp, NULL);
    if (!m) {
        if (!is_out_of_bounds(&e) ||
            !myth_mcp_error_in(&a, line, n, MYTH_MCP_NO_PARAMS, "the message cannot be read: %.100s", e.text))
            myth_mcp_error_about(&a, NULL, MYTH_MCP_NO_JSON, "no JSON: %.100s", e.text);
    } else if (!json_is_array(m)) {
        myth_mcp_message(&a, m);
        if (a.put_off)
            myth_mcp_queue(&a, a.put_off - 1, m, line, n);
    } else if (myth_mcp_takes_batch(&a, m)) {
        myth_mcp_queue(&a, 0, m, line, n);
    }
    json_decref(m);
    myth_mcp_answer_send(&a);
}

/* Handles the whole lines that were read, and keeps the rest. */
static void handle_lines(server *s)
{
    size_t at = 0;
    const char *end;
    while (at < s->n_line && !myth_cancelled(s->mcp.cli->cancel) &&
           (end = memchr(s->line + at, '\n', s->n_line - at)) != NULL) {
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
        static const char why[] = "no request: a message has more than 1048576 bytes";
        myth_mcp_answer a;
        myth_mcp_answer_begin(&a, &s->mcp, NULL);
        if (!myth_mcp_error_in(&a, s->line, s->n_line, MYTH_MCP_NO_REQUEST, "%s", why))
            myth_mcp_error(&a, NULL, MYTH_MCP_NO_REQUEST, why);
        myth_mcp_answer_send(&a);
        s->is_skipping = true;
        s->n_line = 0;
    }
}

/* Reads until the input ends. *is_gone: nobody reads the answers any more. */
static myth_status serve(server *s, bool *is_gone, myth_error *err)
{
    /* nothing is asked of standard output: errors and the end of its reader are told in any case */
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    while (!myth_cancelled(s->mcp.cli->cancel) && !__atomic_load_n(&s->mcp.is_mute, __ATOMIC_ACQUIRE)) {
        if (!MYTH_ARRAY_MORE(s->mcp.cli->mem, MYTH_MEM_STAGING, "stdin", &s->line, s->n_line, READ_BYTES, &s->cap_line))
            return myth_fail(err, MYTH_ENOMEM, "mcp: out of memory for a message");
        const bool is_busy = myth_mcp_tell(&s->mcp);
        const int k = poll(p, 2, is_busy ? BUSY_MS : IDLE_MS);
        if (k < 0 && errno != EINTR)
            return myth_fail(err, MYTH_EIO, "stdin: %s", strerror(errno));
        if (k <= 0)
            continue;
        if (p[1].revents & (POLLERR | POLLHUP)) {
            *is_gone = true;
            break;
        }
        if (p[1].revents) /* it is closed: the first answer will tell */
            p[1].fd = -1;
        if (!p[0].revents)
            continue;
        const ssize_t got = read(STDIN_FILENO, s->line + s->n_line, READ_BYTES);
        if (got < 0 && errno != EINTR)
            return myth_fail(err, MYTH_EIO, "stdin: %s", strerror(errno));
        if (got == 0) {
            if (s->n_line && !s->is_skipping) /* a last line without its end */
                handle_line(s, s->line, s->n_line);
            break;
        }
        s->n_line += got > 0 ? (size_t)got : 0;
        handle_lines(s);
    }
    return MYTH_OK;
}

static int run_mcp(myth_cli *cli, const void *opts)
{
    static server s; /* some 20 KiB of calls that wait */
    const mcp_opts *o = opts;
    bool is_gone = false;
    myth_error err = {0};
    s = (server){0};
    myth_status st = myth_mcp_start(&s.mcp, cli, myth_cli_dir(cli, 0), &o->model, &err);
    if (st == MYTH_OK)
        st = serve(&s, &is_gone, &err);
    if (st == MYTH_OK)
        myth_mcp_finish(&s.mcp, is_gone);
    myth_mcp_stop(&s.mcp);
    if (st == MYTH_OK && s.mcp.out_errno)
        st = myth_fail(&err, MYTH_EIO, "standard output: %s", strerror(s.mcp.out_errno));
    myth_free(cli->mem, s.line);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_mcp = {
    .name = "mcp",
    .args = "[DIR]",
    .help = "serve the tools by the Model Context Protocol on standard input and output",
    .detail =
        "A client starts the process and sends JSON-RPC messages, one on each line: initialize, tools/list, "
        "tools/call, ping. The tools and their arguments are those of mythos tool. The index stays open and is brought "
        "up to date by each call that reads it. One call after the other is run, inspections beside the others, and "
        "what else is asked is answered meanwhile. A call ends without an answer when the client sends "
        "notifications/cancelled, and tells its progress once a second when it has a progressToken. At most 256 calls "
        "wait. What a tool refuses is an answer with isError; a message that is wrong is an error of the protocol, and "
        "the process goes on. It ends at a signal, or when its input ends: calls that are not done within 5 seconds "
        "of that are stopped. "
        "Protocol versions: 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05.",
    .group = mcp_groups,
    .n_group = 1,
    .opts_bytes = sizeof(mcp_opts),
    .max_arg = 1,
    .run = run_mcp,
};
