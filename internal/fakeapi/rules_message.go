package fakeapi

import (
	"fmt"
	"strings"
)

const maxMessages = 100_000

func (c *checker) checkMessages() {
	n := c.body.get("messages")
	if !c.kindOf("messages", n, 'a') {
		return
	}
	msgs := n.items()
	if len(msgs) == 0 {
		c.fail("field", "messages", "at least one message is required")
	}
	if len(msgs) > maxMessages {
		c.fail("limit", "messages", "at most %d messages are allowed, not %d", maxMessages, len(msgs))
	}
	last := ""
	for i, m := range msgs {
		path := at("messages", i)
		if !c.kindOf(path, m, 'o') {
			continue
		}
		role := m.str("role")
		switch role {
		case "user", "assistant":
			c.fields(path, m, "role content")
			if i == 0 && role != "user" {
				c.fail("role", path, "the first message must use the \"user\" role")
			}
			if role == last {
				c.fail("role", path, "roles must alternate between \"user\" and \"assistant\", but found multiple %q roles in a row", role)
			}
			last = role
		case "system":
			c.checkMidSystem(i, m, msgs)
		default:
			c.fail("role", path+".role", "Input should be 'user' or 'assistant'")
		}
		c.checkContent(path, role, m.get("content"))
	}
}

// checkMidSystem checks a system message inside the conversation: only on models that take it, never first, after
// a user turn (or an assistant turn that ends in a server tool result), before an assistant turn or the end.
func (c *checker) checkMidSystem(i int, m *node, msgs []*node) {
	path := at("messages", i)
	c.fields(path, m, "role content output_config clear_at")
	for field, beta := range map[string]string{
		"output_config": "mid-conversation-output-config-2026-07-01",
		"clear_at":      "mid-conversation-system-clear-at-2026-08-21",
	} {
		if m.get(field) != nil && !c.beta(beta) {
			c.fail("field", join(path, field), "Extra inputs are not permitted (needs the beta %s)", beta)
		}
	}
	if !c.model.MidSystem {
		c.fail("role", path, "role 'system' is not supported in messages by %s", c.model.ID)
		return
	}
	before := ""
	if i > 0 {
		before = msgs[i-1].str("role")
		if blocks := contentBlocks(msgs[i-1].get("content")); before == "assistant" && len(blocks) > 0 {
			if typ := blocks[len(blocks)-1].str("type"); strings.HasSuffix(typ, "_tool_result") {
				before = "user"
			}
		}
	}
	if before != "user" {
		c.fail("role", path, "a system message must directly follow a user turn")
	}
	if i+1 < len(msgs) && msgs[i+1].str("role") != "assistant" {
		c.fail("role", path, "a system message must stand before an assistant turn or at the end")
	}
}

func (c *checker) checkContent(path, role string, content *node) {
	if content == nil {
		c.fail("field", path+".content", "Field required")
		return
	}
	if content.is('s') {
		if content.blank() {
			c.fail("text", path, "messages must have non-empty content")
		}
		return
	}
	if !content.is('a') {
		c.fail("field", path+".content", "Input should be a string or an array")
		return
	}
	if len(content.items()) == 0 {
		c.fail("text", path, "messages must have non-empty content")
	}
	for j, b := range content.items() {
		p := at(path+".content", j)
		if c.kindOf(p, b, 'o') {
			c.checkBlock(p, role, b)
		}
	}
}

// blockRule says where a block type may stand and which fields it may have.
type blockRule struct {
	roles  string
	fields string
}

func blockRuleOf(typ string) (blockRule, bool) {
	const mark = " cache_control"
	switch typ {
	case "text":
		return blockRule{"user assistant system", "type text citations" + mark}, true
	case "image":
		return blockRule{"user tool_result", "type source" + mark}, true
	case "document":
		return blockRule{"user assistant tool_result", "type source title context citations" + mark}, true
	case "search_result":
		return blockRule{"user tool_result", "type source title content citations" + mark}, true
	case "thinking":
		return blockRule{"assistant", "type thinking signature" + mark}, true
	case "redacted_thinking":
		return blockRule{"assistant", "type data" + mark}, true
	case "tool_use":
		return blockRule{"assistant", "type id name input caller" + mark}, true
	case "server_tool_use":
		return blockRule{"assistant", "type id name input caller" + mark}, true
	case "mcp_tool_use":
		return blockRule{"assistant", "type id name server_name input" + mark}, true
	case "mcp_tool_result":
		return blockRule{"assistant", "type tool_use_id content is_error" + mark}, true
	case "tool_result":
		return blockRule{"user", "type tool_use_id content is_error" + mark}, true
	case "tool_reference":
		return blockRule{"tool_result", "type tool_name" + mark}, true
	case "container_upload":
		return blockRule{"user", "type file_id" + mark}, true
	case "compaction":
		return blockRule{"user assistant", "type content signature encrypted_content tool_changes" + mark}, true
	case "fallback":
		return blockRule{"assistant", "type from to model reason"}, true
	case "tool_addition", "tool_removal":
		return blockRule{"system", "type tool name tool_name"}, true
	}
	if strings.HasSuffix(typ, "_tool_result") {
		return blockRule{"assistant", "type tool_use_id content caller" + mark}, true
	}
	return blockRule{}, false
}

func (c *checker) checkBlockFields(path string, b *node, typ string) {
	rule, _ := blockRuleOf(typ)
	c.fields(path, b, rule.fields)
}

func (c *checker) checkBlock(path, role string, b *node) {
	typ := b.str("type")
	rule, ok := blockRuleOf(typ)
	if !ok {
		c.fail("block", path, "Input tag '%s' found using 'type' does not match any of the expected tags", typ)
		return
	}
	if role == "" {
		role = "user"
	}
	if !strings.Contains(" "+rule.roles+" ", " "+role+" ") && !(role == "tool_result" && typ == "text") {
		c.fail("block", path, "`%s` blocks are not allowed in %s", typ, map[bool]string{true: "tool results", false: role + " messages"}[role == "tool_result"])
	}
	c.fields(path, b, rule.fields)
	switch typ {
	case "text":
		c.checkText(path, b)
		if c.version == "2026-10-21" && role != "assistant" && len(b.get("citations").items()) > 0 {
			c.fail("block", path+".citations", "citations are not allowed in user messages")
		}
	case "document":
		if c.version == "2026-10-21" && role == "assistant" {
			c.fail("block", path, "`document` blocks are not allowed in assistant messages")
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		c.checkToolUse(path, b)
	case "tool_result":
		c.checkToolResult(path, b)
	case "thinking":
		c.checkThinkingBlock(path, b)
	case "redacted_thinking":
		if b.str("data") == "" {
			c.fail("thinking", path+".redacted_thinking.data", "Field required")
		}
	}
}

func (c *checker) checkText(path string, b *node) {
	t := b.get("text")
	switch {
	case t == nil:
		c.fail("field", path+".text", "Field required")
	case !c.kindOf(path+".text", t, 's'):
	case len(t.raw) == 2:
		c.fail("text", path, "text content blocks must be non-empty")
	case t.blank():
		c.fail("text", path, "text content blocks must contain non-whitespace text")
	}
}

func (c *checker) checkThinkingBlock(path string, b *node) {
	if !b.get("thinking").is('s') {
		c.fail("thinking", path+".thinking.thinking", "Field required")
	}
	if b.str("signature") == "" {
		c.fail("thinking", path+".thinking.signature", "Field required")
	}
}

func (c *checker) checkToolUse(path string, b *node) {
	if id := b.str("id"); !toolID().MatchString(id) {
		c.fail("tool", path+".tool_use.id", "String should match pattern '%s'", toolID())
	}
	if !toolName().MatchString(b.str("name")) {
		c.fail("tool", path+".tool_use.name", "String should match pattern '%s'", toolName())
	}
	if in := b.get("input"); !in.is('o') {
		c.fail("tool", path+".tool_use.input", "Input should be a valid dictionary")
	}
}

func (c *checker) checkToolResult(path string, b *node) {
	if id := b.str("tool_use_id"); !toolID().MatchString(id) {
		c.fail("tool", path+".tool_result.tool_use_id", "String should match pattern '%s'", toolID())
	}
	if e := b.get("is_error"); e != nil {
		c.kindOf(path+".is_error", e, 'b')
	}
	content := b.get("content")
	switch {
	case content == nil:
	case content.is('s'):
		if content.blank() {
			c.fail("text", path+".content", "text content blocks must be non-empty")
		}
	case content.is('a'):
		for k, in := range content.items() {
			p := at(path+".content", k)
			if !c.kindOf(p, in, 'o') {
				continue
			}
			if b.get("is_error").isTrue() && in.str("type") != "text" {
				c.fail("block", p, "all content must be type `text` if `is_error` is true")
			}
			c.checkBlock(p, "tool_result", in)
		}
	default:
		c.fail("field", path+".content", "Input should be a string or an array")
	}
}

// checkEnd refuses an assistant message at the end, except the one that continues a paused server tool.
func (c *checker) checkEnd() {
	msgs := c.body.get("messages").items()
	if len(msgs) == 0 || msgs[len(msgs)-1].str("role") != "assistant" {
		return
	}
	path := fmt.Sprintf("messages.%d", len(msgs)-1)
	blocks := contentBlocks(msgs[len(msgs)-1].get("content"))
	if len(blocks) == 0 {
		return
	}
	end := blocks[len(blocks)-1]
	typ := end.str("type")
	if typ == "server_tool_use" || typ == "mcp_tool_use" || strings.HasSuffix(typ, "_tool_result") {
		return
	}
	if text := end.str("text"); typ == "text" && strings.TrimRight(text, " \t\r\n") != text {
		c.fail("text", path, "final assistant content cannot end with trailing whitespace")
	}
	thinks, _ := c.thinks()
	if !c.model.Prefill || thinks {
		c.fail("prefill", path, "%s does not support assistant message prefill. The conversation must end with a user message.", c.model.ID)
	}
}
