/* mcp_say.c - one line to the client: made in memory, and written as a whole.
 *
 * Write    a client that does not read its answers does not hold up the end of the process: a piece that a pipe takes
 *          whole is written when there is room for it
 * Id       of a message that is JSON but not to be parsed (a number out of range, a key with a zero byte, too many
 *          levels), or too long: the value of the key "id" of its outermost object, where the text has it */
#define _GNU_SOURCE
#include "mcp.h"

#include "engine/base/chars.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 100, NUMBER_MAX = 64 };

void myth_mcp_answer_begin(myth_mcp_answer *a, myth_mcp *s, myth_mcp_lane *lane)
{
    *a = (myth_mcp_answer){.s = s, .lane = lane};
    a->f = open_memstream(&a->text, &a->n);
    myth_jout_start(&a->j, a->f);
    a->j.deep = !a->f; /* nothing is written then */
}

void myth_mcp_answer_drop(myth_mcp_answer *a)
{
    if (a->f)
        fclose(a->f);
    free(a->text);
    a->f = NULL;
    a->text = NULL;
}

static void fail(myth_mcp *s, int why)
{
    s->out_errno = why;
    __atomic_store_n(&s->is_mute, true, __ATOMIC_RELEASE);
}

static void write_all(myth_mcp *s, const char *text, size_t n)
{
    while (n > 0 && !__atomic_load_n(&s->is_mute, __ATOMIC_ACQUIRE)) {
        struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
        const int k = poll(&p, 1, WAIT_MS);
        if (k > 0) {
            const ssize_t got = write(STDOUT_FILENO, text, n < PIPE_BUF ? n : PIPE_BUF);
            if (got < 0 && errno != EINTR && errno != EAGAIN)
                fail(s, errno);
            text += got > 0 ? got : 0;
            n -= got > 0 ? (size_t)got : 0;
        } else if (myth_cancelled(s->cli->cancel)) {
            fail(s, 0);
        } else if (k < 0 && errno != EINTR) {
            fail(s, errno);
        }
    }
}

void myth_mcp_answer_send(myth_mcp_answer *a)
{
    pthread_mutex_lock(&a->s->out);
    if (!a->f || fflush(a->f) != 0 || ferror(a->f))
        fail(a->s, ENOMEM);
    else
        write_all(a->s, a->text, a->n);
    pthread_mutex_unlock(&a->s->out);
    myth_mcp_answer_drop(a);
}

static void put_id(myth_json_out *j, const json_t *id)
{
    if (json_is_string(id))
        myth_jout_text(j, json_string_value(id), json_string_length(id));
    else if (json_is_integer(id))
        myth_jout_i64(j, json_integer_value(id));
    else
        myth_jout_null(j);
}

void myth_mcp_open(myth_mcp_answer *a, const json_t *id, const char *key)
{
    myth_jout_object(&a->j);
    myth_jout_key_str(&a->j, "jsonrpc", "2.0");
    myth_jout_key(&a->j, "id");
    put_id(&a->j, id);
    myth_jout_key(&a->j, key);
    myth_jout_object(&a->j);
}

void myth_mcp_close(myth_mcp_answer *a)
{
    myth_jout_end(&a->j);
    myth_jout_end(&a->j);
}

static void put_code(myth_mcp_answer *a, int code, const char *text)
{
    myth_jout_key(&a->j, "code");
    myth_jout_i64(&a->j, code);
    myth_jout_key_str(&a->j, "message", text);
    myth_mcp_close(a);
}

void myth_mcp_error(myth_mcp_answer *a, const json_t *id, int code, const char *text)
{
    myth_mcp_open(a, id, "error");
    put_code(a, code, text);
}

/* myth_fail makes the text safe to print. */
static void spell(myth_error *line, const char *fmt, const char *about)
{
    char text[200];
    snprintf(text, sizeof(text), fmt, about);
    myth_fail(line, MYTH_EARG, "%s", text);
}

void myth_mcp_error_about(myth_mcp_answer *a, const json_t *id, int code, const char *fmt, const char *about)
{
    myth_error line;
    spell(&line, fmt, about);
    myth_mcp_error(a, id, code, line.msg);
}

/* ---- the id of what cannot be parsed ---- */

/* Behind the string that begins at text[at]; n: it has no end. */
static size_t skip_string(const char *text, size_t n, size_t at)
{
    for (at++; at < n && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < n ? at + 1 : n;
}

/* Where the value of the outermost object's key "id" begins; n: there is none. */
static size_t find_id(const char *text, size_t n)
{
    uint32_t depth = 0;
    size_t at = 0;
    while (at < n && myth_is_white(text[at]))
        at++;
    if (at == n || text[at] != '{')
        return n;
    for (; at < n; at++) {
        depth += text[at] == '{' || text[at] == '[';
        depth -= text[at] == '}' || text[at] == ']';
        if (depth == 0)
            return n;
        if (text[at] != '"')
            continue;
        size_t end = skip_string(text, n, at);
        const bool is_id = depth == 1 && end - at == 4 && memcmp(text + at, "\"id\"", 4) == 0;
        while (end < n && myth_is_white(text[end]))
            end++;
        if (is_id && end < n && text[end] == ':') {
            for (end++; end < n && myth_is_white(text[end]);)
                end++;
            return end;
        }
        at = end - 1;
    }
    return n;
}

bool myth_mcp_error_in(myth_mcp_answer *a, const char *line, size_t n, int code, const char *fmt, const char *about)
{
    myth_error said;
    const size_t from = find_id(line, n);
    size_t to = from;
    json_t *id = NULL;
    if (from == n)
        return false;
    if (line[from] == '"') {
        to = skip_string(line, n, from);
        id = json_loadb(line + from, to - from, MYTH_MCP_JSON, NULL);
    } else {
        to += line[from] == '-';
        while (to < n && to - from < NUMBER_MAX && line[to] >= '0' && line[to] <= '9')
            to++;
    }
    /* a number goes back as it is, because it may be one that no integer holds */
    const size_t first = from + (line[from] == '-');
    const bool is_number = !id && first < to && to < n && (line[first] != '0' || to == first + 1) &&
                           (myth_is_white(line[to]) || line[to] == ',' || line[to] == '}');
    if (!id && !is_number)
        return false;
    spell(&said, fmt, about);
    myth_jout_object(&a->j);
    myth_jout_key_str(&a->j, "jsonrpc", "2.0");
    myth_jout_key(&a->j, "id");
    if (id)
        put_id(&a->j, id);
    else
        myth_jout_json(&a->j, line + from, to - from);
    myth_jout_key(&a->j, "error");
    myth_jout_object(&a->j);
    put_code(a, code, said.msg);
    json_decref(id);
    return true;
}
