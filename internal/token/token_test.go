package token

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"lathe/internal/msg"
)

func TestImageSize(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 321, 123), []colour{grey})
	encode := map[string]func(*bytes.Buffer) error{
		"png":  func(b *bytes.Buffer) error { return png.Encode(b, img) },
		"gif":  func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) },
		"jpeg": func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) },
		"webp lossy": func(b *bytes.Buffer) error {
			b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x41\x01\x7b\x00")
			return nil
		},
		"webp extended": func(b *bytes.Buffer) error {
			b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x40\x01\x00\x7a\x00\x00")
			return nil
		},
		"jpeg with a long comment": func(b *bytes.Buffer) error {
			var j bytes.Buffer
			err := jpeg.Encode(&j, img, nil)
			b.WriteString("\xff\xd8")
			for range 4 {
				b.WriteString("\xff\xfe\xff\xff" + strings.Repeat("x", 0xfffd))
			}
			b.Write(j.Bytes()[2:])
			return err
		},
	}
	for name, f := range encode {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		data := base64.StdEncoding.EncodeToString(b.Bytes())
		if w, h, ok := ImageSize(data); !ok || w != 321 || h != 123 {
			t.Errorf("%s: %d × %d %v", name, w, h, ok)
		}
		for n := range min(len(data), 200) {
			ImageSize(data[:n]) // must not panic
		}
	}
	if _, _, ok := ImageSize("not base64!"); ok {
		t.Error("garbage has a size")
	}
}

func TestImage(t *testing.T) {
	for _, tt := range []struct {
		w, h, old, new int
	}{
		{28, 28, 1, 1},
		{29, 28, 2, 2},
		{1000, 1000, 1296, 1296},
		{1568, 1568, 1568, 3136},
		{8000, 8000, 1568, 4784},
		{8000, 10, 56, 92},
		{0, 5, 0, 0},
	} {
		if got := (Counter{}).Image(tt.w, tt.h); got != tt.old {
			t.Errorf("%d × %d: %d, want %d", tt.w, tt.h, got, tt.old)
		}
		if got := (Counter{New: true}).Image(tt.w, tt.h); got != tt.new {
			t.Errorf("new %d × %d: %d, want %d", tt.w, tt.h, got, tt.new)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		s        string
		min, max int
	}{
		{"", 0, 0},
		{"Hello, world", 3, 6},
		{"日本語のテキスト", 8, 12},
		{"func main() { fmt.Println(\"x\") }", 10, 18},
		{strings.Repeat(" ", 1000), 1, 20},
		{"\xff\xfe\x80", 1, 10},
	} {
		if got := Text(tt.s); got < tt.min || got > tt.max {
			t.Errorf("%q: %d, want %d to %d", tt.s, got, tt.min, tt.max)
		}
	}
}

func TestBlocks(t *testing.T) {
	c := Counter{}
	img := msg.Block{Type: msg.TypeImage}
	result := msg.ToolResult("a", false, msg.Text(strings.Repeat("word ", 100)), img)
	if got := c.Block(result); got < 1600+100 || got > 1600+300 {
		t.Errorf("result with image: %d", got)
	}
	ms := []msg.Message{{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("hi")}}, {Kind: msg.KindSystem, Blocks: []msg.Block{result}}}
	if got := c.Messages(ms); got > 12 {
		t.Errorf("messages: %d", got)
	}
	if a, b := c.Messages(ms), (Counter{New: true}).Messages(ms); b < a {
		t.Errorf("newer tokenizer counts less: %d %d", a, b)
	}
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("\tif err := run(ctx, t); err != nil { return fmt.Errorf(\"step %d: %w\", i, err) }\n", 10000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
