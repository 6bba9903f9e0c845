//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// documented are the lines of a page that begin with lathe, or pipe into it, without the words behind two blanks.
var documented = regexp.MustCompile(`(?m)^(?:    |\$ )((?:git diff \| )?lathe(?: \S+)*)(?:  .*)?$`)

// The commands of README.md and the pages that need nothing but an API are run as they stand, one after the other in one
// directory. What else than success is right is said here.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: there is no sh on this machine")
	}
	codes := map[string]int{
		"lathe permissions check": 2, // it would be asked for
		"lathe -p '/rewind":       1, // nothing was kept in print mode
		"lathe -p \"list the":     1, // the fake gives no answer of that form
		"lathe config KEY":        1,
	}
	other := regexp.MustCompile(`^lathe( -[cr])?$|[<[…]|jq|/release|demo|\.png| acp|--permission-mode plan|--input-format|inspect --web|dev fake-api`) // forms, screens, servers, other programs
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.file("log.txt", "a line\n")
	r.file("parser.go", "package main\n")
	r.file("my file.txt", "text\n")
	r.file("b/c.txt", "text\n")
	r.file(".lathe/commands/review.md", "Review $1 with $2.\n")
	r.file("cases.jsonl", `{"id":"1","tool":"Bash","input":{"command":"ls"},"expect":"allow"}`+"\n")
	git := exec.Command("git", "init", "-q", r.dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: the pages pipe from git, which is not here: %v\n%s", err, out)
	}
	ran := 0
	for _, page := range []string{"README", "docs/agents", "docs/commands", "docs/permissions", "docs/prompts", "docs/rewind", "docs/sessions", "docs/settings"} {
		text, err := os.ReadFile("../" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
			line, _, _ := strings.Cut(m[1], "  ")
			if other.MatchString(line) {
				continue
			}
			want := 0
			for prefix, code := range codes {
				if strings.HasPrefix(line, prefix) {
					want = code
				}
			}
			cmd := r.command()
			cmd.Path, cmd.Args = sh, []string{"sh", "-c", line}
			o := r.launch(cmd).wait()
			if o.code != want || strings.Contains(o.err, "usage:") || strings.Contains(o.err, "unknown") {
				t.Errorf("%s.md: %s: exit code %d, want %d\n%s", page, line, o.code, want, o.err)
			}
			t.Log(line)
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d commands were found", ran)
	}
	r.legal()
}
