package app

import (
	"testing"
)

// The Anthropic API searches; another server is only taken to where somebody names the tool.
func TestWhereSearchIsOffered(t *testing.T) {
	for _, c := range []struct {
		base  string
		tools []string
		rules []string
		want  bool
	}{
		{"", nil, nil, true},
		{"https://api.anthropic.com", nil, nil, true},
		{"https://eu.api.anthropic.com/x", nil, nil, true},
		{"https://anthropic.com.example.org", nil, nil, false},
		{"https://notanthropic.com", nil, nil, false},
		{"http://127.0.0.1:1", nil, nil, false},
		{"http://127.0.0.1:1", []string{"Read,WebSearch"}, nil, true},
		{"http://127.0.0.1:1", nil, []string{"Read, WebSearch"}, true},
		{"", []string{"Read"}, nil, false},
	} {
		t.Setenv("ANTHROPIC_BASE_URL", c.base)
		t.Setenv("ANTHROPIC_API_KEY", "k")
		o := demoOptions(t.TempDir())
		o.Recording, o.Tools, o.Allowed = nil, c.tools, c.rules
		r, err := newRun(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := r.tools.registry.Get("WebSearch"); got != c.want {
			t.Errorf("%+v: offered %v", c, got)
		}
		r.close()
	}
}
