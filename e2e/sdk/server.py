"""A small MCP server over standard input and output, without any package."""

import json
import sys

TOOLS = [{"name": "add", "description": "Adds numbers", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}}]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"sum: {params['arguments']['a'] + params['arguments']['b']}"}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m or "method" not in m:
        continue
    result = answer(m["method"], m.get("params"))
    out = {"jsonrpc": "2.0", "id": m["id"]} | ({"error": {"code": -32601, "message": m["method"]}} if result is None else {"result": result})
    print(json.dumps(out), flush=True)
