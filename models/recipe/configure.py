#!/usr/bin/env python3
"""configure.py - the model's shape -> WORK/model/config.json: `mythos prompt` needs it beside the vocabulary,
before there are weights."""

import argparse
import json
import pathlib

import fetch
import model


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=fetch.HERE.parents[1] / "build-model")
    out = args.parse_args().work / "model"
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.json").write_text(json.dumps(model.Config().to_hf(), indent=1))


if __name__ == "__main__":
    main()
