"""The work of peer_logits.sh. Needs numpy."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from peer_llama import MYTHOS, PEER, ROOT, convert, load, open_peer

TEXT = os.environ.get("TEXT", os.path.join(ROOT, "README.md"))
TOKENS = int(os.environ.get("TOKENS", "32"))
BOUND = float(os.environ.get("BOUND", "2e-3"))
TYPES = ("Q8_0", "Q4_0", "Q4_K_M", "Q6_K")


def peer_logits(peer, path, ids):
    model = load(peer, path)
    params = peer.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = max(64, len(ids))
    params.n_threads = params.n_threads_batch = os.cpu_count()
    context = peer.llama_init_from_model(model, params)
    batch = peer.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, i, 1, 0, 1
    if peer.llama_decode(context, batch):
        sys.exit(f"{path}: llama_decode failed")
    n_vocab = peer.llama_vocab_n_tokens(peer.llama_model_get_vocab(model))
    rows = np.stack(
        [np.ctypeslib.as_array(peer.llama_get_logits_ith(context, i), (n_vocab,)).copy() for i in range(len(ids))]
    )
    peer.llama_batch_free(batch)
    peer.llama_free(context)
    peer.llama_model_free(model)
    return rows


def our_logits(path, ids, out, *flags):
    subprocess.run([MYTHOS, "logits", "-m", path, "--ids", ",".join(map(str, ids)), "-o", out, *flags], check=True)
    return np.load(out)


def tensor_types(path):
    rows = json.loads(
        subprocess.run([MYTHOS, "verify", "-m", path, "--json"], check=True, capture_output=True, text=True).stdout
    )["tensors"]
    return {r["name"]: r["type"] for r in rows}


def compare(label, ours, theirs):
    """Returns which rows agree, and prints the largest difference of a row as a share of its largest logit."""
    n = min(ours.shape[1], theirs.shape[1])
    ours, theirs = ours[:, :n], theirs[:, :n]
    largest = np.abs(theirs).max(1)
    apart = np.abs(ours - theirs).max(1) / largest
    a, b, i = ours.argmax(1), theirs.argmax(1), np.arange(len(ours))
    gap = (theirs[i, b] - theirs[i, a]) / largest
    good = (apart <= BOUND) | (gap <= BOUND)
    print(
        f"    {label:42} largest difference {apart.max():.2e}, mean {apart.mean():.2e}; "
        f"same choice {np.sum(a == b)}/{len(a)}, widest gap {gap.max():.1e}: "
        f"{good.sum()}/{len(good)} agree",
        flush=True,
    )
    return good


def main():
    model, kinds = sys.argv[1], sys.argv[2:] or TYPES
    peer, ok = open_peer(), True
    with tempfile.TemporaryDirectory(dir=os.environ.get("WORK")) as at:
        base, out = os.path.join(at, "f16.gguf"), os.path.join(at, "out.npy")
        convert(model, "F16", base)
        with open(TEXT, "rb") as f:
            text = f.read(16 * TOKENS)
        ids = json.loads(
            subprocess.run(
                [MYTHOS, "tokenize", "-m", base, "--json", "-"], input=text, check=True, capture_output=True
            ).stdout
        )
        ids = ([2] + [i for i in (ids["ids"] if isinstance(ids, dict) else ids) if i != 2])[:TOKENS]
        for kind in kinds:
            own, other = os.path.join(at, f"own-{kind}.gguf"), os.path.join(at, f"other-{kind}.gguf")
            convert(model, kind, own)
            subprocess.run(
                [os.path.join(PEER, "build-cpu/bin/llama-quantize"), base, other, kind], check=True, capture_output=True
            )
            same = tensor_types(own) == tensor_types(other)
            print(f"{kind}: tensor types {'equal' if same else 'DIFFER'}", flush=True)
            ok = ok and same
            for path, who in ((own, "mythos convert"), (other, "llama-quantize")):
                twin = os.path.join(at, "twin.gguf")
                convert(path, "F32", twin)
                theirs, exact, plain = (
                    peer_logits(peer, path, ids),
                    our_logits(path, ids, out),
                    peer_logits(peer, twin, ids),
                )
                print(f"  file of {who}")
                on_values = compare("llama.cpp on its values in f32", exact, plain)
                alone = compare("llama.cpp on the file: its own rounding", plain, theirs)
                on_file = compare("the file, exact here", exact, theirs)
                compare("the file, fast here", our_logits(path, ids, out, "--fast"), theirs)
                ok = ok and bool(on_values.all()) and bool((on_file | ~alone).all())
                os.remove(path), os.remove(twin)
    sys.exit(0 if ok else 1)


main()
