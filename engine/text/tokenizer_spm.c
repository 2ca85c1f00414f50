/* tokenizer_spm.c - reads a SentencePiece tokenizer.model: a protobuf, wire format by hand.
 *
 *   ModelProto       1 pieces (repeated SentencePiece)   2 TrainerSpec   3 NormalizerSpec   4, 5 not used here
 *   SentencePiece    1 piece (string)   2 score (float)   3 type (enum, default NORMAL; the numbers of myth_piece_type)
 *   TrainerSpec      3 model_type (2 = BPE)  24 treat_whitespace_as_suffix  35 byte_fallback  40 unk_id  41 bos_id  42
 *                    eos_id 43 pad_id
 *   NormalizerSpec   2 precompiled_charsmap   3 add_dummy_prefix   4 remove_extra_whitespaces   5 escape_whitespaces
 *
 * Scalars  a repeated scalar is legal protobuf: the last one wins. Unknown fields are skipped; groups and unknown wire
 *          types are refused.
 * Gemma    identity normalizer (no map), no dummy prefix, white space kept and escaped; anything else is
 *          MYTH_EUNSUPPORTED
 * Errors   MYTH_EFORMAT "path: offset N: what"
 * Source   sentencepiece_model.proto; protobuf encoding */
#include "tokenizer_impl.h"
#include "engine/base/bytes.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct {
    myth_reader r; /* of one message */
    uint64_t off;  /* of its first byte in the file */
    const char *path;
} message;

typedef struct {
    uint32_t number;
    int wire;
    uint64_t value;             /* VARINT, FIXED32, FIXED64 */
    const unsigned char *bytes; /* BYTES */
    uint64_t len, off;          /* off: of the field in the file */
} field;

typedef struct {
    uint64_t model_type, byte_fallback, suffix, add_dummy_prefix, remove_extra, escape;
    uint64_t id[4]; /* unk, bos, eos, pad, as sign-extended varints; UINT64_MAX (-1) = none */
    uint32_t n_piece;
    uint64_t text_bytes;
    bool has_map;
} spec;

static const char *const wanted_wire = "wrong wire type for this field";

static myth_status fail_at(const message *m, uint64_t pos, myth_error *err, const char *what)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: offset %llu: %s", m->path, (unsigned long long)(m->off + pos), what);
}

static myth_status read_varint(message *m, uint64_t *out, myth_error *err)
{
    uint64_t v = 0;
    uint8_t b = 0;
    uint64_t at = m->r.pos;
    for (int i = 0; i < 10; i++) {
        if (!myth_reader_u8(&m->r, &b))
            return fail_at(m, at, err, "varint cut off");
        if (i == 9 && b > 1)
            break;
        v |= (uint64_t)(b & 0x7f) << 7 * i;
        if (!(b & 0x80)) {
            *out = v;
            return MYTH_OK;
        }
    }
    return fail_at(m, at, err, "varint of more than 64 bits");
}

static myth_status next_field(message *m, field *f, myth_error *err)
{
    myth_status st;
    uint64_t key, pos = m->r.pos;
    uint32_t v32 = 0;
    *f = (field){.off = m->off + pos};
    if ((st = read_varint(m, &key, err)) != MYTH_OK)
        return st;
    if (key >> 3 == 0 || key >> 3 >= (uint64_t)1 << 29)
        return fail_at(m, pos, err, "field number out of range");
    f->number = (uint32_t)(key >> 3);
    f->wire = (int)(key & 7);
    switch (f->wire) {
    case VARINT: return read_varint(m, &f->value, err);
    case FIXED64: return myth_reader_u64(&m->r, &f->value) ? MYTH_OK : fail_at(m, pos, err, "field cut off");
    case FIXED32:
        if (!myth_reader_u32(&m->r, &v32))
            return fail_at(m, pos, err, "field cut off");
        f->value = v32;
        return MYTH_OK;
    case BYTES:
        if ((st = read_varint(m, &f->len, err)) != MYTH_OK)
            return st;
        f->off = m->off + m->r.pos;
        f->bytes = myth_reader_take(&m->r, f->len);
        return f->bytes ? MYTH_OK : fail_at(m, pos, err, "length beyond the end of its message");
    default: return fail_at(m, pos, err, "groups and wire types 6, 7 are not part of this format");
    }
}

static message inside(const message *m, const field *f)
{
    return (message){.r = {.base = f->bytes, .size = f->len}, .off = f->off, .path = m->path};
}

typedef struct {
    myth_str text;
    float score;
    uint64_t type;
} piece;

static myth_status read_piece(message m, piece *out, myth_error *err)
{
    *out = (piece){.type = MYTH_PIECE_NORMAL};
    while (myth_reader_left(&m.r)) {
        field f;
        uint32_t bits;
        myth_status st = next_field(&m, &f, err);
        if (st != MYTH_OK)
            return st;
        int want = f.number == 1 ? BYTES : f.number == 2 ? FIXED32 : f.number == 3 ? VARINT : f.wire;
        if (f.wire != want)
            return fail_at(&m, f.off - m.off, err, wanted_wire);
        switch (f.number) {
        case 1: out->text = (myth_str){(const char *)f.bytes, f.len}; break;
        case 2:
            bits = (uint32_t)f.value;
            memcpy(&out->score, &bits, 4);
            break;
        case 3: out->type = f.value; break;
        default: break;
        }
    }
    if (out->text.len == 0 || out->text.len > MYTH_TOK_PIECE_MAX)
        return fail_at(&m, 0, err, "got an empty piece or one of more than 4096 bytes");
    if (out->type < MYTH_PIECE_NORMAL || out->type > MYTH_PIECE_BYTE)
        return fail_at(&m, 0, err, "unknown piece type");
    return MYTH_OK;
}

typedef struct {
    uint32_t number;
    uint64_t *to;
} scalar;

/* Varint fields of a message into their places; other fields are passed over, map_field sets has_map unless it is
 * empty. */
static myth_status read_scalars(message m, const scalar *list, int n, uint32_t map_field, bool *has_map,
                                myth_error *err)
{
    while (myth_reader_left(&m.r)) {
        field f;
        myth_status st = next_field(&m, &f, err);
        if (st != MYTH_OK)
            return st;
        for (int i = 0; i < n; i++) {
            if (f.number != list[i].number)
                continue;
            if (f.wire != VARINT)
                return fail_at(&m, f.off - m.off, err, wanted_wire);
            *list[i].to = f.value;
        }
        if (map_field && f.number == map_field) {
            if (f.wire != BYTES)
                return fail_at(&m, f.off - m.off, err, wanted_wire);
            *has_map = f.len > 0;
        }
    }
    return MYTH_OK;
}

static myth_status survey_model(message m, spec *s, myth_error *err)
{
    const scalar trainer[] = {{3, &s->model_type}, {24, &s->suffix}, {35, &s->byte_fallback}, {40, &s->id[0]},
                              {41, &s->id[1]},     {42, &s->id[2]},  {43, &s->id[3]}};
    const scalar normalizer[] = {{3, &s->add_dummy_prefix}, {4, &s->remove_extra}, {5, &s->escape}};
    while (myth_reader_left(&m.r)) {
        field f;
        piece p;
        bool none = false;
        myth_status st = next_field(&m, &f, err);
        if (st != MYTH_OK)
            return st;
        if (f.number > 3)
            continue;
        if (f.wire != BYTES)
            return fail_at(&m, f.off - m.off, err, wanted_wire);
        if (f.number == 1) {
            if (++s->n_piece > MYTH_TOK_VOCAB_MAX)
                return fail_at(&m, f.off - m.off, err, "more than 1048576 pieces");
            if ((st = read_piece(inside(&m, &f), &p, err)) != MYTH_OK)
                return st;
            s->text_bytes += p.text.len;
        } else if (f.number == 2) {
            st = read_scalars(inside(&m, &f), trainer, (int)(sizeof trainer / sizeof *trainer), 0, &none, err);
        } else {
            st = read_scalars(inside(&m, &f), normalizer, (int)(sizeof normalizer / sizeof *normalizer), 2, &s->has_map,
                              err);
        }
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static myth_status check_spec(const spec *s, const char *path, myth_error *err)
{
    static const char *const name[4] = {"unk_id", "bos_id", "eos_id", "pad_id"};
    if (s->model_type != 2)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: trainer_spec.model_type: got %llu, expected 2 (BPE)", path,
                         (unsigned long long)s->model_type);
    if (!s->byte_fallback || s->suffix)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: trainer_spec: expected byte_fallback and white space as prefix",
                         path);
    if (s->has_map || s->add_dummy_prefix || s->remove_extra || !s->escape)
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "%s: normalizer_spec: expected no precompiled map, no dummy prefix, white space kept and "
                         "escaped, as Gemma has it",
                         path);
    for (int i = 0; i < 4; i++)
        if (s->id[i] != UINT64_MAX && s->id[i] >= s->n_piece)
            return myth_fail(err, MYTH_EFORMAT, "%s: trainer_spec.%s: got %lld, expected -1 to %u", path, name[i],
                             (long long)s->id[i], s->n_piece);
    return MYTH_OK;
}

myth_status myth_tok_open_spm(myth_tokenizer **out, myth_mem *mem, const void *base, uint64_t size, const char *path,
                              myth_error *err)
{
    /* The defaults of the two specs; Gemma's file states what differs. */
    spec s = {.model_type = 1, .add_dummy_prefix = 1, .remove_extra = 1, .escape = 1, .id = {0, 1, 2, UINT64_MAX}};
    message m = {.r = {.base = base, .size = size}, .path = path};
    myth_status st = MYTH_OK;
    myth_tokenizer *t = NULL;
    uint32_t id = 0, n_unknown = 0;
    MYTH_TRY(survey_model(m, &s, err));
    if (s.n_piece == 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: no pieces", path);
    MYTH_TRY(check_spec(&s, path, err));
    MYTH_TRY(myth_tok_new(&t, mem, &(myth_tok_size){.n_vocab = s.n_piece, .text_bytes = s.text_bytes}, path, err));
    while (myth_reader_left(&m.r)) {
        field f;
        piece p;
        MYTH_TRY(next_field(&m, &f, err));
        if (f.number != 1)
            continue;
        MYTH_TRY(read_piece(inside(&m, &f), &p, err));
        MYTH_TRY(myth_tok_put(t, id++, p.text.text, p.text.len, (unsigned)p.type, p.score, err));
        n_unknown += p.type == MYTH_PIECE_UNKNOWN;
    }
    if (n_unknown != 1) {
        st = myth_fail(err, MYTH_EFORMAT, "%s: pieces of type UNKNOWN: got %u, expected 1", path, n_unknown);
        goto fail;
    }
    MYTH_TRY(myth_tok_index(t, err));
    MYTH_TRY(myth_tok_ready(t, err));
    *out = t;
    return MYTH_OK;
fail:
    myth_tokenizer_close(t);
    return st;
}
