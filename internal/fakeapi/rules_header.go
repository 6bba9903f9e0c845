package fakeapi

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// knownBetas are the feature headers of the public documents; any other one is refused, as the API does.
func knownBetas() []string {
	return []string{
		"context-management-2025-06-27", "compact-2026-01-12", "compact-2026-09-04",
		"server-side-fallback-2026-07-01", "thinking-binding-controls-2026-08-01", "thinking-display-updates-2026-08-18",
		"interleaved-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14",
		fastBeta, "mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15",
		"mid-conversation-output-config-2026-07-01", "mid-conversation-system-clear-at-2026-08-21",
	}
}

// fastBeta is the feature header of fast mode, which some models need for it.
const fastBeta = "fast-mode-2026-02-01"

// apiKey returns the key or bearer token of a request.
func apiKey(h http.Header) string {
	if k := h.Get("x-api-key"); k != "" {
		return k
	}
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// checkAuth checks the key; keys lists the accepted ones, none means that any key is good.
func (c *checker) checkAuth(keys []string) {
	key := apiKey(c.header)
	switch {
	case key == "":
		c.failAs(http.StatusUnauthorized, "authentication_error", "auth", "", "x-api-key or Authorization header is required")
	case len(keys) > 0 && !slices.Contains(keys, key):
		c.failAs(http.StatusUnauthorized, "authentication_error", "auth", "", "invalid x-api-key")
	}
	for _, name := range []string{"X-Api-Key", "Authorization", "Anthropic-Version", "Content-Type"} {
		if len(c.header.Values(name)) > 1 {
			c.fail("header", strings.ToLower(name), "was sent more than once")
		}
	}
}

func (c *checker) checkVersion() {
	c.version = c.header.Get("anthropic-version")
	switch c.version {
	case "2023-06-01", "2026-10-21":
	case "":
		c.fail("header", "anthropic-version", "header is required")
	default:
		c.fail("header", "anthropic-version", "%q is not a valid version", c.version)
	}
}

func (c *checker) checkContentType() {
	typ, params, err := mime.ParseMediaType(c.header.Get("content-type"))
	if err != nil || typ != "application/json" {
		c.fail("header", "content-type", "must be application/json, not %q", c.header.Get("content-type"))
	}
	if cs := params["charset"]; cs != "" && !strings.EqualFold(cs, "utf-8") {
		c.fail("header", "content-type", "charset must be utf-8, not %q", cs)
	}
}

func (c *checker) checkBetas(also []string) {
	known := append(knownBetas(), also...)
	for _, line := range c.header.Values("anthropic-beta") {
		for b := range strings.SplitSeq(line, ",") {
			b = strings.TrimSpace(b)
			if !slices.Contains(known, b) {
				c.fail("header", "anthropic-beta", "Unexpected value(s) `%s` for the `anthropic-beta` header", b)
			}
			if slices.Contains(c.betas, b) {
				c.fail("header", "anthropic-beta", "has %s twice", b)
			}
			c.betas = append(c.betas, b)
		}
	}
}
