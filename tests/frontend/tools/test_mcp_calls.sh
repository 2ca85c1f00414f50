#!/bin/sh
# The command mcp while a call runs: it answers what else is asked, tells progress, ends a call that is cancelled
# without an answer, lets calls wait up to a bound, and does not outlive its client. The call that runs is an
# inspection whose configuration file is a pipe that nobody writes to, so it lasts until it is ended.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state" MYTHOS_CONFIG="$dir/config"
mkdir "$dir/src"
printf 'int add(int a, int b)\n{\n    return a + b;\n}\n' >"$dir/src/a.c"
python3 - "$MYTHOS_BIN" "$dir/src" "$dir/config" <<'END'
import json, os, signal, subprocess, sys, time

bin, root, config = sys.argv[1:]
LAST = {"name": "inspect", "arguments": {"paths": ["a.c"], "max_seconds": 86400}}


def status(pid):
    """State, and process id of the parent; of one that is gone, and of one whose parent has not yet seen it, Z."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return "Z", "0"


def is_child(pid, of):
    state, parent = status(pid)
    if state == "Z" or parent != str(of):
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return b"\0inspect\0" in f.read()
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_end(pid):
    while status(pid)[0] != "Z":
        time.sleep(0.01)


class Client:
    def __init__(self, version="2025-11-25", lasts=True):
        if os.path.lexists(config):
            os.remove(config)
        with open(config, "w"):
            pass
        self.p = subprocess.Popen([bin, "mcp", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.ask("initialize", 0, protocolVersion=version, capabilities={}, clientInfo={})
        if lasts:
            os.remove(config)
            os.mkfifo(config)

    def say(self, *messages):
        self.p.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages))
        self.p.stdin.flush()

    def hear(self):
        line = self.p.stdout.readline()
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def ask(self, method, id, **params):
        self.say({"id": id, "method": method, "params": params})
        while "method" in (r := self.hear()):  # progress of another call
            pass
        assert r["id"] == id and ("result" in r) != ("error" in r), r
        return r

    def call(self, id, params=LAST):
        self.say({"id": id, "method": "tools/call", "params": params})

    def cancel(self, id):
        self.say({"method": "notifications/cancelled", "params": {"requestId": id, "reason": "a test"}})

    def child(self):
        """The inspection, once it has begun: of what the server starts the one that waits for its configuration."""
        while True:
            for pid in os.listdir("/proc"):
                if pid.isdigit() and is_child(pid, self.p.pid):
                    return pid
            time.sleep(0.01)

    def close(self):
        self.p.stdin.close()
        rest, err = self.p.stdout.read(), self.p.stderr.read()
        assert self.p.wait() == 0 and rest == b"", (self.p.returncode, rest, err)


def text(r):
    assert not r["result"]["isError"], r
    return r["result"]["content"][0]["text"]


# ---- other messages are answered while a call runs ----
c = Client()
c.call("long", {**LAST, "_meta": {"progressToken": "of long"}})
first = c.child()
assert c.ask("ping", 1)["result"] == {}
assert c.ask("tools/list", 2)["result"]["tools"]
assert "a.c" in text(c.ask("tools/call", 3, name="find_symbol", arguments={"name": "add"}))
assert c.ask("tools/call", 4, name="none")["error"]["code"] == -32602

# ---- progress: it rises, and is told for calls that asked for it ----
told = [c.hear() for _ in range(2)]
for m in told:
    assert m["method"] == "notifications/progress" and "id" not in m and m["params"]["progressToken"] == "of long", m
assert 0 < told[0]["params"]["progress"] < told[1]["params"]["progress"], told


# ---- a call that is cancelled ends, and so does one that waits; neither has an answer ----
for i in range(3):
    c.call(f"waits {i}")
c.cancel("waits 1")
c.cancel("long")
c.cancel("nobody")
c.say({"method": "notifications/cancelled"}, {"method": "notifications/cancelled", "params": {"requestId": [1]}})
wait_for_end(first)
second = c.child()
assert second != first
assert c.ask("ping", 5)["result"] == {}
c.cancel("waits 0")
wait_for_end(second)
third = c.child()
c.cancel("waits 2")
wait_for_end(third)
assert c.ask("ping", 6)["result"] == {}
# one that has had its answer
assert "a.c" in text(c.ask("tools/call", 7, name="find_symbol", arguments={"name": "add"}))
c.cancel(7)
assert "a.c" in text(c.ask("tools/call", 7, name="find_symbol", arguments={"name": "add"}))
c.close()

# ---- no more than 256 calls wait, and no more than 8 MiB of them ----
c = Client()
c.call(0)
c.child()
c.say(*[{"id": i, "method": "tools/call", "params": LAST} for i in range(1, 260)])
for i in (257, 258, 259):
    r = c.hear()
    assert r["id"] == i and r["error"]["code"] == -32603, r
for i in range(1, 257):
    c.cancel(i)
assert c.ask("ping", "a")["result"] == {}
long = {**LAST, "_meta": {"x": "y" * 1_000_000}}
for i in range(1, 10):
    c.call(i, long)
r = c.hear()
assert r["id"] == 9 and r["error"]["code"] == -32603, r
for i in range(10):
    c.cancel(i)
assert c.ask("ping", "b")["result"] == {}
c.close()

# ---- a batch is answered as a whole, calls in it and all, and other messages before it ----
c = Client("2025-03-26", lasts=False)
find = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "find_symbol", "arguments": {"name": "add"}}}
c.p.stdin.write(json.dumps([{**find, "id": 1}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]).encode() + b"\n")
c.p.stdin.flush()
r = c.hear()
assert [m["id"] for m in r] == [1, 2] and "a.c" in text(r[0]), r
c.close()

# ---- the ends of input, of the client, of the server ----
c = Client(lasts=False)
c.say(*[{"id": i, "method": "tools/call", "params": find["params"]} for i in range(200)])
c.p.stdin.close()  # what was asked before it is answered
assert [c.hear()["id"] for _ in range(200)] == list(range(200)) and c.p.wait() == 0

c = Client()
c.call(1)
pid = c.child()
c.p.stdout.close()  # nobody reads any more
assert c.p.wait() == 0
wait_for_end(pid)

c = Client()
c.call(1)
pid = c.child()
c.p.stdin.close()  # a call that lasts has an end, which is told to whom it concerns
assert c.hear()["result"]["isError"] and c.p.wait() == 0
wait_for_end(pid)

for sig, code in ((signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)):
    c = Client()
    c.call(1)
    pid = c.child()
    c.p.send_signal(sig)
    assert c.p.wait() == code, c.p.returncode
    wait_for_end(pid)
print("calls ran, waited and ended as the client asked")
END
