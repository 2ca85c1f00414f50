/* mcp_calls.c - the calls that wait and run: a queue, a thread for each lane, cancellation, progress, the end. */
#include "mcp.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_MS = 100 };
static const double TELL_S = 1; /* between two notifications of one call's progress */

static void free_call(myth_mcp *s, myth_mcp_call *c)
{
    myth_free(s->cli->mem, c->line);
    json_decref(c->id);
    json_decref(c->token);
    *c = (myth_mcp_call){0};
}

/* ---- the queue, under the mutex ---- */

static myth_mcp_call take_at(myth_mcp *s, uint32_t i)
{
    const myth_mcp_call c = s->waiting[i];
    memmove(s->waiting + i, s->waiting + i + 1, (s->n_waiting - i - 1) * sizeof(c));
    s->n_waiting--;
    s->n_waiting_bytes -= c.n;
    return c;
}

/* The lane's next call, if one waits, becomes the one that runs. */
static bool take(myth_mcp_lane *l)
{
    myth_mcp *s = l->s;
    uint32_t i = 0;
    while (i < s->n_waiting && &s->lane[s->waiting[i].lane] != l)
        i++;
    if (i == s->n_waiting)
        return false;
    l->now = take_at(s, i);
    l->is_cancelled = false;
    (s->is_stopping ? myth_cancel_set : myth_cancel_clear)(&l->cancel);
    l->began = l->told = myth_seconds();
    l->progress[0] = '\0';
    return true;
}

void myth_mcp_queue(myth_mcp_answer *a, int lane, const json_t *m, const char *line, size_t n)
{
    myth_mcp *s = a->s;
    json_t *id = json_object_get(m, "id");
    json_t *token = json_object_get(json_object_get(json_object_get(m, "params"), "_meta"), "progressToken");
    char *copy = myth_alloc(s->cli->mem, MYTH_MEM_STAGING, "request", n);
    if (!copy) {
        myth_mcp_error(a, id, MYTH_MCP_BUSY, "no memory for the request");
        return;
    }
    memcpy(copy, line, n);
    pthread_mutex_lock(&s->mutex);
    const bool has_room = s->n_waiting < MYTH_MCP_CALLS && n <= MYTH_MCP_CALLS_BYTES - s->n_waiting_bytes;
    if (has_room) {
        const bool is_token = json_is_string(token) || json_is_integer(token);
        s->waiting[s->n_waiting++] = (myth_mcp_call){
            .line = copy, .n = n, .id = json_incref(id), .token = is_token ? json_incref(token) : NULL, .lane = lane};
        s->n_waiting_bytes += n;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->mutex);
    if (has_room)
        return;
    myth_free(s->cli->mem, copy);
    myth_mcp_error(a, id, MYTH_MCP_BUSY, "too many calls wait (at most 256, of 8388608 bytes): ask again later");
}

void myth_mcp_cancel(myth_mcp *s, const json_t *id)
{
    pthread_mutex_lock(&s->mutex);
    for (int i = 0; i < MYTH_MCP_LANES; i++) {
        myth_mcp_lane *l = &s->lane[i];
        if (l->now.id && json_equal(l->now.id, id)) {
            l->is_cancelled = true;
            myth_cancel_set(&l->cancel);
        }
    }
    for (uint32_t i = s->n_waiting; i-- > 0;)
        if (s->waiting[i].id && json_equal(s->waiting[i].id, id)) {
            myth_mcp_call c = take_at(s, i);
            free_call(s, &c);
        }
    pthread_mutex_unlock(&s->mutex);
}

/* ---- lanes ---- */

static void run(myth_mcp_lane *l)
{
    myth_mcp *s = l->s;
    myth_mcp_answer a;
    json_t *m = json_loadb(l->now.line, l->now.n, MYTH_MCP_JSON, NULL); /* it could be parsed before */
    myth_mcp_answer_begin(&a, s, l);
    if (json_is_array(m))
        myth_mcp_batch(&a, m);
    else if (m)
        myth_mcp_message(&a, m);
    json_decref(m);
    pthread_mutex_lock(&s->mutex);
    const bool is_wanted = !l->is_cancelled;
    free_call(s, &l->now); /* no notification about it follows its answer */
    pthread_mutex_unlock(&s->mutex);
    if (is_wanted)
        myth_mcp_answer_send(&a);
    else
        myth_mcp_answer_drop(&a);
}

static void *work(void *lane)
{
    myth_mcp_lane *l = lane;
    myth_mcp *s = l->s;
    pthread_mutex_lock(&s->mutex);
    for (;;) {
        bool has_call;
        while (!(has_call = take(l)) && !s->is_over)
            pthread_cond_wait(&s->changed, &s->mutex);
        if (!has_call)
            break;
        pthread_mutex_unlock(&s->mutex);
        run(l);
        pthread_mutex_lock(&s->mutex);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

static void on_progress(void *lane, const char *what, unsigned long long done, unsigned long long total)
{
    myth_mcp_lane *l = lane;
    pthread_mutex_lock(&l->s->mutex);
    snprintf(l->progress, sizeof(l->progress), "%s %llu/%llu", what, done, total);
    pthread_mutex_unlock(&l->s->mutex);
}

static void tell(myth_mcp_lane *l, double now)
{
    myth_mcp_answer a;
    myth_mcp_answer_begin(&a, l->s, l);
    myth_jout_object(&a.j);
    myth_jout_key_str(&a.j, "jsonrpc", "2.0");
    myth_jout_key_str(&a.j, "method", "notifications/progress");
    myth_jout_key(&a.j, "params");
    myth_jout_object(&a.j);
    myth_jout_key(&a.j, "progressToken");
    if (json_is_string(l->now.token))
        myth_jout_text(&a.j, json_string_value(l->now.token), json_string_length(l->now.token));
    else
        myth_jout_i64(&a.j, json_integer_value(l->now.token));
    myth_jout_key_f64(&a.j, "progress", now - l->began);
    if (l->progress[0])
        myth_jout_key_str(&a.j, "message", l->progress);
    myth_jout_end(&a.j);
    myth_jout_end(&a.j);
    myth_mcp_answer_send(&a);
}

bool myth_mcp_tell(myth_mcp *s)
{
    bool is_running = false;
    const double now = myth_seconds();
    pthread_mutex_lock(&s->mutex);
    for (int i = 0; i < MYTH_MCP_LANES; i++) {
        myth_mcp_lane *l = &s->lane[i];
        is_running = is_running || l->now.line;
        if (!l->now.token || l->is_cancelled || now - l->told < TELL_S)
            continue;
        l->told = now;
        tell(l, now);
    }
    is_running = is_running || s->n_waiting > 0;
    pthread_mutex_unlock(&s->mutex);
    return is_running;
}

/* ---- begin and end ---- */

myth_status myth_mcp_start(myth_mcp *s, myth_cli *cli, const char *dir, const myth_model_flags *model, myth_error *err)
{
    *s = (myth_mcp){.cli = cli};
    pthread_mutex_init(&s->mutex, NULL);
    pthread_mutex_init(&s->out, NULL);
    pthread_cond_init(&s->changed, NULL);
    for (int i = 0; i < MYTH_MCP_LANES; i++) {
        myth_mcp_lane *l = &s->lane[i];
        l->s = s;
        l->cli = *cli;
        l->term = *cli->term;
        l->term.told = on_progress;
        l->term.told_arg = l;
        l->cli.term = &l->term;
        l->cli.log.user = &l->term;
        l->cli.cancel = &l->cancel;
        const myth_status st = myth_tools_open(&l->tools, &l->cli, dir, model, err);
        if (st != MYTH_OK)
            return st;
        l->has_thread = myth_thread_start(&l->thread, work, l);
        if (!l->has_thread)
            return myth_fail(err, MYTH_EIO, "mcp: the system gives no thread");
    }
    return MYTH_OK;
}

/* Ends what runs; what waits is freed, or begins and ends with an error. */
static void stop_calls(myth_mcp *s, bool frees)
{
    s->is_stopping = true;
    while (frees && s->n_waiting > 0) {
        myth_mcp_call c = take_at(s, s->n_waiting - 1);
        free_call(s, &c);
    }
    for (int i = 0; i < MYTH_MCP_LANES; i++) {
        myth_cancel_set(&s->lane[i].cancel);
        s->lane[i].is_cancelled = s->lane[i].is_cancelled || frees;
    }
}

static bool is_busy(const myth_mcp *s)
{
    bool is = s->n_waiting > 0;
    for (int i = 0; i < MYTH_MCP_LANES; i++)
        is = is || s->lane[i].now.line;
    return is;
}

void myth_mcp_finish(myth_mcp *s, bool at_once)
{
    const double end = myth_seconds() + MYTH_MCP_END_S;
    pthread_mutex_lock(&s->mutex);
    s->is_over = true;
    pthread_cond_broadcast(&s->changed);
    while (is_busy(s)) {
        struct timespec until;
        at_once = at_once || myth_cancelled(s->cli->cancel) || __atomic_load_n(&s->is_mute, __ATOMIC_ACQUIRE);
        if (at_once || myth_seconds() > end)
            stop_calls(s, at_once);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&s->changed, &s->mutex, &until);
    }
    pthread_mutex_unlock(&s->mutex);
}

void myth_mcp_stop(myth_mcp *s)
{
    if (!s->cli)
        return;
    myth_mcp_finish(s, true);
    for (int i = 0; i < MYTH_MCP_LANES; i++) {
        if (s->lane[i].has_thread)
            myth_thread_join(&s->lane[i].thread);
        myth_tools_close(s->lane[i].tools);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->out);
    pthread_mutex_destroy(&s->mutex);
}
