package picture

import (
	"flag"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

var update = flag.Bool("update", false, "write the golden files anew")

var sample = Usage{Model: "a-model", Max: 200_000, Total: 61_234, Categories: []Category{
	{"System prompt", 3_100, "used"},
	{"Tools", 11_800, "used"},
	{"MCP tools", 150, "used"},
	{"MCP tools, not loaded", 24_000, "deferred"},
	{"Instruction files", 2_184, "used"},
	{"Messages", 44_000, "used"},
	{"Free", 118_766, "free"},
	{"Kept free to compact", 20_000, "buffer"},
}}

func show(lines []width.Line, cols int) string {
	var b strings.Builder
	for _, l := range lines {
		for _, row := range l.Rows(cols) {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

func TestContextGolden(t *testing.T) {
	plain, mono := theme.Named("none", theme.Plain, true), theme.Named("dark", theme.ANSI, true)
	got := show(Context(&plain, sample, 80), 80) + "\n" + show(Context(&plain, sample, 40), 40) + "\n" +
		strings.ReplaceAll(show(Context(&mono, sample, 80), 80), "\x1b[", "{")
	if *update {
		if err := os.WriteFile("testdata/context.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile("testdata/context.golden")
	if got != string(want) {
		t.Errorf("changed; look at it and run with -update:\n%s", got)
	}
}

// Whatever the numbers: a hundred squares, as many of them filled as the window is, nothing wider than the screen.
func TestShare(t *testing.T) {
	th := theme.Named("dark", theme.Palette, true)
	rapid.Check(t, func(t *rapid.T) {
		u := Usage{Max: rapid.IntRange(0, 1_000_000).Draw(t, "max"), Model: "m"}
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			u.Categories = append(u.Categories, Category{
				Name:   rapid.SampledFrom([]string{"a", "長い名前のカテゴリ", "a name that is much too long for a legend\x1b["}).Draw(t, "name"),
				Tokens: rapid.IntRange(0, 500_000).Draw(t, "tokens"), Kind: rapid.SampledFrom([]string{"used", "free", "buffer", "deferred"}).Draw(t, "kind"),
			})
		}
		sum, filled, used, window := 0, 0, 0, 0
		for i, n := range share(u) {
			c := u.Categories[i]
			if n < 0 {
				t.Fatalf("%d squares for %+v", n, c)
			}
			if c.Kind != "deferred" {
				window += c.Tokens
			}
			if c.Kind == "used" {
				filled += n
				used += c.Tokens
			}
			sum += n
		}
		if off := float64(filled) - float64(100*used)/float64(max(window, u.Max, 1)); used > 0 && (filled == 0 || filled > 1 && (off > 1 || off < -1)) {
			t.Fatalf("%d squares for %d of %d tokens", filled, used, max(window, u.Max))
		}
		if sum > side*side {
			t.Fatalf("%d squares", sum)
		}
		cols := rapid.IntRange(20, 120).Draw(t, "cols")
		lines := Context(&th, u, cols)
		for _, l := range lines {
			for _, row := range l.Rows(cols) {
				if width.Of(row) > cols {
					t.Fatalf("%q is wider than %d", row, cols)
				}
			}
		}
	})
}

func TestTokens(t *testing.T) {
	for n, want := range map[int]string{999: "999", 1000: "1k", 12_345: "12.3k", 99_960: "100k", 999_999: "1M", 1_234_567: "1.2M"} {
		if got := Tokens(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
