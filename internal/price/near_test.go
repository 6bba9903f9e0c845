package price

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	for name, want := range map[string]string{
		"opsu": "opus", "sonet": "sonnet", "haiku": "", "HAIKUU": "haiku", "claude-opus-5-5": "", "claude-opsu-5-5": "claude-opus-5-5",
		"claude-haiku-4-5-20251001": "", "us.anthropic.claude-opus-5-5-v1:0": "", "qwen3-coder": "", "llama": "", "": "", "x": "",
		"sonnet[1m]": "", "sonett[1m]": "sonnet", "opxy": "", "haixy": "", "sonnxx": "sonnet",
	} {
		got := Default().Near(name)
		if first := strings.Join(got[:min(1, len(got))], ""); first != want {
			t.Errorf("Near(%q) = %q, want %q first", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "ab", 2},
		{"ab", "", 2},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "bac", 1},
		{"abc", "acb", 1},
		{"ab", "ba", 1},
		{"abc", "bca", 2},
		{"abcd", "badc", 2},
		{"ab", "xa", 2},
		{"ab", "bx", 2},
		{"aab", "aba", 1},
		{"abcd", "acxd", 2},
		{"abcd", "axbd", 2},
		{"a", "b", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
