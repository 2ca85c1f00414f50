/* prompts.c - a line to token ids. What a line cannot be becomes the item's fault; only what ends the job (no memory,
 * an interrupt, a file that cannot be read) is an error. */
#define _GNU_SOURCE /* memmem */
#include "prompts.h"

#include "frontend/common/conversation.h"

#include <string.h>

enum { UNREAD = 8, UNREAD_BYTES = 40 };

struct myth_prompts {
    myth_cli *cli;
    const myth_model *model;
    const myth_prompts_opts *o;
    myth_lines lines;
    uint64_t n_read, n_line;  /* items and prompts so far */
    myth_job_prompt item;     /* of the line that was read last */
    uint32_t n_left;          /* items that are still to come of it */
    myth_prompts_survey seen; /* what look found; n_item 0 = it was not called, or found none */
    myth_json_tree tree;
    myth_conversation talk;
    int32_t *ids;
    size_t n_ids, cap_ids;
    myth_message *msg; /* the system text and the messages of a chat that has none of its own */
    myth_message_more *more;
    size_t cap_msg;
    uint32_t n_unread;
    uint64_t n_more_unread; /* members whose names have no room in the list */
    struct {
        char name[UNREAD_BYTES];
        uint64_t n;
    } unread[UNREAD];
};

/* ---- faults ---- */

static bool ends_job(myth_status st) { return st == MYTH_ENOMEM || st == MYTH_ECANCEL || st == MYTH_EIO; }

/* Makes an error the item's fault, unless it ends the job. */
static myth_status as_fault(myth_job_prompt *it, myth_status st, const myth_error *why, myth_error *err)
{
    if (ends_job(st)) {
        *err = *why;
        return st;
    }
    if (st != MYTH_OK)
        snprintf(it->fault, sizeof(it->fault), "%.*s", MYTH_PROMPT_FAULT_BYTES - 1, why->msg);
    return MYTH_OK;
}

bool myth_prompts_number(const myth_json_node *n, uint64_t *out)
{
    return myth_json_u64(out, &(myth_json_token){.type = n->type, .span = n->text.text, .len = n->text.len});
}

/* ---- ids ---- */

static myth_status need_ids(myth_prompts *p, size_t n, myth_error *err)
{
    if (n <= p->cap_ids)
        return MYTH_OK;
    int32_t *more = myth_realloc(p->cli->mem, MYTH_MEM_STAGING, "prompt", p->ids, n * sizeof(*more));
    if (!more)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a prompt of %zu ids", n);
    p->ids = more;
    p->cap_ids = n;
    return MYTH_OK;
}

static myth_status encode_text(myth_prompts *p, myth_str text, myth_error *err)
{
    const myth_tokenizer *t = p->model->tokenizer;
    const size_t cap = myth_tokenizer_bound(text.len) + 1;
    const int32_t bos = myth_tokenizer_special(t)->bos;
    size_t n = 0;
    myth_status st = need_ids(p, cap, err);
    if (st != MYTH_OK)
        return st;
    p->ids[0] = bos;
    p->n_ids = bos >= 0;
    st = myth_tokenizer_encode(t, p->cli->mem, p->o->is_special ? MYTH_TOK_SPECIAL : MYTH_TOK_CONTENT, text.text,
                               text.len, p->ids + p->n_ids, cap - p->n_ids, &n, err);
    p->n_ids += n;
    return st;
}

static myth_status need_messages(myth_prompts *p, size_t n, myth_error *err)
{
    if (n <= p->cap_msg)
        return MYTH_OK;
    myth_free(p->cli->mem, p->msg);
    myth_free(p->cli->mem, p->more);
    p->cap_msg = 0;
    p->msg = myth_alloc_n(p->cli->mem, MYTH_MEM_STAGING, "prompt", n, sizeof(*p->msg));
    p->more = myth_alloc_n(p->cli->mem, MYTH_MEM_STAGING, "prompt", n, sizeof(*p->more));
    if (!p->msg || !p->more)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a chat of %zu messages", n);
    p->cap_msg = n;
    return MYTH_OK;
}

/* Messages of a chat, behind the system text of the options if they begin with none. */
static myth_status encode_chat(myth_prompts *p, const myth_message *msg, const myth_message_more *more, size_t n,
                               myth_str tools, myth_error *err)
{
    myth_chat_opts opts = {.thinks = p->o->thinks, .tools = tools, .more = more};
    const char *system = p->o->system;
    myth_status st = MYTH_OK;
    if (system && (n == 0 || (msg[0].role != MYTH_ROLE_SYSTEM && msg[0].role != MYTH_ROLE_DEVELOPER))) {
        MYTH_TRY(need_messages(p, n + 1, err));
        p->msg[0] = (myth_message){MYTH_ROLE_SYSTEM, {system, strlen(system)}};
        p->more[0] = (myth_message_more){0};
        for (size_t i = 0; i < n; i++) {
            p->msg[i + 1] = msg[i];
            p->more[i + 1] = more ? more[i] : (myth_message_more){0};
        }
        msg = p->msg;
        opts.more = p->more;
        n++;
    }
    const size_t cap = myth_chat_bound_with(msg, n, &opts);
    MYTH_TRY(need_ids(p, cap, err));
    st = myth_chat_encode_with(p->model->tokenizer, p->cli->mem,
                               myth_chat_form_of(&p->model->config, p->model->tokenizer), msg, n, &opts, p->ids, cap,
                               &p->n_ids, err);
fail:
    return st;
}

static myth_status copy_ids(myth_prompts *p, const myth_json_node *list, myth_error *err)
{
    const uint32_t n_vocab = p->model->config.n_vocab;
    if (list->type != MYTH_JSON_ARRAY || list->n == 0)
        return myth_fail(err, MYTH_EFORMAT, "\"ids\": expected a list of token ids");
    myth_status st = need_ids(p, list->n, err);
    p->n_ids = 0;
    for (const myth_json_node *n = myth_json_tree_first(&p->tree, list); n && st == MYTH_OK;
         n = myth_json_tree_next(&p->tree, n)) {
        uint64_t id = 0;
        if (!myth_prompts_number(n, &id) || id >= n_vocab)
            return myth_fail(err, MYTH_EFORMAT, "\"ids\": %.*s is no token id; the vocabulary has %u",
                             (int)(n->n_span < 24 ? n->n_span : 24), n->span, n_vocab);
        p->ids[p->n_ids++] = (int32_t)id;
    }
    return st;
}

/* ---- a line ---- */

static const myth_json_node *member(const myth_prompts *p, const myth_json_node *object, const char *key)
{
    const myth_json_node *n = object ? myth_json_tree_get(&p->tree, object, key) : NULL;
    return n && n->type != MYTH_JSON_NULL ? n : NULL;
}

static myth_status read_chat(myth_prompts *p, const char *line, size_t n, myth_error *err)
{
    myth_status st = myth_conversation_read(&p->talk, p->cli->mem, line, n, "", err);
    return st != MYTH_OK ? st : encode_chat(p, p->talk.msg, p->talk.more, p->talk.n, p->talk.tools, err);
}

/* The ids of a line whose tree is open. */
static myth_status encode(myth_prompts *p, const char *line, size_t n, const myth_json_node *object, myth_error *err)
{
    const myth_json_node *root = p->tree.node, *text = member(p, object, "text"), *ids = member(p, object, "ids"),
                         *messages = member(p, object, "messages");
    if (!object && root->type != MYTH_JSON_STRING)
        return myth_fail(err, MYTH_EFORMAT, "expected an object with \"text\", \"ids\" or \"messages\", or a string");
    if (!object)
        text = root;
    if ((text != NULL) + (ids != NULL) + (messages != NULL) != 1)
        return myth_fail(err, MYTH_EFORMAT, "expected one of \"text\", \"ids\" and \"messages\"");
    if (ids)
        return copy_ids(p, ids, err);
    if (!p->model->tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "the model has no tokenizer; give \"ids\"");
    if (messages)
        return read_chat(p, line, n, err);
    if (text->type != MYTH_JSON_STRING)
        return myth_fail(err, MYTH_EFORMAT, "\"text\": expected a string");
    const myth_message turn = {MYTH_ROLE_USER, text->text};
    return p->o->is_chat ? encode_chat(p, &turn, NULL, 1, (myth_str){NULL, 0}, err) : encode_text(p, text->text, err);
}

/* What the line says of itself. */
static myth_status read_names(const myth_prompts *p, myth_job_prompt *it, myth_error *err)
{
    const myth_json_node *id = member(p, it->object, "id"),
                         *label = p->o->label_most ? member(p, it->object, "label") : NULL;
    if (id && id->type != MYTH_JSON_STRING && id->type != MYTH_JSON_NUMBER)
        return myth_fail(err, MYTH_EFORMAT, "\"id\": expected a string or a number");
    if (id) {
        it->id = id->span;
        it->n_id = id->n_span;
    }
    if (!label)
        return MYTH_OK;
    if (label->type == MYTH_JSON_OBJECT || label->type == MYTH_JSON_ARRAY)
        return myth_fail(err, MYTH_EFORMAT, "\"label\": expected a string, a number, true or false");
    const bool is_text = label->type == MYTH_JSON_STRING;
    const myth_str text = is_text ? label->text : (myth_str){label->span, label->n_span};
    if (text.len == 0 || text.len > p->o->label_most || memchr(text.text, '\0', text.len))
        return myth_fail(err, MYTH_EFORMAT, "\"label\": %zu bytes; 1 to %u expected, and none of them 0", text.len,
                         p->o->label_most);
    it->label = text;
    return MYTH_OK;
}

static myth_status read_number(const myth_prompts *p, myth_job_prompt *it, myth_error *err)
{
    const myth_json_node *n = p->o->n_answer_most ? member(p, it->object, "n") : NULL;
    uint64_t v = 0;
    if (n && (!myth_prompts_number(n, &v) || v == 0 || v > p->o->n_answer_most))
        return myth_fail(err, MYTH_EFORMAT, "\"n\": expected a whole number from 1 to %u", p->o->n_answer_most);
    it->n_answer = (uint32_t)v;
    return MYTH_OK;
}

static myth_status read_item(myth_prompts *p, myth_job_prompt *it, const char *line, size_t n, myth_error *err)
{
    myth_error why = {0};
    myth_conversation_close(&p->talk);
    myth_json_tree_close(&p->tree);
    p->tree = (myth_json_tree){0};
    myth_status st = myth_json_tree_open(&p->tree, p->cli->mem, line, n, "JSON", &why);
    if (st != MYTH_OK) {
        p->tree = (myth_json_tree){0};
        return as_fault(it, st, &why, err);
    }
    it->tree = &p->tree;
    it->object = p->tree.node->type == MYTH_JSON_OBJECT ? p->tree.node : NULL;
    it->is_talk = member(p, it->object, "messages") != NULL;
    st = read_names(p, it, &why);
    if (st == MYTH_OK)
        st = read_number(p, it, &why);
    if (st == MYTH_OK)
        st = encode(p, line, n, it->object, &why);
    if (st == MYTH_OK && p->n_ids == 0)
        st = myth_fail(&why, MYTH_EFORMAT, "the prompt is empty");
    if (st == MYTH_OK && p->o->n_most && p->n_ids > p->o->n_most)
        st = myth_fail(&why, MYTH_ELIMIT, "%zu tokens, at most %u fit", p->n_ids, p->o->n_most);
    if (st == MYTH_OK) {
        it->ids = p->ids;
        it->n_ids = (uint32_t)p->n_ids;
        it->tools = it->is_talk ? p->talk.tools : (myth_str){NULL, 0};
    } else {
        it->n_answer = 0;
    }
    return as_fault(it, st, &why, err);
}

/* ---- members that nobody reads ---- */

static bool is_among(const char *const *list, myth_str key)
{
    for (; *list; list++)
        if (strlen(*list) == key.len && memcmp(*list, key.text, key.len) == 0)
            return true;
    return false;
}

static bool is_read(const myth_prompts *p, const myth_job_prompt *it, myth_str key)
{
    static const char *const own[] = {"text", "ids", "messages", "id", "label", NULL}, *const of_talk[] = {"tools",
                                                                                                           NULL};
    return is_among(own, key) || is_among(p->o->keys, key) || (it->is_talk && is_among(of_talk, key));
}

static void count_unread(myth_prompts *p, const myth_job_prompt *it)
{
    for (const myth_json_node *n = it->object && p->o->keys ? myth_json_tree_first(&p->tree, it->object) : NULL; n;
         n = myth_json_tree_next(&p->tree, n)) {
        char name[UNREAD_BYTES];
        uint32_t k = 0;
        if (is_read(p, it, n->key))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(n->key.len < sizeof(name) ? n->key.len : sizeof(name)), n->key.text);
        while (k < p->n_unread && strcmp(p->unread[k].name, name) != 0)
            k++;
        if (k == UNREAD) {
            p->n_more_unread++;
            continue;
        }
        if (k == p->n_unread)
            snprintf(p->unread[p->n_unread++].name, UNREAD_BYTES, "%s", name);
        p->unread[k].n++;
    }
}

/* Once for a job: not again where it goes on, and by the first of its processes. */
static void note_unread(myth_prompts *p)
{
    char line[UNREAD * (UNREAD_BYTES + 40)];
    size_t n = 0;
    if (!p->n_unread || p->cli->goes_on || p->cli->merges_shares || p->cli->share > 0)
        return;
    for (uint32_t k = 0; k < p->n_unread; k++)
        n += (size_t)snprintf(line + n, sizeof(line) - n, "%s\"%s\" in %llu line%s", k ? ", " : "", p->unread[k].name,
                              (unsigned long long)p->unread[k].n, myth_s(p->unread[k].n));
    if (p->n_more_unread)
        snprintf(line + n, sizeof(line) - n, ", and %llu more", (unsigned long long)p->n_more_unread);
    myth_term_note(p->cli->term, "%.200s: not read, and without effect: %s", p->lines.path, line);
}

/* ---- all lines ---- */

static bool is_done(const myth_prompts *p, uint64_t index) { return p->o->is_done && p->o->is_done(p->o->user, index); }

/* Whether a line may have a member "n", however it is written. */
static bool may_be_several(const myth_prompts *p, const char *line, size_t n)
{
    return p->o->n_answer_most && (memmem(line, n, "\"n\"", 3) || memmem(line, n, "\\u", 2));
}

static myth_status next(myth_prompts *p, myth_job_prompt *out, bool *has, bool passes_done, myth_error *err)
{
    const char *line = NULL;
    size_t n = 0;
    for (;;) {
        if (p->n_left) {
            p->n_left--;
            *out = p->item;
            out->index = p->n_read++;
            p->item.answer++;
            if (passes_done && is_done(p, out->index))
                continue;
            *has = true;
            return MYTH_OK;
        }
        myth_status st = myth_lines_next(&p->lines, &line, &n, err);
        if (st != MYTH_OK)
            return st;
        *has = line != NULL;
        if (!*has)
            return MYTH_OK;
        p->item = (myth_job_prompt){.prompt = p->n_line++, .line = p->lines.line_no};
        if (passes_done && is_done(p, p->n_read) && !may_be_several(p, line, n)) {
            p->n_read++;
            continue;
        }
        if ((st = read_item(p, &p->item, line, n, err)) != MYTH_OK)
            return st;
        p->n_left = p->item.n_answer ? p->item.n_answer : 1;
    }
}

myth_status myth_prompts_next(myth_prompts *p, myth_job_prompt *out, bool *has, myth_error *err)
{
    const myth_prompts_survey *s = &p->seen;
    const myth_status st = next(p, out, has, true, err);
    if (st != MYTH_OK || !*has || s->n_item == 0)
        return st;
    /* room was made for what the survey has */
    const bool is_larger = out->index >= s->n_item || out->n_ids > s->longest || out->n_id > s->longest_id;
    return is_larger ? myth_lines_changed(&p->lines, err) : MYTH_OK;
}

myth_lines *myth_prompts_lines(myth_prompts *p) { return &p->lines; }

myth_status myth_prompts_rewind(myth_prompts *p, myth_error *err)
{
    p->n_read = p->n_line = 0;
    p->n_left = 0;
    return myth_lines_rewind(&p->lines, err);
}

myth_status myth_prompts_look(myth_prompts *p, myth_prompts_survey *out,
                              myth_status (*visit)(void *user, const myth_job_prompt *it, myth_error *err), void *user,
                              myth_error *err)
{
    const myth_parsed *parsed = p->cli->parsed;
    const char *of_chats = p->o->system && myth_args_is_flag(parsed, "system-prompt")    ? "--system-prompt"
                         : p->o->thinks && myth_args_is_flag(parsed, "reasoning-budget") ? "--reasoning-budget"
                                                                                         : NULL;
    myth_status st = MYTH_OK;
    myth_job_prompt it;
    bool has = true, has_chat = p->o->is_chat;
    *out = (myth_prompts_survey){0};
    memcpy(out->hash, p->lines.hash, sizeof(out->hash));
    p->n_unread = 0;
    p->n_more_unread = 0;
    MYTH_TRY(myth_prompts_rewind(p, err));
    for (;;) {
        MYTH_TRY(next(p, &it, &has, false, err));
        if (!has)
            break;
        out->n_item++;
        out->n_fault += it.ids == NULL;
        out->n_token += it.answer ? 1 : it.n_ids;
        out->longest = it.n_ids > out->longest ? it.n_ids : out->longest;
        out->longest_id = it.n_id > out->longest_id ? it.n_id : out->longest_id;
        has_chat |= it.is_talk;
        if (it.answer == 0)
            count_unread(p, &it);
        if (visit)
            MYTH_TRY(visit(user, &it, err));
        if (myth_cancelled(p->cli->cancel))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "%s: interrupted while it was read", p->lines.path));
    }
    if (out->n_item == 0)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT,
                           "%s: no prompts; give a JSON object on each line, such as {\"text\":\"hello\"}",
                           p->lines.path));
    if (of_chats && !has_chat)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "%s belongs to a chat, and no line of %.160s is one; add --chat", of_chats,
                           p->lines.path));
    p->seen = *out;
    note_unread(p);
    st = myth_prompts_rewind(p, err);
fail:
    return st;
}

myth_status myth_prompts_open(myth_prompts **out, myth_cli *cli, const myth_model *model, const char *path,
                              const myth_prompts_opts *opts, myth_error *err)
{
    myth_prompts *p = myth_alloc(cli->mem, MYTH_MEM_STAGING, "prompts", sizeof(*p));
    *out = NULL;
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu bytes", sizeof(*p));
    *p = (myth_prompts){.cli = cli, .model = model, .o = opts};
    myth_status st = myth_lines_open(&p->lines, cli, path, &(myth_lines_opts){.is_copied = true}, err);
    if (st != MYTH_OK) {
        myth_free(cli->mem, p);
        return st;
    }
    *out = p;
    return MYTH_OK;
}

void myth_prompts_close(myth_prompts *p)
{
    if (!p)
        return;
    myth_mem *mem = p->cli->mem;
    myth_conversation_close(&p->talk);
    myth_json_tree_close(&p->tree);
    myth_free(mem, p->more);
    myth_free(mem, p->msg);
    myth_free(mem, p->ids);
    myth_lines_close(&p->lines);
    myth_free(mem, p);
}
