#!/usr/bin/env python3
"""Make the chat goldens: conversations rendered by the published templates and tokenized by the `tokenizers` library.

    make_chat.py --e FILE --big FILE --gemma3 FILE --gemma2 FILE

Needs Python with `transformers` and `tokenizers`. --e and --big: the chat templates of Gemma 4 E2B or E4B and of a larger Gemma 4, as text;
--gemma3 and --gemma2: those of these families, as text or inside a tokenizer_config.json.

Written:
    tokenizer/small_four.json   a small tokenizer.json in Gemma 4's layout: 24 special tokens added, runs and tags ordinary pieces
    tokenizer/small_four.golden.json    [[text, ids], ...] of the texts that make_tokenizer_texts.py makes
    ../fuzz/corpus/conversation/seed-*  conversations to start fuzzing from
    chat/folded.json, chat/turns.json, chat/shut.json   one list a form: {"messages", "tools", "think", "keep", "text", "ids"}
"""

import argparse, json, os
from tokenizers import Tokenizer
from transformers.utils.chat_template_utils import _compile_jinja_template as compile_template
import make_tokenizer_texts as small

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = small.MARK
RUNS = range(1, 9)
SPECIAL = [
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    "<mask>",
    "<|tool>",
    "<tool|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<tool_response|>",
    '<|"|>',
    "<|think|>",
    "<|channel>",
    "<channel|>",
    "<|turn>",
    "<turn|>",
    "<|image>",
    "<|audio>",
    "<|image|>",
    "<|audio|>",
    "<image|>",
    "<audio|>",
    "<|video|>",
]


# ---- the small tokenizer ----


def small_four():
    words = [
        "user",
        "model",
        "system",
        "tool",
        "thought",
        "declaration",
        "description",
        "properties",
        "required",
        "STRING",
        "OBJECT",
    ]
    tags = ["<table>", "</table>", "<b>", "</b>", "</s>"]
    pieces = SPECIAL[:5] + ["[multimodal]"] + [f"<unused{i}>" for i in range(5)] + SPECIAL[5:17]
    pieces += ["\n" * k for k in RUNS] + [MARK * k for k in RUNS[1:]] + tags + [f"<0x{b:02X}>" for b in range(256)]
    learned = small.learn(120)
    for w in words:  # built up from the left
        learned += [w[:k] for k in range(2, len(w) + 1)]
    pieces += (
        [x for x in dict.fromkeys(learned) if x not in pieces] + ["\t" * k for k in RUNS] + SPECIAL[17:] + ["<unused5>"]
    )
    ids = {p: i for i, p in enumerate(pieces)}
    run = [p for p in pieces if not p.strip("\n\t" + MARK) and len(p) > 1]
    rest = [p for p in pieces[ids["<0xFF>"] + 1 :] if p not in run and p not in SPECIAL and not p.startswith("<unused")]
    splits = lambda p: [(p[:k], p[k:]) for k in range(1, len(p)) if p[:k] in ids and p[k:] in ids]
    merges = sorted((m for p in run for m in splits(p)), key=lambda m: (-len(m[0]), -len(m[1])))
    merges += [m for p in rest for m in reversed(splits(p))]
    doc = small.small_json(False)
    doc["added_tokens"] = [dict(doc["added_tokens"][0], id=ids[p], content=p, special=True) for p in SPECIAL]
    doc["model"]["vocab"] = ids
    doc["model"]["merges"] = [list(m) for m in merges]
    return doc, pieces


# ---- conversations ----


def user(text):
    return {"role": "user", "content": text}


def says(text, **more):
    return {"role": "assistant", "content": text, **more}


def system(text):
    return {"role": "system", "content": text}


def result(text, **more):
    return {"role": "tool", "content": text, **more}


def call(name, arguments, **more):
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


def tool(name, description, **more):
    return {"type": "function", "function": {"name": name, "description": description, **more}}


WEATHER = tool(
    "get_weather",
    "Get weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "description": "City"}},
        "required": ["city"],
    },
)
MANY = [
    WEATHER,
    tool("now", "What time it is"),
    tool(
        "Search",
        "Search \u00e9\nfiles ",
        parameters={
            "type": "object",
            "properties": {
                "Query": {"type": "string", "description": "words"},
                "a": {"type": "integer"},
                "B": {"type": "number", "nullable": True},
                "order": {"type": "string", "enum": ["new", "old"], "description": "by age"},
                "kind": {"type": "string", "enum": [1, None, True, {"b": 1, "A": "x"}]},
                "list": {
                    "type": "array",
                    "description": "many",
                    "items": {"type": "string", "minLength": 2, "default": None, "enum": ["p", "q"]},
                },
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"x": {"type": "number"}, "type": {"type": "string"}},
                        "required": ["x", "type"],
                    },
                },
                "any": {"type": "array", "items": {"type": ["string", "null"]}},
                "bare": {"type": "array"},
                "where": {
                    "type": "object",
                    "description": "place",
                    "properties": {"lat": {"type": "number"}, "Lon": {"type": "number"}},
                    "required": ["lat", "Lon"],
                },
                "free": {"type": "object", "extra": {"type": "string"}, "nullable": True},
                "empty": {"type": "object", "properties": {}},
                "untyped": {},
            },
            "required": ["Query", "a"],
        },
        response={"description": "the hits", "type": "object"},
    ),
    tool("plain", "", parameters={"type": "object", "properties": {}}, response={"type": "string"}),
]
ARGS = {
    "b": 1,
    "A": "x y",
    "c": [1, 2.5, "s", None, True, False],
    "d": {"z": 1, "Y": {"w": []}},
    "e": {},
    "f": -0.0,
    "g": 1e15,
    "h": 1e16,
    "i": 1e-5,
    "j": 0.0001,
    "k": 123456789012345678901234567890,
    "l": 100.0,
    "m": 3.14159,
    "n": 1.7976931348623157e308,
    "o": -7,
    "p": 12345.678e3,
    "q": "\u00e9\n\"quoted\"",
}

PLAIN = [
    [user("Hi")],
    [user("Hi"), says("Hello!"), user("Bye")],
    [system("You are terse."), user("Hi")],
    [system("You are terse."), user("Hi"), says("Hello!"), user("Bye")],
    [system("\n terse \n"), user(" \t\r\nHi you\u00a0\u3000\u2003\n\x1f ")],
    [system(""), user("  ")],
    [user("")],
    [user("\u200bHi\n\n\nthere  x\t\ty <table> 10 + 2\n")],
    [user("int main(void)\n{\n\treturn 12;\n}\n"), says("  It returns 12.\n"), user("\u65e5\u672c")],
]
OPEN = [
    [{"role": "developer", "content": " be kind "}, user("Hi")],
    [system("a"), system("b"), user("Hi"), {"role": "developer", "content": "c"}, user("more")],
    [system("alone")],
    [says("I begin."), user("Hi"), user("again")],
    [user("Hi"), says("one "), says(" two"), says(""), user("Bye")],
    [user("Hi"), says("<|channel>thought\nhm\n<channel|> Hello <|channel>x<channel|> you "), user("Bye")],
    [user("Hi"), says("a<channel|>b<|channel>c<|channel>d"), user("Bye")],
    [
        user("Hi"),
        says("Hello", reasoning_content="old thought"),
        user("Bye"),
        says("well", reasoning_content="new thought"),
    ],
    [user("Hi"), says("Hello", reasoning="kept?", tool_calls=[call("f", {})]), user("Bye")],
]
TOOLS = [
    ([user("Hi")], [WEATHER]),
    ([system(" You are terse. "), user("Hi")], MANY),
    ([user("Hi"), says("", tool_calls=[call("get_weather", {"city": "Paris"})]), result("sunny")], [WEATHER]),
    ([user("Hi"), says("", tool_calls=[call("f", ARGS)])], None),
    ([user("Hi"), says("Let me see", tool_calls=[call("f", {}), call("g", {"x": "y"})])], None),
    (
        [
            user("Hi"),
            says("", tool_calls=[call("f", {"n": 1}, id="1"), call("g", {}, id="2")]),
            result("two", tool_call_id="2"),
            result("one", tool_call_id="1"),
            result("who", tool_call_id="3"),
            result("named", tool_call_id="4", name="h"),
        ],
        None,
    ),
    (
        [
            user("Hi"),
            says("", tool_calls=[call("f", {}, id="1")]),
            result(" r ", tool_call_id="1"),
            says("It is r."),
            user("Bye"),
        ],
        None,
    ),
    ([user("Hi"), says("said", tool_calls=[call("f", {}, id="1")]), result("r", tool_call_id="1"), user("Bye")], None),
    ([user("Hi"), says("said", tool_calls=[call("f", {}, id="1")]), result("r", tool_call_id="1")], None),
    (
        [
            user("Hi"),
            says("", tool_calls=[call("f", {}, id="1")], reasoning_content="first f"),
            result("r", tool_call_id="1"),
            says("", tool_calls=[call("g", {}, id="2")], reasoning_content="now g"),
            result("s", tool_call_id="2"),
            says("done"),
        ],
        MANY[1:2],
    ),
    ([user("Hi"), says("", tool_calls=[call("f", None)]), user("Bye")], None),
    ([user("Hi"), result("nobody asked"), user("Bye")], None),
]


def load_template(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return compile_template(json.loads(text)["chat_template"] if path.endswith(".json") else text)


def rows_of(template, tokenizer, talks):
    rows = []
    for messages, tools, think, keep in talks:
        text = template.render(
            messages=messages,
            tools=tools,
            enable_thinking=think,
            preserve_thinking=keep,
            add_generation_prompt=True,
            bos_token="<bos>",
            eos_token="<eos>",
        )
        row = dict(messages=messages)
        row.update({k: v for k, v in (("tools", tools), ("think", think), ("keep", keep)) if v})
        rows.append(dict(row, text=text, ids=tokenizer.encode(text, add_special_tokens=False).ids))
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("e", "big", "gemma3", "gemma2"):
        ap.add_argument("--" + name, required=True)
    o = ap.parse_args()
    doc, pieces = small_four()
    small.write("small_four.json", json.dumps(doc, ensure_ascii=False, separators=(",", ":")).encode())
    four = Tokenizer.from_str(json.dumps(doc))
    texts = small.FRAGMENTS + [small.text_of(i, pieces) for i in range(100)]
    small.write_json("small_four.golden.json", [[t, four.encode(t, add_special_tokens=False).ids] for t in texts])

    with open(os.path.join(HERE, "tokenizer", "small_new.json"), encoding="utf-8") as f:
        new = Tokenizer.from_str(f.read())
    folded = [(m, None, False, False) for m in PLAIN]
    turns = folded + [(m, None, False, False) for m in OPEN] + [(m, t, False, False) for m, t in TOOLS]
    turns += [(m, None, True, False) for m in PLAIN[:4] + OPEN] + [(m, t, True, False) for m, t in TOOLS]
    turns += [(m, None, False, True) for m in OPEN[-1:]] + [(m, t, True, True) for m, t in TOOLS[9:10]]
    three = rows_of(load_template(o.gemma3), new, folded)
    no_system = [t for t in folded if t[0][0]["role"] != "system"]
    assert [r for r in three if r["messages"][0]["role"] != "system"] == rows_of(
        load_template(o.gemma2), new, no_system
    )
    for name, rows in (
        ("folded", three),
        ("turns", rows_of(load_template(o.e), four, turns)),
        ("shut", rows_of(load_template(o.big), four, turns)),
    ):
        small.write_json(os.path.join("..", "chat", name + ".json"), rows)
    os.makedirs(os.path.join(HERE, "..", "fuzz", "corpus", "conversation"), exist_ok=True)
    for i, (messages, tools) in enumerate(
        [(PLAIN[3], None), (OPEN[5], None), (TOOLS[3][0], None), *TOOLS[1:3], TOOLS[9]]
    ):
        seed = dict(messages=messages, tools=tools) if tools else messages
        small.write(
            os.path.join("..", "..", "fuzz", "corpus", "conversation", f"seed-{i}"),
            json.dumps(seed, ensure_ascii=False).encode(),
        )


if __name__ == "__main__":
    main()
