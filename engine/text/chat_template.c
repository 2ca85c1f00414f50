/* chat_template.c - the chat template that a model's files carry.
 *
 * Places   beside safetensors: chat_template.jinja, else the text "chat_template" of tokenizer_config.json (a list of
 *          several templates counts as none); of a GGUF file: the fact tokenizer.chat_template
 * Source   transformers' save_pretrained; llama.cpp's keys */
#include "chat.h"

#include "engine/base/json.h"
#include "engine/base/map.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A template as it stands in the file that is mapped. */
typedef struct {
    myth_map map;
    myth_str text;         /* lies in the map or among the facts; NULL = there is none  */
    myth_json_token spelt; /* of a JSON file: the string whose spelling `text` is       */
    bool is_json;
} carried;

/* A file of the model's folder, mapped; a missing one is an empty map. */
static myth_status map_beside(myth_map *map, myth_mem *mem, const char *dir, const char *name, myth_error *err)
{
    char path[PATH_MAX];
    *map = (myth_map){0};
    const int n = snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (n < 0 || (size_t)n >= sizeof(path))
        return MYTH_OK;
    const myth_status st = myth_map_open(map, mem, path, 0, MYTH_MEM_STAGING, err);
    return st == MYTH_ENOTFOUND ? MYTH_OK : st;
}

/* "chat_template" of a tokenizer_config.json, when it is one text. */
static myth_status find_in_json(carried *c, myth_error *err)
{
    myth_json json;
    myth_json_token tok;
    myth_json_start(&json, c->map.base, c->map.size, c->map.path);
    myth_status st = myth_json_next(&json, &tok, err);
    if (st != MYTH_OK || tok.type != MYTH_JSON_OBJECT)
        return st;
    while ((st = myth_json_next(&json, &tok, err)) == MYTH_OK && tok.type == MYTH_JSON_KEY) {
        if (!myth_json_is(&tok, "chat_template")) {
            if ((st = myth_json_skip(&json, err)) != MYTH_OK)
                return st;
            continue;
        }
        if ((st = myth_json_next(&json, &tok, err)) == MYTH_OK && tok.type == MYTH_JSON_STRING) {
            c->spelt = tok;
            c->is_json = true;
            c->text = (myth_str){tok.span, tok.len};
        }
        return st;
    }
    return st;
}

static myth_status find_template(carried *c, myth_mem *mem, const myth_weights *w, myth_error *err)
{
    const char *dir = myth_weights_dir(w);
    myth_status st = MYTH_OK;
    *c = (carried){0};
    if (!dir) {
        if (myth_weights_meta(w))
            myth_meta_str(&c->text, myth_weights_meta(w), "tokenizer.chat_template");
        return MYTH_OK;
    }
    MYTH_TRY(map_beside(&c->map, mem, dir, "chat_template.jinja", err));
    if (c->map.base) {
        c->text = (myth_str){(const char *)c->map.base, (size_t)c->map.size};
        return MYTH_OK;
    }
    myth_map_close(&c->map);
    MYTH_TRY(map_beside(&c->map, mem, dir, "tokenizer_config.json", err));
    if (c->map.base)
        MYTH_TRY(find_in_json(c, err));
fail:
    return st;
}

myth_status myth_chat_template_copy(myth_str *out, myth_mem *mem, const myth_weights *w, char *dst, size_t cap,
                                    myth_error *err)
{
    carried c;
    const myth_status st = find_template(&c, mem, w, err);
    *out = (myth_str){NULL, 0};
    if (st == MYTH_OK && c.text.text && c.text.len <= cap) { /* an escape is never shorter than what it stands for */
        size_t n = c.text.len;
        if (c.is_json)
            n = myth_json_text(dst, &c.spelt);
        else
            memcpy(dst, c.text.text, n);
        *out = (myth_str){dst, n};
    }
    myth_map_close(&c.map);
    return st;
}

static bool holds(myth_str text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; n <= text.len && i <= text.len - n; i++)
        if (memcmp(text.text + i, word, n) == 0)
            return true;
    return false;
}

myth_status myth_chat_template_is_other(bool *out, myth_mem *mem, const myth_weights *w, myth_chat_form form,
                                        myth_error *err)
{
    carried c;
    const myth_status st = find_template(&c, mem, w, err);
    /* without the brackets, which JSON may spell as \u003c */
    const char *mark = form == MYTH_CHAT_TURNS || form == MYTH_CHAT_SHUT ? "|turn" : "start_of_turn";
    *out = st == MYTH_OK && c.text.text && !holds(c.text, mark);
    myth_map_close(&c.map);
    return st;
}
