#!/usr/bin/env python3
"""Make the tokenizer goldens in tests/golden/tokenizer from independent libraries.

    make_tokenizer_texts.py [--real DIR]

Needs Python with `tokenizers` and `sentencepiece`. DIR holds gemma/ and gemma3/, each with tokenizer.json or tokenizer.json.xz.

Written always (a small tokenizer of our own, trained here on fragments.txt, in Gemma's two layouts):
    small_new.json      tokenizer.json as of Gemma 3: merges as pairs, every marker an added token
    small_old.json      tokenizer.json as of Gemma 1 and 2: merges as strings, four added tokens
    small.model         the SentencePiece model that small_old.json stands for
    small.golden.json   [[text, ids with small_new, ids with small_old and small.model], ...]
    ../../fuzz/corpus/{json,tokenizer_json,spm}/seed-*   the smallest valid files, to start fuzzing from
Written with --real:
    gemma3.golden.json, gemma.golden.json   [[text, ids], ...], a few hundred to read
    gemma3.hashes, gemma.hashes             one line a text: low 32 bits of FNV-1a64 over the ids; the texts are those of text_of(i)

What is expected: the ids of the `tokenizers` library. For the old layout that library takes runs over 31, tags, markers and <unusedN>
apart, and the reference there is the sentencepiece library on a model rebuilt from the vocabulary, with the control pieces cut out first.
"""

import argparse, json, lzma, os, re, struct
import sentencepiece as spm
from tokenizers import Tokenizer

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizer")
MARK = "\u2581"
N_HASHED, N_READABLE, N_SMALL = 6000, 300, 200
M64 = 2**64 - 1


# ---- texts: a function of (index, vocabulary); tests/engine/text/tokenizer_texts.h makes the same ----


class Random:
    def __init__(self, state):
        self.state = state

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & M64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
        return (z ^ z >> 31) % n


with open(os.path.join(HERE, "fragments.txt"), encoding="utf-8", newline="") as f:
    FRAGMENTS = f.read().split("\n")[:-1]
ALPHABETS = ["ab", "aab ", "<td>", "\n \t", "xyz ", "ha", "01", "=-", "()", " " + MARK, "#*", "<unused1>"]


def text_of(i, pieces):
    r = Random(0x6D79746800000000 + i)
    kind, out = r.below(5), []
    if kind == 0:  # pieces in a row
        for _ in range(1 + r.below(12)):
            p = pieces[r.below(len(pieces))]
            out.append(p if r.below(8) == 0 else p.replace(MARK, " "))
    elif kind == 1:  # code points
        for _ in range(1 + r.below(40)):
            k = r.below(4)
            out.append(
                chr(32 + r.below(95))
                if k == 0
                else (
                    " \n\t\u2581"[r.below(4)]
                    if k == 1
                    else chr(r.below(0xD800)) if k == 2 else chr(0xE000 + r.below(0x110000 - 0xE000))
                )
            )
    elif kind == 2:  # few letters, much repetition
        a = ALPHABETS[r.below(len(ALPHABETS))]
        for _ in range(1 + r.below(80)):
            out.append(a[r.below(len(a))])
    elif kind == 3:  # lines
        for _ in range(1 + r.below(4)):
            out.append(FRAGMENTS[r.below(len(FRAGMENTS))] + "\n")
    else:  # a cut through a line
        line = FRAGMENTS[r.below(len(FRAGMENTS))]
        at = r.below(len(line))
        out.append(line[at : at + 1 + r.below(40)])
    return "".join(out)


def hash_of(ids):
    h = 0xCBF29CE484222325
    for i in ids:
        for b in i.to_bytes(4, "little"):
            h = (h ^ b) * 0x100000001B3 & M64
    return h & 0xFFFFFFFF


# ---- the sentencepiece model behind an old-style tokenizer.json ----

OLD_CONTROL = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]


NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6


def varint(v):
    out = b""
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def scalar(number, v):
    return varint(number << 3) + varint(v)


def message(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def rebuild_spm(pieces):
    """Bytes of a SentencePiece ModelProto: normal pieces score by their place, all others 0."""
    byte0 = pieces.index("<0x00>")
    tail, out = len(pieces), b""
    while re.fullmatch(r"\t+|<unused\d+>|\[toxicity=0\]", pieces[tail - 1]):
        tail -= 1
    for i, p in enumerate(pieces):
        kind = (
            UNKNOWN
            if p == "<unk>"
            else (
                CONTROL if p in OLD_CONTROL else USER if i < byte0 or i >= tail else BYTE if i < byte0 + 256 else NORMAL
            )
        )
        text = "<0x09>" if i == byte0 + 9 else p
        score = -float(i - byte0 - 256) if kind == NORMAL else 0.0
        out += message(1, message(1, text.encode()) + b"\x15" + struct.pack("<f", score) + scalar(3, kind))
    trainer = (
        scalar(3, 2)
        + scalar(4, len(pieces))
        + scalar(35, 1)
        + scalar(40, 3)
        + scalar(41, 2)
        + scalar(42, 1)
        + scalar(43, 0)
    )
    return out + message(2, trainer) + message(3, message(1, b"identity") + scalar(3, 0) + scalar(4, 0) + scalar(5, 1))


class Old:
    """sentencepiece with control pieces; checked against the tokenizers library wherever that keeps to the same rules"""

    control = re.compile("(" + "|".join(map(re.escape, OLD_CONTROL)) + ")")
    apart = re.compile(r" {32}|\n{32}|\t{32}|\u2581|<unused\d+>|</?\w+>|\[@BOS@\]|\[toxicity=0\]|<2mass>")

    def __init__(self, tokenizer, pieces):
        self.tokenizer, self.id = tokenizer, {p: i for i, p in enumerate(pieces)}
        self.model = rebuild_spm(pieces)
        self.sp = spm.SentencePieceProcessor(model_proto=self.model)
        self.n_both = 0

    def encode(self, text):
        ids = []
        for part in self.control.split(text):
            if part in OLD_CONTROL:
                ids.append(self.id[part])
            elif part:
                ids += self.sp.encode(part)
        if not self.apart.search(text):
            assert ids == self.tokenizer.encode(text, add_special_tokens=False).ids, text
            self.n_both += 1
        return ids


class New:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids


# ---- the small tokenizer ----

TAGS = [
    "table",
    "caption",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "th",
    "td",
    "/table",
    "/caption",
    "/thead",
    "/tbody",
    "/tfoot",
    "/tr",
    "/th",
    "/td",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "/h1",
    "/h2",
    "/h3",
    "/h4",
    "/h5",
    "/h6",
    "/blockquote",
    "strong",
    "em",
    "b",
    "i",
    "u",
    "s",
    "sub",
    "sup",
    "code",
    "/strong",
    "/em",
    "/b",
    "/i",
    "/u",
    "/s",
    "/sub",
    "/sup",
    "/code",
]
MORE_TAGS = ["a", "html", "body", "img", "span", "bbox", "ul", "li", "div", "iframe", "footer"]
RUNS = range(1, 32)


def learn(n_merge):
    """Plain byte-pair learning over the words of the fragments: characters, then the most frequent pair, ties by text."""
    words = {}
    for line in FRAGMENTS:
        for w in re.findall(rf"[{MARK} ]?[^ \t{MARK}0-9]+|[0-9]", line):
            w = tuple(w.replace(" ", MARK))
            words[w] = words.get(w, 0) + 1
    chars = sorted({c for w in words for c in w} | {MARK} | {chr(c) for c in range(33, 127)})
    chars = [
        c for c in chars if ord(c) < 0x2000 or ord(c) == 0x2581 or ord(c) % 3
    ]  # some characters stay without a piece
    pieces = []
    for _ in range(n_merge):
        count = {}
        for w, n in words.items():
            for p in zip(w, w[1:]):
                if all(len(x) > 1 or x in chars for x in p):
                    count[p] = count.get(p, 0) + n
        best = max(count, key=lambda p: (count[p], p))
        pieces.append("".join(best))
        merged = {}
        for w, n in words.items():
            out, i = [], 0
            while i < len(w):
                if w[i : i + 2] == best:
                    out.append(w[i] + w[i + 1])
                    i += 2
                else:
                    out.append(w[i])
                    i += 1
            merged[tuple(out)] = merged.get(tuple(out), 0) + n
        words = merged
    return list(dict.fromkeys(pieces)) + chars


def small_pieces(old):
    p = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"] + (["<2mass>", "[@BOS@]"] if old else ["[multimodal]"])
    p += [f"<unused{i}>" for i in range(99)] + ["<start_of_turn>", "<end_of_turn>"]
    p += ["\n" * k for k in RUNS] + [MARK * k for k in RUNS[1:]]
    p += [f"<{t}>" for t in TAGS + ([] if old else MORE_TAGS + ["/" + t for t in MORE_TAGS])]
    p += [f"<0x{b:02X}>" for b in range(256)]
    if old:
        p[-256 + 9] = "\t"
    p += [x for x in learn(600) if x not in p]
    p += (["[toxicity=0]"] if old else ["\t"]) + ["\t" * k for k in RUNS[1:]]
    return p + (["<unused99>"] if old else ["<start_of_image>", "<end_of_image>", "<unused99>", "<unused100>"])


def small_merges(pieces, old):
    """Every split of every piece, runs first, as the converters of the two generations order them."""
    ids = {p: i for i, p in enumerate(pieces)}
    run = [p for p in pieces if not p.strip("\n\t" + MARK) and len(p) > 1]
    rest = [
        p
        for p in pieces[ids["<0x00>"] + 256 :]
        if p not in run and not p.startswith(("<unused", "<start_of", "<end_of", "[toxicity"))
    ]
    splits = lambda p: [(p[:k], p[k:]) for k in range(1, len(p)) if p[:k] in ids and p[k:] in ids]
    if old:
        first = [m for p in sorted(run, key=lambda p: (p[0] != "\n", p[0] != MARK, len(p))) for m in splits(p)]
        return first + [m for p in rest for m in splits(p)]
    first = sorted((m for p in run for m in splits(p)), key=lambda m: (-len(m[0]), -len(m[1])))
    return first + [m for p in rest for m in reversed(splits(p))]


def small_json(old):
    pieces = small_pieces(old)
    merges = small_merges(pieces, old)
    added = lambda i, p, s: dict(
        id=i, content=p, single_word=False, lstrip=False, rstrip=False, normalized=False, special=s
    )
    byte0 = pieces.index("<0x00>")
    special = ["<pad>", "<eos>", "<bos>", "<unk>"] + (
        [] if old else ["<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>"]
    )
    user = (
        []
        if old
        else [
            p
            for i, p in enumerate(pieces)
            if p not in special and (i < byte0 or p[0] in "\t" or p.startswith("<unused"))
        ]
    )
    tokens = [added(i, p, p in special) for i, p in enumerate(pieces) if p in special or p in user]
    if not old:
        tokens.append(added(len(pieces), "<image_soft_token>", True))
    model = dict(
        type="BPE",
        dropout=None,
        unk_token="<unk>",
        continuing_subword_prefix=None,
        end_of_word_suffix=None,
        fuse_unk=True,
        byte_fallback=True,
    )
    if not old:
        model["ignore_merges"] = False
    model["vocab"] = {p: i for i, p in enumerate(pieces)}
    model["merges"] = [" ".join(m) for m in merges] if old else [list(m) for m in merges]
    split = dict(type="Split", pattern=dict(String=" "), behavior="MergedWithPrevious", invert=False)
    return dict(
        version="1.0",
        truncation=None,
        padding=None,
        added_tokens=tokens,
        normalizer=dict(type="Replace", pattern=dict(String=" "), content=MARK),
        pre_tokenizer=None if old else split,
        post_processor=None,
        decoder=dict(
            type="Sequence",
            decoders=[
                dict(type="Replace", pattern=dict(String=MARK), content=" "),
                dict(type="ByteFallback"),
                dict(type="Fuse"),
            ],
        ),
        model=model,
    )


# ---- writing ----


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data)
    print(f"{name}: {len(data)} bytes")


def write_json(name, rows):
    write(
        name,
        ("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in rows) + "\n]\n").encode(),
    )


def pieces_of(doc):
    ids = dict(doc["model"]["vocab"])
    for a in doc["added_tokens"]:
        ids[a["content"]] = a["id"]
    return [p for p, _ in sorted(ids.items(), key=lambda x: x[1])]


def make_small():
    new, old = small_json(False), small_json(True)
    for name, doc in (("small_new.json", new), ("small_old.json", old)):
        write(name, json.dumps(doc, ensure_ascii=False, indent=None, separators=(",", ":")).encode())
    a, b = New(Tokenizer.from_str(json.dumps(new))), Old(Tokenizer.from_str(json.dumps(old)), pieces_of(old))
    write("small.model", b.model)
    texts = [t for t in (text_of(i, pieces_of(new)) for i in range(N_SMALL)) if "<image_soft_token>" not in t]
    write_json("small.golden.json", [[t, a.encode(t), b.encode(t)] for t in FRAGMENTS + texts])
    print(f"old layout: {b.n_both} texts agree with both libraries")


def make_seeds():
    """Specials, bytes and a few pieces: what a file needs at least, in both layouts, and some plain JSON."""
    seeds = os.path.join("..", "..", "fuzz", "corpus")
    head, byte = ["<pad>", "<eos>", "<bos>", "<unk>"], [f"<0x{b:02X}>" for b in range(256)]
    for old in (True, False):
        pieces = (
            head
            + ["<start_of_turn>", "\n", "\n\n", MARK * 2, "<unused1>"]
            + byte
            + [MARK, "a", "b", "ab", MARK + "ab", "<", ">"]
        )
        doc = small_json(old)
        doc["model"]["vocab"] = {p: i for i, p in enumerate(pieces)}
        merges = [("\n", "\n"), (MARK, MARK), ("a", "b"), (MARK, "ab")]
        doc["model"]["merges"] = [" ".join(m) if old else list(m) for m in merges]
        special = lambda p: p in head + ["<start_of_turn>"]
        doc["added_tokens"] = [
            dict(a, special=special(a["content"]))
            for a in (dict(doc["added_tokens"][0], id=i, content=p) for i, p in enumerate(pieces[: 4 if old else 9]))
        ]
        write(
            os.path.join(seeds, "tokenizer_json", "seed-" + ("old" if old else "new")),
            json.dumps(doc, ensure_ascii=False, separators=(",", ":")).encode(),
        )
        if old:
            pieces[4 + 5 + 9] = "\t"
            write(os.path.join(seeds, "spm", "seed-small"), rebuild_spm(pieces))
    for i, text in enumerate(
        [
            r'{"a":[1,-2.5e3,true,false,null,"x\u00e9\ud83d\ude00\n"],"b":{}}',
            '[[[[{"":""}]]]]  ',
            '"' + MARK + '"',
            "-0.0e-0",
            '{"__metadata__":{"format":"pt"}}',
        ]
    ):
        write(os.path.join(seeds, "json", f"seed-{i}"), text.encode())


def make_real(folder):
    for name in ("gemma3", "gemma"):
        path = os.path.join(folder, name, "tokenizer.json")
        with (
            open(path, encoding="utf-8") if os.path.exists(path) else lzma.open(path + ".xz", "rt", encoding="utf-8")
        ) as f:
            text = f.read()
        doc, tokenizer = json.loads(text), Tokenizer.from_str(text)
        pieces = pieces_of(doc)
        oracle = New(tokenizer) if name == "gemma3" else Old(tokenizer, pieces)
        rows = [[t, oracle.encode(t)] for t in FRAGMENTS + [text_of(N_HASHED + i, pieces) for i in range(N_READABLE)]]
        write_json(name + ".golden.json", rows)
        write(
            name + ".hashes",
            "".join(f"{hash_of(oracle.encode(text_of(i, pieces))):08x}\n" for i in range(N_HASHED)).encode(),
        )
        if name == "gemma":
            print(f"gemma: {oracle.n_both} texts agree with both libraries")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--real")
    o = ap.parse_args()
    make_small()
    make_seeds()
    if o.real:
        make_real(o.real)


if __name__ == "__main__":
    main()
