package mcp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)
})

// Expand puts the environment's values for ${VAR} and ${VAR:-default} in the entry's texts. A variable that is not set
// and has no default stays as it is written, and is named in the problems. What is sent to a remote server never holds
// the credentials by which this machine is known elsewhere: they become empty.
func (c Config) Expand(getenv func(string) string) (Config, []Problem) {
	e := expander{getenv: getenv, missing: map[string]bool{}, refused: map[string]bool{}}
	c.Command = e.text(c.Command)
	c.Args = slices.Clone(c.Args)
	for i, a := range c.Args {
		c.Args[i] = e.text(a)
	}
	c.Env = e.values(c.Env)
	e.remote = true
	c.URL = e.text(c.URL)
	c.Headers = e.values(c.Headers)
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(e.missing)) {
		problems = append(problems, Problem{c.Name, "invalid_config", fmt.Sprintf("${%s} is not set and has no default, so it stays as it is written", name)})
	}
	for _, name := range slices.Sorted(maps.Keys(e.refused)) {
		problems = append(problems, Problem{c.Name, "invalid_config", fmt.Sprintf("${%s} is a credential of another service and is not sent to this server: it is empty here", name)})
	}
	return c, problems
}

type expander struct {
	getenv           func(string) string
	remote           bool
	missing, refused map[string]bool
}

func (e *expander) values(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = e.text(v)
	}
	return out
}

func (e *expander) text(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	return variable().ReplaceAllStringFunc(s, func(ref string) string {
		m := variable().FindStringSubmatch(ref)
		name := m[1]
		if e.remote && credential(name) {
			e.refused[name] = true
			return ""
		}
		switch v := e.getenv(name); {
		case v != "":
			return v
		case m[2] != "":
			return m[3]
		}
		e.missing[name] = true
		return ref
	})
}

// credential reports whether a variable holds what signs this machine in to a model's API, a cloud, a proxy or a
// package registry.
func credential(name string) bool {
	switch name = strings.ToUpper(name); name {
	case "NPM_TOKEN", "NODE_AUTH_TOKEN", "PYPI_TOKEN", "TWINE_PASSWORD", "CARGO_REGISTRY_TOKEN",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "MCP_CLIENT_SECRET",
		"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_ACCESS_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PASSWORD":
		return true
	}
	secret := strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN") || strings.Contains(name, "SECRET") || strings.Contains(name, "PASSWORD") || strings.Contains(name, "CREDENTIAL")
	for _, owner := range []string{"ANTHROPIC_", "CLAUDE_", "LATHE_", "AWS_", "OPENAI_", "OPENROUTER_", "GEMINI_", "AZURE_OPENAI_"} {
		if secret && strings.HasPrefix(name, owner) {
			return true
		}
	}
	return false
}
