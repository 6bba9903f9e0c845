package app

import (
	"context"
	"strings"

	"lathe/internal/app/usage"
	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/token"
	"lathe/internal/turn"
)

// contextUsage measures what is sent of a conversation.
func (r *run) contextUsage(ctx context.Context, messages []msg.Message) *usage.Size {
	info := r.prices.Info(r.session.Model())
	in := usage.Input{
		Model: r.session.Model(), Window: info.Window, Counter: token.Counter{New: info.NewTokenizer}, Server: serverOf, Messages: messages,
	}
	if cfg := r.compactConfig(); cfg.Auto {
		in.Threshold = cfg.Threshold(info.Window)
	}
	in.System, in.Defs = r.sentFirst(ctx)
	in.Memory = r.memorySizes(in.Counter)
	in.Skills, in.Commands = r.countSkills()
	return usage.Measure(in)
}

// cmdContext shows what the next request would hold: a picture, and a table by source.
func (r *run) cmdContext(ctx context.Context, t *turn.Turn, args string) (string, error) {
	return r.contextUsage(ctx, t.Messages).Text(strings.TrimSpace(args) == "all"), nil
}

// sentFirst is what stands at the head of every request: as it is frozen, or as the first request will have it.
func (r *run) sentFirst(ctx context.Context) ([]msg.Block, []msg.ToolDef) {
	if f := r.session.Frozen(); f != nil {
		return f.System, f.Tools
	}
	d, err := r.promptDeps()
	if err != nil {
		return nil, r.tools.registry.Defs()
	}
	f := d.Build(ctx)
	return f.System, f.Tools
}

// serverOf is the MCP server of a tool.
func serverOf(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", false
	}
	server, _, ok := strings.Cut(rest, "__")
	return server, ok
}

// memorySizes are the instruction files that count from the start.
func (r *run) memorySizes(c token.Counter) []usage.Part {
	var out []usage.Part
	for _, f := range r.instructionFiles() {
		out = append(out, usage.Part{Name: f.Path, From: f.Scope, Tokens: c.Text(f.Text)})
	}
	return out
}

// instructionFiles are those that count from the start.
func (r *run) instructionFiles() []memory.File {
	if !r.instructions() {
		return nil
	}
	return r.loader().AtStart()
}

// countSkills says how many skills the model is told of, and how many commands of files can be typed.
func (r *run) countSkills() (listed, typed int) {
	for _, s := range r.skills() {
		if !s.UserOnly {
			listed++
		}
		typed++
	}
	return listed, typed
}
