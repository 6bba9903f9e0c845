package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// Each command of docs/mcp.md is understood, and the one that runs a prompt does.
func TestServerDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	lines := regexp.MustCompile(`(?m)^    lathe (.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(lines) < 6 {
		t.Fatalf("%d examples", len(lines))
	}
	for _, m := range lines {
		args := words(m[1])
		o := r.run(args...)
		switch {
		case strings.HasPrefix(m[1], "mcp login"), strings.HasPrefix(m[1], "mcp list"): // there is no such server on the web
		case o.code != 0:
			t.Errorf("lathe %s: exit code %d\n%s", m[1], o.code, o.err)
		}
		if strings.Contains(o.err, "usage:") || strings.Contains(o.err, "unknown") {
			t.Errorf("lathe %s: %s", m[1], o.err)
		}
	}
	if names := toolNames(t, r.last()); !strings.Contains(strings.Join(names, " "), "mcp__notes__echo") {
		t.Errorf("tools %v", names)
	}
	r.legal()
}

// words splits a line as a shell does, without more than quotes.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}
