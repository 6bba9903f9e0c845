package event_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
)

func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\r\nof é 😀 👩‍👩‍👧 \u0628\u200c": "plain\ttext\r\nof é 😀 👩‍👩‍👧 \u0628\u200c",
		"\x1b[31mred\x1b[0m":                    "␛[31mred␛[0m",
		"\x1b]52;c;ZXZpbA==\a":                  "␛]52;c;ZXZpbA==␇",
		"\x1b]8;;http://evil\x1b\\x\x1b]8;;\a":  "␛]8;;http://evil␛\\x␛]8;;␇",
		"a\rb\bc\x7f\x00":                       "a␍b␈c␡␀",
		"\u009b31m\u009d0;t\u009c":              "<U+009B>31m<U+009D>0;t<U+009C>",
		"file\u202etxt.exe\u2066\u200b":         "file<U+202E>txt.exe<U+2066><U+200B>",
		"\x9b31m\xff":                           "<9b>31m<ff>",
		"\U000e0041\ufeff":                      "<U+E0041><U+FEFF>",
		"\ufffd stays when it was there before": "\ufffd stays when it was there before",
	} {
		if got := event.Inert(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	if got := event.InertLine("a\nb\tc\x1b"); got != "a␊b␉c␛" {
		t.Errorf("%q", got)
	}
}

// FuzzInert: whatever comes, nothing is left that acts on a terminal, nothing is done twice, and JSON says the same.
func FuzzInert(f *testing.F) {
	for _, s := range []string{"", "\x1b[2J", "\x9b", "\u202e", "é\r\n", "\xe2\x80", "\u009b", "{\"a\":\"\u009b\u202e\U000e0001\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := event.Inert(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q became %q, no UTF-8", s, got)
		}
		for i, r := range got {
			if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' && (r != '\r' || i+1 >= len(got) || got[i+1] != '\n') ||
				unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q became %q, with %U", s, got, r)
			}
		}
		if event.Inert(got) != got {
			t.Fatalf("%q became %q and then %q", s, got, event.Inert(got))
		}
		var before, after any
		var compact bytes.Buffer
		if utf8.ValidString(s) && json.Compact(&compact, []byte(s)) == nil && json.Unmarshal([]byte(s), &before) == nil {
			s = compact.String()
			if err := json.Unmarshal([]byte(event.InertJSON(s)), &after); err != nil || !cmp.Equal(before, after) {
				t.Fatalf("%q became %q: %v", s, event.InertJSON(s), err)
			}
		}
	})
}
