/* saved.c - one line of JSON and the bytes of a sequence. */
#define _GNU_SOURCE /* memfd_create */
#include "saved.h"

#include "engine/base/map.h"
#include "engine/base/outfile.h"
#include "engine/text/json_tree.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/tempdir.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- save ---- */

static void put_part(myth_json_out *j, const char *bytes_name, uint64_t bytes, const char *sum_name, uint64_t sum)
{
    char hex[20];
    myth_jout_key_u64(j, bytes_name, bytes);
    snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)sum);
    myth_jout_key_str(j, sum_name, hex);
}

#define CHAT_BEGIN   "{\"mythos_chat\":"
#define CHAT_VERSION '2'
#define HEADER_SUM   ",\"header_xxh3\":\""

/* gone: the lines of s->gone; NULL = there are none. */
static void put_header(FILE *f, const myth_session *s, uint64_t bytes, uint64_t sum, const void *gone)
{
    const myth_talk *t = &s->talk;
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key_u64(&j, "mythos_chat", CHAT_VERSION - '0');
    put_part(&j, "sequence_bytes", bytes, "sequence_xxh3", sum);
    if (gone)
        put_part(&j, "gone_bytes", s->gone.bytes, "gone_xxh3", XXH3_64bits(gone, (size_t)s->gone.bytes));
    myth_jout_key_u64(&j, "context", s->n_ctx);
    if (s->n_called)
        myth_jout_key_u64(&j, "calls", s->n_called);
    if (t->system)
        myth_jout_key_str(&j, "system", t->system);
    if (t->tools)
        myth_jout_key_str(&j, "tools", t->tools);
    myth_jout_key(&j, "messages");
    myth_jout_array(&j);
    for (size_t i = 0; i < t->n; i++)
        myth_chat_message_put(&j, &t->msg[i]);
    myth_jout_end(&j);
    myth_jout_end(&j);
}

/* Room for the header. It has the sum of the sequence, which stands behind it, so it is written last, and what is left
 * of its room is spaces. */
static uint64_t header_most(const myth_session *s)
{
    uint64_t n = 4096;
    n += 6 * (uint64_t)s->talk.n_bytes; /* an escaped byte has six */
    return (n + 192 * (uint64_t)s->talk.n + 4095) / 4096 * 4096;
}

static myth_status cannot_write(const char *path, int why, myth_error *err)
{
    return myth_fail(err, MYTH_EIO, "%s: cannot write: %s", path, strerror(why));
}

/* The sum of the file's first n bytes. False: they cannot be read. */
static bool sum_of_file(uint64_t *sum, int fd, uint64_t n)
{
    unsigned char piece[1 << 14];
    XXH3_state_t *state = XXH3_createState();
    bool is_ok = state && XXH3_64bits_reset(state) == XXH_OK;
    for (uint64_t at = 0; is_ok && at < n;) {
        const ssize_t got = pread(fd, piece, n - at < sizeof(piece) ? (size_t)(n - at) : sizeof(piece), (off_t)at);
        is_ok = got > 0 && XXH3_64bits_update(state, piece, (size_t)got) == XXH_OK;
        at += is_ok ? (uint64_t)got : 0;
    }
    *sum = is_ok ? XXH3_64bits_digest(state) : 0;
    XXH3_freeState(state);
    return is_ok;
}

/* Puts the sum of the header's bytes behind its last member. *n is where its closing brace ends, and then where it ends
 * with the sum. */
static bool put_sum(FILE *f, int fd, long *n)
{
    uint64_t sum;
    int more = -1;
    if (fflush(f) == 0 && sum_of_file(&sum, fd, (uint64_t)*n - 1) && fseek(f, *n - 1, SEEK_SET) == 0)
        more = fprintf(f, HEADER_SUM "%016llx\"}", (unsigned long long)sum);
    *n += more - 1; /* over the brace */
    return more > 0;
}

/* Writes the header into the file's first `most` bytes: JSON, spaces, a newline; most 0: no spaces. */
static myth_status write_header(const myth_session *s, const char *path, int fd, uint64_t most, uint64_t bytes,
                                uint64_t sum, const void *gone, myth_error *err)
{
    FILE *f = fdopen(dup(fd), "r+b");
    if (!f)
        return cannot_write(path, errno, err);
    put_header(f, s, bytes, sum, gone);
    long n = fseek(f, -1, SEEK_CUR) == 0 ? ftell(f) : -1; /* over the newline */
    if (n > 0 && !put_sum(f, fd, &n))
        n = -1;
    for (; n >= 0 && (uint64_t)n + 1 < most; n++)
        fputc(' ', f);
    fputc('\n', f);
    const bool is_ok = n >= 0 && (!most || (uint64_t)n + 1 == most) && !ferror(f);
    if (fclose(f) != 0 || !is_ok)
        return cannot_write(path, errno ? errno : EIO, err);
    return MYTH_OK;
}

/* Writes the header, and behind its end and a sequence of so many bytes the turns that went. */
static myth_status write_texts(const myth_session *s, const char *path, int fd, uint64_t most, uint64_t bytes,
                               uint64_t sum, myth_error *err)
{
    const void *gone = s->gone.bytes ? myth_gone_map(&s->gone) : NULL;
    if (s->gone.bytes && !gone)
        return cannot_write(path, errno, err);
    myth_status st = write_header(s, path, fd, most, bytes, sum, gone, err);
    const off_t end = st == MYTH_OK && gone ? lseek(fd, 0, SEEK_END) : 0;
    if (end < 0 || (st == MYTH_OK && gone && !myth_out_write_at(fd, gone, (size_t)s->gone.bytes, (uint64_t)end)))
        st = cannot_write(path, errno, err);
    myth_gone_unmap(&s->gone, gone);
    return st;
}

/* Writes the chat as it is to an empty file; whole: with the checkpoints of its sequence. */
static myth_status write_chat(myth_session *s, bool is_whole, const char *path, int fd, uint64_t *bytes,
                              myth_error *err)
{
    const uint64_t most = header_most(s),
                   n = is_whole ? myth_seq_save_whole_bytes(s->seq) : myth_seq_save_bytes(s->seq);
    const int why = posix_fallocate(fd, 0, (off_t)(most + n)); /* else a full disk ends the process */
    if (why)
        return cannot_write(path, why, err);
    unsigned char *map = mmap(NULL, (size_t)(most + n), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return cannot_write(path, errno, err);
    myth_status st = (is_whole ? myth_seq_save_whole : myth_seq_save)(s->seq, map + most, n, err);
    if (st == MYTH_OK)
        st = write_texts(s, path, fd, most, n, XXH3_64bits(map + most, (size_t)n), err);
    *bytes = most + n + s->gone.bytes;
    munmap(map, (size_t)(most + n));
    return st;
}

/* The version of the chat that these bytes begin: '1' has no sum of the header. 0 = they begin none. */
static char version_of(const void *bytes, size_t n)
{
    const char *text = bytes;
    const size_t at = sizeof(CHAT_BEGIN) - 1;
    const bool is_chat = n >= at + 2 && memcmp(text, CHAT_BEGIN, at) == 0 && text[at + 1] == ',';
    return is_chat && (text[at] == '1' || text[at] == CHAT_VERSION) ? text[at] : '\0';
}

/* Whether a file may be written over: there is none, it is empty, or a saved chat. */
static bool is_to_replace(const char *path)
{
    char begin[sizeof(CHAT_BEGIN) + 1];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT;
    const ssize_t n = read(fd, begin, sizeof(begin));
    close(fd);
    return n == 0 || (n > 0 && version_of(begin, (size_t)n));
}

static myth_status open_out(myth_out *out, const char *path, myth_error *err)
{
    if (!myth_out_is_special(path) && !is_to_replace(path))
        return myth_fail(err, MYTH_ECREATE,
                         "%s: this is no saved chat, and is not written over: give another file, or remove it", path);
    const myth_status st = myth_out_open(out, path, MYTH_OUT_PRIVATE, err);
    return st == MYTH_OK && out->is_special
             ? myth_fail(err, MYTH_ECREATE, "%s: a chat is saved to a regular file", path)
             : st;
}

myth_status myth_chat_save(myth_session *s, const char *path, const myth_cancel *cancel, uint64_t *bytes,
                           myth_error *err)
{
    myth_out out = {0};
    myth_status st;
    MYTH_TRY(myth_session_settle(s, cancel, err));
    MYTH_TRY(open_out(&out, path, err));
    MYTH_TRY(write_chat(s, false, path, out.fd, bytes, err));
    return myth_out_finish(&out, err);
fail:
    myth_out_abandon(&out);
    return st;
}

myth_status myth_chat_save_talk(const myth_session *s, const char *path, myth_error *err)
{
    myth_out out = {0};
    myth_status st;
    MYTH_TRY(open_out(&out, path, err));
    MYTH_TRY(write_texts(s, path, out.fd, 0, 0, XXH3_64bits(NULL, 0), err));
    return myth_out_finish(&out, err);
fail:
    myth_out_abandon(&out);
    return st;
}

/* ---- load ---- */

/* A saved chat that is being read. */
typedef struct {
    const char *path;
    myth_map map;
    myth_json_tree header;
    const unsigned char *seq, *gone; /* behind the header */
    uint64_t n_seq, n_gone;
    myth_talk talk; /* and what becomes of it here */
    myth_gone turns;
} reader;

/* The chat may be one of a longer context: turns go while it is read, so that it is never much larger than this one. In
 * a longer one those that went come back. */
static myth_status load_talk(const myth_session *s, reader *r, myth_chat_loaded *out, myth_error *err)
{
    const myth_json_tree *t = &r->header;
    const myth_json_node *root = t->node, *list = myth_json_tree_get(t, root, "messages");
    myth_status st;
    if (!list || list->type != MYTH_JSON_ARRAY)
        return myth_chat_no_chat(r->path, "has no messages", err);
    MYTH_TRY(myth_gone_add_lines(&r->turns, r->gone, (size_t)r->n_gone, err));
    MYTH_TRY(myth_talk_set_system(&r->talk, myth_chat_text_of(t, root, "system"), err));
    MYTH_TRY(myth_talk_set_tools(&r->talk, myth_chat_text_of(t, root, "tools"), err));
    for (const myth_json_node *n = myth_json_tree_first(t, list); n; n = myth_json_tree_next(t, n)) {
        MYTH_TRY(myth_chat_message_add(&r->talk, t, n, r->path, err));
        MYTH_TRY(myth_session_shed(s, &r->talk, &r->turns, &out->n_turn_gone, err));
    }
    MYTH_TRY(myth_session_bound(s, &r->talk, err));
    if (s->n_ctx > myth_chat_number_of(t, root, "context") && out->n_turn_gone == 0)
        MYTH_TRY(myth_session_regain(s, &r->talk, &r->turns, &out->n_turn_back, err));
fail:
    return st;
}

static bool is_sum(const reader *r, const char *key, const unsigned char *p, uint64_t n)
{
    char hex[20];
    const myth_str sum = myth_chat_text_of(&r->header, r->header.node, key);
    snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)XXH3_64bits(p, (size_t)n));
    return sum.text && myth_str_is(sum, hex);
}

/* Whether the header of n bytes is as it was written. One of version 1 says nothing of it. */
static bool is_whole_header(const unsigned char *header, size_t n, char version)
{
    char want[64];
    const size_t n_sum = sizeof(HEADER_SUM) - 1 + 16 + 2;
    while (n && header[n - 1] == ' ')
        n--;
    if (n < n_sum)
        return false;
    n -= n_sum;
    if (version == '1')
        return memcmp(header + n, HEADER_SUM, sizeof(HEADER_SUM) - 1) != 0;
    snprintf(want, sizeof(want), HEADER_SUM "%016llx\"}", (unsigned long long)XXH3_64bits(header, n));
    return memcmp(header + n, want, n_sum) == 0;
}

/* The header of the file, and what stands behind it. */
static myth_status read_header(reader *r, myth_error *err)
{
    const myth_map *map = &r->map;
    myth_json_tree *t = &r->header;
    const unsigned char *end = map->size ? memchr(map->base, '\n', (size_t)map->size) : NULL;
    const char version = version_of(map->base, (size_t)map->size);
    if (!end || !version)
        return myth_chat_no_chat(r->path, "no saved chat", err);
    if (!is_whole_header(map->base, (size_t)(end - map->base), version))
        return myth_chat_no_chat(r->path, "damaged", err);
    myth_status st = myth_json_tree_open(t, map->mem, (const char *)map->base, (size_t)(end - map->base), r->path, err);
    if (st != MYTH_OK)
        return st;
    const uint64_t rest = map->size - (uint64_t)(end + 1 - map->base);
    r->seq = end + 1;
    r->n_seq = myth_chat_number_of(t, t->node, "sequence_bytes");
    r->n_gone = myth_chat_number_of(t, t->node, "gone_bytes");
    if (!myth_json_tree_get(t, t->node, "sequence_bytes") || r->n_seq > rest || r->n_gone != rest - r->n_seq)
        return myth_chat_no_chat(r->path, "cut off", err);
    r->gone = r->seq + r->n_seq;
    return is_sum(r, "sequence_xxh3", r->seq, r->n_seq) &&
                   (r->n_gone == 0 || is_sum(r, "gone_xxh3", r->gone, r->n_gone))
             ? MYTH_OK
             : myth_chat_no_chat(r->path, "damaged", err);
}

static myth_status load(myth_session *s, const char *path, myth_chat_loaded *out, myth_error *err)
{
    const myth_model *model = myth_engine_model(s->e);
    reader r = {.path = path, .map = {.fd = -1}};
    uint32_t at;
    myth_status st;
    *out = (myth_chat_loaded){0};
    MYTH_TRY(myth_map_open(&r.map, model->mem, path, 0, MYTH_MEM_STAGING, err));
    MYTH_TRY(read_header(&r, err));
    myth_talk_open(&r.talk, model->mem, model, s->o.thinks, SIZE_MAX);
    MYTH_TRY(load_talk(s, &r, out, err));
    r.talk.n_change = s->talk.n_change + 1;
    MYTH_TRY(myth_seq_truncate(s->seq, 0, &at, err));
    myth_talk_close(&s->talk);
    myth_gone_close(&s->gone);
    s->talk = r.talk;
    s->gone = r.turns;
    r.talk = (myth_talk){0};
    r.turns = (myth_gone){0};
    s->has_prefix = false;
    s->n_try = 0;
    s->is_retry = false;
    s->n_called = myth_chat_number_of(&r.header, r.header.node, "calls");
    out->is_warm = out->n_turn_back == 0 && myth_seq_restore(s->seq, r.seq, r.n_seq, NULL) == MYTH_OK;
fail:
    myth_talk_close(&r.talk);
    myth_gone_close(&r.turns);
    myth_json_tree_close(&r.header);
    myth_map_close(&r.map);
    return st;
}

myth_status myth_chat_load(myth_session *s, const char *path, myth_chat_loaded *out, myth_error *err)
{
    const myth_status st = load(s, path, out, err);
    out->is_warm = out->is_warm && (s->talk.n == 0 || myth_seq_len(s->seq) > 0);
    return st;
}

/* ---- kept for this process ---- */

static myth_status copy_to(const myth_chat_kept *k, const char *name, int fd, myth_error *err)
{
    for (off_t at = 0; (uint64_t)at < k->bytes;)
        if (copy_file_range(k->fd, &at, fd, NULL, (size_t)k->bytes - (size_t)at, 0) <= 0) {
            unsigned char piece[1 << 14];
            const ssize_t n = pread(k->fd, piece, sizeof(piece), at); /* not between these two file systems */
            if (n <= 0 || !myth_out_write(fd, piece, (size_t)n))
                return cannot_write(name, errno ? errno : EIO, err);
            at += n;
        }
    return MYTH_OK;
}

uint64_t myth_chat_keep_bytes(const myth_session *s)
{
    return header_most(s) + myth_seq_save_whole_bytes(s->seq) + s->gone.bytes;
}

myth_status myth_chat_keep(myth_chat_kept *out, myth_session *s, bool in_memory, myth_error *err)
{
    char name[PATH_MAX] = "memory";
    myth_mem *mem = myth_engine_model(s->e)->mem;
    const uint64_t bytes = myth_chat_keep_bytes(s);
    *out = (myth_chat_kept){.mem = mem, .fd = -1, .bytes = bytes, .rest = myth_session_rest_of(s)};
    out->is_in_memory = in_memory && myth_mem_book(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, "chat", bytes);
    myth_status st = MYTH_OK;
    if (!out->is_in_memory)
        st = myth_tempdir_file(&out->fd, name, "keep the chat in", err);
    else if ((out->fd = memfd_create("mythos-chat", MFD_CLOEXEC)) < 0)
        st = myth_fail(err, MYTH_ECREATE, "memory: cannot create a file to keep the chat in: %s", strerror(errno));
    if (st == MYTH_OK)
        st = write_chat(s, true, name, out->fd, &out->bytes, err);
    if (st != MYTH_OK)
        myth_chat_kept_close(out);
    return st;
}

void myth_chat_kept_close(myth_chat_kept *k)
{
    if (!k->mem)
        return;
    if (k->fd >= 0)
        close(k->fd);
    if (k->is_in_memory)
        myth_mem_unbook(k->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, k->bytes);
    *k = (myth_chat_kept){0};
}

myth_status myth_chat_kept_to_file(myth_chat_kept *k, myth_error *err)
{
    char name[PATH_MAX] = "";
    myth_chat_kept file = *k;
    if (!k->is_in_memory)
        return MYTH_OK;
    file.is_in_memory = false;
    myth_status st = myth_tempdir_file(&file.fd, name, "keep the chat in", err);
    if (st != MYTH_OK)
        return st;
    st = copy_to(k, name, file.fd, err);
    myth_chat_kept_close(st == MYTH_OK ? k : &file);
    if (st == MYTH_OK)
        *k = file;
    return st;
}

myth_status myth_chat_take_back(myth_session *s, const myth_chat_kept *k, bool *is_warm, myth_error *err)
{
    char path[40];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", k->fd);
    myth_chat_loaded loaded;
    const myth_status st = load(s, path, &loaded, err);
    *is_warm = loaded.is_warm;
    if (st == MYTH_OK)
        myth_session_go_on(s, &k->rest);
    return st;
}

myth_status myth_chat_kept_save(const myth_chat_kept *k, const char *path, myth_error *err)
{
    myth_out out = {0};
    myth_status st = open_out(&out, path, err);
    if (st == MYTH_OK)
        st = copy_to(k, path, out.fd, err);
    if (st == MYTH_OK)
        return myth_out_finish(&out, err);
    myth_out_abandon(&out);
    return st;
}
