package fakeapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// A signature carries, sealed, everything that is needed to judge the block when it comes back. So a block stays
// good after a restart of the server, and also between two servers, as with the real API.
type seal struct {
	Model string `json:"m"`
	Text  string `json:"t,omitempty"` // hash of the text, "" for an omitted one, whose text is ignored
	Bind  string `json:"b"`           // state of the prefix that it was made on
	Prev  string `json:"p,omitempty"` // the thinking block before it, "" when there was none
}

const sealKey = "lathe fake api: this key protects nothing"

func (s seal) sign() string {
	payload, _ := json.Marshal(s) // a struct of strings
	mac := hmac.New(sha256.New, []byte(sealKey))
	mac.Write(payload)
	return base64.StdEncoding.EncodeToString(append(mac.Sum(nil)[:12], payload...))
}

func openSeal(signature string) (seal, bool) {
	var s seal
	data, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(data) < 12 {
		return s, false
	}
	mac := hmac.New(sha256.New, []byte(sealKey))
	mac.Write(data[12:])
	if !hmac.Equal(mac.Sum(nil)[:12], data[:12]) {
		return s, false
	}
	return s, json.Unmarshal(data[12:], &s) == nil
}

func shortHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// chain is the running state of the prefix to which thinking is bound: system, tools and all content that is
// not thinking.
type chain [sha256.Size]byte

func (s chain) next(role string, b *node) chain {
	h := sha256.New()
	h.Write(s[:])
	h.Write([]byte(role))
	if b != nil {
		h.Write(b.digest())
	}
	return chain(h.Sum(nil))
}

func (s chain) id() string { return hex.EncodeToString(s[:12]) }

func isThinking(b *node) bool {
	typ := b.str("type")
	return typ == "thinking" || typ == "redacted_thinking"
}

func signatureOf(b *node) string {
	if b.str("type") == "redacted_thinking" {
		return b.str("data")
	}
	return b.str("signature")
}

// chainBlocks returns the state before each block of each message, and the state at the end. Deferred tools do
// not count, since adding one does not disturb thinking.
func chainBlocks(body *node) (states [][]chain, end chain) {
	var s chain
	for _, t := range body.get("tools").items() {
		if !t.get("defer_loading").isTrue() {
			s = s.next("tool", t)
		}
	}
	for _, b := range contentBlocks(body.get("system")) {
		s = s.next("system", b)
	}
	for _, m := range body.get("messages").items() {
		s = s.next("role "+m.str("role"), nil)
		blocks := contentBlocks(m.get("content"))
		row := make([]chain, len(blocks))
		for j, b := range blocks {
			row[j] = s
			if !isThinking(b) {
				s = s.next("", b)
			}
		}
		states = append(states, row)
	}
	return states, s
}

// thinkingState is what the check of thinking blocks finds out for the rest of the answer.
type thinkingState struct {
	end     chain // of the request
	prev    string
	dropped map[*node]string // block to the reason why the server leaves it out
	paths   []string
	seen    bool // the request has thinking blocks
}

// handed remembers what was handed out before a tool call, to notice when it does not come back.
type handed struct {
	model string
	bind  string // state at the start of the answer
	sigs  []string
}

// checkThinkingBlocks judges every thinking block of the request against its own seal.
func (c *checker) checkThinkingBlocks(models []Model, handedOut func(toolUse string) (handed, bool), mayStrip bool) thinkingState {
	states, end := chainBlocks(c.body)
	st := thinkingState{end: end, dropped: map[*node]string{}}
	compacted := false
	dropRest := ""
	for i, m := range c.body.get("messages").items() {
		for j, b := range contentBlocks(m.get("content")) {
			compacted = compacted || b.str("type") == "compaction"
			if !isThinking(b) || m.str("role") != "assistant" {
				continue
			}
			path := at(at("messages", i)+".content", j)
			why := dropRest
			if why == "" {
				why = c.judge(path, b, states[i][j], st.prev, models, compacted)
			}
			if why != "" {
				st.dropped[b] = why
				st.paths = append(st.paths, path)
			}
			if why == "prefix_binding_mismatch" {
				dropRest = why
			}
			st.prev, st.seen = shortHash(signatureOf(b)), true
		}
	}
	if on, _ := c.thinks(); on && !(mayStrip && !st.seen) {
		c.checkHandedBack(states, handedOut)
	}
	return st
}

// judge returns why the server leaves the block out, "" when it keeps it or has refused it.
func (c *checker) judge(path string, b *node, state chain, prev string, models []Model, compacted bool) string {
	typ := b.str("type")
	s, ok := openSeal(signatureOf(b))
	if !ok {
		if signatureOf(b) != "" { // a missing one is reported by another rule
			c.fail("thinking", path, "Invalid `signature` in `%s` block", typ)
		}
		return ""
	}
	if typ == "thinking" && s.Text != "" && s.Text != shortHash(b.str("thinking")) {
		c.fail("thinking", path, "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "+
			"These blocks must remain as they were in the original response.")
		return ""
	}
	from, known := findModel(models, s.Model)
	if !known || !c.model.reads(from) {
		return "model_binding_mismatch"
	}
	if !c.model.Binding || !from.Binding || compacted {
		return ""
	}
	if s.Bind == state.id() && (prev == "" || prev == s.Prev) {
		return ""
	}
	if c.dropsMismatched() {
		return "prefix_binding_mismatch"
	}
	if !slices.ContainsFunc(c.bad, func(v Violation) bool { return v.Rule == "binding" }) {
		c.fail("binding", path, "thinking block does not match the request: `system`, `tools` or an earlier message is not what was sent when the block was produced")
	}
	return ""
}

// checkHandedBack checks that within a running tool-use turn every thinking block that was handed out before a
// tool call came back before it. It says nothing where the prefix changed: there the block had to go.
func (c *checker) checkHandedBack(states [][]chain, handedOut func(string) (handed, bool)) {
	msgs := c.body.get("messages").items()
	for i := len(msgs) - 1; i > 0 && hasResult(msgs[i]); i -= 2 {
		var sigs []string
		for _, b := range contentBlocks(msgs[i-1].get("content")) {
			if isThinking(b) {
				sigs = append(sigs, signatureOf(b))
			}
			if b.str("type") != "tool_use" {
				continue
			}
			h, ok := handedOut(b.str("id"))
			if !ok || h.model != c.model.ID || h.bind != states[i-1][0].id() {
				continue
			}
			if !slices.Equal(h.sigs, sigs) {
				c.fail("thinking", at("messages", i-1), "within a tool-use turn every thinking block must be passed back, unmodified and in order: "+
					"%d of them came before tool_use %s, %d came back", len(h.sigs), b.str("id"), len(sigs))
			}
		}
	}
}

func hasResult(m *node) bool {
	return m.str("role") == "user" && slices.ContainsFunc(contentBlocks(m.get("content")), func(b *node) bool { return b.str("type") == "tool_result" })
}
