package agent_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

var fence = regexp.MustCompile("(?sm)^```(go|json)\n(.*?)^```$")

// Each Go snippet of docs/library.md is the body of an example, which the tests run.
func TestLibraryDocs(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := flat(string(source))
	n := 0
	for _, block := range blocks(t, "library.md", "go") {
		n++
		if !strings.Contains(examples, flat(block)) {
			t.Errorf("this is no example of the package:\n%s", block)
		}
	}
	if n < 6 {
		t.Errorf("docs/library.md has only %d snippets", n)
	}
}

// Each configuration in docs/editors.md is JSON that starts lathe acp.
func TestEditorDocs(t *testing.T) {
	all := blocks(t, "editors.md", "json")
	if len(all) < 2 {
		t.Errorf("docs/editors.md has only %d configurations", len(all))
	}
	for _, block := range all {
		var c struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"agent_servers"`
		}
		if err := json.Unmarshal([]byte(block), &c); err != nil {
			t.Errorf("%v\n%s", err, block)
			continue
		}
		if s := c.Servers["Lathe"]; s.Command != "lathe" || len(s.Args) == 0 || s.Args[0] != "acp" {
			t.Errorf("it does not start lathe acp:\n%s", block)
		}
	}
}

func blocks(t *testing.T, page, lang string) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[1] == lang {
			out = append(out, m[2])
		}
	}
	return out
}

// flat is code without its indentation and empty lines.
func flat(code string) string {
	var out []string
	for _, line := range strings.Split(code, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
