// Package sdk is the front end for programs that drive Lathe over standard input and output: user messages and
// control requests come in as JSON lines, the conversation and control answers go out as JSON lines. It speaks the
// wire protocol of the published Agent SDKs and holds no logic of the agent: a permission question becomes a
// can_use_tool request, its answer an op. Called by internal/cli where the input format is stream-json.
package sdk
