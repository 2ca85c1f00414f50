/* mcp.h - the parts of the command mcp: what is said to the client (mcp_say.c), the methods (mcp_methods.c), the calls
 * that wait and run (mcp_calls.c), and who reads (cmd_mcp.c).
 *
 * Threads  the main thread reads, and answers at once what needs no tool. Each lane has a thread that runs one call
 *          after the other: one lane for the tools that run in a process of their own and may last, one for all others
 * Locks    `mutex` guards what waits and runs, `out` a line on its way out. out may be taken under mutex, mutex not
 *          under out. The protocol's version is set by the main thread alone, before any call
 * Bounds   at most MYTH_MCP_CALLS calls of MYTH_MCP_CALLS_BYTES in all wait, as the text that the client sent: parsed
 *          messages may take many times as much. What comes on top is refused
 * Cancel   a call that the client cancels gets no answer, whether it waits, runs, or was done already. A batch cannot
 *          be cancelled */
#ifndef MYTH_MCP_H
#define MYTH_MCP_H

#include "engine/base/thread.h"
#include "tools.h"

enum { MYTH_MCP_CALLS = 256, MYTH_MCP_CALLS_BYTES = 8 << 20, MYTH_MCP_LANES = 2 };
enum { MYTH_MCP_BATCH = 256, MYTH_MCP_BATCH_BYTES = 16 << 20 }; /* messages of a batch; bytes of its answer */
/* How messages are parsed. A key that is there twice has its last value. */
#define MYTH_MCP_JSON (JSON_DECODE_ANY | JSON_ALLOW_NUL)

enum {
    MYTH_MCP_NO_JSON = -32700,
    MYTH_MCP_NO_REQUEST = -32600,
    MYTH_MCP_NO_METHOD = -32601,
    MYTH_MCP_NO_PARAMS = -32602,
    MYTH_MCP_BUSY = -32603,
    MYTH_MCP_NO_VERSION = -32022
};

typedef struct myth_mcp myth_mcp;

/* A line whose answer waits or is made. */
typedef struct {
    char *line; /* as it came; NULL = none */
    size_t n;
    json_t *id;    /* NULL = a batch */
    json_t *token; /* for notifications of progress; NULL = the client wants none */
    int lane;
} myth_mcp_call;

typedef struct {
    myth_mcp *s;
    myth_cli cli; /* the command's, with a cancel flag and a terminal of the lane's own */
    myth_term term;
    myth_tools *tools;
    myth_cancel cancel; /* ends the call that runs */
    myth_thread thread;
    bool has_thread;
    /* under the mutex */
    myth_mcp_call now;
    bool is_cancelled;  /* by the client */
    double began, told; /* when the call did; when its progress was told last */
    char progress[80];  /* how far the call is, if that is known */
} myth_mcp_lane;

struct myth_mcp {
    myth_cli *cli;
    const char *version; /* NULL until initialize */
    myth_mcp_lane lane[MYTH_MCP_LANES];
    pthread_mutex_t mutex, out;
    pthread_cond_t changed;
    bool is_mute;  /* atomic. Standard output failed, or a line was left half written: nothing follows */
    int out_errno; /* why; 0 = the run was ended */
    /* under the mutex */
    myth_mcp_call waiting[MYTH_MCP_CALLS];
    uint32_t n_waiting;
    size_t n_waiting_bytes;
    bool is_over, is_stopping; /* no more calls come; what runs is to end */
};

/* One line to the client while it is made. */
typedef struct {
    myth_mcp *s;
    myth_mcp_lane *lane; /* which runs the calls; NULL = the main thread, which runs none */
    myth_json_out j;
    FILE *f;
    char *text;
    size_t n;
    bool is_modern; /* the request that is answered has a version in its parameters */
    int put_off;    /* set by tools/call on the main thread: 1 + the lane that answers */
} myth_mcp_answer;

/* ---- mcp_say.c ---- */

void myth_mcp_answer_begin(myth_mcp_answer *a, myth_mcp *s, myth_mcp_lane *lane);
void myth_mcp_answer_send(myth_mcp_answer *a); /* and frees it; nothing is sent where nothing was put */
void myth_mcp_answer_drop(myth_mcp_answer *a);

/* Opens {"jsonrpc","id",KEY:{ ; the id becomes null when it is none. */
void myth_mcp_open(myth_mcp_answer *a, const json_t *id, const char *key);
void myth_mcp_close(myth_mcp_answer *a);
void myth_mcp_error(myth_mcp_answer *a, const json_t *id, int code, const char *text);
/* The same for a text with words of the client's. */
void myth_mcp_error_about(myth_mcp_answer *a, const json_t *id, int code, const char *fmt, const char *about);
/* The same for a message that cannot be parsed: its id is looked for in the first n bytes of its text. False, with
 * nothing put: it has none. */
bool myth_mcp_error_in(myth_mcp_answer *a, const char *line, size_t n, int code, const char *fmt, const char *about);

/* ---- mcp_methods.c ---- */

void myth_mcp_message(myth_mcp_answer *a, const json_t *m);
void myth_mcp_batch(myth_mcp_answer *a, const json_t *batch);
/* Whether the batch can be answered; an error is put when not. */
bool myth_mcp_takes_batch(myth_mcp_answer *a, const json_t *batch);

/* ---- mcp_calls.c ---- */

myth_status myth_mcp_start(myth_mcp *s, myth_cli *cli, const char *dir, const myth_model_flags *model, myth_error *err);
/* Lets the call m, which came as a line, wait for its lane; an error is put when there is no room. */
void myth_mcp_queue(myth_mcp_answer *a, int lane, const json_t *m, const char *line, size_t n);
void myth_mcp_cancel(myth_mcp *s, const json_t *id);
/* Tells the progress of calls that run, once a second for each. Returns whether one runs. */
bool myth_mcp_tell(myth_mcp *s);
/* No more calls come. Those that there are get their answers within MYTH_MCP_END_S seconds or an error then; at_once:
 * they get none. */
enum { MYTH_MCP_END_S = 5 };
void myth_mcp_finish(myth_mcp *s, bool at_once);
void myth_mcp_stop(myth_mcp *s); /* frees all; takes one that did not start */

#endif
