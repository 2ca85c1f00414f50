/* cmd_chat.c - a conversation that goes on when its context is full (chat/session.h): typed at a terminal, read from a
 * pipe line by line, or as JSON lines.
 *
 * Start    --session FILE goes on from a saved chat when there is one; --messages FILE begins with a conversation, and
 *          answers it when it ends in a message of the user
 * Saved    --session FILE: the messages after every turn (chat/input.h), with the sequence at the end. Where nothing
 *          was said or changed the file stays, with what a process of another model or cache type computed. No other
 *          chat works on it meanwhile (chat/lock.h)
 * Moved    where --control or the file of --mem-limit asks for another limit or a pause, the chat is kept
 *          (chat/saved.h), everything is closed, and it goes on under the limit that there is then
 * Thoughts of an answer go to stderr, with --json to "reasoning_content"
 * Exit     0; 3 when a message was refused, a line could not be read or an answer was interrupted */
#include "frontend/chat/input.h"
#include "frontend/chat/lock.h"
#include "frontend/chat/saved.h"
#include "frontend/chat/terminal.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/live.h"
#include "frontend/common/conversation.h"
#include "frontend/common/lines.h"
#include "frontend/common/said.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_sample_flags sample;
    myth_grammar_flags grammar;
    const char *system, *messages, *session, *budget, *tool_choice;
    myth_opt_list stop;
    uint32_t n_predict;
    int on_full, positions;
    bool json, ignore_eos;
} chat_opts;

static const myth_option options[] = {
    {"system-prompt", "-sys", MYTH_OPT_TEXT, "TEXT", offsetof(chat_opts, system), NULL, 0, 0,
     "system text of the chat, which is never dropped"},
    {"messages", NULL, MYTH_OPT_TEXT, "FILE", offsetof(chat_opts, messages), NULL, 0, 0,
     "begin with a chat as JSON: {\"messages\": [...], \"tools\": [...]}"},
    {"session", NULL, MYTH_OPT_TEXT, "FILE", offsetof(chat_opts, session), NULL, 0, 0,
     "go on from FILE if it is there, and save the chat to it: its messages after every turn, what was computed at the "
     "end; one chat at a time"},
    {"on-full", NULL, MYTH_OPT_CHOICE, "auto|refuse|drop|recompute", offsetof(chat_opts, on_full), "auto", 0, 0,
     "when the context is full: refuse the message, or let the oldest turns go and either keep the rest as it was "
     "computed or compute it again; auto recomputes up to 4096 tokens, else drops"},
    {"positions", NULL, MYTH_OPT_CHOICE, "window|grow", offsetof(chat_opts, positions), "window", 0, 0,
     "after drops: compute the chat again before positions pass what the model was trained with, or let them grow"},
    {"n-predict", "-n, --predict", MYTH_OPT_U32, "N", offsetof(chat_opts, n_predict), "0", 0, 1u << 20,
     "most tokens of an answer; 0 = a quarter of the context, at most 1024"},
    {"reasoning-budget", NULL, MYTH_OPT_TEXT, "N", offsetof(chat_opts, budget), "0", 0, 0,
     "tokens that the model may think before it answers: 0 = none, -1 = any number"},
    {"tool-choice", NULL, MYTH_OPT_TEXT, "auto|required|none|NAME", offsetof(chat_opts, tool_choice), NULL, 0, 0,
     MYTH_TOOL_CHOICE_HELP "; answers behind a tool's result are free, as with auto"},
    {"stop", NULL, MYTH_OPT_LIST, "TEXT", offsetof(chat_opts, stop), NULL, 0, 0, MYTH_STOP_HELP},
    {"ignore-eos", NULL, MYTH_OPT_FLAG, NULL, offsetof(chat_opts, ignore_eos), NULL, 0, 0,
     "do not end an answer at a stop token"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(chat_opts, json), NULL, 0, 0,
     "read messages and commands as JSON lines, and print a JSON line for each"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("chat", chat_opts, options), MYTH_GROUP_GRAMMAR(chat_opts, grammar),
    MYTH_GROUP_SAMPLE(chat_opts, sample),   MYTH_GROUP_MODEL(chat_opts, model),
    MYTH_GROUP_ENGINE(chat_opts, engine),
};

typedef struct {
    myth_cli *cli;
    const chat_opts *o;
    myth_model model;
    myth_gbnf *grammar; /* NULL = any answer */
    myth_engine *engine;
    myth_session session;
    myth_chat_input input;
    myth_lines lines;    /* of standard input; zeroed at a terminal */
    myth_chat_kept kept; /* while the chat is moved */
    uint64_t n_loaded;   /* the talk's n_change when it was read from --session; UINT64_MAX = there was no file */
    uint64_t staging;    /* that was planned besides the session's */
    uint32_t n_ctx;
} run_state;

/* ---- begin ---- */

/* Staging bytes besides the session's: of lines that are read, and of a chat that is kept in memory. Its peak so far is
 * that of a session too, where the chat is moved. */
static uint64_t staging_besides(run_state *r)
{
    if (!r->staging)
        r->staging = myth_cli_staging(r->cli);
    return r->staging + (r->kept.is_in_memory ? r->kept.bytes : 0);
}

static myth_status open_all(run_state *r, myth_error *err)
{
    const chat_opts *o = r->o;
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    myth_status st;
    myth_session_opts so = {
        .on_full = (myth_on_full)o->on_full,
        .positions = (myth_positions)o->positions,
        .n_most = o->n_predict,
        .ignores_eos = o->ignore_eos,
        .tool_choice = o->tool_choice,
    };
    const myth_session_of of = {&r->model, &so};
    myth_plan_extra extra = {.of_context = myth_session_of_context, .user = &of};
    uint64_t hash;
    MYTH_TRY(myth_cli_model_open(cli, &r->model, &o->model, &o->engine, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(myth_grammars_read(&r->grammar, &hash, cli->mem, &o->grammar, r->model.tokenizer, err));
    so.grammar = r->grammar;
    if (!r->model.tokenizer || r->model.config.is_bidirectional)
        MYTH_TRY(myth_fail(err, MYTH_EUNSUPPORTED, "%s %s; give a model that generates text with -m",
                           myth_weights_name(r->model.weights),
                           r->model.tokenizer ? "embeds texts and writes none" : "has no tokenizer"));
    MYTH_TRY(myth_said_budget(o->budget, &so.thinks, &so.n_think, err));
    if (so.grammar && so.thinks)
        MYTH_TRY(
            myth_fail(err, MYTH_EARG, "--reasoning-budget: a thought is not of the grammar; leave one of both out"));
    MYTH_TRY(myth_said_check(&r->model, so.thinks, err));
    myth_said_template(r->cli, &r->model);
    MYTH_TRY(myth_stop_texts_read(&so.stops, &o->stop, r->model.tokenizer, err));
    MYTH_TRY(myth_grammars_check_choice(o->tool_choice, so.grammar != NULL, so.thinks, so.n_think, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, err));
    myth_cli_sample_params(&so.sample, &o->sample);
    myth_session_needs(&eo, &so);
    extra.bytes[MYTH_MEM_STAGING] = staging_besides(r);
    extra.bytes[MYTH_MEM_OTHER] = so.grammar || so.tool_choice ? myth_grammars_bytes(&r->model, 1) : 0;
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, &extra, err));
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &eo, err));
    st = myth_session_open(&r->session, r->engine, &so, err);
fail:
    return st;
}

/* Puts the conversation of --messages into the chat, of which turns go while it is read. */
static myth_status read_messages(run_state *r, myth_error *err)
{
    myth_conversation c = {0};
    myth_talk *talk = &r->session.talk;
    size_t n_gone = 0;
    myth_status st;
    if (!r->o->messages)
        return MYTH_OK;
    MYTH_TRY(myth_conversation_open(&c, r->cli->mem, r->o->messages, err));
    myth_conversation_note(&c, r->cli->term, r->o->messages);
    talk->max_bytes = talk->max_n = SIZE_MAX;
    MYTH_TRY(myth_talk_set_tools(talk, c.tools, err));
    for (size_t i = 0; i < c.n; i++) {
        if (i == 0 && (c.msg[0].role == MYTH_ROLE_SYSTEM || c.msg[0].role == MYTH_ROLE_DEVELOPER))
            MYTH_TRY(myth_session_set_system(&r->session, c.msg[0].text, err));
        else
            MYTH_TRY(myth_talk_add(talk, &c.msg[i], &c.more[i], err));
        MYTH_TRY(myth_session_shed(&r->session, talk, &r->session.gone, &n_gone, err));
    }
    MYTH_TRY(myth_session_bound(&r->session, talk, err));
    myth_chat_note_turns(r->cli, &r->session, r->o->messages, &(myth_chat_loaded){.n_turn_gone = n_gone});
fail:
    myth_conversation_close(&c);
    return st;
}

static myth_status begin(run_state *r, myth_error *err)
{
    const chat_opts *o = r->o;
    myth_chat_loaded loaded;
    myth_status st;
    MYTH_TRY(read_messages(r, err));
    if (o->session && access(o->session, F_OK) == 0) {
        MYTH_TRY(myth_chat_load(&r->session, o->session, &loaded, err));
        r->n_loaded = r->session.talk.n_change;
        myth_term_note(r->cli->term, "%s: %zu turn%s%s", o->session, myth_talk_n_turn(&r->session.talk),
                       myth_s(myth_talk_n_turn(&r->session.talk)), loaded.is_warm ? "" : ", which are computed again");
        myth_chat_note_turns(r->cli, &r->session, o->session, &loaded);
    }
    if (o->system)
        MYTH_TRY(myth_session_set_system(&r->session, (myth_str){o->system, strlen(o->system)}, err));
    MYTH_TRY(myth_session_hold_calls(&r->session, err));
fail:
    return st;
}

static void close_all(run_state *r)
{
    myth_session_close(&r->session);
    myth_engine_close(r->engine);
    myth_gbnf_close(r->grammar);
    myth_model_close(&r->model);
    r->engine = NULL;
    r->grammar = NULL;
    r->model = (myth_model){0};
}

/* ---- another limit, a pause ---- */

/* Opens everything again under the present limits, with what is kept. */
static myth_status open_again(run_state *r, myth_error *err)
{
    bool is_warm = false;
    const uint32_t n_ctx_was = r->n_ctx;
    myth_status st;
    for (int d = 0; d < MYTH_MEM_DEVICE_MAX; d++)
        myth_mem_set_limit(r->cli->mem, d, r->cli->limits.bytes[d]);
    MYTH_TRY(open_all(r, err));
    if (r->lines.cli)
        MYTH_TRY(myth_lines_take(&r->lines, err));
    MYTH_TRY(myth_chat_take_back(&r->session, &r->kept, &is_warm, err));
    r->n_ctx = r->session.n_ctx;
    myth_chat_input_again(&r->input, is_warm && r->n_ctx == n_ctx_was);
    if (!is_warm || r->n_ctx != n_ctx_was)
        myth_term_note(r->cli->term, "a context of %u tokens, %u before%s", r->n_ctx, n_ctx_was,
                       is_warm ? "" : ": the chat is computed again");
    return MYTH_OK;
fail:
    close_all(r);
    return st;
}

/* Whether it may fit another limit: the flags were good for the first one. */
static bool is_of_size(myth_status st)
{
    return st == MYTH_ENOFIT || st == MYTH_ENOMEM || st == MYTH_ELIMIT || st == MYTH_EARG;
}

/* Keeps the chat, closes everything, and opens it again when it may go on. MYTH_ECANCEL: it ends instead. */
static myth_status move(run_state *r, myth_error *err)
{
    myth_cli *cli = r->cli;
    const bool in_memory = myth_live_has_room(cli->live, myth_chat_keep_bytes(&r->session));
    myth_status st = myth_chat_keep(&r->kept, &r->session, in_memory, err);
    if (st != MYTH_OK)
        return st;
    close_all(r);
    if (r->lines.cli)
        MYTH_TRY(myth_lines_put(&r->lines, err));
    for (bool needs_limit = false;; needs_limit = true) {
        if (needs_limit)
            MYTH_TRY(myth_chat_kept_to_file(&r->kept, err));
        myth_live_swapped(cli->live, r->kept.is_in_memory ? "memory" : "disk", r->kept.bytes);
        if (!myth_live_wait(cli->live, needs_limit, &cli->limits))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "interrupted while the chat was kept without memory"));
        st = open_again(r, err);
        if (!is_of_size(st))
            break;
        char text[sizeof(err->msg) + 160];
        myth_cli_spell(text, sizeof(text), err);
        myth_term_note(cli->term, "the chat does not fit this limit: %s", text);
    }
    if (st != MYTH_OK)
        goto fail;
    myth_live_swapped(cli->live, NULL, 0);
    myth_chat_kept_close(&r->kept);
fail:
    return st;
}

/* Does what another thread asks of the chat, also again while an answer is computed again. */
static myth_status look(void *user, myth_error *err)
{
    run_state *r = user;
    myth_status st = MYTH_OK;
    while (st == MYTH_OK && myth_cancelled(&r->cli->put_off)) {
        st = move(r, err);
        if (st == MYTH_OK && r->input.is_put_off)
            st = myth_chat_input_answer(&r->input, err);
    }
    return st;
}

/* ---- talk ---- */

/* Waits for the next line, and does meanwhile what is asked of the chat. */
static myth_status await_line(run_state *r, myth_error *err)
{
    bool is_there = !r->input.look;
    myth_status st = MYTH_OK;
    do {
        if (r->input.look)
            st = look(r, err);
        if (st == MYTH_OK && !is_there)
            st = myth_lines_await(&r->lines, MYTH_CHAT_LOOK_MS, &is_there, err);
    } while (st == MYTH_OK && !is_there);
    return st;
}

/* Lines of standard input until it ends. */
static myth_status read_lines(run_state *r, myth_error *err)
{
    const char *line = NULL;
    size_t n = 0;
    const size_t longest = r->session.talk.max_bytes > 4096 ? r->session.talk.max_bytes : 4096;
    myth_status st;
    MYTH_TRY(myth_chat_input_answer(&r->input, err));
    MYTH_TRY(myth_lines_open(&r->lines, r->cli, "-", &(myth_lines_opts){.stream_bytes = longest}, err));
    while (!r->input.is_over && !myth_cancelled(r->cli->cancel)) {
        MYTH_TRY(await_line(r, err));
        MYTH_TRY(myth_lines_next(&r->lines, &line, &n, err));
        if (!line)
            break;
        MYTH_TRY(myth_chat_input_line(&r->input, line, n, err));
    }
fail:
    myth_lines_close(&r->lines);
    return st;
}

/* Saves the chat to the file of --session, unless nothing has changed. */
static myth_status save(run_state *r, myth_error *err)
{
    uint64_t bytes;
    const myth_session *s = &r->session;
    if (!r->o->session || (!r->kept.mem && s->talk.n_change == r->n_loaded))
        return MYTH_OK;
    return r->kept.mem ? myth_chat_kept_save(&r->kept, r->o->session, err)
                       : myth_chat_save(&r->session, r->o->session, r->cli->cancel, &bytes, err);
}

static myth_status chat(run_state *r, myth_error *err)
{
    myth_status st;
    MYTH_TRY(open_all(r, err));
    MYTH_TRY(begin(r, err));
    myth_chat_input_start(&r->input, r->cli, &r->session, r->cli->cancel, r->o->json);
    r->input.session = r->o->session;
    r->input.n_saved = r->n_loaded;
    r->n_ctx = r->session.n_ctx;
    if (r->cli->live) {
        r->input.look = look;
        r->input.look_user = r;
        r->cli->can_swap = 1;
    }
    r->input.is_interactive = !r->o->json && isatty(STDIN_FILENO);
    st = r->input.is_interactive ? myth_chat_terminal(&r->input, err) : read_lines(r, err);
    if (st == MYTH_ECANCEL || (st == MYTH_OK && r->input.is_put_off)) { /* what was said is saved all the same */
        r->input.n_cut++;
        st = MYTH_OK;
    }
    r->cli->can_swap = 0;
    myth_cancel_clear(&r->cli->put_off);
    if (st == MYTH_OK)
        st = save(r, err);
fail:
    myth_chat_kept_close(&r->kept);
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts, .n_loaded = UINT64_MAX};
    myth_chat_lock lock = {.fd = -1};
    if (r.o->messages && strcmp(r.o->messages, "-") == 0)
        return myth_cli_failf(cli, MYTH_EARG, "chat: --messages reads a file; messages of standard input are lines");
    if (r.o->messages && r.o->session && access(r.o->session, F_OK) == 0)
        return myth_cli_failf(cli, MYTH_EARG,
                              "chat: %s is a saved chat and --messages another one; give one of them, or another "
                              "--session",
                              r.o->session);
    if (myth_hint_check_output("--session", r.o->session, &err) != MYTH_OK ||
        (r.o->session && myth_chat_lock_take(&lock, r.o->session, &err) != MYTH_OK))
        return myth_cli_fail(cli, &err);
    const myth_status st = chat(&r, &err);
    const bool is_whole = r.input.n_failed + r.input.n_cut == 0;
    const int code = st != MYTH_OK ? myth_cli_fail(cli, &err) : is_whole ? MYTH_EXIT_CLEAN : MYTH_EXIT_INCOMPLETE;
    close_all(&r);
    myth_chat_lock_end(&lock);
    return code;
}

const myth_command myth_cmd_chat = {
    .name = "chat",
    .args = "",
    .help = "talk with a model; the oldest turns go when the context is full",
    .detail =
        "At a terminal a line is a message, with history and editing, and so is what is pasted, of any number of "
        "lines; Ctrl-C stops an answer, Ctrl-D ends the chat, /help lists the commands. From a pipe every line is a "
        "message or a command. With --json each line is a string, a message {\"role\", \"content\"} or {\"command\": "
        "\"/save FILE\"}, and each gets a line of JSON: an answer with the calls of tools in it, what it read and "
        "computed, what was dropped, and how much is held. The system text and pinned turns are never dropped. What "
        "went stays in a saved chat, the newest 16 MiB of it, and a larger context has it again. Memory is that of the "
        "plan, however long the chat is.",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(chat_opts),
    .run = run,
};
