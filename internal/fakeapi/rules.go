package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// checker collects everything that is wrong with one request. It works on the raw JSON and on the public rules
// only, so that it is an independent judge of what the program sends.
type checker struct {
	body    *node
	header  http.Header
	betas   []string
	version string
	model   Model
	counts  bool // the request is one of count_tokens
	bad     []Violation
}

func (c *checker) fail(rule, path, format string, args ...any) {
	c.bad = append(c.bad, Violation{
		Rule: rule, Path: path, Status: http.StatusBadRequest, Type: "invalid_request_error",
		Message: fmt.Sprintf(format, args...),
	})
}

func (c *checker) failAs(status int, typ, rule, path, format string, args ...any) {
	c.bad = append(c.bad, Violation{Rule: rule, Path: path, Status: status, Type: typ, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) beta(name string) bool { return slices.Contains(c.betas, name) }

// fields refuses keys that are not in the list of allowed ones (separated by spaces).
func (c *checker) fields(path string, n *node, allowed string) {
	if !n.is('o') {
		return
	}
	list := strings.Fields(allowed)
	for _, k := range n.keys {
		if !slices.Contains(list, k) {
			c.fail("field", join(path, k), "Extra inputs are not permitted")
		}
	}
}

// kindOf checks the JSON kind of an optional field and reports whether the field is there and right.
func (c *checker) kindOf(path string, n *node, kind byte) bool {
	if n == nil {
		return false
	}
	if n.kind != kind {
		names := map[byte]string{'o': "object", 'a': "array", 's': "string", 'n': "number", 'b': "boolean"}
		c.fail("field", path, "Input should be a valid %s", names[kind])
		return false
	}
	return true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func at(path string, i int) string { return fmt.Sprintf("%s.%d", path, i) }

const (
	topFields = "model messages max_tokens system tools tool_choice thinking output_config cache_control stream " +
		"stop_sequences metadata service_tier inference_geo container diagnostics speed compaction context_management fallbacks"
	countFields    = "model messages system tools tool_choice thinking output_config cache_control context_management"
	samplingFields = "temperature top_p top_k"
)

// betaOf names the feature header that a top-level field needs; any of several is enough.
func betaOf(field string) []string {
	switch field {
	case "context_management":
		return []string{"context-management-2025-06-27", "compact-2026-01-12"}
	case "compaction":
		return []string{"compact-2026-09-04"}
	case "fallbacks":
		return []string{"server-side-fallback-2026-07-01"}
	}
	return nil
}

// run applies all rules that need nothing but the request itself.
func (c *checker) run() {
	if !c.body.is('o') {
		c.fail("field", "", "the body must be a JSON object")
		return
	}
	c.checkTop()
	c.checkSampling()
	c.checkSystem()
	c.checkTools()
	c.checkToolChoice()
	c.checkThinking()
	c.checkOutput()
	c.checkMessages()
	c.checkPairs()
	c.checkEnd()
	c.checkMedia()
	c.checkMarks()
}

func (c *checker) checkTop() {
	allowed := topFields
	if c.counts {
		allowed = countFields
	}
	c.fields("", c.body, allowed+" "+samplingFields)
	for _, k := range c.body.keys {
		if need := betaOf(k); need != nil && !slices.ContainsFunc(need, c.beta) {
			c.fail("field", k, "Extra inputs are not permitted (needs the beta %s)", strings.Join(need, " or "))
		}
	}
	if c.body.get("messages") == nil {
		c.fail("field", "messages", "Field required")
	}
	if !c.counts {
		c.checkMaxTokens()
	}
	c.kindOf("stream", c.body.get("stream"), 'b')
	if n := c.body.get("metadata"); c.kindOf("metadata", n, 'o') {
		c.fields("metadata", n, "user_id")
		c.kindOf("metadata.user_id", n.get("user_id"), 's')
	}
	if n := c.body.get("service_tier"); n != nil && n.text() != "auto" && n.text() != "standard_only" {
		c.fail("field", "service_tier", "Input should be 'auto' or 'standard_only'")
	}
	if n := c.body.get("speed"); c.kindOf("speed", n, 's') {
		c.checkSpeed(n.text())
	}
	if n := c.body.get("stop_sequences"); c.kindOf("stop_sequences", n, 'a') {
		for i, s := range n.items() {
			if c.kindOf(at("stop_sequences", i), s, 's') && strings.TrimSpace(s.text()) == "" {
				c.fail("field", at("stop_sequences", i), "each stop sequence must contain non-whitespace")
			}
		}
	}
}

func (c *checker) checkSpeed(speed string) {
	switch {
	case speed == "standard":
	case speed != "fast":
		c.fail("field", "speed", "Input should be 'standard' or 'fast'")
	case c.model.Fast == "":
		c.fail("speed", "speed", "'fast' is not supported by %s", c.model.ID)
	case c.model.Fast == "beta" && !c.beta(fastBeta):
		c.fail("field", "speed", "Extra inputs are not permitted (needs the beta %s)", fastBeta)
	}
}

func (c *checker) checkMaxTokens() {
	n := c.body.get("max_tokens")
	if n == nil {
		c.fail("field", "max_tokens", "Field required")
		return
	}
	v, ok := n.integer()
	switch {
	case !ok:
		c.fail("field", "max_tokens", "Input should be a valid integer")
	case v < 0:
		c.fail("field", "max_tokens", "Input should be greater than or equal to 0")
	case c.model.MaxOutput > 0 && v > c.model.MaxOutput:
		c.fail("limit", "max_tokens", "%d > %d, which is the maximum allowed number of output tokens for %s", v, c.model.MaxOutput, c.model.ID)
	}
}

// checkSampling is stricter than the API, which still takes these on some old models: a client must never send them.
func (c *checker) checkSampling() {
	for _, k := range strings.Fields(samplingFields) {
		if c.body.get(k) != nil {
			c.fail("sampling", k, "is not supported: sampling parameters must not be sent")
		}
	}
}

func (c *checker) checkSystem() {
	n := c.body.get("system")
	if n == nil || n.is('s') {
		return
	}
	if !c.kindOf("system", n, 'a') {
		return
	}
	for i, b := range n.items() {
		path := at("system", i)
		if !c.kindOf(path, b, 'o') {
			continue
		}
		if b.str("type") != "text" {
			c.fail("field", path, "Input tag '%s' does not match the expected tag 'text'", b.str("type"))
			continue
		}
		c.checkBlockFields(path, b, "text")
		c.checkText(path, b)
	}
}

func (c *checker) checkToolChoice() {
	n := c.body.get("tool_choice")
	if !c.kindOf("tool_choice", n, 'o') {
		return
	}
	c.fields("tool_choice", n, "type name disable_parallel_tool_use")
	if len(c.body.get("tools").items()) == 0 {
		c.fail("tool_choice", "tool_choice", "may only be specified while providing tools")
	}
	switch typ := n.str("type"); typ {
	case "auto", "none":
	case "any", "tool":
		c.fail("tool_choice", "tool_choice", "type '%s' forces a tool, which current models refuse: use auto or none", typ)
	default:
		c.fail("tool_choice", "tool_choice", "Input tag '%s' does not match any of 'auto', 'any', 'tool', 'none'", typ)
	}
}

func (c *checker) checkOutput() {
	n := c.body.get("output_config")
	if !c.kindOf("output_config", n, 'o') {
		return
	}
	c.fields("output_config", n, "effort format task_budget")
	if e := n.get("effort"); c.kindOf("output_config.effort", e, 's') {
		c.checkEffort("output_config.effort", e.text())
	}
	if f := n.get("format"); c.kindOf("output_config.format", f, 'o') {
		c.fields("output_config.format", f, "type schema")
		if f.str("type") != "json_schema" || !f.get("schema").is('o') {
			c.fail("field", "output_config.format", "must be {type: json_schema, schema: {…}}")
		}
	}
}

func (c *checker) checkEffort(path, value string) {
	if !slices.Contains(c.model.Efforts, value) {
		c.fail("effort", path, "'%s' is not supported by %s; it takes: %s", value, c.model.ID, strings.Join(c.model.Efforts, ", "))
	}
}

// effort is the effort in force, with the model's default filled in.
func (c *checker) effort() string {
	if e := c.body.get("output_config").str("effort"); e != "" {
		return e
	}
	return c.model.DefaultEffort
}
