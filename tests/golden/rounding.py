#!/usr/bin/env python3
"""How far residuals of the golden models are from those without rounding: ours (--exact), and transformers' in float32.

    rounding.py MYTHOS [MODEL...]

Needs Python with `torch`, `transformers` and `numpy`. Prints a row a model, each figure the largest difference of any
value of any residual, as a part of the largest value: ours to transformers, ours to float64, transformers to float64.
Then the same of means over 400 random prompts, ours to transformers, which is what `mythos residuals` writes; --rows
leaves that out, because it takes minutes.

float64 is transformers with every cast to float32 taken for one to float64.
"""

import json, pathlib, struct, subprocess, sys, tempfile
import numpy, torch
from safetensors.numpy import load_file
import make_models as golden

N_PROMPT = 400


def read_golden(path):
    data = (path / "golden.bin").read_bytes()
    _, n, n_layer, d, n_vocab = struct.unpack("<5I", data[:20])
    ids = list(struct.unpack(f"<{n}i", data[20 : 20 + 4 * n]))
    values = numpy.frombuffer(data[20 + 4 * n :], "<f4")
    return ids, values[n * n_vocab :].reshape(n_layer + 1, n, d)


class Wide:
    """Within it, torch's float32 is float64."""

    def __enter__(self):
        self.kept = torch.Tensor.float, torch.Tensor.to, torch.nn.functional.softmax
        _, to, softmax = self.kept

        def wide_to(tensor, *args, **kw):
            args = [torch.float64 if a is torch.float32 else a for a in args]
            if kw.get("dtype") is torch.float32:
                kw["dtype"] = torch.float64
            return to(tensor, *args, **kw)

        torch.Tensor.float = torch.Tensor.double
        torch.Tensor.to = wide_to
        torch.nn.functional.softmax = lambda x, dim=None, _stacklevel=3, dtype=None: softmax(
            x, dim=dim, dtype=torch.float64
        )
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_):
        torch.Tensor.float, torch.Tensor.to, torch.nn.functional.softmax = self.kept
        torch.set_default_dtype(torch.float32)


def run_wide(path, spec, ids):
    model = golden.load_again(path, spec).double()
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")  # the grouped product takes no float64
    kept, text = [], golden.text_part(model)
    own = getattr(text.config, "altup_active_idx", 0)

    def keep(x, i):
        kept.append((x[i] if x.dim() == 4 else x).detach().clone())

    def first(_, args, kw):
        keep(args[0] if args else kw["hidden_states"], 0)

    def behind(_, args, out):
        keep(out[0] if isinstance(out, tuple) else out, own)

    with Wide(), torch.no_grad():
        for module in model.modules():  # their frequencies were computed in float32
            if "RotaryEmbedding" in type(module).__name__:
                module.__init__(module.config)
        text.layers[0].register_forward_pre_hook(first, with_kwargs=True)
        for layer in text.layers:
            layer.register_forward_hook(behind)
        model(input_ids=torch.tensor([ids]), use_cache=False)
    return torch.stack([k.reshape(len(ids), -1) for k in kept]).numpy()


def run_ours(mythos, path, prompts, folder, *flags):
    (folder / "prompts").write_text("".join(json.dumps({"ids": ids, "label": "all"}) + "\n" for ids in prompts))
    words = [mythos, "residuals", "-m", path, folder / "prompts", "-o", folder / "out.safetensors", "--exact", "-q"]
    subprocess.run([str(w) for w in words + ["--resume", "off", *flags]], check=True, stdout=subprocess.DEVNULL)


def rows_of(mythos, path, ids):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_ours(mythos, path, [ids], folder, "--position", "every", "--rows", folder / "rows")
        return numpy.stack([numpy.load(f) for f in sorted((folder / "rows").glob("layer-*.npy"))])


def means_apart(mythos, path, spec):
    draw = numpy.random.default_rng(7)
    most = spec["kw"]["vocab_size"] - 4
    prompts = [[2] + draw.integers(3, most, draw.integers(8, 40)).tolist() for _ in range(N_PROMPT)]
    model = golden.load_again(path, spec)
    want = numpy.mean([golden.run(model, ids)[1][:, -1].double().numpy() for ids in prompts], axis=0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_ours(mythos, path, prompts, folder)
        got = load_file(folder / "out.safetensors")["mean.all"]
    return abs(got - want).max() / abs(want).max()


def main():
    flags = [a for a in sys.argv[1:] if a.startswith("--")]
    mythos, *names = [a for a in sys.argv[1:] if not a.startswith("--")]
    torch.set_num_threads(1)
    worst = [0.0] * 4
    for name, spec in golden.MODELS.items():
        if names and name not in names:
            continue
        path = golden.OUT / name
        ids, theirs = read_golden(path)
        truth, ours = run_wide(path, spec, ids), rows_of(mythos, path, ids)
        largest = abs(truth).max()
        row = [abs(a.astype("f8") - b).max() / largest for a, b in ((ours, theirs), (ours, truth), (theirs, truth))]
        row += [] if "--rows" in flags else [means_apart(mythos, path, spec)]
        worst = [max(a, b) for a, b in zip(worst, row + [0.0])]
        print(f"{name:20s}", "  ".join(f"{v:.1e}" for v in row), flush=True)
    print(f"{'worst':20s}", "  ".join(f"{v:.1e}" for v in worst))


if __name__ == "__main__":
    main()
