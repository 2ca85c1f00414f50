"""The work of peer_tokens.sh."""

import json
import os
import random
import subprocess
import sys
import tempfile

from peer_llama import MYTHOS, ROOT, convert, load, open_peer

TEXTS = int(os.environ.get("TEXTS", "2000"))
# The character that a vocabulary writes for a space. It is removed from the texts, because there llama.cpp takes it for
# a space and the reference tokenizers do not.
BLANK = "\u2581"
ODD = [
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<unused7>",
    "<|turn>",
    "<turn|>",
    "<table>",
    "</h1>",
    "\n\n\n",
    "        ",
    "\t\t",
    "\u00e9",
    "e\u0301",
    "\U0001f469\u200d\U0001f52c",
    "\u4e2d\u6587",
    "\u202e",
    "\ufeff",
    "\r\n",
    "0123456789",
    "\u0660\u0661",
]


def texts(trees, n, rng):
    """Makes n texts of valid UTF-8 without NUL, most of them pieces of files."""
    files = []
    for tree in trees:
        for at, folders, names in os.walk(tree):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
            files += [os.path.join(at, name) for name in sorted(names)]
    rng.shuffle(files)
    made = []
    while len(made) < n and files:
        for path in files:
            if len(made) == n:
                break
            if os.path.islink(path) or not os.path.isfile(path) or not os.path.getsize(path):
                continue
            with open(path, "rb") as f:
                f.seek(rng.randrange(os.path.getsize(path)))
                text = (
                    f.read(rng.choice((1, 7, 40, 200, 2000)))
                    .decode("utf-8", "ignore")
                    .replace("\0", "")
                    .replace(BLANK, "")
                )
            if rng.random() < 0.1:
                parts = [text[i : i + 9] for i in range(0, len(text), 9)]
                text = "".join(p + rng.choice(ODD) * rng.randrange(1, 4) for p in parts[:40])
            if text:
                made.append(text)
    return made


def peer_ids(peer, vocab, text):
    raw = text.encode()
    room = (peer.llama_token * (len(raw) + 8))()
    n = peer.llama_tokenize(vocab, raw, len(raw), room, len(room), False, True)
    if n < 0:
        sys.exit(f"llama_tokenize wants {-n} places for {len(raw)} bytes")
    return list(room[:n])


def our_ids(path, text):
    out = subprocess.run(
        [MYTHOS, "tokenize", "-m", path, "--special", "--json", "-"],
        input=text.encode(),
        check=True,
        capture_output=True,
    ).stdout
    return json.loads(out)["ids"]


def main():
    model, trees = sys.argv[1], sys.argv[2:] or [ROOT]
    peer, rng, n_bad, n_token = open_peer(), random.Random(1), 0, 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("WORK")) as at:
        path = model
        if not model.endswith(".gguf"):
            path = os.path.join(at, "model.gguf")
            convert(model, "F16", path)
        loaded = load(peer, path, vocab_only=True)
        vocab = peer.llama_model_get_vocab(loaded)
        made = texts(trees, TEXTS, rng)
        for i, text in enumerate(made):
            theirs, ours = peer_ids(peer, vocab, text), our_ids(path, text)
            n_token += len(ours)
            if ours != theirs:
                n_bad += 1
                if n_bad <= 5:
                    print(f"text {i}: {text!r}\n  here  {ours}\n  there {theirs}", flush=True)
        print(f"{len(made)} texts, {n_token} tokens: {n_bad} differ")
        peer.llama_model_free(loaded)
    sys.exit(1 if n_bad or len(made) < TEXTS else 0)


main()
