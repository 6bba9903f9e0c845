package price

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed models.json
var embedded []byte

// Info is what is known of one model.
type Info struct {
	ID     string `json:"id"` // base id: no date, no provider prefix; the name as given when it is not known
	Family string `json:"family"`

	Window    int `json:"window"` // tokens that fit: prompt and answer
	MaxOutput int `json:"max_output"`
	MinCache  int `json:"min_cache"` // a shorter prefix is not cached

	Thinking     Thinking `json:"thinking"`
	Efforts      []string `json:"efforts"` // levels it takes, lowest first; none: the parameter is not sent
	Effort       string   `json:"effort"`  // the level that we ask for when nobody chose
	Binds        bool     `json:"binds_thinking"`
	NewTokenizer bool     `json:"new_tokenizer"` // about 30 % more tokens for the same text

	Price Rates `json:"price"`
	Above *Band `json:"above"` // other rates for long prompts, applied to every token of the call

	Fast *Fast `json:"fast"` // fast mode; nil: it has none

	LongWindow int `json:"long_window"` // the window with the suffix [1m]; 0: no such choice

	Known  bool `json:"-"` // the table has it
	Priced bool `json:"-"` // the rates are known, or those of its family
}

// Thinking says which thinking parameters a model takes.
type Thinking struct {
	Adaptive   bool `json:"adaptive"`
	Extended   bool `json:"extended"`        // a fixed budget
	On         bool `json:"on"`              // on when the request does not say
	Always     bool `json:"always"`          // cannot be switched off
	Interleave bool `json:"interleave_beta"` // needs a feature header to think between tool calls
}

// Rates are USD per million tokens.
type Rates struct {
	Input   float64 `json:"input"`
	Output  float64 `json:"output"`
	Write5m float64 `json:"write_5m"`
	Write1h float64 `json:"write_1h"`
	Read    float64 `json:"read"`
}

// Band holds the rates for prompts of more than Prompt tokens.
type Band struct {
	Prompt int   `json:"prompt"`
	Price  Rates `json:"price"`
}

// Fast is a model's fast mode: the same model with quicker output, at other rates.
type Fast struct {
	Price Rates  `json:"price"`
	Beta  string `json:"beta"`  // the feature header that such a request needs, "" for none
	Ended string `json:"ended"` // the last day on which the API took such requests, "" where it takes them
}

// Quick reports whether the model can be asked in fast mode.
func (i Info) Quick() bool { return i.Fast != nil && i.Fast.Ended == "" }

// Table answers questions about models. It is never changed after it was made.
type Table struct {
	WebSearch float64 // USD per 1,000 searches
	aliases   map[string]string
	models    map[string]Info
	multiply  float64
	window    int // overrides the window of every model; 0: does not
}

// Default returns the built-in table.
func Default() *Table { return builtin() }

var builtin = sync.OnceValue(func() *Table {
	var file struct {
		WebSearch float64           `json:"web_search_per_1000"`
		Aliases   map[string]string `json:"aliases"`
		Models    []Info            `json:"models"`
	}
	if err := json.Unmarshal(embedded, &file); err != nil {
		panic("price: models.json: " + err.Error()) // a fault of the build, found by the tests
	}
	t := &Table{WebSearch: file.WebSearch, aliases: file.Aliases, models: make(map[string]Info, len(file.Models)), multiply: 1}
	for _, m := range file.Models {
		m.Known, m.Priced = true, true
		t.models[m.ID] = m
	}
	return t
})

// Overrides are what settings and environment change.
type Overrides struct {
	Multiplier float64             // on every price; 0: 1
	Models     map[string]Override // by model name; USD per million tokens
	Aliases    map[string]string   // such as "opus": the model that it stands for
	Window     int                 // assumed window of every model; 0: by the table
}

// Override replaces prices of one model; what is nil stays, or follows Input at the usual ratios when Input is
// set. Its JSON form is that of the modelPricing setting.
type Override struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cacheRead"`
	CacheWrite *float64 `json:"cacheWrite"` // of five minutes; one hour costs 1.6 times as much
}

// The usual price of cache use, relative to plain input.
const (
	write5mRatio = 1.25
	write1hRatio = 2
	readRatio    = 0.1
)

// With returns a table with the overrides applied.
func (t *Table) With(o Overrides) *Table {
	n := *t
	if o.Multiplier > 0 {
		n.multiply = o.Multiplier
	}
	n.aliases = maps.Clone(t.aliases)
	for k, v := range o.Aliases {
		if v != "" {
			n.aliases[k] = v
		}
	}
	n.models = maps.Clone(t.models)
	n.window = 0 // so that Info gives the table's own
	for name, ov := range o.Models {
		m := n.Info(name)
		was := m.Price
		m.Price, m.Above = ov.apply(m.Price, m.Priced), nil
		m.Fast = m.Fast.scaled(was, m.Price)
		m.Priced = true
		n.models[m.ID] = m
	}
	n.window = t.window
	if o.Window > 0 {
		n.window = o.Window
	}
	return &n
}

// scaled has the rates of fast mode follow those of the model: they are a multiple of them.
func (f *Fast) scaled(was, now Rates) *Fast {
	if f == nil || was.Input == 0 {
		return f
	}
	n, by := *f, f.Price.Input/was.Input
	n.Price = Rates{Input: now.Input * by, Output: now.Output * by, Write5m: now.Write5m * by, Write1h: now.Write1h * by, Read: now.Read * by}
	return &n
}

func (o Override) apply(r Rates, priced bool) Rates {
	if o.Input != nil {
		r.Input = *o.Input
		r.Write5m, r.Write1h, r.Read = r.Input*write5mRatio, r.Input*write1hRatio, r.Input*readRatio
		if !priced {
			r.Output = r.Input * 5
		}
	}
	if o.Output != nil {
		r.Output = *o.Output
	}
	if o.CacheWrite != nil {
		r.Write5m, r.Write1h = *o.CacheWrite, *o.CacheWrite*write1hRatio/write5mRatio
	}
	if o.CacheRead != nil {
		r.Read = *o.CacheRead
	}
	return r
}

// Models returns the ids of the table, sorted.
func (t *Table) Models() []string { return slices.Sorted(maps.Keys(t.models)) }

// Aliases returns the short names, sorted.
func (t *Table) Aliases() []string { return slices.Sorted(maps.Keys(t.aliases)) }

// Clamp returns the highest level that the model takes and that is not above want; "" when it takes none, and
// the model's own choice when want is empty or unknown.
func (i Info) Clamp(want string) string {
	if len(i.Efforts) == 0 {
		return ""
	}
	order := []string{"low", "medium", "high", "xhigh", "max"}
	at := slices.Index(order, strings.ToLower(want))
	if at < 0 {
		return i.Effort
	}
	for ; at >= 0; at-- {
		if slices.Contains(i.Efforts, order[at]) {
			return order[at]
		}
	}
	return i.Efforts[0]
}
