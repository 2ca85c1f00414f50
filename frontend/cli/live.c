/* live.c - a thread that answers on a socket, reads a limit from a file, and reports memory while a command runs; and
 * what the main thread does between two runs of a command. */
#define _GNU_SOURCE
#include "live.h"

#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/run/devices.h"
#include "engine/run/host_memory.h"
#include "environment.h"
#include "json_out.h"
#include "memreport.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 20, /* between two looks at the socket and the file */
    CLIENTS = 8,
    LINE = 4096, /* bytes of a request */
    SCHEMA = 1,
};

static const double USE_S = 0.2;    /* between two looks at what all processes use, which reads several files */
static const double PATIENCE_S = 1; /* of a critical level, in which no answer is begun, before a job pauses */

typedef enum { ASKED_NOTHING, ASKED_LIMIT, ASKED_PAUSE } asked;

typedef struct {
    int fd; /* -1 = free */
    size_t n;
    char line[LINE];
    asked waits; /* for the run to be as it asked */
    double since;
} client;

struct myth_live {
    myth_cli *cli;
    myth_cancel *cancel;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;    /* of all below */
    bool is_over, is_closing; /* over: nothing goes on */
    const myth_cancel *n_interrupt;
    double began;
    /* the socket */
    int listener;  /* -1 = none */
    bool is_bound; /* the socket's file is ours to remove */
    struct sockaddr_un address;
    client client[CLIENTS];
    /* the file of the limit; NULL = none */
    const char *limit_file;
    struct stat limit_seen;
    char limit_said[MYTH_LIMIT_TEXT];
    bool limit_is_due; /* what it said last is not taken yet: the run could not be interrupted */
    /* what is asked of the run */
    bool wants_change, wants_pause, is_between, was_cancelled, is_waiting;
    myth_mem_limits limits, under; /* asked for; what the plan was made under */
    /* the report */
    FILE *report;
    char phase[16];
    char refusal[256]; /* why the last plan did not fit; "" = it did */
    myth_plan plan;
    bool has_plan;
    uint64_t shown_bytes;
    double shown_at, used_at; /* when a sample was written; when use was read */
    myth_memory_level level;
    myth_host_use use;
    /* a pause that nobody asked for */
    bool is_pressed;
    double critical_since; /* 0 = it is not */
    uint64_t others;       /* what other processes used when the run was planned */
    uint64_t own;          /* what this one had when it paused */
    /* what a chat has kept while it holds no engine */
    const char *swapped_to; /* NULL = nothing */
    uint64_t swapped_bytes;
};

/* ---- what is reported ---- */

myth_memory_level myth_memory_level_of(uint64_t used, uint64_t all, myth_memory_level was)
{
    static const double from[] = {0, 0.85, 0.95}, back = 0.05;
    const double share = all ? (double)used / (double)all : 0;
    int level = MYTH_LEVEL_CRITICAL;
    while (level > MYTH_LEVEL_NORMAL && share < from[level] - (level <= (int)was ? back : 0))
        level--;
    return (myth_memory_level)level;
}

/* The line that has the plan by sequence and by layer: what does not change until the next one. */
static const char PLAN_EVENT[] = "plan";

static const char *const level_name[] = {"normal", "warning", "critical"};

static void put_sample(const myth_live *l, myth_json_out *j, const char *event)
{
    myth_jout_object(j);
    myth_jout_key_u64(j, "schema", SCHEMA);
    myth_jout_key_str(j, "event", event);
    myth_jout_key_f64(j, "seconds", myth_seconds() - l->began);
    myth_jout_key_str(j, "phase", l->is_waiting ? "waiting" : l->phase);
    if (l->refusal[0])
        myth_jout_key_str(j, "reason", l->refusal);
    myth_memreport_device(j, l->cli->mem, l->has_plan ? &l->plan.device[0] : NULL, MYTH_MEM_HOST);
    myth_jout_key_str(j, "mode", myth_mem_reserves(l->cli->mem) ? "reserve" : "share");
    myth_jout_key_u64(j, "rss_anon_bytes", myth_rss_anon());
    myth_jout_key_u64(j, "machine_bytes", l->use.all);
    myth_jout_key_u64(j, "machine_used_bytes", l->use.used);
    myth_jout_key_str(j, "level", level_name[l->level]);
    if (l->swapped_to) {
        myth_jout_key(j, "swapped");
        myth_jout_object(j);
        myth_jout_key_str(j, "to", l->swapped_to);
        myth_jout_key_u64(j, "bytes", l->swapped_bytes);
        myth_jout_end(j);
    }
    myth_jout_key(j, "devices");
    myth_jout_array(j);
    for (uint32_t i = 1; l->has_plan && i < l->plan.n_device; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "device", l->plan.device[i].name);
        myth_memreport_device(j, l->cli->mem, &l->plan.device[i], l->plan.device[i].ledger);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (strcmp(event, PLAN_EVENT) == 0)
        myth_memreport_layers(j, l->cli);
    myth_jout_end(j);
}

static void report(myth_live *l, const char *event)
{
    myth_json_out j;
    if (!l->report)
        return;
    l->shown_at = myth_seconds();
    l->shown_bytes = myth_mem_total(l->cli->mem, MYTH_MEM_HOST).live;
    myth_jout_start(&j, l->report);
    put_sample(l, &j, event);
    fflush(l->report);
}

/* ---- pressure ---- */

/* Why the run cannot be interrupted and go on; NULL = it can. */
static const char *why_not(const myth_live *l)
{
    if (l->is_waiting || l->cli->can_swap)
        return NULL;
    if (!l->cli->has_journal)
        return "this command, or this step of it, cannot be interrupted and go on: only jobs with a journal can (embed "
               "-o, residuals, logprobs, generate --jsonl), and a chat that has begun";
    return l->cli->has_read_stdin ? "standard input cannot be read a second time: give the job a file" : NULL;
}

/* Interrupts the run, so that it goes on in another way. */
static void interrupt(myth_live *l)
{
    if (l->is_waiting)
        return;
    l->is_between = true;
    myth_cancel_set(l->cli->can_swap ? &l->cli->put_off : l->cancel);
}

static myth_host_use use_now(void)
{
    const char *file = myth_env_get("MYTHOS_MEMINFO");
    return file ? myth_host_used_of(file, "/dev/null", "/dev/null") : myth_host_used();
}

static uint64_t used_by_others(const myth_live *l)
{
    const uint64_t own = myth_rss_anon();
    return l->use.used > own ? l->use.used - own : 0;
}

/* Whether the level is critical because other processes have taken more since the run was planned. A run that fills the
 * machine by itself does what its plan says, and a pause would not end. */
static bool others_press(const myth_live *l)
{
    const uint64_t others = used_by_others(l), more = others > l->others ? others - l->others : 0;
    return l->level == MYTH_LEVEL_CRITICAL &&
           myth_memory_level_of(l->use.used - more, l->use.all, MYTH_LEVEL_NORMAL) < MYTH_LEVEL_CRITICAL;
}

/* Whether the run, which waits without memory, would not be in a critical level again, or others have no more than when
 * it was planned. */
static bool has_room_again(const myth_live *l)
{
    return used_by_others(l) <= l->others ||
           myth_memory_level_of(l->use.used + l->own, l->use.all, MYTH_LEVEL_CRITICAL) < MYTH_LEVEL_CRITICAL;
}

static const char *what_runs(const myth_live *l) { return l->cli->can_swap ? "chat" : "job"; }

static void look_at_pressure(myth_live *l)
{
    if (l->level != MYTH_LEVEL_CRITICAL)
        l->critical_since = 0;
    else if (!l->critical_since)
        l->critical_since = myth_seconds();
    if (l->is_pressed && l->is_waiting && has_room_again(l)) {
        l->is_pressed = false;
        myth_term_note(l->cli->term, "memory: the %s goes on", what_runs(l));
    } else if (l->critical_since && myth_seconds() - l->critical_since >= PATIENCE_S && !l->is_waiting &&
               !l->is_between && !why_not(l) && others_press(l)) {
        l->is_pressed = true;
        l->own = myth_rss_anon();
        report(l, "paused");
        myth_term_note(l->cli->term,
                       "memory: the %s pauses, without memory, until other processes use less; what is "
                       "finished is kept",
                       what_runs(l));
        interrupt(l);
    }
}

static void look_at_memory(myth_live *l)
{
    const uint64_t live = myth_mem_total(l->cli->mem, MYTH_MEM_HOST).live, was = l->shown_bytes;
    const uint64_t change = live > was ? live - was : was - live;
    const bool is_new = myth_seconds() - l->used_at >= USE_S;
    if (is_new) {
        l->use = use_now();
        l->used_at = myth_seconds();
    }
    const myth_memory_level level = myth_memory_level_of(l->use.used, l->use.all, l->level);
    if (level != l->level) {
        l->level = level;
        report(l, level_name[level]);
        myth_term_note(l->cli->term, "memory: %.0f %% in use by all processes (%s)%s",
                       100 * (double)l->use.used / (double)l->use.all, level_name[level],
                       level == MYTH_LEVEL_CRITICAL ? "; nothing more is begun beside what runs" : "");
    } else if (change > was / 8 || myth_seconds() - l->shown_at >= 1) {
        report(l, "sample");
    }
    if (is_new)
        look_at_pressure(l);
}

/* ---- what is asked ---- */

/* An answer, a line of any length. */
typedef struct {
    myth_json_out json;
    FILE *f; /* NULL = no memory */
    char *text;
    size_t n;
} reply;

/* Begins an answer with "ok"; NULL without memory. */
static myth_json_out *begin_reply(reply *r, bool ok)
{
    *r = (reply){.f = NULL};
    r->f = open_memstream(&r->text, &r->n);
    if (!r->f)
        return NULL;
    myth_jout_start(&r->json, r->f);
    myth_jout_object(&r->json);
    myth_jout_key_bool(&r->json, "ok", ok);
    return &r->json;
}

/* Sends it. What there is no memory for is said in place of it. */
static void end_reply(reply *r, client *c)
{
    static const char none[] = "{\"ok\":false,\"error\":\"out of memory\"}\n";
    if (r->f)
        myth_jout_end(&r->json);
    const bool is_whole = r->f && fclose(r->f) == 0;
    const char *text = is_whole ? r->text : none;
    const size_t n = is_whole ? r->n : sizeof(none) - 1;
    if (send(c->fd, text, n, MSG_NOSIGNAL) != (ssize_t)n) { /* it is gone: the next look closes it */
    }
    free(r->text);
}

static void agree(client *c)
{
    reply r;
    begin_reply(&r, true);
    end_reply(&r, c);
}

static void refuse(client *c, const char *why)
{
    reply r;
    myth_json_out *j = begin_reply(&r, false);
    if (j)
        myth_jout_key_str(j, "error", why);
    end_reply(&r, c);
}

static void answer_stats(myth_live *l, client *c)
{
    reply r;
    myth_json_out *j = begin_reply(&r, true);
    if (j) {
        myth_jout_key(j, "stats");
        put_sample(l, j, "stats");
    }
    end_reply(&r, c);
}

/* Whether the run may go on as it was planned under limits that would give it no other plan: each has room for what was
 * planned and is in use, and one that is raised was no reason for a smaller plan. The next larger plan has one more
 * sequence, half as many tokens again or twice the rows, and so at most twice the bytes: a plan that took less than
 * half of its limit was not made smaller by it. */
static bool may_stay(const myth_live *l, const myth_mem_limits *limits)
{
    bool stays = l->has_plan && l->plan.fits && !l->is_between && !l->is_waiting;
    for (uint32_t i = 0; stays && i < l->plan.n_device; i++) {
        const int ledger = i ? l->plan.device[i].ledger : MYTH_MEM_HOST;
        const uint64_t planned = l->plan.device[i].total_bytes, live = myth_mem_total(l->cli->mem, ledger).live,
                       need = planned > live ? planned : live, is = limits->bytes[ledger], was = l->under.bytes[ledger];
        const bool is_raised = was && (!is || is > was);
        stays = (!is || is >= need) && !(is_raised && planned > was / 2);
    }
    return stays;
}

/* Takes another limit, which changes those in `limits` that it names. Why it cannot; NULL = it is taken. */
static const char *ask_limit(myth_live *l, const char *text, myth_mem_limits limits, myth_error *err)
{
    const char *why = why_not(l);
    if (why)
        return why;
    if (myth_devices_read_limits(&limits, text, l->cli->global->device, myth_size_parse, err) != MYTH_OK)
        return err->msg;
    l->limits = limits;
    if (may_stay(l, &limits)) {
        for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
            myth_mem_set_limit(l->cli->mem, i, limits.bytes[i]);
        return NULL;
    }
    l->wants_change = true;
    if (limits.bytes[MYTH_MEM_HOST] && limits.bytes[MYTH_MEM_HOST] < l->own)
        l->own = limits.bytes[MYTH_MEM_HOST];
    interrupt(l);
    return NULL;
}

/* Whether the run waits until it is resumed, whatever its limit is. */
static bool is_paused(const myth_live *l) { return l->is_waiting && (l->wants_pause || l->is_pressed); }

/* Tells who waits for it that the run is as it was asked to be; of a limit that it does not fit, that it waits; of
 * one that comes to a paused run, that it is paused. */
static void tell_waiting(myth_live *l, asked what)
{
    for (int i = 0; i < CLIENTS; i++) {
        client *c = &l->client[i];
        if (c->fd < 0 || c->waits != what)
            continue;
        reply r;
        myth_json_out *j = begin_reply(&r, true);
        if (j)
            myth_jout_key_f64(j, "seconds", myth_seconds() - c->since);
        if (j && what == ASKED_LIMIT && is_paused(l))
            myth_jout_key_bool(j, "paused", true);
        else if (j && what == ASKED_LIMIT && l->is_waiting)
            myth_jout_key_str(j, "waiting", l->refusal[0] ? l->refusal : "it does not fit this limit");
        end_reply(&r, c);
        c->waits = ASKED_NOTHING;
    }
}

/* Of a limit that is taken: tells at once where nothing is to be planned anew, or not before somebody resumes; else
 * when it is. */
static void wait_or_tell(myth_live *l, client *c)
{
    c->waits = ASKED_LIMIT;
    if (is_paused(l) || (!l->is_between && !l->is_waiting))
        tell_waiting(l, ASKED_LIMIT);
}

/* A line of n bytes. */
static void obey(myth_live *l, client *c, const char *line, size_t n)
{
    myth_error err;
    json_error_t e;
    json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, &e);
    char number[24]; /* a size that is a number of bytes */
    const json_t *given = json_object_get(o, "size");
    const char *cmd = json_string_value(json_object_get(o, "cmd")),
               *size = json_is_integer(given) ? number : json_string_value(given);
    snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(given));
    const char *why = NULL;
    c->since = myth_seconds();
    if (!json_is_object(o) || !cmd)
        why = "a line is a JSON object with \"cmd\": stats, limit, pause, resume or cancel";
    else if (strcmp(cmd, "stats") == 0)
        answer_stats(l, c);
    else if (strcmp(cmd, "limit") == 0 && !size)
        why = "limit: \"size\" is missing, a text as --mem-limit takes it or a whole number of bytes";
    else if (strcmp(cmd, "limit") == 0) {
        if (!(why = ask_limit(l, size, l->limits, &err)))
            wait_or_tell(l, c);
    } else if (strcmp(cmd, "pause") == 0) {
        if (!(why = why_not(l))) {
            l->wants_pause = true;
            interrupt(l);
            c->waits = ASKED_PAUSE;
        }
    } else if (strcmp(cmd, "resume") == 0) {
        l->wants_pause = l->is_pressed = false;
        agree(c);
    } else if (strcmp(cmd, "cancel") == 0) {
        l->is_between = l->wants_change = l->wants_pause = l->is_pressed = false;
        l->is_over = l->is_waiting;
        myth_cancel_set(l->cancel);
        agree(c);
    } else
        why = "\"cmd\" is one of stats, limit, pause, resume, cancel";
    if (why)
        refuse(c, why);
    json_decref(o);
}

static void drop(client *c)
{
    close(c->fd);
    *c = (client){.fd = -1};
}

static void accept_clients(myth_live *l)
{
    for (int fd; (fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        int i = 0;
        while (i < CLIENTS && l->client[i].fd >= 0)
            i++;
        if (i == CLIENTS)
            close(fd);
        else
            l->client[i] = (client){.fd = fd};
    }
}

static void serve(myth_live *l, client *c)
{
    const ssize_t n = recv(c->fd, c->line + c->n, sizeof(c->line) - 1 - c->n, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(c);
        return;
    }
    c->n += n > 0 ? (size_t)n : 0;
    for (char *end; !c->waits && (end = memchr(c->line, '\n', c->n));) {
        const size_t whole = (size_t)(end - c->line) + 1;
        obey(l, c, c->line, whole - 1);
        c->n -= whole;
        memmove(c->line, c->line + whole, c->n);
    }
    if (c->n == sizeof(c->line) - 1 && !c->waits) {
        refuse(c, "a line is longer than 4,094 bytes");
        drop(c);
    }
}

/* Whether the file is another one than it was. */
static bool is_new_file(myth_live *l)
{
    struct stat is;
    const struct stat *was = &l->limit_seen;
    if (stat(l->limit_file, &is) != 0 ||
        (is.st_ino == was->st_ino && is.st_size == was->st_size && is.st_mtim.tv_sec == was->st_mtim.tv_sec &&
         is.st_mtim.tv_nsec == was->st_mtim.tv_nsec))
        return false;
    l->limit_seen = is;
    return true;
}

/* Asks for what the file says: when it says something else, and again as soon as a run that could not be interrupted
 * then can be. */
static void look_at_file(myth_live *l)
{
    char text[MYTH_LIMIT_TEXT];
    myth_error err = {0};
    myth_mem_limits limits = {0}; /* the file holds all of it */
    if (is_new_file(l) && myth_cli_read_limit(text, l->limit_file) && strcmp(text, l->limit_said) != 0) {
        snprintf(l->limit_said, sizeof(l->limit_said), "%s", text);
        const char *why = why_not(l);
        l->limit_is_due =
            myth_devices_read_limits(&limits, text, l->cli->global->device, myth_size_parse, &err) == MYTH_OK;
        if (!l->limit_is_due)
            myth_term_note(l->cli->term, "%s: the limit stays as it was: %.200s", l->limit_file, err.msg);
        else if (why)
            myth_term_note(l->cli->term, "%s: the limit is not taken yet: %.200s", l->limit_file, why);
    }
    if (l->limit_is_due && !why_not(l)) {
        l->limit_is_due = false;
        ask_limit(l, l->limit_said, (myth_mem_limits){0}, &err);
    }
}

static void *work(void *arg)
{
    myth_live *l = arg;
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    for (bool is_closing = false; !is_closing; nanosleep(&pause, NULL)) {
        pthread_mutex_lock(&l->mutex);
        is_closing = l->is_closing;
        if (!is_closing && l->listener >= 0)
            accept_clients(l);
        for (int i = 0; i < CLIENTS && !is_closing; i++)
            if (l->client[i].fd >= 0)
                serve(l, &l->client[i]);
        if (!is_closing && l->limit_file)
            look_at_file(l);
        if (!is_closing)
            look_at_memory(l);
        pthread_mutex_unlock(&l->mutex);
    }
    return NULL;
}

/* ---- between two runs ---- */

bool myth_live_takes_end(myth_live *l)
{
    if (!l)
        return false;
    pthread_mutex_lock(&l->mutex);
    l->was_cancelled = l->is_between;
    const bool takes = l->is_between;
    pthread_mutex_unlock(&l->mutex);
    return takes;
}

/* Waits until the run may go on, with the mutex held but while it sleeps. */
static void wait_for(myth_live *l, bool needs_limit)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    l->is_waiting = true;
    if (needs_limit || is_paused(l))
        tell_waiting(l, ASKED_LIMIT);
    if (needs_limit)
        myth_term_note(l->cli->term, "waiting, without memory, for another limit; what is finished is kept");
    report(l, "waiting");
    while ((l->wants_pause || l->is_pressed || (needs_limit && !l->wants_change)) && !l->is_over && !*l->n_interrupt) {
        tell_waiting(l, ASKED_PAUSE);
        pthread_mutex_unlock(&l->mutex);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&l->mutex);
    }
    l->is_waiting = false;
}

/* Waits, and tells who asked. False: the run is to end. */
static bool wait_and_tell(myth_live *l, bool needs_limit, myth_mem_limits *limits)
{
    wait_for(l, needs_limit);
    const bool goes_on = !l->is_over && !*l->n_interrupt;
    if (!goes_on) {
        myth_cancel_set(l->cancel);
    } else {
        myth_cancel_clear(l->cancel);
        l->wants_change = false;
        l->refusal[0] = '\0';
        tell_waiting(l, ASKED_PAUSE); /* it was paused for a moment */
        *limits = l->limits;
    }
    return goes_on;
}

bool myth_live_again(myth_live *l, int code, myth_mem_limits *limits)
{
    if (!l)
        return false;
    pthread_mutex_lock(&l->mutex);
    const bool is_asked = l->is_between && l->was_cancelled, needs_limit = l->cli->goes_on && code == MYTH_EXIT_MEMORY;
    l->is_between = l->was_cancelled = l->has_plan = false;
    bool goes_on = (is_asked || needs_limit) && !*l->n_interrupt;
    if (goes_on) {
        myth_cancel_clear(l->cancel);
        goes_on = wait_and_tell(l, needs_limit, limits);
    }
    pthread_mutex_unlock(&l->mutex);
    return goes_on;
}

bool myth_live_wait(myth_live *l, bool needs_limit, myth_mem_limits *limits)
{
    pthread_mutex_lock(&l->mutex);
    l->is_between = l->has_plan = false;
    myth_cancel_clear(&l->cli->put_off);
    const bool goes_on = !myth_cancelled(l->cancel) && wait_and_tell(l, needs_limit, limits);
    pthread_mutex_unlock(&l->mutex);
    return goes_on;
}

bool myth_live_has_room(myth_live *l, uint64_t bytes)
{
    pthread_mutex_lock(&l->mutex);
    const uint64_t limit = l->limits.bytes[MYTH_MEM_HOST], planned = l->plan.device[0].total_bytes;
    const bool has_room =
        !l->wants_pause && !l->is_pressed && l->has_plan && (!limit || (planned <= limit && bytes <= limit - planned));
    pthread_mutex_unlock(&l->mutex);
    return has_room;
}

void myth_live_swapped(myth_live *l, const char *to, uint64_t bytes)
{
    pthread_mutex_lock(&l->mutex);
    l->swapped_to = to;
    l->swapped_bytes = bytes;
    pthread_mutex_unlock(&l->mutex);
}

/* ---- what the command says ---- */

void myth_live_phase(myth_live *l, const char *phase)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    snprintf(l->phase, sizeof(l->phase), "%s", phase);
    pthread_mutex_unlock(&l->mutex);
}

void myth_live_planned(myth_live *l, const myth_plan *plan)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->plan = *plan;
    l->has_plan = true;
    l->under = l->limits;
    l->use = use_now();
    l->others = used_by_others(l);
    snprintf(l->phase, sizeof(l->phase), plan->fits ? "run" : "plan");
    report(l, PLAN_EVENT);
    if (plan->fits)
        tell_waiting(l, ASKED_LIMIT);
    pthread_mutex_unlock(&l->mutex);
}

void myth_live_refused(myth_live *l, const char *why)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    snprintf(l->refusal, sizeof(l->refusal), "%s", why);
    report(l, "refused");
    pthread_mutex_unlock(&l->mutex);
}

void myth_live_ready(myth_live *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    report(l, "ready");
    pthread_mutex_unlock(&l->mutex);
}

myth_memory_level myth_live_level(myth_live *l)
{
    if (!l)
        return MYTH_LEVEL_NORMAL;
    pthread_mutex_lock(&l->mutex);
    const myth_memory_level level = l->level;
    pthread_mutex_unlock(&l->mutex);
    return level;
}

/* ---- life ---- */

static myth_status listen_on(myth_live *l, const char *path, myth_error *err)
{
    struct stat is;
    if (strlen(path) >= sizeof(l->address.sun_path))
        return myth_fail(err, MYTH_EARG, "--control: a socket's path has at most %zu bytes",
                         sizeof(l->address.sun_path) - 1);
    l->address.sun_family = AF_UNIX;
    strcpy(l->address.sun_path, path);
    l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->listener < 0)
        return myth_fail(err, MYTH_EIO, "--control: %s", strerror(errno));
    if (stat(path, &is) == 0 && S_ISSOCK(is.st_mode)) {
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const bool is_served = fd >= 0 && connect(fd, (struct sockaddr *)&l->address, sizeof(l->address)) == 0;
        close(fd);
        if (is_served)
            return myth_fail(err, MYTH_ECREATE, "--control %s: another run listens there; give another path", path);
        unlink(path); /* of a run that was killed */
    }
    const mode_t mask = umask(0177);
    const int st = bind(l->listener, (struct sockaddr *)&l->address, sizeof(l->address));
    const int cause = errno;
    umask(mask);
    l->is_bound = st == 0;
    if (st != 0 || listen(l->listener, CLIENTS) != 0)
        return myth_fail(err, MYTH_ECREATE, "--control %s: %s", path, strerror(st != 0 ? cause : errno));
    return MYTH_OK;
}

bool myth_live_is_stream(const char *path)
{
    const size_t n = path ? strlen(path) : 0;
    return n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
}

myth_status myth_live_open(myth_live **out, myth_cli *cli, myth_cancel *cancel, const myth_cancel *n_interrupt,
                           myth_error *err)
{
    const myth_global *g = cli->global;
    const char *file = g->mem_limit && g->mem_limit[0] == '@' ? g->mem_limit + 1 : NULL;
    myth_status st = MYTH_OK;
    *out = NULL;
    if (!g->control && !file && !myth_live_is_stream(g->mem_report))
        return MYTH_OK;
    myth_live *l = calloc(1, sizeof(*l)); /* outside of the ledger: it lives longer than a run */
    if (!l)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu bytes", sizeof(*l));
    l->cli = cli;
    l->cancel = cancel;
    l->n_interrupt = n_interrupt;
    l->limits = cli->limits;
    l->limit_file = file;
    l->listener = -1;
    l->began = myth_seconds();
    l->use = use_now();
    strcpy(l->phase, "start");
    for (int i = 0; i < CLIENTS; i++)
        l->client[i].fd = -1;
    pthread_mutex_init(&l->mutex, NULL);
    if (file) {
        stat(file, &l->limit_seen);
        myth_cli_read_limit(l->limit_said, file);
    }
    if (g->control)
        st = listen_on(l, g->control, err);
    if (st == MYTH_OK && myth_live_is_stream(g->mem_report) && !(l->report = fopen(g->mem_report, "we")))
        st = myth_fail(err, MYTH_ECREATE, "%s: cannot create: %s", g->mem_report, strerror(errno));
    report(l, "begin");
    if (st == MYTH_OK && !(l->has_thread = myth_thread_start_small(&l->thread, work, l)))
        st = myth_fail(err, MYTH_ENOMEM, "the system gives no thread to listen with");
    if (st != MYTH_OK)
        myth_live_close(l);
    else
        *out = l;
    return st;
}

void myth_live_close(myth_live *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    strcpy(l->phase, "end");
    report(l, "end");
    for (int i = 0; i < CLIENTS; i++)
        if (l->client[i].fd >= 0 && l->client[i].waits)
            refuse(&l->client[i], "the run has ended");
    l->is_closing = true;
    pthread_mutex_unlock(&l->mutex);
    if (l->has_thread)
        pthread_join(l->thread, NULL);
    for (int i = 0; i < CLIENTS; i++)
        if (l->client[i].fd >= 0)
            close(l->client[i].fd);
    if (l->listener >= 0)
        close(l->listener);
    if (l->is_bound)
        unlink(l->address.sun_path);
    if (l->report)
        fclose(l->report);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}
