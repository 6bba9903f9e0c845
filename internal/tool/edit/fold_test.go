package edit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzApply: an inexact match changes what the fold of the text says, and nothing else.
func FuzzApply(f *testing.F) {
	f.Add("say(“hello”) it’s", "say(\"hello\") it's", "say(\"bye\") it's")
	f.Add("cafe\u0301 \u00a0x  \nb", "café  x\nb", "tea\nb")
	f.Add("a  \r\nb \nc", "a\nb\nc", "a\nX\nc")
	f.Add("x\u00a0", "x ", "y")
	f.Fuzz(func(t *testing.T, body, old, new string) {
		body, old, new = strings.ToValidUTF8(body, "?"), strings.ToValidUTF8(old, "?"), strings.ToValidUTF8(new, "?")
		got, err := apply(body, Input{OldString: old, NewString: new})
		if err != nil || !strings.Contains(got.note, "matched but for") {
			return
		}
		fb, fo, fn := fold(body).text, fold(old).text, fold(new).text
		at := strings.Index(fb, fo)
		want := fold(fb[:at] + fn + fb[at+len(fo):]).text
		if have := fold(got.text).text; have != want {
			t.Fatalf("%q with %q for %q is %q: fold %q, want %q", body, new, old, got.text, have, want)
		}
	})
}

// The same on texts that are full of what folds.
func TestFoldProperty(t *testing.T) {
	variants := [][]string{{"a"}, {"b"}, {" ", "\u00a0", "\u2003"}, {"\"", "“", "”"}, {"'", "’"}, {"\n", "\r\n", " \n", "\t\r\n"}, {"é", "e\u0301"}, {"\t"}}
	letters := rapid.SliceOfN(rapid.IntRange(0, len(variants)-1), 1, 10)
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		spell := func(name string, list []int) string {
			var b strings.Builder
			for _, i := range list {
				b.WriteString(rapid.SampledFrom(variants[i]).Draw(t, name))
			}
			return b.String()
		}
		list, news := letters.Draw(t, "letters"), letters.Draw(t, "new")
		from := rapid.IntRange(0, len(list)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(list)).Draw(t, "to")
		body, old, new := spell("body", list), spell("old", list[from:to]), spell("new", news)
		got, err := apply(body, Input{OldString: old, NewString: new})
		if err != nil || got.note == "" {
			return
		}
		matched++
		fb, fo, fn := fold(body).text, fold(old).text, fold(new).text
		at := strings.Index(fb, fo)
		want := fold(fb[:at] + fn + fb[at+len(fo):]).text
		if have := fold(got.text).text; have != want {
			t.Fatalf("%q with %q for %q is %q: fold %q, want %q", body, new, old, got.text, have, want)
		}
	})
	if matched == 0 {
		t.Error("nothing was matched")
	}
	t.Log(matched, "matched")
}
