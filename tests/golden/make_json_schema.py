#!/usr/bin/env python3
"""Writes json_schema.jsonl: schemas with not, if, allOf, anyOf, oneOf, bounds and uniqueItems, drawn at random, and for each
values as compact JSON with what the package jsonschema (draft 2020-12) says of them.

    make_json_schema.py [SEED [N]] > json_schema.jsonl

Needs Python with `jsonschema`.

A line: {"schema": {...}, "yes": [texts], "no": [texts]}. Objects have the listed properties alone, in their order, and
every schema says what type its values have: what a grammar of the schema must then hold is "yes", and nothing of "no".
"""
import json
import random
import sys

import jsonschema

KEYS = ["a", "b", "c"]
WORDS = ["", "x", "xy", "no", "yes"]
NUMBERS = [-3, -1, 0, 1, 2, 5, 10, 0.5, -2.5, 9.75, 1.25]


def scalar(rng):
    return rng.choice([rng.choice(WORDS), rng.choice([-1, 0, 1, 2, 3, 5]), True, False, None])


def base(rng, depth):
    """A schema that names its type."""
    kind = rng.choice(["string", "integer", "number", "enum", "types", "array", "object", "object", "unique"])
    if depth == 0 and kind in ("array", "object"):
        kind = "enum"
    if kind == "enum":
        return {"enum": rng.sample([*WORDS, 0, 1, 2, True, False, None], rng.randint(2, 5))}
    if kind == "types":
        return {"type": rng.sample(["string", "integer", "boolean", "null"], rng.randint(1, 3))}
    if kind == "string":
        return {"type": kind, **({"minLength": rng.randint(0, 2)} if rng.random() < 0.5 else {}),
                **({"maxLength": rng.randint(1, 3)} if rng.random() < 0.5 else {})}
    if kind in ("integer", "number"):
        bounds = {}
        for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
            if rng.random() < 0.3:
                bounds[key] = rng.choice(NUMBERS)
        return {"type": kind, **bounds}
    if kind == "unique":
        return {"type": "array", "items": {"enum": rng.sample(["x", "y", 1, 2, None], rng.randint(1, 4))},
                "uniqueItems": True, **({"minItems": 1} if rng.random() < 0.4 else {}),
                **({"maxItems": 2} if rng.random() < 0.3 else {})}
    if kind == "array":
        return {"type": kind, "items": schema(rng, depth - 1), "maxItems": 2}
    names = KEYS[: rng.randint(1, 3)]
    return {"type": "object", "properties": {k: schema(rng, depth - 1) for k in names},
            **({"required": rng.sample(names, rng.randint(1, len(names)))} if rng.random() < 0.6 else {}),
            **({"additionalProperties": False} if rng.random() < 0.3 else {})}


def condition(rng, names, depth):
    """A schema as stands in not and if: of the properties, where there are some."""
    kind = rng.choice(["properties", "properties", "required", "any"] if names else ["type", "values", "bound", "any"])
    if kind == "any" and depth:
        key = rng.choice(["anyOf", "allOf"])
        return {key: [condition(rng, names, depth - 1) for _ in range(2)]}
    if kind == "properties":
        some = rng.sample(names, rng.randint(1, min(2, len(names))))
        return {"properties": {k: rng.choice([{"const": scalar(rng)}, {"enum": [scalar(rng), scalar(rng)]},
                                              {"type": rng.choice(["string", "integer", "null"])}]) for k in some},
                **({"required": some} if rng.random() < 0.5 else {})}
    if kind == "required" or names:
        return {"required": rng.sample(names, rng.randint(1, len(names)))}
    if kind == "type":
        return {"type": rng.choice(["string", "integer", "boolean", "null", "number", ["string", "null"]])}
    if kind == "bound":
        return {rng.choice(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]): rng.choice(NUMBERS)}
    return rng.choice([{"const": scalar(rng)}, {"enum": [scalar(rng), scalar(rng)]}, {"minLength": rng.randint(1, 2)}])


def schema(rng, depth):
    s = base(rng, depth)
    names = list(s.get("properties", {}))
    roll = rng.random()
    if "uniqueItems" in s or s.get("type") == "array":
        return s
    if roll < 0.25:
        s["not"] = condition(rng, names, 1)
    elif roll < 0.5:
        s["if"] = condition(rng, names, 1)
        for key in ("then", "else"):
            if rng.random() < 0.8:
                s[key] = condition(rng, names, 0)
    elif roll < 0.6:
        s = {"allOf": [s, {"not": condition(rng, names, 0)}]}
    elif roll < 0.7:
        s["anyOf"] = [condition(rng, names, 0), condition(rng, names, 0)]
    elif roll < 0.8:
        s["oneOf"] = [condition(rng, names, 0) for _ in range(rng.randint(2, 3))]
    elif roll < 0.9 and names:
        s["allOf"] = [{"if": {"properties": {names[0]: {"const": v}}}, "then": {"required": [rng.choice(names)]}}
                      for v in (scalar(rng), scalar(rng))]
    return s


def parts(s):
    """The properties and items of a schema, wherever it says them first."""
    if "allOf" in s and "type" not in s:
        s = s["allOf"][0]
    return s


def value(rng, s, depth=0):
    s = parts(s)
    if "properties" in s:
        return {k: value(rng, v, depth + 1) for k, v in s["properties"].items() if rng.random() < 0.75}
    if s.get("type") == "array":
        return [value(rng, s["items"], depth + 1) for _ in range(rng.randint(0, 3))]
    if "enum" in s and rng.random() < 0.8:
        return rng.choice(s["enum"])
    kinds = s.get("type", "string")
    kind = rng.choice(kinds) if isinstance(kinds, list) else kinds
    if rng.random() < 0.15:
        return scalar(rng)
    if kind == "string":
        return rng.choice([*WORDS, "xyz", "xx", "nos"])
    if kind == "integer":
        return rng.choice([-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 100])
    if kind == "number":
        return rng.choice([*NUMBERS, 0.25, 0.75, 10.5, 9.5, -2.75, 0.49, 0.51, 100, 4.999])
    return rng.choice([True, False]) if kind == "boolean" else None


def main():
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    left = int(sys.argv[2]) if len(sys.argv) > 2 else 240
    while left:
        s = schema(rng, 2)
        if '"oneOf"' in (text := json.dumps(s)) and '"number"' in text:
            continue  # what is not one of two numbers has no grammar
        check = jsonschema.Draft202012Validator(s)
        said = {True: {}, False: {}}
        for _ in range(60):
            v = value(rng, s)
            group = said[check.is_valid(v)]
            if len(group) < 8:
                group[json.dumps(v, separators=(",", ":"))] = None
        left -= bool(said[True])
        if said[True]:
            print(json.dumps({"schema": s, "yes": list(said[True]), "no": list(said[False])}, separators=(",", ":")))


main()
