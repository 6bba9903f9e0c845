package fakeapi

import "net/http"

// Check applies the rules that need no server to one body of a model call, for the public models: the judge for
// property tests of whatever makes requests. The header may be nil; then only its feature headers are missing.
// Signatures of thinking are checked only for being there, since no server handed them out.
func Check(header http.Header, body []byte) []Violation {
	c := &checker{header: header, version: header.Get("anthropic-version")}
	c.checkBetas(nil)
	root, err := parseNode(body)
	if err != nil {
		c.fail("json", "", "%v", err)
		return c.bad
	}
	c.body = root
	m, ok := findModel(Models(), root.str("model"))
	if !ok {
		c.failAs(http.StatusNotFound, "not_found_error", "model", "", "model: %s", root.str("model"))
		return c.bad
	}
	c.model = m
	c.run()
	return c.bad
}
