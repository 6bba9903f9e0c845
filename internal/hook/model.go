package hook

import (
	"context"
	"errors"
	"strings"
)

// tool calls a tool of an MCP server; its text is read like the standard output of a command that succeeded.
func (b *Bus) tool(ctx context.Context, h *handler, in []byte) raw {
	if b.deps.Tool == nil {
		return raw{problem: "mcp_tool hooks are not supported by this version of Lathe"}
	}
	args, err := fill(h.Input, in)
	if err != nil {
		return raw{problem: "its input cannot be filled in: " + err.Error()}
	}
	text, err := b.deps.Tool(ctx, h.Server, h.Tool, args)
	if err != nil {
		return raw{problem: err.Error(), timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	}
	return raw{stdout: []byte(text)}
}

const verdictText = "\n\nAnswer with one JSON object and nothing else: {\"ok\": true} when it is so, or {\"ok\": false, \"reason\": \"…\"} when it is not."

// model asks a model, or lets an agent look, and reads its verdict.
func (b *Bus) model(ctx context.Context, h *handler, in []byte) (raw, *verdict) {
	ask := b.deps.Ask
	if h.kind == kindAgent {
		ask = b.deps.Agent
	}
	if ask == nil {
		return raw{problem: h.Type + " hooks are not supported here"}, nil
	}
	prompt := h.Prompt
	if strings.Contains(prompt, "$ARGUMENTS") {
		prompt = strings.ReplaceAll(prompt, "$ARGUMENTS", string(in))
	} else {
		prompt += "\n\n" + string(in)
	}
	text, err := ask(ctx, h.Model, prompt+verdictText)
	if err != nil {
		return raw{problem: err.Error(), timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}, nil
	}
	v, err := parseVerdict(text)
	if err != nil {
		return raw{problem: err.Error()}, nil
	}
	return raw{}, &v
}
