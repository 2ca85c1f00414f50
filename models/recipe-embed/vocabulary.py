"""vocabulary.py - the pieces of WORK/model/tokenizer.json by id."""

import json


def texts(work):
    known = json.loads((work / "model" / "tokenizer.json").read_text())["model"]["vocab"]
    return [p for p, _ in sorted(known.items(), key=lambda kv: kv[1])]
