package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Prompt is a prompt of a server: a template that its user fills in.
type Prompt struct {
	Server      string // of the entry
	Name        string // by which the server knows it
	FullName    string // of the command, without a slash
	Description string
	Args        []Argument
}

// Argument is a prompt's argument.
type Argument struct {
	Name, Description string
	Required          bool
}

// learn asks for the server's lists.
func (c *connection) learn(ctx context.Context) error {
	caps := c.session.InitializeResult().Capabilities
	if caps == nil {
		return nil
	}
	c.resources = caps.Resources != nil
	if caps.Tools != nil {
		if err := c.learnTools(ctx); err != nil {
			return fmt.Errorf("its tools cannot be listed: %w", err)
		}
	}
	if caps.Prompts != nil {
		_ = c.learnPrompts(ctx) // it is of use without them
	}
	c.remember()
	return nil
}

// listed asks for a list, again where a network may have failed. What a server says to be null is not in the list.
func listed[T any](ctx context.Context, c *connection, all func(func(*T, error) bool)) ([]*T, error) {
	tries := 1
	if c.sv.cfg.Remote() {
		tries = firstTries
	}
	for i := 1; ; i++ {
		var out []*T
		var failed error
		for v, err := range all {
			if err != nil {
				failed = err
				break
			}
			if v == nil {
				continue
			}
			if out = append(out, v); len(out) >= maxTools {
				break
			}
		}
		if failed == nil || i >= tries || ctx.Err() != nil {
			return out, failed
		}
		select {
		case <-time.After(c.sv.set.deps.retryDelay):
		case <-ctx.Done():
		}
	}
}

// remember writes down what the server has said for the first time. Where that fails, the next run meets it anew.
func (c *connection) remember() {
	if k := c.sv.set.deps.Known; k != nil {
		_ = k.save()
	}
}

func (c *connection) learnTools(ctx context.Context) error {
	list, err := listed(ctx, c, func(yield func(*sdk.Tool, error) bool) { c.session.Tools(ctx, nil)(yield) })
	if err != nil {
		return err
	}
	tools := make([]Tool, 0, len(list))
	var withheld []string
	seen := map[string]bool{}
	limit := c.sv.set.number("CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH", describeMax)
	for _, t := range list {
		made, ok := c.tool(t, limit)
		if ok && !seen[made.FullName] {
			seen[made.FullName] = true
			if !c.believes(made.Name, made.said()) {
				withheld = append(withheld, made.FullName)
				continue
			}
			tools = append(tools, made)
		}
	}
	c.mu.Lock()
	c.tools, c.withheld = tools, withheld
	c.mu.Unlock()
	return nil
}

// tool takes over what the server says of a tool; ok is false for one that no request could name.
func (c *connection) tool(t *sdk.Tool, limit int) (Tool, bool) {
	cfg := c.sv.cfg
	if strings.TrimSpace(t.Name) == "" {
		return Tool{}, false
	}
	out := Tool{
		Server: cfg.Name, Name: t.Name, FullName: FullName(cfg.Name, t.Name), Title: t.Title,
		Description: cut(t.Description, limit), Schema: inputSchema(t.InputSchema),
		Trusted: cfg.Scope == SDK || cfg.Scope == Managed,
	}
	if t.Annotations != nil {
		out.ReadOnly = t.Annotations.ReadOnlyHint
		out.Annotations, _ = json.Marshal(t.Annotations)
		out.Title = or(out.Title, t.Annotations.Title)
	}
	if cfg.AlwaysLoad != nil {
		out.AlwaysLoad, out.NeverLoad = *cfg.AlwaysLoad, !*cfg.AlwaysLoad
	}
	if v, ok := t.Meta["anthropic/alwaysLoad"].(bool); ok && v {
		out.AlwaysLoad, out.NeverLoad = true, false
	}
	if v, ok := t.Meta["anthropic/requiresUserInteraction"].(bool); ok {
		out.Interactive = v
	}
	if v, ok := t.Meta["anthropic/maxResultSizeChars"].(float64); ok && v > 0 {
		out.MaxResult = int(min(v, 500_000))
	}
	return out, true
}

func (c *connection) learnPrompts(ctx context.Context) error {
	list, err := listed(ctx, c, func(yield func(*sdk.Prompt, error) bool) { c.session.Prompts(ctx, nil)(yield) })
	if err != nil {
		return err
	}
	prompts := make([]Prompt, 0, len(list))
	for _, p := range list {
		made := Prompt{Server: c.sv.cfg.Name, Name: p.Name, FullName: FullName(c.sv.cfg.Name, p.Name), Description: short(or(p.Description, p.Title), 200)}
		for _, a := range p.Arguments {
			if a != nil {
				made.Args = append(made.Args, Argument{a.Name, short(a.Description, 200), a.Required})
			}
		}
		prompts = append(prompts, made)
	}
	c.mu.Lock()
	c.prompts = prompts
	c.mu.Unlock()
	return nil
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
