/* gone.c - lines in a file that has no name. */
#define _GNU_SOURCE /* memrchr */
#include "gone.h"

#include "engine/base/outfile.h"
#include "frontend/cli/tempdir.h"
#include "message.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static myth_status cannot_keep(int why, myth_error *err)
{
    return myth_fail(err, MYTH_EIO, "a temporary file: cannot keep the turns that went: %s; set TMPDIR", strerror(why));
}

static myth_status open_file(myth_gone *g, myth_error *err)
{
    char name[PATH_MAX] = "";
    if (g->has_file)
        return MYTH_OK;
    const myth_status st = myth_tempdir_file(&g->fd, name, "keep turns that went in", err);
    g->has_file = st == MYTH_OK;
    return st;
}

const void *myth_gone_map(const myth_gone *g)
{
    void *p = mmap(NULL, (size_t)g->bytes, PROT_READ, MAP_SHARED, g->fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

void myth_gone_unmap(const myth_gone *g, const void *lines)
{
    if (lines)
        munmap((void *)lines, (size_t)g->bytes);
}

/* Lets the older half go where there is more than may be. */
static myth_status cut_front(myth_gone *g, myth_error *err)
{
    if (g->bytes <= MYTH_GONE_MOST)
        return MYTH_OK;
    char *p = mmap(NULL, (size_t)g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
    if (p == MAP_FAILED)
        return cannot_keep(errno, err);
    const size_t all = (size_t)g->bytes, older = all - MYTH_GONE_MOST / 2;
    const char *end = memchr(p + older, '\n', all - older);
    const size_t from = end ? (size_t)(end + 1 - p) : all;
    memmove(p, p + from, all - from);
    munmap(p, all);
    g->bytes = all - from;
    return ftruncate(g->fd, (off_t)g->bytes) == 0 ? MYTH_OK : cannot_keep(errno, err);
}

static void print_turns(FILE *f, const myth_talk *talk)
{
    myth_json_out j;
    for (size_t i = 0; i < talk->n_aside; i++) {
        const myth_talk_message *m = myth_talk_aside_at(talk, i);
        if (i == 0 || m->m.role == MYTH_ROLE_USER) {
            myth_jout_start(&j, f);
            myth_jout_object(&j);
            myth_jout_key(&j, "messages");
            myth_jout_array(&j);
        }
        myth_chat_message_put(&j, m);
        if (i + 1 == talk->n_aside || myth_talk_aside_at(talk, i + 1)->m.role == MYTH_ROLE_USER) {
            myth_jout_end(&j);
            myth_jout_end(&j);
        }
    }
}

myth_status myth_gone_add(myth_gone *g, const myth_talk *talk, myth_error *err)
{
    if (talk->n_aside == 0)
        return MYTH_OK;
    myth_status st = open_file(g, err);
    if (st != MYTH_OK)
        return st;
    FILE *f = fdopen(dup(g->fd), "r+b");
    if (!f)
        return cannot_keep(errno, err);
    long end = -1;
    if (fseek(f, (long)g->bytes, SEEK_SET) == 0) {
        print_turns(f, talk);
        end = fflush(f) == 0 && !ferror(f) ? ftell(f) : -1;
    }
    const int why = errno;
    fclose(f);
    if (end < 0) /* what stands behind the bytes that count is written over */
        return cannot_keep(why ? why : EIO, err);
    g->bytes = (uint64_t)end;
    return cut_front(g, err);
}

myth_status myth_gone_add_lines(myth_gone *g, const void *lines, size_t n, myth_error *err)
{
    if (n == 0)
        return MYTH_OK;
    const myth_status st = open_file(g, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_out_write_at(g->fd, lines, n, g->bytes))
        return cannot_keep(errno, err);
    g->bytes += n;
    return cut_front(g, err);
}

static const char name_of_turns[] = "the turns that went";

static myth_status add_turn(myth_talk *talk, const myth_json_tree *t, myth_error *err)
{
    const myth_json_node *list = myth_json_tree_get(t, t->node, "messages");
    myth_status st = MYTH_OK;
    for (const myth_json_node *n = myth_json_tree_first(t, list); n && st == MYTH_OK; n = myth_json_tree_next(t, n))
        st = myth_chat_message_add(talk, t, n, name_of_turns, err);
    return st;
}

/* A line has more bytes than its texts. */
static bool has_room(const myth_talk *talk, size_t n_message, const myth_json_tree *t, size_t bytes)
{
    const myth_json_node *list = myth_json_tree_get(t, t->node, "messages");
    return list && bytes <= talk->max_bytes - talk->n_bytes && talk->n + list->n <= n_message;
}

myth_status myth_gone_take_back(myth_gone *g, myth_talk *talk, size_t n_message, size_t *n_turn, myth_error *err)
{
    const char *lines = g->bytes ? myth_gone_map(g) : NULL;
    size_t n = (size_t)g->bytes, all = n;
    myth_status st = MYTH_OK;
    if (g->bytes && !lines)
        return cannot_keep(errno, err);
    for (bool has = true; n && has && st == MYTH_OK;) {
        myth_json_tree t = {0};
        const char *before = memrchr(lines, '\n', n - 1), *line = before ? before + 1 : lines;
        const size_t len = (size_t)(lines + n - line);
        st = myth_json_tree_open(&t, talk->mem, line, len, name_of_turns, err);
        has = st == MYTH_OK && has_room(talk, n_message, &t, len);
        if (has)
            st = add_turn(talk, &t, err);
        myth_json_tree_close(&t);
        n -= has ? len : 0;
        *n_turn += has;
    }
    if (lines)
        munmap((void *)lines, all);
    g->bytes = n; /* what stands behind them is written over */
    return st;
}

void myth_gone_close(myth_gone *g)
{
    if (g->has_file)
        close(g->fd);
    *g = (myth_gone){0};
}
