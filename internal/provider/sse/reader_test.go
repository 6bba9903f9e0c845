package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type got struct {
	Name, Data string
	Partial    bool
}

func read(t interface{ Fatalf(string, ...any) }, src io.Reader) []got {
	r := NewReader(src)
	var out []got
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("next: %v", err)
		}
		if !ev.Alive {
			out = append(out, got{ev.Name, string(ev.Data), ev.Partial})
		}
	}
}

func TestReader(t *testing.T) {
	tests := []struct {
		name, in string
		want     []got
	}{
		{"empty", "", nil},
		{"one", "event: a\ndata: x\n\n", []got{{"a", "x", false}}},
		{"cr", "event: a\rdata: x\r\rdata: y\r\r", []got{{"a", "x", false}, {"", "y", false}}},
		{"crlf", "event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n", []got{{"a", "x", false}, {"", "y", false}}},
		{"mixed ends", "data: x\r\n\ndata: y\n\r\n", []got{{"", "x", false}, {"", "y", false}}},
		{"joined data", "data: x\ndata:\ndata:  y\n\n", []got{{"", "x\n\n y", false}}},
		{"comment", ": hello\n\n:\ndata: x\n: mid\n\n", []got{{"", "x", false}}},
		{"byte order mark", "\xef\xbb\xbfdata: x\n\n", []got{{"", "x", false}}},
		{"no blank line", "event: a\ndata: x", []got{{"a", "x", true}}},
		{"one line end", "event: a\ndata: x\n", []got{{"a", "x", true}}},
		{"name alone", "event: a\n\ndata: x\n\n", []got{{"", "x", false}}},
		{"empty data", "event: a\ndata\n\n", []got{{"a", "", false}}},
		{"other fields", "id: 1\nretry: 5\nfoo\ndata: x\n\n", []got{{"", "x", false}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, src := range []io.Reader{
				strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in)),
				iotest.DataErrReader(strings.NewReader(tt.in)), iotest.HalfReader(strings.NewReader(tt.in)),
			} {
				if diff := cmp.Diff(tt.want, read(t, src)); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Every split and every kind of line end gives the same events.
func TestReaderSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab{}é 😀")), 0, 2000, -1), 0, 6).Draw(t, "events")
		end := rapid.SampledFrom([]string{"\n", "\r", "\r\n"}).Draw(t, "end")
		var in bytes.Buffer
		var want []got
		for _, e := range events {
			in.WriteString("event: n" + end + "data: " + e + end + ": c" + end + end)
			want = append(want, got{Name: "n", Data: e})
		}
		cuts := rapid.SliceOfN(rapid.IntRange(1, 900), 1, 20).Draw(t, "cuts")
		src := &splitReader{data: in.Bytes(), cuts: cuts}
		if diff := cmp.Diff(want, read(t, src)); diff != "" {
			t.Fatalf("events (-want +got):\n%s", diff)
		}
	})
}

type splitReader struct {
	data []byte
	cuts []int
	n    int
}

func (s *splitReader) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.cuts[s.n%len(s.cuts)])], s.data)
	s.n++
	s.data = s.data[n:]
	return n, nil
}

func TestReaderReportsEveryByte(t *testing.T) {
	r := NewReader(iotest.OneByteReader(strings.NewReader(": ping\n")))
	alive := 0
	for {
		ev, err := r.Next()
		if err != nil {
			break
		}
		if ev.Alive {
			alive++
		}
	}
	if alive != len(": ping\n") {
		t.Errorf("%d signs of life, want %d", alive, len(": ping\n"))
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("reset")
	r := NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	var events int
	for {
		ev, err := r.Next()
		if err != nil {
			if !errors.Is(err, broken) {
				t.Errorf("error %v, want %v", err, broken)
			}
			break
		}
		if !ev.Alive {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events before the error, want 1: half an event is none", events)
	}
}

func TestReaderLimit(t *testing.T) {
	for _, src := range []io.Reader{io.MultiReader(strings.NewReader("data: "), endless("x")), endless("data: a line of many\n")} {
		r := NewReader(src)
		r.max = 1 << 20
		for n := 0; ; n++ {
			if _, err := r.Next(); err != nil {
				if !errors.Is(err, ErrTooLarge) {
					t.Errorf("error %v, want %v", err, ErrTooLarge)
				}
				break
			}
			if n > 10_000 {
				t.Fatal("there is no limit")
			}
		}
	}
}

// A source that neither gives nor ends is an error, and no end.
func TestReaderWithoutProgress(t *testing.T) {
	if _, err := NewReader(endless("")).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

// endless gives a text again and again.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for len(e) > 0 && len(p)-n >= len(e) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: x\r\n\r\n: c\rdata:y"), uint8(3))
	f.Add([]byte("\xef\xbb\xbfdata: x\n\n"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, cut uint8) {
		whole := read(t, bytes.NewReader(in))
		split := read(t, &splitReader{data: in, cuts: []int{int(cut) + 1}})
		if diff := cmp.Diff(whole, split); diff != "" {
			t.Fatalf("a split changes the events (-whole +split):\n%s", diff)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	event := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words\"}}\n\n"
	in := strings.Repeat(event, 20000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		read(b, strings.NewReader(in))
	}
}
