package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clean makes text of what programs write to a terminal, as Output does.
func clean(b []byte) string {
	var out []byte
	c := cleaner{emit: func(p []byte) { out = append(out, p...) }}
	c.write(b)
	c.flush()
	return string(out)
}

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"text", "a\tb\nc\n", "a\tb\nc\n"},
		{"colours", "\x1b[1;31mred\x1b[0m plain", "red plain"},
		{"title", "\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "textlink"},
		{"charset and modes", "\x1b(B\x1b=\x1b[?25lx\x1b7y\x1b8", "xy"},
		{"unfinished string", "a\x1b]0;never\nb", "a\nb"},
		{"escape in escape", "a\x1b\x1b[31mb", "ab"},
		{"CRLF", "a\r\nb\r\r\nc", "a\nb\nc"},
		{"progress bar", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress bar, last state kept", "10%\r50%\r", "50%"},
		{"progress bar after lines", "x\ny\n1\r2\n", "x\ny\n2\n"},
		{"backspace", "ab\bc N\bNAME\x08\x08", "ac NA"},
		{"NUL and controls", "a\x00b\x01\x7fc\x0cd", "abcd"},
		{"invalid", "a\xff\xfe\xfdb\xc3", "a\uFFFDb\uFFFD"},
		{"C1 controls", "a\u0085\u009bb", "ab"},
		{"wide", "日本語 🎉 é", "日本語 🎉 é"},
		{"cut character", "\xe6\x97x", "\uFFFDx"},
		{"incomplete character, then escape", "\xe6\x1b[0mx", "\uFFFDx"},
	}
	for _, tt := range tests {
		if got := clean([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Whatever comes, and in whatever pieces, the text is the same, valid, and without control characters.
func TestCleanInPieces(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(), rapid.SampledFrom([]string{"\r", "\n", "\r\n", "\x1b[31m", "\x1b]0;x\x07", "\x1b", "\b", "\xff", "\xe6\x97", "日本", "\x00"}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
		want := clean(in)
		if !utf8.ValidString(want) || strings.ContainsFunc(want, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("not clean: %q", want)
		}
		var got []byte
		c := cleaner{emit: func(p []byte) { got = append(got, p...) }}
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			c.write(rest[:n])
			rest = rest[n:]
		}
		c.flush()
		if string(got) != want {
			t.Fatalf("in pieces %q, at once %q", got, want)
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\r\n\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		once := clean(in)
		if !utf8.ValidString(once) || clean([]byte(once)) != once {
			t.Errorf("%q: %q is not stable", in, once)
		}
	})
}

func TestLongLineIsPassedOn(t *testing.T) {
	var got []byte
	c := cleaner{emit: func(p []byte) { got = append(got, p...) }}
	c.write(bytes.Repeat([]byte("x"), maxPending+1))
	if len(got) != maxPending+1 {
		t.Errorf("passed on %d bytes", len(got))
	}
	c.write([]byte("\rnew\n"))
	if !bytes.HasSuffix(got, []byte("x\nnew\n")) {
		t.Errorf("after CR: %q", got[len(got)-10:])
	}
}

func file(t *testing.T) func() (*os.File, error) {
	path := filepath.Join(t.TempDir(), "out")
	return func() (*os.File, error) { return os.Create(path) }
}

func TestOutputModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keep := rapid.IntRange(8, 40).Draw(rt, "keep")
		o := NewOutput(OutputOptions{Keep: keep, Create: file(t)})
		defer func() { _ = o.Close() }()
		var all string
		var seen int64
		for range rapid.IntRange(0, 20).Draw(rt, "writes") {
			s := rapid.StringMatching(`[a-zé日]{0,30}\n`).Draw(rt, "text")
			_, _ = o.Write([]byte(s))
			all += s
			if rapid.Bool().Draw(rt, "ask") {
				text, next, skipped := o.Since(seen, keep)
				if want := all[seen:]; !strings.HasSuffix(want, text) || int64(len(want)) != int64(len(text))+skipped || next != int64(len(all)) {
					rt.Fatalf("since %d: %q, %d, %d; want the end of %q", seen, text, next, skipped, want)
				}
				seen = next
			}
		}
		limit := rapid.IntRange(4, keep).Draw(rt, "limit")
		e := o.Excerpt(limit)
		if !strings.HasPrefix(all, e.Head) || !strings.HasSuffix(all, e.Tail) || int64(len(all)) != int64(len(e.Head)+len(e.Tail))+e.Omitted {
			rt.Fatalf("excerpt %+v of %q", e, all)
		}
		if !utf8.ValidString(e.Head) || !utf8.ValidString(e.Tail) || len(e.Head)+len(e.Tail) > limit && e.Omitted > 0 {
			rt.Fatalf("excerpt %+v within %d", e, limit)
		}
		path, size, err := o.Save()
		if err != nil || size != int64(len(all)) {
			rt.Fatalf("save: %d, %v; want %d", size, err, len(all))
		}
		if b, _ := os.ReadFile(path); string(b) != all {
			rt.Fatalf("file %q, want %q", b, all)
		}
	})
}

func TestOutputLimits(t *testing.T) {
	o := NewOutput(OutputOptions{Keep: 10, Save: 25, Create: file(t)})
	for i := range 10 {
		_, _ = fmt.Fprintf(o, "line %d\n", i)
	}
	path, size, err := o.Save()
	if err != nil || size != 25 {
		t.Errorf("save: %d, %v", size, err)
	}
	b, _ := os.ReadFile(path)
	if diff := cmp.Diff("line 0\nline 1\nline 2\nline", string(b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Excerpt{Head: "line ", Tail: "ne 9\n", Omitted: 60}, o.Excerpt(10)); diff != "" {
		t.Error(diff)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	_, _ = o.Write([]byte("after\n"))
	if got := o.Excerpt(10).Tail; got != "fter\n" {
		t.Errorf("tail %q", got)
	}
}

func TestOutputWithoutFile(t *testing.T) {
	o := NewOutput(OutputOptions{Keep: 10, Create: func() (*os.File, error) { return os.Create("/no/such/dir/f") }})
	_, _ = o.Write(bytes.Repeat([]byte("x"), 100))
	if _, _, err := o.Save(); err == nil {
		t.Error("no error for a file that cannot be made")
	}
	if e := o.Excerpt(10); e.Omitted != 90 {
		t.Errorf("excerpt %+v", e)
	}
}

func TestEnv(t *testing.T) {
	got := Env([]string{
		"PATH=/bin", "ANTHROPIC_API_KEY=secret", "CLAUDE_CODE_OAUTH_TOKEN=secret", "LATHE_TRACE=1", "LATHE_HOME=/h",
		"TERM=xterm", "A=1", "A=2", "broken",
	}, "PWD=/w", "PAGER=less")
	want := []string{
		"PATH=/bin", "LATHE_HOME=/h", "TERM=dumb", "A=2", "LATHE=1", "CLAUDECODE=1", "PAGER=less", "GIT_PAGER=cat",
		"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "PYTHONUNBUFFERED=1", "PWD=/w",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A=1", "LATHE_RUN=:a.1::b.2:"}, marked([]string{"LATHE_RUN=:a.1:", "A=1"}, ":b.2:")); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkClean(b *testing.B) {
	for name, line := range map[string]string{
		"yes": "y\n", "log": "2026-01-01 12:00:00 INFO something happened in the module\n", "colour": "\x1b[32mok\x1b[0m some test name\n", "cjk": "日本語のテキスト\n",
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(strings.Repeat(line, 64<<10/len(line)))
			o := NewOutput(OutputOptions{})
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				_, _ = o.Write(data)
			}
		})
	}
}
