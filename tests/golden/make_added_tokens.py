#!/usr/bin/env python3
"""Make the golden of added tokens with options, and the table of characters that the options speak of.

    make_added_tokens.py

Needs Python with `tokenizers`, whose answers are what is expected. Written:
    tokenizer/added.txt                  small_new.json with more added tokens, and the ids of texts:
                                         "= TOKENS" opens a set (JSON objects, as in the file's added_tokens), then lines
                                         "TEXT in hexadecimal <tab> ids"
    ../../engine/text/tokenizer_chars.c  the ranges of its \\w and \\s: characters beside which a token with single_word,
                                         before which a token with lstrip is found
"""

import json, os, random
from tokenizers import AddedToken, Tokenizer, models

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ("single_word", "lstrip", "rstrip", "normalized")

# content, then the options that are on
SETS = [
    [("<l>", "lstrip"), ("<r>", "rstrip"), ("<lr>", "lstrip rstrip"), ("<w>", "single_word"), ("<p>", "")],
    [
        ("<l>", "lstrip normalized"),
        ("<r>", "rstrip normalized"),
        ("<w>", "single_word normalized"),
        ("<p>", "normalized"),
    ],
    [("the end", "normalized"), (" stop", "normalized"), ("a b", ""), ("ab", "single_word"), ("\n<n>", "lstrip")],
    [("word", "single_word lstrip rstrip"), ("words", "rstrip"), ("or", "normalized"), ("\u2581q", "normalized")],
    [("<x>", "lstrip"), ("<x><y>", ""), ("<y>", "single_word"), (" <z>", "rstrip"), ("<z>", "lstrip normalized")],
    [
        ("\u00e9t\u00e9", "single_word"),
        ("\u4e2d", "lstrip rstrip"),
        ("-", "single_word normalized"),
        ("<p>", "rstrip single_word"),
    ],
    [
        ("\r", "lstrip rstrip"),
        ("<r>", "rstrip"),
        (" <n>", ""),
        ("\v", "rstrip"),
        (" ~", "lstrip"),
        ("\u20bf", "single_word"),
    ],
]
GLUE = [
    " ",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u2581",
    "\u2581\u2581",
    "\u200d",
    "",
    "",
    "a",
    "b",
    "_",
    "9",
    ".",
    "\u00e9",
    "\u4e2d",
    "\u0301",
    "the",
    " word",
    "if (x) {",
    "<",
    ">",
    "<bos>",
    "\u0085",
]


def tokenizer_of(added):
    with open(os.path.join(HERE, "tokenizer", "small_new.json"), encoding="utf-8") as f:
        d = json.load(f)
    d["added_tokens"] += added
    return Tokenizer.from_str(json.dumps(d))


def write_golden():
    r = random.Random(1)
    vocab = tokenizer_of([]).get_vocab()
    with open(os.path.join(HERE, "tokenizer", "added.txt"), "w", encoding="utf-8") as f:
        for tokens in SETS:
            added = []
            for text, on in tokens:  # one whose text is a piece of the vocabulary keeps that piece's id
                new = sum(a["content"] not in vocab for a in added)
                is_special = len(added) % 2 == 0 and len(text) > 1 and text not in vocab
                added.append(
                    {
                        "id": vocab.get(text, max(vocab.values()) + 1 + new),
                        "content": text,
                        **{o: o in on.split() for o in OPTIONS},
                        "special": is_special,
                    }
                )
            f.write("= " + ", ".join(json.dumps(a) for a in added) + "\n")
            t = tokenizer_of(added)
            assert [t.token_to_id(a["content"]) for a in added] == [a["id"] for a in added]
            for i in range(250):
                text = ""
                while not text:
                    text = "".join(
                        r.choice(tokens)[0] if r.random() < 0.4 else r.choice(GLUE)
                        for _ in range(1 + r.randrange(12 if i % 8 else 60))
                    )
                ids = t.encode(text, add_special_tokens=False).ids
                f.write(text.encode().hex() + "\t" + " ".join(map(str, ids)) + "\n")


def ranges(has):
    out = []
    for c in range(0x110000):
        if 0xD800 <= c <= 0xDFFF or not has(chr(c)):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def asker(**option):
    t = Tokenizer(models.BPE({"a": 0}, []))
    t.add_tokens([AddedToken("<q>", normalized=False, **option)])
    return t, t.token_to_id("<q>")


def write_table():
    word, id_of_word = asker(single_word=True)
    strip, _ = asker(lstrip=True)
    table = {
        "word": ranges(lambda c: id_of_word not in word.encode(c + "<q>").ids),
        "space": ranges(lambda c: strip.encode(c + "<q>").offsets[-1][0] == 0),
    }
    with open(os.path.join(HERE, "../../engine/text/tokenizer_chars.c"), "w", encoding="utf-8") as f:
        f.write(
            """/* tokenizer_chars.c - \\\\w and \\\\s of Unicode, as ranges. Made by tests/golden/make_added_tokens.py from what the
 * `tokenizers` library takes for them. */
#include "tokenizer_impl.h"

typedef struct {
    uint32_t first, last;
} range;

/* clang-format off */
""".replace(
                "\\\\", "\\"
            )
        )
        for name, list_of in table.items():
            f.write("static const range %s[] = {\n" % name)
            line = "   "
            for a, b in list_of:
                item = " {0x%x, 0x%x}," % (a, b)
                if len(line) + len(item) > 120:
                    f.write(line + "\n")
                    line = "   "
                line += item
            f.write(line + "\n};\n")
        f.write("""/* clang-format on */

static bool is_in(const range *r, size_t n, uint32_t cp)
{
    while (n > 1) { /* the last range that begins at cp or before it is in r[0 .. n - 1] */
        size_t half = n / 2;
        if (r[half].first <= cp) {
            r += half;
            n -= half;
        } else {
            n = half;
        }
    }
    return cp >= r->first && cp <= r->last;
}

bool myth_tok_is_word(uint32_t cp) { return is_in(word, sizeof word / sizeof *word, cp); }
bool myth_tok_is_space(uint32_t cp) { return is_in(space, sizeof space / sizeof *space, cp); }
""")


write_golden()
write_table()
