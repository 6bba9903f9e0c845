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
