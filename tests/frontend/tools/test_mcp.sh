#!/bin/sh
# The command mcp as a client of the protocol sees it: versions, the list, calls, ids of all kinds, codes of errors,
# batches, notifications. Whatever is sent, the process answers the next ping.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache"
mkdir "$dir/src"
printf 'int add(int a, int b)\n{\n    return a + b;\n}\n' >"$dir/src/a.c"
python3 - "$MYTHOS_BIN" "$dir/src" <<'END'
import json, os, random, shutil, signal, subprocess, sys

bin, root = sys.argv[1:]
NEWEST = "2025-11-25"


class Client:
    def __init__(self, version=None):
        self.p = subprocess.Popen([bin, "mcp", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.n = 0
        if version:
            r = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                        "clientInfo": {"name": "test", "version": "1"}})
            self.version = r["result"]["protocolVersion"]
            self.raw(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def answer(self):
        line = self.p.stdout.readline()
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def send(self, text):
        """One line, one answer."""
        self.raw(text.encode() + b"\n" if isinstance(text, str) else text + b"\n")
        return self.answer()

    def ask(self, method, params=None, id=None):
        self.n += 1
        id = self.n if id is None else id
        m = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            m["params"] = params
        r = self.send(json.dumps(m))
        assert r["jsonrpc"] == "2.0" and r["id"] == id and type(r["id"]) is type(id), r
        assert ("result" in r) != ("error" in r), r
        return r

    def call(self, tool, **arguments):
        r = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert [c["type"] for c in r["content"]] == ["text"], r
        is_structured = self.version >= "2025-06-18" and not r["isError"]
        assert is_structured == ("structuredContent" in r), r
        assert not is_structured or r["structuredContent"] == json.loads(r["content"][0]["text"]), r
        return r["isError"], r["content"][0]["text"]

    def lives(self):
        """Nothing is left over from what was sent before: the next answer is that of this ping."""
        assert self.ask("ping")["result"] == {}

    def close(self):
        self.p.stdin.close()
        rest, err = self.p.stdout.read(), self.p.stderr.read()
        assert self.p.wait(20) == 0 and rest == b"", (self.p.returncode, rest, err)


# ---- versions ----
for asked, got in [(v, v) for v in (NEWEST, "2025-06-18", "2025-03-26", "2024-11-05")] + [("1999-01-01", NEWEST),
                                                                                     ("2099-01-01", NEWEST)]:
    c = Client(asked)
    assert c.version == got, (asked, c.version)
    assert c.ask("initialize", {"protocolVersion": asked})["error"]["code"] == -32600
    c.close()

c = Client()
assert c.ask("tools/list")["error"]["code"] == -32600
c.lives()
for params in ({}, {"protocolVersion": 3}, {"protocolVersion": None}):
    assert c.ask("initialize", params)["error"]["code"] == -32602, params
r = c.ask("initialize", {"protocolVersion": NEWEST})["result"]
assert r["capabilities"] == {"tools": {"listChanged": False}} and r["serverInfo"]["name"] == "mythos", r
c.close()

# ---- the list and the calls: the same as the command tool ----
c = Client(NEWEST)
tools = c.ask("tools/list")["result"]["tools"]
assert tools == json.loads(subprocess.run([bin, "tool", "--json"], capture_output=True, check=True).stdout)
assert c.ask("tools/list", {"cursor": "x"})["error"]["code"] == -32602
schemas = {t["name"]: t["outputSchema"] for t in tools}


def fits(value, schema):
    """Whether a value is of a schema of types, properties and items, which is all that the tools use."""
    kind = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}[schema["type"]]
    assert set(schema) <= {"type", "properties", "required", "items"}, schema
    return (type(value) is kind and all(k in value for k in schema.get("required", []))
            and all(fits(value[k], s) for k, s in schema.get("properties", {}).items() if k in value)
            and (kind is not list or all(fits(v, schema["items"]) for v in value)))


for name, arguments in (("search_text", {"pattern": "add"}), ("find_symbol", {"name": "add"}),
                        ("open_file", {"path": "a.c"}), ("search", {"query": "add numbers"}),
                        ("references", {"name": "add"}), ("repo_map", {"max_bytes": 2000}),
                        ("inspect", {"paths": ["a.c"]})):
    is_error, text = c.call(name, **arguments)
    alone = subprocess.run([bin, "tool", name, root, "--args", json.dumps(arguments)], capture_output=True)
    assert not is_error and text == alone.stdout.decode().rstrip("\n"), (name, text, alone)

    assert fits(json.loads(text), schemas[name]), (name, text)
old = Client("2025-03-26")
assert old.call("find_symbol", name="add") == c.call("find_symbol", name="add")
assert [{k: v for k, v in t.items() if k != "outputSchema"} for t in tools] == old.ask("tools/list")["result"]["tools"]
old.close()

# One process sees a change of the directory.
with open(root + "/b.c", "w") as f:
    f.write("int later(void) { return add(1, 2); }\n")
assert "b.c" in c.call("find_symbol", name="later")[1]
assert '"b.c"' in c.call("references", name="add")[1]
os.remove(root + "/b.c")
assert json.loads(c.call("find_symbol", name="later")[1])["definitions"] == []

# The cache may be deleted while the index is open.
shutil.rmtree(os.environ["XDG_CACHE_HOME"])
assert "a.c" in c.call("find_symbol", name="add")[1]

# What a tool refuses is for the model to read.
for name, arguments, said in (("open_file", {"path": "../x"}, "'..' may be outside"),
                              ("open_file", {"path": "none.c"}, "no such file"),
                              ("open_file", {}, "path is missing"),
                              ("search_text", {"pattern": 1}, "expected a string"),
                              ("search_text", {"pattern": "a", "max_bytes": 10**15}, "from 1024 to"),
                              ("search_text", {"pattern": "(", "regex": True}, "parenthesis"),
                              ("find_symbol", {"nam": "add"}, "did you mean name?")):
    is_error, text = c.call(name, **arguments)
    assert is_error and said in text, (name, arguments, text)
c.lives()

# ---- 2026-07-28: no session, each request has its version ----
VERSION, CAPABILITIES = (f"io.modelcontextprotocol/{k}" for k in ("protocolVersion", "clientCapabilities"))
META = {VERSION: "2026-07-28", CAPABILITIES: {}}

def modern(method, meta=META, **params):
    return c.ask(method, {**params, "_meta": meta})

session, c = c, Client()
r = modern("server/discover")["result"]
assert r["supportedVersions"] == ["2026-07-28", NEWEST, "2025-06-18", "2025-03-26", "2024-11-05"], r
for r in (r, modern("tools/list")["result"]):
    assert r["resultType"] == "complete" and r["cacheScope"] == "private" and r["ttlMs"] > 0, r
    assert r["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mythos", r
assert r["tools"] == tools
r = modern("tools/call", name="open_file", arguments={"path": "a.c"})["result"]
assert r["resultType"] == "complete" and not r["isError"], r
assert r["structuredContent"]["path"] == "a.c" and r["structuredContent"] == json.loads(r["content"][0]["text"]), r
for method in ("ping", "nothing", "logging/setLevel"):
    assert modern(method)["error"]["code"] == -32601, method
for version in ("2026-07-27", NEWEST, ""):
    r = modern("tools/list", {**META, VERSION: version})["error"]
    assert r["code"] == -32022 and r["data"]["requested"] == version and "2026-07-28" in r["data"]["supported"], r
for meta in ({VERSION: 3}, {VERSION: None, CAPABILITIES: {}}, {VERSION: "2026-07-28"}, {**META, CAPABILITIES: []}):
    assert modern("tools/list", meta)["error"]["code"] == -32602, meta
assert c.ask("server/discover")["error"]["code"] == -32601
assert c.ask("tools/list")["error"]["code"] == -32600  # still no session
c.lives()
c.close()
c = session

# ---- errors of the protocol ----
def refused(text, code, id=None):
    r = c.send(text)
    assert r["error"]["code"] == code and r["id"] == id and r["jsonrpc"] == "2.0", (text[:100], r)
    assert "result" not in r and isinstance(r["error"]["message"], str)
    c.lives()

def message(**fields):
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping", **fields})

for bad in ("{", "}", "nonsense", '{"jsonrpc":"2.0","id":1,"method":"ping"', '{"id":1,"a":', "\x00", "[[[[" * 5000,
            '"' + "a" * 100000, b"\xff\xfe{}", b'{"jsonrpc":"2.0","id":"\xc3","method":"ping"}', '{"id":1}{"id":2}',
            '{"params":{"id":1},"x":1e999}', '{"id":1.5,"x":1e999}', '{"id":01,"x":1e999}',
            '{"id":"\\ud800","x":1e999}'):
    refused(bad, -32700)
# JSON that is refused for its values: a client that asked is told so, and does not wait for its answer
for bad in ('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":1e999}}',
            '{"jsonrpc":"2.0","params":{"a\\u0000":["id",{"id":1}],"id":2},"id" : 7,"method":"ping"}',
            '{"jsonrpc":"2.0","method":"id","a\\"id\\":":99999999999999999999,"id":7}',
            '{"jsonrpc":"2.0","id":7,"method":"ping","params":' + "[" * 5000 + "]" * 5000 + "}"):
    refused(bad, -32602, 7)
refused('{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}', -32602, 99999999999999999999999)
refused('{"jsonrpc":"2.0","id":"\\u0000\\"","method":"ping","params":{"x":1e999}}', -32602, "\0\"")
for bad in ("1", "null", '"text"', "{}", "[]", "[1]", "true"):
    refused(bad, -32600)
for id in (None, True, 1.5, [], {}, [1]):
    refused(message(id=id), -32600)
refused(json.dumps({"jsonrpc": "1.0", "id": 7, "method": "ping"}), -32600, 7)
refused(json.dumps({"id": 7, "method": "ping"}), -32600, 7)
refused(message(jsonrpc=2), -32600, 7)
refused(message(method=3), -32600, 7)
refused(json.dumps({"jsonrpc": "2.0", "id": 7}), -32600, 7)
for method in ("", "nothing", "resources/list", "prompts/list", "tools/call/", "ping\u202e", "x" * 5000):
    refused(message(method=method), -32601, 7)
for method in ("ping", "tools/list", "tools/call"):
    for params in ([], [1], "x", 3, None):
        refused(message(method=method, params=params), -32602, 7)
for params in ({}, {"name": 3}, {"name": "none"}, {"name": "open_fil"}, {"name": "open_file", "arguments": []},
               {"name": "open_file", "arguments": "x"}, {"name": "open_file", "arguments": None}):
    refused(message(method="tools/call", params=params), -32602, 7)

# ---- JSON that is unusual ----
c.raw(b"  \n\t \r\n")
c.raw(b"\xef\xbb\xbf" + message().encode() + b" \n")
assert c.answer()["result"] == {}
assert c.send('{"jsonrpc":"2.0","id":7,"id":8,"method":"nothing","method":"ping"}') == {"jsonrpc": "2.0", "id": 8,
                                                                                       "result": {}}
refused(message(method="ping\0"), -32600, 7)
refused(message(method="tools/call", params={"name": "open_file\0"}), -32602, 7)
is_error, text = c.call("search_text", pattern="a\0b")
assert is_error and "pattern: the text has a zero byte" in text, text

# ---- ids ----
for id in (0, -1, 2**63 - 1, -2**63, "", "a", "a\0b", "é\n\"\\", "\u202e", "x" * 100000):
    c.ask("ping", id=id)

# ---- no answer ----
for quiet in ('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
              '{"jsonrpc":"2.0","method":"nothing"}', '{"jsonrpc":"2.0","method":"tools/call","params":3}',
              '{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}', "",
              "\r"):
    c.raw(quiet.encode() + b"\n")
    c.lives()
c.raw(b'{"jsonrpc":"2.0","id":1,\r\n')
assert c.answer()["error"]["code"] == -32700
c.raw(message().encode() + b"\r\n")
assert c.answer()["result"] == {}

# ---- lines ----
c.raw(message().encode() + b"\n" + message(id=8).encode() + b"\n")
assert [c.answer()["id"] for _ in range(2)] == [7, 8]
for part in (b'{"jsonrpc":"2.0",', b'"id":9,"method"', b':"ping"}\n'):
    c.raw(part)
assert c.answer()["id"] == 9
whole = message(params={"_meta": {"x": "y" * (1 << 20)}})
whole = whole[:whole.index("y")] + "y" * ((1 << 20) - (len(whole) - (1 << 20))) + whole[whole.rindex("y") + 1:]
assert len(whole) == 1 << 20
assert c.send(whole)["result"] == {}
c.raw(message().encode()[:-1] + b" " * (3 << 20))
r = c.answer()
assert r["error"]["code"] == -32600 and r["id"] == 7, r
c.raw(b"}\n")
c.lives()
c.raw(b"a" * (3 << 20))
assert c.answer()["error"]["code"] == -32600
c.raw(b"a" * (3 << 20) + b"\n")
c.lives()

# ---- batches ----
batch = "[" + message(id=1) + "," + '{"jsonrpc":"2.0","method":"n"}' + "," + message(id=2, method="x") + ",3]"
refused(batch, -32600)
c.close()
c = Client("2025-03-26")
r = c.send(batch)
assert [(m["id"], m.get("error", {}).get("code")) for m in r] == [(1, None), (2, -32601), (None, -32600)], r
c.raw(b'[{"jsonrpc":"2.0","method":"n"}]\n')
c.lives()
refused("[]", -32600)
refused("[" + ",".join([message()] * 257) + "]", -32600)
assert len(c.send("[" + ",".join([message()] * 256) + "]")) == 256

# ---- any bytes ----
rng = random.Random(int(os.environ.get("MYTHOS_TEST_SEED", "1")))
pieces = [b'{"jsonrpc":"2.0"', b'"id":1', b'"method":"tools/call"', b'"params":{', b"}", b"{", b"[", b"]", b",", b'"',
          b"\\u0000", b"\xff", b"1e999", b"null", b":", b'"name":"open_file"', b'"arguments":{"path":"a.c"}']
for _ in range(300):
    c.raw(b"".join(rng.choice(pieces) for _ in range(rng.randrange(20))) + b"\n")
c.raw(b'{"jsonrpc":"2.0","id":"end","method":"ping"}\n')
while True:
    r = c.answer()
    if isinstance(r, dict) and r.get("id") == "end":
        break
c.close()

# ---- ends ----
c = Client(NEWEST)
c.raw(message().encode())  # a last line without its end
c.p.stdin.close()
assert c.answer()["id"] == 7 and c.p.wait(20) == 0
for sig in (signal.SIGTERM, signal.SIGINT):
    c = Client(NEWEST)
    c.lives()
    c.p.send_signal(sig)
    assert c.p.wait(20) == 0, c.p.returncode
print("a client was answered by the protocol")
END
