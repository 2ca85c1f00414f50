/* texts.c - the automata of a text and of a name of missing context. */
#include "fields.h"

/* The range of the next byte of a character that has begun. After some lead bytes the range of the second is narrower:
 * Unicode standard, table 3-7. */
static void rest_range(const myth_field *f, uint8_t *lo, uint8_t *hi)
{
    *lo = f->weight == 0xe0 ? 0xa0 : f->weight == 0xf0 ? 0x90 : 0x80;
    *hi = f->weight == 0xed ? 0x9f : f->weight == 0xf4 ? 0x8f : 0xbf;
}

/* A plain text begins with something, so that it is not blank and may end after any character. */
static bool may_end(const myth_field *f, myth_text_limit limit) { return !f->need && (f->len || !limit.is_plain); }

static bool step_inside(myth_field *f, uint8_t byte, myth_text_limit limit)
{
    int left = limit.most - (int)f->len, width;
    if (f->need == MYTH_FIELD_ESCAPE) {
        if (byte != '"' && byte != '\\' && (limit.is_plain || (byte != 'n' && byte != 't' && byte != 'r')))
            return false;
        f->need = 0;
    } else if (f->need) {
        uint8_t lo, hi;
        rest_range(f, &lo, &hi);
        if (byte < lo || byte > hi)
            return false;
        f->need--;
        f->weight = 0;
    } else {
        if ((limit.is_plain && !f->len && byte == ' ') || byte < 0x20 || byte == 0x7f ||
            (byte >= 0x80 && byte < 0xc2) || byte > 0xf4)
            return false;
        width = byte == '\\' ? 2 : byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        if (width > left)
            return false;
        f->need = byte == '\\' ? MYTH_FIELD_ESCAPE : (uint8_t)(width - 1);
        f->weight = width > 1 && byte != '\\' ? byte : 0;
    }
    f->len++;
    return true;
}

myth_field_step myth_text_step(myth_field *f, uint8_t byte, myth_text_limit limit)
{
    if (byte == '"' && !f->need)
        return may_end(f, limit) ? MYTH_FIELD_ENDS : MYTH_FIELD_REFUSED;
    return step_inside(f, byte, limit) ? MYTH_FIELD_GOES_ON : MYTH_FIELD_REFUSED;
}

bool myth_text_is_far(const myth_field *f, myth_text_limit limit, uint32_t horizon)
{
    enum { REST = 3 }; /* a lead byte needs room for up to so many more */
    return (uint32_t)limit.most >= f->len + horizon + REST
    &&(f->len || !limit.is_plain);
}

void myth_text_allowed(const myth_field *f, myth_text_limit limit, uint32_t bits[8])
{
    int left = limit.most - (int)f->len;
    if (f->need == MYTH_FIELD_ESCAPE) {
        for (const char *c = limit.is_plain ? "\"\\" : "\"\\ntr"; *c; c++)
            myth_allow(bits, (uint8_t)*c);
        return;
    }
    if (f->need) {
        uint8_t lo, hi;
        rest_range(f, &lo, &hi);
        for (int b = lo; b <= hi; b++)
            myth_allow(bits, (uint8_t)b);
        return;
    }
    if (left >= 1) {
        bits[1] = bits[2] = 0xffffffffu; /* 0x20 .. 0x5f */
        bits[3] = 0x7fffffffu;           /* 0x60 .. 0x7e */
        bits[1] &= ~(1u << ('"' & 31));
    }
    if (limit.is_plain && !f->len)
        bits[1] &= ~1u; /* the blank */
    if (left == 1)
        bits['\\' >> 5] &= ~(1u << ('\\' & 31));
    if (left >= 2)
        bits[6] = 0xfffffffcu; /* leads of two bytes, 0xc2 .. 0xdf: 0xc0 and 0xc1 are never valid */
    if (left >= 3)
        bits[7] = 0xffffu; /* leads of three bytes, 0xe0 .. 0xef */
    if (left >= 4)
        bits[7] |= 0x1f0000u; /* leads of four bytes, 0xf0 .. 0xf4 */
    if (may_end(f, limit))
        myth_allow(bits, '"');
}

static bool is_path_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.';
}

/* One byte of path::symbol. need is 0 in the path, 1 after the first colon, 2 after both; pick is 1 once the symbol has
 * a byte. */
static bool step_name(myth_field *f, uint8_t byte, int most)
{
    int left = most - (int)f->len;
    if (f->need == 0 && byte == ':') {
        if (!f->len)
            return false;
        f->need = 1;
    } else if (f->need == 1) {
        if (byte != ':')
            return false;
        f->need = 2;
    } else if (f->need == 0) {
        if ((!is_path_byte(byte) && byte != '/' && byte != '-') || left < 4) /* room for this byte, "::", a symbol */
            return false;
    } else {
        if (!is_path_byte(byte) || left < 1)
            return false;
        f->pick = 1;
    }
    f->len++;
    return true;
}

myth_field_step myth_name_step(myth_field *f, uint8_t byte, int most)
{
    if (byte == '"')
        return f->pick ? MYTH_FIELD_ENDS : MYTH_FIELD_REFUSED;
    return step_name(f, byte, most) ? MYTH_FIELD_GOES_ON : MYTH_FIELD_REFUSED;
}
