package fakeapi

// mark is one cache_control in the order in which the cache reads the request.
type mark struct {
	path string
	ttl  string
}

const maxMarks = 4

// checkMarks checks every cache_control: shape, number, places and the order of lifetimes.
func (c *checker) checkMarks() {
	var marks []mark
	add := func(path string, n *node) {
		if n == nil {
			return
		}
		marks = append(marks, mark{path, c.checkMark(path+".cache_control", n)})
	}
	for i, t := range c.body.get("tools").items() {
		add(at("tools", i), t.get("cache_control"))
	}
	for i, b := range c.body.get("system").items() {
		add(at("system", i), b.get("cache_control"))
	}
	for i, m := range c.body.get("messages").items() {
		for j, b := range m.get("content").items() {
			path := at(at("messages", i)+".content", j)
			n := b.get("cache_control")
			add(path, n)
			if typ := b.str("type"); n != nil && (typ == "thinking" || typ == "redacted_thinking") {
				c.fail("cache", path, "cache_control cannot be set on `%s` blocks", typ)
			}
			if n != nil && b.str("type") == "text" && b.str("text") == "" {
				c.fail("cache", path, "cache_control cannot be set for empty text blocks")
			}
			for k, in := range b.get("content").items() {
				if in.get("cache_control") != nil {
					c.fail("cache", at(path+".content", k), "cache_control cannot be set on a block inside another")
				}
			}
		}
	}
	if n := c.body.get("cache_control"); n != nil {
		marks = append(marks, mark{"", c.checkMark("cache_control", n)})
	}
	if len(marks) > maxMarks {
		c.fail("cache", "", "A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarks, len(marks))
	}
	short := false
	for _, m := range marks {
		if m.ttl == "1h" && short {
			c.fail("cache", m.path, "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		short = short || m.ttl == "5m"
	}
}

func (c *checker) checkMark(path string, n *node) (ttl string) {
	if !c.kindOf(path, n, 'o') {
		return "5m"
	}
	c.fields(path, n, "type ttl")
	if n.str("type") != "ephemeral" {
		c.fail("cache", path+".type", "Input should be 'ephemeral'")
	}
	switch ttl := n.get("ttl"); {
	case ttl == nil || ttl.text() == "5m":
		return "5m"
	case ttl.text() == "1h":
		return "1h"
	}
	c.fail("cache", path+".ttl", "Input should be '5m' or '1h'")
	return "5m"
}
