package term

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// all decodes bytes in pieces, and takes at the end what waits.
func all(pieces ...string) []Event {
	var d Decoder
	var out []Event
	for _, p := range pieces {
		out = append(out, d.Feed([]byte(p))...)
	}
	return append(out, d.Flush()...)
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "A": "A", "é": "é", "日": "日", " ": "space", "\r": "enter", "\t": "tab", "\x7f": "backspace", "\x1b": "esc", "\x1b\x1b": "esc esc",
		"\x01": "ctrl+a", "\x0a": "ctrl+j", "\x00": "ctrl+space", "\x1f": "ctrl+_", "\x1ba": "alt+a", "\x1b\r": "alt+enter", "\x1b\x7f": "alt+backspace",
		"\x1b[A": "up", "\x1bOB": "down", "\x1b[1;5C": "ctrl+right", "\x1b[1;3D": "alt+left", "\x1b[Z": "shift+tab", "\x1b[3~": "delete", "\x1b[5;5~": "ctrl+pgup",
		"\x1b[13;2u": "shift+enter", "\x1b[97;5u": "ctrl+a", "\x1b[27u": "esc", "\x1b[97;1:3u": "", "\x1b[57441u": "", "\x1b[27;2;13~": "shift+enter",
		"\x1b[97:65;2;65u": "A", "\x1b[?1u": "report kitty", "\x1b[24;80R": "report cursor", "\x1b]11;rgb:0000/0000/0000\a": "report background",
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\": "report background", "\x1b[I": "focus true", "\x1b[O": "focus false", "\x1b[<64;3;4M": "mouse 64 2,3", "\x1b[<0;1;1m": "mouse 0 0,0 up",
		"\x1b[200~a\rb\r\nc\x1b[201~x": "paste a\nb\nc| x", "\x1b[200~\x1b[A\x1b[201~": "paste \x1b[A|", "\x1b[": "alt+[", "\x1bO": "alt+shift+o", "\xff": "", "\x1b[99999999": "",
		"\x1b[8;24;80t": "report size", "\x1b[8t": "report size", "\x1b[t": "report size", "\x1b[99999;1R": "report cursor", "\x1b[0;0R": "report cursor",
		"\x1b[1;1R": "f3 or a row", "\x1b[1;80R": "f3 or a row", "\x1bOR": "f3", "\x1b[R": "f3", "\x1b[13~": "f3", "\x1b[1;5:1R": "ctrl+f3", "\x1b[1;5:3R": "",
		"\x1b[200~a\x1b[8;24;80t\x1b[1;1R\x1b[201~": "paste a\x1b[8;24;80t\x1b[1;1R|",
		"\x1b[1;5": "", "x\x1b[38;5": "x", "\x1bP>|term 1\x1b\\": "report version", "\x1b_junk\x1b\\a": "a",
	} {
		if got := strings.Join(words(all(in)), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func words(list []Event) []string {
	var out []string
	for _, e := range list {
		switch e := e.(type) {
		case Key:
			s := e.String()
			if e.MayBeRow {
				s = "f3 or a row"
			}
			out = append(out, s)
		case Paste:
			out = append(out, "paste "+e.Text+"|")
		case Focus:
			out = append(out, fmt.Sprintf("focus %v", e.In))
		case Report:
			out = append(out, "report "+e.Kind)
		case Mouse:
			s := fmt.Sprintf("mouse %d %d,%d", e.Button, e.X, e.Y)
			if e.Release {
				s += " up"
			}
			out = append(out, s)
		}
	}
	return out
}

// TestSplit decodes the same bytes in pieces of any size: the events are the same.
func TestSplit(t *testing.T) {
	parts := []string{"a", "日本", "\x1b[A", "\x1b[1;5C", "\x1b[200~pasted 🙂\rtext\x1b[20\x1b[201~", "\r", "\x1b[13;2u", "\x1b[<64;3;4M", "\x1b]11;rgb:0/0/0\x1b\\", "\x1bb", "é", "\x03"}
	for seed := range 500 {
		r := rand.New(rand.NewSource(int64(seed)))
		var b strings.Builder
		for range 12 {
			b.WriteString(parts[r.Intn(len(parts))])
		}
		s := b.String()
		var pieces []string
		for rest := s; rest != ""; {
			n := 1 + r.Intn(min(len(rest), 4))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(all(s), all(pieces...)); diff != "" {
			t.Fatalf("%q in pieces %q: %s", s, pieces, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x1b[200~x"), uint8(3))
	f.Add([]byte("\x1b[8;24;80t\x1b[8t\x1b[1;1R"), uint8(5))
	f.Add([]byte("\x1b[99999999999999999999;-1R\x1b[8;0;0t"), uint8(9))
	f.Add([]byte("\x1b[1;5C\x1b]11;rgb:\x1b\\"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		var d Decoder
		d.Feed(b[:min(len(b), int(n))])
		d.Feed(b[min(len(b), int(n)):])
		d.Flush()
		if d.Pending() {
			t.Errorf("%q waits for ever", b)
		}
	})
}

func BenchmarkPaste(b *testing.B) {
	text := "\x1b[200~" + strings.Repeat("some text that was pasted\r", 40_000) + "\x1b[201~"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var d Decoder
		for i := 0; i < len(text); i += 4096 {
			d.Feed([]byte(text[i:min(len(text), i+4096)]))
		}
	}
}
