package agent_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var fence = regexp.MustCompile("(?sm)^```(go)\n(.*?)^```$")

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
