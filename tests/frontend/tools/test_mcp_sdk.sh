#!/bin/sh
# The command mcp with the client of the protocol's own Python package, which checks every message against the schema.
# MYTHOS_MCP_SDK names a folder that has the package; `make test-full` installs it there.
set -eu
sdk=${MYTHOS_MCP_SDK:-$MYTHOS_SOURCE_DIR/build/mcp-sdk}
export PYTHONPATH="$sdk${PYTHONPATH:+:$PYTHONPATH}"
if ! python3 -c 'from mcp import ClientSession, StdioServerParameters, stdio_client' 2>/dev/null; then
    echo "SKIPPED the Python client: no package mcp; python3 -m pip install --target build/mcp-sdk mcp"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache"
mkdir "$dir/src"
printf 'int add(int a, int b)\n{\n    return a + b;\n}\n' >"$dir/src/a.c"
python3 - "$MYTHOS_BIN" "$dir/src" <<'END'
import asyncio, importlib.metadata, json, os, sys

import mcp
from mcp import ClientSession, StdioServerParameters, stdio_client

bin, root = sys.argv[1:]
CALLS = [("search_text", {"pattern": "add"}, "matches"), ("search", {"query": "add numbers"}, "hits"),
         ("find_symbol", {"name": "add"}, "definitions"), ("references", {"name": "add"}, "references"),
         ("open_file", {"path": "a.c"}, "lines"), ("repo_map", {}, "map")]


async def main():
    server = StdioServerParameters(command=bin, args=["mcp", root], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = (await session.initialize()).model_dump(by_alias=True)
        assert hello["serverInfo"]["name"] == "mythos" and "tools" in hello["capabilities"], hello
        await session.send_ping()
        tools = {t.name for t in (await session.list_tools()).tools}
        assert {name for name, _, _ in CALLS} <= tools, tools
        for name, arguments, key in CALLS:
            r = (await session.call_tool(name, arguments)).model_dump(by_alias=True)
            assert not r["isError"], (name, r)
            assert key in json.loads(r["content"][0]["text"]), (name, r)
        r = (await session.call_tool("open_file", {"path": "../x"})).model_dump(by_alias=True)
        assert r["isError"] and "outside" in r["content"][0]["text"], r
        try:
            await session.call_tool("no_such_tool", {})
        except Exception as e:  # its class has another name in each major version of the package
            assert "unknown tool" in str(e), e
        else:
            raise AssertionError("an unknown tool is no error")
        return hello["protocolVersion"]


async def without_session(Client):
    """The newest versions of the package ask for the newest version of the protocol first."""
    async with Client(StdioServerParameters(command=bin, args=["mcp", root], env=dict(os.environ))) as client:
        assert {name for name, _, _ in CALLS} <= {t.name for t in (await client.list_tools()).tools}
        for name, arguments, key in CALLS:
            r = (await client.call_tool(name, arguments)).model_dump(by_alias=True)
            assert not r["isError"] and key in json.loads(r["content"][0]["text"]), (name, r)
        return client.protocol_version


versions = [asyncio.run(asyncio.wait_for(main(), 60))]
if hasattr(mcp, "Client"):
    versions.append(asyncio.run(asyncio.wait_for(without_session(mcp.Client), 60)))
    assert versions[-1] >= "2026-07-28", versions
print(f"mcp {importlib.metadata.version('mcp')} called {len(CALLS)} tools by {' and '.join(versions)}")
END
