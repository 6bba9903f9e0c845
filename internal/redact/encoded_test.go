package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A known value is found in base64, hexadecimal and URL form, wherever it stands among other bytes and however the text is
// broken into lines.
func TestEncodedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9+/_&=-]{16,60}`).Draw(t, "value")
		r := New(false)
		r.Add("KEY", value)
		around := rapid.StringMatching(`[a-z ]{0,7}`)
		text := around.Draw(t, "before") + value + around.Draw(t, "after")
		std := base64.StdEncoding.EncodeToString([]byte(text))
		cols := rapid.IntRange(20, 76).Draw(t, "columns")
		for name, s := range map[string]string{
			"base64": std, "base64url": base64.URLEncoding.EncodeToString([]byte(text)), "hex": hex.EncodeToString([]byte(text)),
			"HEX": strings.ToUpper(hex.EncodeToString([]byte(text))), "query": "x?k=" + url.QueryEscape(value),
			"hex in lines": inLines(hex.EncodeToString([]byte(value)), cols), "base64 in lines": inLines(base64.StdEncoding.EncodeToString([]byte(value)), cols),
		} {
			out := r.String("before " + s + " after")
			if !strings.Contains(out, "[redacted: KEY") {
				t.Fatalf("%s: %q", name, out)
			}
			if again := r.String(out); again != out {
				t.Fatalf("%s: once more it is %q", name, again)
			}
		}
		plain := r.String(value)
		if plain != Mark("KEY") {
			t.Fatalf("plain: %q", plain)
		}
	})
}

// A text that ends within an encoded value is left as it is, at the end of a line, too.
func TestEncodedValueThatIsCut(t *testing.T) {
	r := New(false)
	r.Add("KEY", "a value of some length")
	whole := hex.EncodeToString([]byte("a value of some length"))
	for _, s := range []string{whole[:len(whole)-2], whole[:20] + "\n", whole[:20] + "\r\n"} {
		if got := r.String(s); got != s {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func inLines(s string, cols int) string {
	var b strings.Builder
	for len(s) > cols {
		b.WriteString(s[:cols] + "\n")
		s = s[cols:]
	}
	return b.String() + s
}

func TestShortValuesHaveNoEncodedForms(t *testing.T) {
	r := New(false)
	r.Add("KEY", "short-value")
	if s := base64.StdEncoding.EncodeToString([]byte("short-value")); r.String(s) != s {
		t.Error(r.String(s))
	}
}
