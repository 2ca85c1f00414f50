"""dev.py - answers held-out files with the model as it stands, under the same constraints as the grammar,
and scores them.

Each file is asked at the three places that decide: is there a (next) finding, on which line, of which rule; everything
between is written as the answer's form has it. That is greedy decoding under the grammar, but for a line number of
several tokens, which a file of at most 299 lines does not have. A later look with the command itself (evaluate.py) is
what counts.
"""

import json

import torch
from tokenizers import Tokenizer

import dataset
import score
import vocab

MAX_FINDINGS = 2


class Asker:
    def __init__(self, model, work):
        self.model, self.tok = model, Tokenizer.from_file(str(work / "model" / "tokenizer.json"))
        self.id = self.tok.get_vocab()
        self.rules = [r for r, _ in vocab.rule_ids()]
        self.rule_ids = torch.tensor([self.id[r] for r in self.rules])
        self.severity = dict(vocab.rule_ids())

    def plain(self, text):
        return self.tok.encode(text, add_special_tokens=False).ids

    @torch.no_grad()
    def rows(self, seqs, places, n_tok=8192):
        """Logits at the given places of each sequence: list of [n_places, vocab]."""
        out, order = [None] * len(seqs), sorted(range(len(seqs)), key=lambda i: len(seqs[i]))
        while order:
            n = -(-len(seqs[order[-1]]) // 64) * 64
            part = [order.pop() for _ in range(min(len(order), max(1, n_tok // n)))]
            ids = torch.zeros(len(part), n, dtype=torch.long)
            for r, i in enumerate(part):
                ids[r, : len(seqs[i])] = torch.tensor(seqs[i])
            with torch.autocast("cpu", torch.bfloat16):
                h, _ = self.model(ids)
                for r, i in enumerate(part):
                    out[i] = self.model.logits(h[r, places[i]])
        return out

    def answer(self, files):
        """[[(line, rule)]] per file."""
        found = [[] for _ in files]
        heads = [f["ids"] + [self.id[vocab.OPEN]] for f in files]
        live = list(range(len(files)))
        for k in range(MAX_FINDINGS):
            more, none = self.id[vocab.NEXT_FILE if k else vocab.FILE], self.id[vocab.CLOSE]
            seqs = [heads[i] + [more] + self.plain(files[i]["path"]) + [self.id[vocab.LINES]] for i in live]
            rows = self.rows(seqs, [[len(heads[i]) - 1, len(s) - 1] for i, s in zip(live, seqs)])
            lines, keep = [], []
            for i, s, r in zip(live, seqs, rows):
                if r[0, more] <= r[0, none]:
                    continue
                code = files[i]["code"].splitlines()
                numbers = [n for n in range(1, len(code) + 1) if code[n - 1].strip()]
                n = numbers[int(r[1, torch.tensor([self.plain(str(n))[0] for n in numbers])].argmax())]
                evidence = json.dumps(dataset.evidence_of(code[n - 1]), ensure_ascii=False)[1:-1]
                number = self.plain(str(n))
                s += (
                    number
                    + self.plain(",")
                    + number
                    + [self.id[vocab.EVIDENCE]]
                    + self.plain(evidence)
                    + [self.id[vocab.RULE]]
                )
                lines.append((n, s))
                keep.append(i)
            if not keep:
                break
            rows = self.rows([s for _, s in lines], [[len(s) - 1] for _, s in lines])
            for i, (n, s), r in zip(keep, lines, rows):
                rule = self.rules[int(r[0, self.rule_ids].argmax())]
                found[i].append((n, rule))
                heads[i] = s + [
                    self.id[x] for x in (rule, vocab.TEXTS, self.severity[rule], vocab.STATUS, "likely", vocab.END)
                ]
            live = keep
        return found


def look(model, work, name="dev", share=2):
    """Score of one in `share` files of the split, of which every rule has its part."""
    files = [json.loads(line) for line in (work / "data" / f"{name}.jsonl").read_text().splitlines()][::share]
    model.eval()
    found = Asker(model, work).answer(files)
    model.train()
    return score.summary(files, found)
