package fakeapi

import (
	"slices"
	"strings"
)

const (
	bindingBeta = "thinking-binding-controls-2026-08-01"
	updatesBeta = "thinking-display-updates-2026-08-18"
)

// checkThinking checks the thinking parameter against the model's table row.
func (c *checker) checkThinking() {
	n := c.body.get("thinking")
	if !c.kindOf("thinking", n, 'o') {
		return
	}
	typ := n.str("type")
	allowed := map[string]string{
		"adaptive": "type display block_binding", "enabled": "type budget_tokens display block_binding",
		"disabled": "type", "between_tools": "type",
	}[typ]
	if allowed == "" {
		c.fail("thinking", "thinking", "Input tag '%s' does not match any of 'adaptive', 'enabled', 'disabled', 'between_tools'", typ)
		return
	}
	c.fields("thinking", n, allowed)
	if !slices.Contains(c.model.Thinking, typ) {
		c.fail("thinking", "thinking.type", "\"%s\" is not supported by %s; it takes: %s", typ, c.model.ID, strings.Join(c.model.Thinking, ", "))
	}
	if high := c.effort() == "xhigh" || c.effort() == "max"; high && c.model.LowEffortOff && (typ == "disabled" || typ == "between_tools") {
		c.fail("thinking", "thinking.type", "\"%s\" is not supported at effort %s", typ, c.effort())
	}
	if typ == "enabled" {
		c.checkBudget(n.get("budget_tokens"))
	}
	c.checkDisplay(n.get("display"))
	c.checkBinding(n.get("block_binding"))
}

func (c *checker) checkBudget(n *node) {
	v, ok := n.integer()
	if !ok {
		c.fail("thinking", "thinking.enabled.budget_tokens", "Field required")
		return
	}
	if v < 1024 {
		c.fail("thinking", "thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024")
	}
	if limit, ok := c.body.get("max_tokens").integer(); ok && v >= limit {
		c.fail("thinking", "max_tokens", "must be greater than thinking.budget_tokens")
	}
}

func (c *checker) checkDisplay(n *node) {
	if n == nil {
		return
	}
	switch n.text() {
	case "summarized", "omitted":
	case "updates":
		if !c.beta(updatesBeta) {
			c.fail("thinking", "thinking.display", "'updates' needs the beta %s", updatesBeta)
		}
	default:
		c.fail("thinking", "thinking.display", "Input should be 'summarized' or 'omitted'")
	}
}

func (c *checker) checkBinding(n *node) {
	if !c.kindOf("thinking.block_binding", n, 'o') {
		return
	}
	c.fields("thinking.block_binding", n, "prefix_mismatch_behavior")
	if !c.beta(bindingBeta) {
		c.fail("thinking", "thinking.block_binding", "Extra inputs are not permitted (needs the beta %s)", bindingBeta)
	}
	if v := n.str("prefix_mismatch_behavior"); v != "drop_block" && v != "error" {
		c.fail("thinking", "thinking.block_binding.prefix_mismatch_behavior", "Input should be 'error' or 'drop_block'")
	}
}

// dropsMismatched reports whether the client asked to have mismatching thinking blocks dropped instead of refused.
func (c *checker) dropsMismatched() bool {
	return c.body.get("thinking").get("block_binding").str("prefix_mismatch_behavior") == "drop_block" && c.beta(bindingBeta)
}

// thinks reports whether the model will think on this request, and whether the text of it is left out.
func (c *checker) thinks() (on, omitted bool) {
	n := c.body.get("thinking")
	on = c.model.ThinkingOn
	if n != nil {
		on = n.str("type") != "disabled"
	}
	omitted = c.model.OmitsThinking
	if d := n.get("display"); d != nil {
		omitted = d.text() == "omitted"
	}
	return on, omitted
}
