package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/place"
)

// Prices are the user's own, and a project's files set none.
func TestPrices(t *testing.T) {
	const model = "claude-sonnet-5-5"
	cost := func(user, project, flag string) (float64, string) {
		t.Helper()
		config, work := t.TempDir(), t.TempDir()
		for path, text := range map[string]string{
			filepath.Join(config, "settings.json"): user, filepath.Join(work, ".claude", "settings.json"): project,
		} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := place.Find(place.Options{
			Dir: work, Settings: flag, Trust: true, Env: map[string]string{"LATHE_HOME": t.TempDir(), "CLAUDE_CONFIG_DIR": config},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p.Prices().Cost(model, msg.Usage{Input: 1_000_000}), strings.Join(p.Notes, "\n")
	}
	plain, _ := cost("{}", "{}", "")
	for _, c := range []struct {
		user, project, flag string
		want                float64
		note                string
	}{
		{`{"modelPricing":{"multiplier":0.5}}`, "{}", "", plain / 2, ""},
		{`{"modelPricing":{"overrides":{"claude-sonnet-5-5":{"input":7}}}}`, "{}", "", 7, ""},
		{`{"modelPricing":{"multiplier":2,"overrides":{"claude-sonnet-5-5":{"input":7}}}}`, "{}", `{"modelPricing":{"overrides":{"claude-sonnet-5-5":{"input":9}}}}`, 18, ""},
		{`{"modelPricing":{"multiplier":2}}`, "{}", `{"modelPricing":{"multiplier":3}}`, 3 * plain, ""},
		{"{}", `{"modelPricing":{"multiplier":0.5}}`, "", plain, ""},
		{`{"modelPricing":{"multiplier":11}}`, "{}", "", plain, "settings.json:1: modelPricing has a multiplier of 11"},
		{`{"modelPricing":{"multiplier":0}}`, "{}", "", plain, "a multiplier of 0"},
		{`{"modelPricing":{"overrides":{"claude-sonnet-5-5":{"input":-1}}}}`, "{}", "", plain, "a price below 0 for claude-sonnet-5-5"},
		{`{"modelPricing":[]}`, "{}", "", plain, "must be an object"},
		{`{"modelPricing":null}`, "{}", "", plain, ""},
	} {
		got, notes := cost(c.user, c.project, c.flag)
		if got != c.want || (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s %s %s: %v, want %v; notes %q, want %q", c.user, c.project, c.flag, got, c.want, notes, c.note)
		}
	}
}
