// A small MCP server for the scenarios: over standard input and output, or with a port as argument over HTTP.
import http from "node:http";
import readline from "node:readline";

const tools = [
  { name: "add", description: "Adds numbers", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] } },
  { name: "fail", description: "Fails", inputSchema: { type: "object" } },
];

function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const ok = (result) => ({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize": return ok({ protocolVersion: params.protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: "small", version: "1.0.0" } });
    case "tools/list": return ok({ tools });
    case "resources/list": return ok({ resources: [{ uri: "mem://note", name: "note" }] });
    case "resources/templates/list": return ok({ resourceTemplates: [] });
    case "resources/read": return ok({ contents: [{ uri: params.uri, text: "the note" }] });
    case "ping": return ok({});
    case "tools/call":
      if (params.name === "fail") return ok({ content: [{ type: "text", text: "it went wrong" }], isError: true });
      return ok({ content: [{ type: "text", text: `${process.env.LABEL ?? "sum"}: ${params.arguments.a + params.arguments.b}` }] });
  }
  return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method ${method}` } };
}

const port = process.argv[2];
if (port === undefined) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const out = answer(JSON.parse(line));
    if (out) process.stdout.write(JSON.stringify(out) + "\n");
  }
} else {
  http.createServer(async (req, res) => {
    if (req.method !== "POST") return res.writeHead(405).end();
    let body = "";
    for await (const part of req) body += part;
    const out = answer(JSON.parse(body));
    if (!out) return res.writeHead(202).end();
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(out));
  }).listen(Number(port), "127.0.0.1", function () { process.stderr.write(`port ${this.address().port}\n`); });
}
