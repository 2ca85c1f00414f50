/* task.c - joins what a person asks for to the task of a prompt. */
#include "task.h"

#include "engine/base/utf8.h"

#include <stdio.h>
#include <string.h>

static const char lead[] = "\nAlso asked for: ";

myth_status myth_task_check(const char *text, myth_error *err)
{
    const size_t n = strlen(text);
    if (!n || strspn(text, " \t\n") == n)
        return myth_fail(err, MYTH_EARG, "--task: the text is empty; say what to look for, or leave --task out");
    if (n > MYTH_TASK_BYTES)
        return myth_fail(err, MYTH_EARG, "--task: %zu bytes, at most %d; say it in fewer words", n,
                         (int)MYTH_TASK_BYTES);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t')
            return myth_fail(err, MYTH_EARG, "--task: byte %zu is a control character (0x%02x); leave it out", i,
                             (unsigned char)text[i]);
    return myth_utf8_is_valid((const unsigned char *)text, n)
             ? MYTH_OK
             : myth_fail(err, MYTH_EARG, "--task: the text is not UTF-8; convert it first");
}

myth_status myth_task_reserve(myth_task *t, const char *text, const myth_model *model, myth_inspect_opts *io,
                              myth_error *err)
{
    uint32_t n_tok = 0;
    if (!myth_prompt_task(io->style)[0])
        return myth_fail(err, MYTH_EARG,
                         "--task: %.100s was trained for one prompt and knows no other task; name another model with "
                         "-m, or leave --task out",
                         myth_weights_name(model->weights));
    t->text = text;
    t->room = io->task_tokens ? io->task_tokens : MYTH_INSPECT_TASK_TOKENS;
    const int n = snprintf(t->whole, sizeof(t->whole), "%s%s", lead, text);
    const myth_status st = myth_inspect_count(&n_tok, model, t->whole, (size_t)n, err);
    io->task_tokens = t->room > n_tok ? t->room - n_tok : 1;
    return st;
}

myth_status myth_task_add(myth_task *t, myth_inspect_opts *io, myth_error *err)
{
    const char *first = io->task ? io->task : myth_prompt_task(io->style);
    const int n = snprintf(t->whole, sizeof(t->whole), "%s%s%s", first, lead, t->text);
    if (n < 0 || (size_t)n >= sizeof(t->whole))
        return myth_fail(err, MYTH_EARG, "--task: the whole task has more than %d bytes; say it in fewer words",
                         (int)MYTH_TASK_WHOLE);
    io->task = t->whole;
    io->task_tokens = t->room;
    return MYTH_OK;
}
