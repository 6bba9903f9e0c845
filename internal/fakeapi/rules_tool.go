package fakeapi

import (
	"regexp"
	"strings"
	"sync"
)

var (
	toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) })
	toolID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })
	dated    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_0-9]+_20\d{6}$`) })
)

const toolFields = "type name description input_schema cache_control strict defer_loading eager_input_streaming input_examples allowed_callers"

func (c *checker) checkTools() {
	tools := c.body.get("tools")
	if !c.kindOf("tools", tools, 'a') {
		return
	}
	seen := map[string]bool{}
	deferred := 0
	for i, t := range tools.items() {
		path := at("tools", i)
		if !c.kindOf(path, t, 'o') {
			continue
		}
		name := t.str("name")
		if seen[name] {
			c.fail("tool", "tools", "Tool names must be unique: %q comes twice", name)
		}
		seen[name] = true
		if t.get("defer_loading").isTrue() {
			deferred++
			if t.get("cache_control") != nil {
				c.fail("cache", path+".cache_control", "cannot be set on a tool with defer_loading")
			}
		}
		c.checkTool(path, t, name)
	}
	if n := len(tools.items()); n > 0 && deferred == n {
		c.fail("tool", "tools", "At least one tool must not have defer_loading")
	}
}

func (c *checker) checkTool(path string, t *node, name string) {
	typ := t.str("type")
	if typ != "" && typ != "custom" {
		if !dated().MatchString(typ) {
			c.fail("tool", path, "Input tag '%s' does not match any of the expected tags", typ)
		}
		if strings.HasPrefix(typ, "web_search_") {
			c.checkSearch(path, t, name)
		}
		return // server tools have fields of their own
	}
	c.fields(path, t, toolFields)
	if !toolName().MatchString(name) {
		c.fail("tool", path+".name", "String should match pattern '%s'", toolName())
	}
	c.kindOf(path+".description", t.get("description"), 's')
	for _, k := range []string{"strict", "defer_loading", "eager_input_streaming"} {
		c.kindOf(join(path, k), t.get(k), 'b')
	}
	c.checkSchema(path+".input_schema", t.get("input_schema"))
}

// checkSearch checks the provider's own search of the web.
func (c *checker) checkSearch(path string, t *node, name string) {
	c.fields(path, t, "type name max_uses allowed_domains blocked_domains user_location cache_control strict defer_loading allowed_callers")
	if name != "web_search" {
		c.fail("tool", path+".name", "Input should be 'web_search'")
	}
	c.kindOf(path+".max_uses", t.get("max_uses"), 'n')
	if t.get("allowed_domains") != nil && t.get("blocked_domains") != nil {
		c.fail("tool", path, "Only one of allowed_domains and blocked_domains may be given")
	}
	for _, k := range []string{"allowed_domains", "blocked_domains"} {
		list := t.get(k)
		if !c.kindOf(path+"."+k, list, 'a') {
			continue
		}
		for i, d := range list.items() {
			if p := at(path+"."+k, i); c.kindOf(p, d, 's') && (d.text() == "" || strings.Contains(d.text(), "://")) {
				c.fail("tool", p, "%q is not a domain", d.text())
			}
		}
	}
}

func (c *checker) checkSchema(path string, s *node) {
	if s == nil {
		c.fail("schema", path, "Field required")
		return
	}
	if !c.kindOf(path, s, 'o') {
		return
	}
	if s.str("type") != "object" {
		c.fail("schema", path+".type", "Input should be 'object'")
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf"} {
		if s.get(k) != nil {
			c.fail("schema", path, "input_schema does not support %s at the top level", k)
		}
	}
	c.kindOf(path+".properties", s.get("properties"), 'o')
	if req := s.get("required"); c.kindOf(path+".required", req, 'a') {
		for i, r := range req.items() {
			if c.kindOf(at(path+".required", i), r, 's') && s.get("properties").get(r.text()) == nil {
				c.fail("schema", at(path+".required", i), "%q is not one of the properties", r.text())
			}
		}
	}
}

// pending returns the ids of the client tool calls of an assistant message, in order, and whether one of its
// server tool calls still waits for its result.
func pending(m *node) (ids []string, server bool) {
	open := map[string]bool{}
	for _, b := range contentBlocks(m.get("content")) {
		switch typ := b.str("type"); {
		case typ == "tool_use":
			ids = append(ids, b.str("id"))
		case typ == "server_tool_use" || typ == "mcp_tool_use":
			open[b.str("id")] = true
		case strings.HasSuffix(typ, "_tool_result"):
			delete(open, b.str("tool_use_id"))
		}
	}
	return ids, len(open) > 0
}

// checkPairs checks that every tool_use has exactly one tool_result, in the very next message and before
// anything else there, and that no tool_result stands alone.
func (c *checker) checkPairs() {
	msgs := c.body.get("messages").items()
	seen := map[string]bool{}
	for i, m := range msgs {
		switch m.str("role") {
		case "assistant":
			ids, _ := pending(m)
			for _, id := range ids {
				if seen[id] {
					c.fail("pairing", at("messages", i), "`tool_use` ids must be unique: %s", id)
				}
				seen[id] = true
			}
			c.checkAnswered(i, ids, msgs)
		case "user":
			var ids []string
			server := false
			if i > 0 && msgs[i-1].str("role") == "assistant" {
				ids, server = pending(msgs[i-1])
			}
			c.checkResults(i, m, ids, server)
		}
	}
}

func (c *checker) checkAnswered(i int, ids []string, msgs []*node) {
	if len(ids) == 0 {
		return
	}
	answered := map[string]bool{}
	if i+1 < len(msgs) && msgs[i+1].str("role") == "user" {
		for _, b := range contentBlocks(msgs[i+1].get("content")) {
			if b.str("type") == "tool_result" {
				answered[b.str("tool_use_id")] = true
			}
		}
	}
	var missing []string
	for _, id := range ids {
		if !answered[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		c.fail("pairing", at("messages", i), "`tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", strings.Join(missing, ", "))
	}
}

func (c *checker) checkResults(i int, m *node, ids []string, server bool) {
	asked := map[string]bool{}
	for _, id := range ids {
		asked[id] = true
	}
	got := map[string]bool{}
	other := false
	for j, b := range contentBlocks(m.get("content")) {
		path := at(at("messages", i)+".content", j)
		if b.str("type") != "tool_result" {
			other = true
			if server {
				c.fail("pairing", path, "only `tool_result` blocks may follow a turn with a pending server tool call")
			}
			continue
		}
		id := b.str("tool_use_id")
		switch {
		case !asked[id]:
			c.fail("pairing", path, "unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block "+
				"must have a corresponding `tool_use` block in the previous message.", id)
		case got[id]:
			c.fail("pairing", path, "each `tool_use` must have a single result. Found multiple `tool_result` blocks with id: %s", id)
		case other:
			c.fail("pairing", path, "`tool_result` blocks must come first in the message")
		}
		got[id] = true
	}
}
