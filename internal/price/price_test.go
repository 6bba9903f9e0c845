package price

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestNames(t *testing.T) {
	tab := Default()
	tests := []struct {
		name, id, base string
		window         int
		known          bool
	}{
		{"", "claude-opus-5-5", "claude-opus-5-5", 1_000_000, true},
		{"default", "claude-opus-5-5", "claude-opus-5-5", 1_000_000, true},
		{"best", "claude-fable-5-2", "claude-fable-5-2", 1_000_000, true},
		{"Sonnet", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000, true},
		{"sonnet[1m]", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000, true},
		{"haiku", "claude-haiku-5-5", "claude-haiku-5-5", 1_000_000, true},
		{"opusplan", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000, true},
		{"claude-opus-4-6", "claude-opus-4-6", "claude-opus-4-6", 200_000, true},
		{"claude-opus-4-6[1M]", "claude-opus-4-6", "claude-opus-4-6", 1_000_000, true},
		{"claude-opus-4-5-20251101", "claude-opus-4-5-20251101", "claude-opus-4-5", 200_000, true},
		{"claude-sonnet-4-20250514", "claude-sonnet-4-20250514", "claude-sonnet-4", 200_000, true},
		{"claude-sonnet-4-0", "claude-sonnet-4-0", "claude-sonnet-4", 200_000, true},
		{"claude-3-5-haiku-20241022", "claude-3-5-haiku-20241022", "claude-haiku-3-5", 200_000, true},
		{"claude-3-5-haiku-latest", "claude-3-5-haiku-latest", "claude-haiku-3-5", 200_000, true},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", 200_000, true},
		{"anthropic.claude-opus-5-5", "anthropic.claude-opus-5-5", "claude-opus-5-5", 1_000_000, true},
		{"claude-haiku-4-5@20251001", "claude-haiku-4-5@20251001", "claude-haiku-4-5", 200_000, true},
		{"anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", 200_000, true},
		{"claude-opus-9", "claude-opus-9", "claude-opus-9", 200_000, false},
		{"qwen3:8b", "qwen3:8b", "qwen3:8b", 200_000, false},
		{"qwen3:8b[1m]", "qwen3:8b", "qwen3:8b", 1_000_000, false},
		{"-", "-", "-", 200_000, false},
		{"[1m]", "claude-opus-5-5", "claude-opus-5-5", 1_000_000, true},
	}
	for _, tt := range tests {
		i := tab.Info(tt.name)
		got := []any{tab.Resolve(tt.name), i.ID, i.Window, i.Known}
		if diff := cmp.Diff([]any{tt.id, tt.base, tt.window, tt.known}, got); diff != "" {
			t.Errorf("%q: %s", tt.name, diff)
		}
	}
}

func TestUnknownIsPricedLikeItsFamily(t *testing.T) {
	tab := Default()
	i := tab.Info("claude-opus-9")
	if !i.Priced || i.Price != tab.Info("opus").Price || !i.Thinking.Adaptive {
		t.Errorf("claude-opus-9: %+v", i)
	}
	if i := tab.Info("qwen3:8b"); i.Priced || i.Thinking != (Thinking{}) || tab.Cost("qwen3:8b", msg.Usage{Input: 1000}) != 0 {
		t.Errorf("qwen3: %+v", i)
	}
}

func TestCost(t *testing.T) {
	k := 1000
	tests := []struct {
		model string
		u     msg.Usage
		want  float64
	}{
		{"claude-opus-5-5", msg.Usage{Input: 1000 * k}, 4},
		{"claude-opus-5-5", msg.Usage{Output: 1000 * k}, 20},
		{"claude-opus-5-5", msg.Usage{CacheWrite: 1000 * k}, 5},
		{"claude-opus-5-5", msg.Usage{CacheWrite: 1000 * k, CacheCreation: &msg.CacheCreation{OneHour: 1000 * k}}, 8},
		{"claude-opus-5-5", msg.Usage{CacheWrite: 1000 * k, CacheCreation: &msg.CacheCreation{OneHour: 400 * k, FiveMinutes: 600 * k}}, 3.2 + 3},
		{"claude-opus-5-5", msg.Usage{CacheRead: 1000 * k}, 0.2},
		{"claude-sonnet-5-5", msg.Usage{CacheRead: 1000 * k}, 0.1},
		{"claude-fable-5-1", msg.Usage{CacheRead: 1000 * k}, 0.25},
		{"claude-haiku-5-5", msg.Usage{Input: 100 * k, Output: 100 * k}, 0.01 + 0.05},
		{"claude-haiku-5-5", msg.Usage{Input: 1, CacheRead: 100 * k, Output: 100 * k}, 0.5e-6 + 0.005 + 0.25},
		{"claude-haiku-4-5", msg.Usage{Input: 150 * k, ServerTools: &msg.ServerTools{WebSearch: 3}}, 0.15 + 0.03},
	}
	for _, tt := range tests {
		if got := Default().Cost(tt.model, tt.u); !near(got, tt.want) {
			t.Errorf("%s %+v: %v, want %v", tt.model, tt.u, got, tt.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	c := Call{Cached: 1_000_000, Fresh: 100_000, Output: 10_000}
	for _, tt := range []struct {
		write, hour bool
		want        float64
	}{{false, false, 0.2 + 0.4 + 0.2}, {true, false, 0.2 + 0.5 + 0.2}, {true, true, 0.2 + 0.8 + 0.2}} {
		c.Write, c.Hour = tt.write, tt.hour
		if got := Default().Estimate("opus", c); !near(got, tt.want) {
			t.Errorf("%+v: %v, want %v", c, got, tt.want)
		}
	}
	if got := Default().With(Overrides{Multiplier: 2}).Estimate("opus", Call{Fresh: 1000, Searches: 3}); !near(got, 2*(0.004+0.03)) {
		t.Errorf("with searches: %v", got)
	}
}

func TestOverrides(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	tab := Default().With(Overrides{
		Multiplier: 2,
		Window:     64_000,
		Aliases:    map[string]string{"opus": "claude-opus-4-6[1m]", "haiku": ""},
		Models: map[string]Override{
			"sonnet":                        {Input: f(10), CacheRead: f(0.5)},
			"llama":                         {Input: f(1), Output: f(2)},
			"us.anthropic.claude-haiku-4-5": {Output: f(7)},
		},
	})
	u := msg.Usage{Input: 1_000_000, Output: 1_000_000, CacheRead: 1_000_000}
	for model, want := range map[string]float64{
		"claude-sonnet-5-5": 2 * (10 + 10 + 0.5),
		"llama":             2 * (1 + 2 + 0.1),
		"claude-haiku-4-5":  2 * (1 + 7 + 0.1),
	} {
		if got := tab.Cost(model, u); !near(got, want) {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
	if got := tab.Info("opus"); got.ID != "claude-opus-4-6" || got.Window != 64_000 {
		t.Errorf("opus: %+v", got)
	}
	if tab.Resolve("haiku") != "claude-haiku-5-5" || Default().Resolve("opus") != "claude-opus-5-5" {
		t.Error("an empty alias or the built-in table was changed")
	}
}

func TestClamp(t *testing.T) {
	tests := []struct{ model, want, got string }{
		{"opus", "", "medium"},
		{"opus", "XHigh", "xhigh"},
		{"claude-opus-4-6", "xhigh", "high"},
		{"claude-opus-4-6", "max", "max"},
		{"claude-haiku-4-5", "max", ""},
		{"opus", "nonsense", "medium"},
	}
	for _, tt := range tests {
		if got := Default().Info(tt.model).Clamp(tt.want); got != tt.got {
			t.Errorf("%s %s: %s, want %s", tt.model, tt.want, got, tt.got)
		}
	}
}

// TestTable checks each row against what must hold for all of them.
func TestTable(t *testing.T) {
	tab := Default()
	for _, id := range tab.Models() {
		m := tab.Info(id)
		if m.ID != id || m.Window < 100_000 || m.MaxOutput < 4096 || m.MinCache < 512 || m.Family == "" {
			t.Errorf("%s: %+v", id, m)
		}
		p := m.Price
		if p.Input <= 0 || p.Output <= p.Input || p.Read >= p.Input || p.Write5m <= p.Input || p.Write1h <= p.Write5m {
			t.Errorf("%s: prices %+v", id, p)
		}
		if m.Thinking.Always && !m.Thinking.On || m.Effort != m.Clamp(m.Effort) {
			t.Errorf("%s: thinking %+v effort %s", id, m.Thinking, m.Effort)
		}
	}
	for _, a := range tab.Aliases() {
		if !tab.Info(a).Known {
			t.Errorf("alias %s leads nowhere", a)
		}
	}
}

// Fast mode costs what the model's own rates say of it, and follows them when a setting changes those.
func TestFast(t *testing.T) {
	k := 1000
	tests := []struct {
		model string
		u     msg.Usage
		want  float64
	}{
		{"opus", msg.Usage{Input: 1000 * k, Output: 1000 * k}, 8 + 40},
		{"opus", msg.Usage{CacheWrite: 1000 * k, CacheRead: 1000 * k}, 10 + 0.4},
		{"claude-opus-5", msg.Usage{Input: 1000 * k, Output: 1000 * k}, 10 + 50},
		{"fable", msg.Usage{Input: 1000 * k, Output: 1000 * k}, 16 + 80},
		{"sonnet", msg.Usage{Input: 1000 * k, Output: 1000 * k}, 2 + 10}, // it has none
	}
	tab := Default()
	for _, tt := range tests {
		tt.u.Speed = msg.SpeedFast
		if got := tab.Cost(tt.model, tt.u); !near(got, tt.want) {
			t.Errorf("%s %+v: %g, want %g", tt.model, tt.u, got, tt.want)
		}
	}
	for model, want := range map[string]bool{"opus": true, "claude-opus-5": true, "claude-opus-4-8": false, "claude-opus-4-7": false, "haiku": false} {
		if got := tab.Info(model).Quick(); got != want {
			t.Errorf("%s: %t", model, got)
		}
	}
	for _, id := range tab.Models() {
		if i := tab.Info(id); i.Fast != nil && (!near(i.Fast.Price.Output, 2*i.Price.Output) || !near(i.Fast.Price.Read, 2*i.Price.Read) || !near(i.Fast.Price.Write1h, 2*i.Price.Write1h)) {
			t.Errorf("%s: fast mode costs twice as much: %+v", id, i.Fast.Price)
		}
	}
	input := 1.0
	own := tab.With(Overrides{Models: map[string]Override{"opus": {Input: &input}}})
	if got := own.Cost("opus", msg.Usage{Input: 1000 * k, Speed: msg.SpeedFast}); !near(got, 2) {
		t.Errorf("with a price of one's own: %g", got)
	}
	if got := tab.Estimate("opus", Call{Fresh: 1000 * k, Fast: true}); !near(got, 8) {
		t.Errorf("an estimate: %g", got)
	}
}
