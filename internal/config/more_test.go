package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/config"
)

func TestUnknownKeysAreNamedOnceAndKept(t *testing.T) {
	p := places(t)
	write(t, filepath.Join(p.Config, "settings.json"), `{"model":"x","nonsense":1,"other":{"a":2},"theme":"dark"}`)
	s, err := config.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) != 1 || !strings.HasSuffix(s.Problems[0], "unknown keys, which do nothing: nonsense, other") {
		t.Errorf("problems: %q", s.Problems)
	}
	if string(s.Layers[0].Keys["nonsense"]) != "1" {
		t.Error("an unknown key was dropped")
	}
}

// An administrator's settings stand above everything, and one that cannot be read stops the program.
func TestManaged(t *testing.T) {
	p := places(t)
	p.Managed = []string{t.TempDir(), t.TempDir()}
	dir := p.Managed[1]
	write(t, filepath.Join(dir, "managed-settings.json"), `{"model":"a","permissions":{"deny":["WebFetch"]}}`)
	write(t, filepath.Join(dir, "managed-settings.d/10.json"), `{"model":"b"}`)
	write(t, filepath.Join(dir, "managed-settings.d/20.json"), `{"model":"c","allowManagedPermissionRulesOnly":true}`)
	write(t, filepath.Join(p.Config, "settings.json"), `{"model":"user","permissions":{"allow":["Edit"]}}`)
	p.Inline = `{"model":"inline","permissions":{"allow":["Bash"]}}`
	s, err := config.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.String("model", "", true); got != "c" {
		t.Errorf("model = %q, want c", got)
	}
	rules := s.Permissions().Rules
	if len(rules) != 1 || rules[0].Text != "WebFetch" {
		t.Errorf("rules of others count: %+v", rules)
	}
	write(t, filepath.Join(dir, "managed-settings.d/30.json"), `{"model":`)
	if _, err := config.Load(p); err == nil || !strings.Contains(err.Error(), "30.json:1:") {
		t.Errorf("a broken policy was passed over: %v", err)
	}
}

// Only managed settings may say that only managed rules count.
func TestOthersCannotSwitchRulesOff(t *testing.T) {
	p := places(t)
	write(t, filepath.Join(p.Work, ".claude/settings.json"), `{"allowManagedPermissionRulesOnly":true}`)
	write(t, filepath.Join(p.Config, "settings.json"), `{"permissions":{"deny":["Edit"]}}`)
	s, err := config.Load(p)
	if err != nil || len(s.Permissions().Rules) != 1 {
		t.Errorf("%v, %v", s.Permissions(), err)
	}
}

// A key with a value of the wrong type is named and left out; the deny rules beside it hold.
func TestWrongTypeKeepsTheDenyRules(t *testing.T) {
	p := places(t)
	write(t, filepath.Join(p.Config, "settings.json"), "{\"permissions\":{\n\"allow\":{\"Bash\":true},\n\"deny\":[\"Edit\"],\"ask\":\"Write\",\"defaultMode\":1}}")
	s, err := config.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range s.Permissions().Rules {
		rules = append(rules, fmt.Sprint(r.Effect, " ", r.Text))
	}
	if diff := cmp.Diff([]string{"deny Edit", "ask Write"}, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if len(s.Problems) != 2 || !strings.HasSuffix(s.Problems[0], "settings.json:2: permissions.allow must be a list of texts (ignored)") {
		t.Errorf("problems: %q", s.Problems)
	}
}

func TestEffective(t *testing.T) {
	p := places(t)
	p.Trusted = false
	write(t, filepath.Join(p.Config, "settings.json"), "{\n\"model\":\"user\",\n\"permissions\":{\"deny\":[\"A\"]}}")
	write(t, filepath.Join(p.Work, ".claude/settings.json"), "{\"model\":\"project\",\"effortLevel\":\"low\",\"permissions\":{\"deny\":[\"B\"],\"allow\":[\"C\"]},\"x\":1}")
	write(t, filepath.Join(p.State, "settings.json"), "{\"effortLevel\":\"high\"}")
	s, err := config.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range s.Effective() {
		used := "used"
		if !v.Used {
			used = strings.ReplaceAll(v.Why, filepath.Dir(p.Work), "…")
		}
		got = append(got, v.Key+" "+string(v.Value)+" "+string(v.Scope)+" "+used)
	}
	want := []string{
		`effortLevel "low" project used`, `effortLevel "high" user overridden by …/work/.claude/settings.json:1`,
		`model "project" project the project is not trusted`, `model "user" user used`,
		`permissions.allow ["C"] project the project is not trusted`,
		`permissions.deny ["B"] project used`, `permissions.deny ["A"] user used`,
		`x 1 project unknown key`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWatcher(t *testing.T) {
	p := places(t)
	now := time.Unix(1000, 0)
	file := filepath.Join(p.Work, ".claude/settings.json")
	write(t, file, `{"model":"one"}`)
	w := config.NewWatcher(p, func() time.Time { return now })
	look := func() string {
		now = now.Add(2 * time.Second)
		s, err := w.Changed()
		switch {
		case err != nil:
			return err.Error()
		case s == nil:
			return "same"
		}
		return s.String("model", "none", true)
	}
	if got := look(); got != "same" {
		t.Errorf("nothing changed: %s", got)
	}
	write(t, file, `{"model":"other"}`)
	if got := look(); got != "other" {
		t.Errorf("changed: %s", got)
	}
	write(t, filepath.Join(p.State, "settings.json"), `{"model":"lower"}`)
	if got := look(); got != "other" {
		t.Errorf("another file came: %s", got)
	}
	if got := look(); got != "same" {
		t.Errorf("told twice: %s", got)
	}
}

func TestSchemaIsReadable(t *testing.T) {
	var doc struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(config.Schema, &doc); err != nil || len(doc.Properties) < 100 {
		t.Errorf("%d properties, %v", len(doc.Properties), err)
	}
}

// Trust is bound to what the project's files grant: layout and restrictions do not count, any grant does.
func TestGrantsHash(t *testing.T) {
	p := places(t)
	file := filepath.Join(p.Work, ".claude/settings.json")
	hash := func(text string) string {
		write(t, file, text)
		s, err := config.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		return config.GrantsHash(s.Grants(p.Work), p.Work)
	}
	base := hash(`{"permissions":{"allow":["A"],"deny":["B"]},"env":{"X":"1"},"hooks":{"Stop":[]},"theme":"dark"}`)
	for name, text := range map[string]string{
		"other layout":   "{\n // why\n\"env\": {\"X\":\"1\"}, \"hooks\": {\"Stop\": []},\n \"permissions\": {\"deny\":[\"B\"], \"allow\":[\"A\"]}}",
		"more denied":    `{"permissions":{"allow":["A"],"deny":["B","C"]},"env":{"X":"1"},"hooks":{"Stop":[]}}`,
		"no power in it": `{"permissions":{"allow":["A"]},"env":{"X":"1"},"hooks":{"Stop":[]},"theme":"light","unknown":1}`,
	} {
		if hash(text) != base {
			t.Errorf("%s changes the hash", name)
		}
	}
	for name, text := range map[string]string{
		"another rule":  `{"permissions":{"allow":["A","Z"],"deny":["B"]},"env":{"X":"1"},"hooks":{"Stop":[]}}`,
		"another value": `{"permissions":{"allow":["A"]},"env":{"X":"2"},"hooks":{"Stop":[]}}`,
		"another hook":  `{"permissions":{"allow":["A"]},"env":{"X":"1"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"evil"}]}]}}`,
		"a helper":      `{"permissions":{"allow":["A"]},"env":{"X":"1"},"hooks":{"Stop":[]},"apiKeyHelper":"x"}`,
		"a variable":    `{"permissions":{"allow":["A"]},"env":{"X":"1"},"hooks":{"Stop":[]},"httpHookAllowedEnvVars":["SECRET"]}`,
		"an address":    `{"permissions":{"allow":["A"]},"env":{"X":"1"},"hooks":{"Stop":[]},"allowedHttpHookUrls":["*"]}`,
		"no hooks":      `{"permissions":{"allow":["A"]},"env":{"X":"1"},"hooks":{"Stop":[]},"disableAllHooks":true}`,
		"a mode":        `{"permissions":{"allow":["A"],"defaultMode":"acceptEdits"},"env":{"X":"1"},"hooks":{"Stop":[]}}`,
	} {
		if hash(text) == base {
			t.Errorf("%s does not change the hash", name)
		}
	}
	write(t, filepath.Join(p.Work, ".mcp.json"), `{"mcpServers":{}}`)
	if hash(`{"permissions":{"allow":["A"],"deny":["B"]},"env":{"X":"1"},"hooks":{"Stop":[]}}`) == base {
		t.Error("a file of servers does not change the hash")
	}
}

// Every key that counts from trusted files only is among what trust is asked about, and shown as not counting without it.
func TestWhatCountsOnlyWithTrust(t *testing.T) {
	dir := t.TempDir()
	keys := []string{"agent", "statusLine", "fileSuggestion", "model", "hooks", "trace", "redactPatterns", "env"}
	text := `{"agent":"x","statusLine":{"type":"command","command":"x"},"fileSuggestion":{"type":"command","command":"x"},"model":"x","hooks":{},"trace":true,"redactPatterns":["x"],"env":{"A":"b"},"theme":"dark"}`
	if err := os.MkdirAll(filepath.Join(dir, ".lathe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".lathe/settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Load(config.Places{Work: dir})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, g := range s.Grants(dir) {
		key, _, _ := strings.Cut(g.Key, ".")
		asked[key] = true
	}
	counts := map[string]bool{}
	for _, v := range s.Effective() {
		key, _, _ := strings.Cut(v.Key, ".")
		counts[key] = counts[key] || v.Used
	}
	for _, key := range keys {
		if !asked[key] || counts[key] {
			t.Errorf("%s: asked about %v, counts %v", key, asked[key], counts[key])
		}
	}
	if asked["theme"] || !counts["theme"] {
		t.Error("a theme is a matter of trust")
	}
}
