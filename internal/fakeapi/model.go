package fakeapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Model is what the server knows of one model: the limits and the rules that differ between models.
type Model struct {
	ID        string `json:"id"`
	Line      string `json:"line,omitempty"` // haiku, sonnet, opus, fable, mythos or empty
	Context   int    `json:"context"`        // window in tokens
	MaxOutput int    `json:"max_output"`
	MinCache  int    `json:"min_cache"` // smallest cacheable prefix in tokens

	Efforts       []string `json:"efforts"`        // the accepted effort values, none: effort is refused
	DefaultEffort string   `json:"default_effort"` // what an absent effort means
	Thinking      []string `json:"thinking"`       // the accepted thinking types
	ThinkingOn    bool     `json:"thinking_on"`    // thinks when the parameter is absent
	LowEffortOff  bool     `json:"low_effort_off"` // disabled and between_tools are refused at effort xhigh and max
	OmitsThinking bool     `json:"omits_thinking"` // display is omitted unless asked for

	Binding      bool    `json:"binding"`       // a thinking block is valid only behind the prefix that it was made on
	KeepsAll     bool    `json:"keeps_all"`     // thinking of all turns stays in the prompt, not of the last only
	Fast         string  `json:"fast"`          // fast mode: "yes", "beta" where it needs the feature header, else none
	NoForcedTool bool    `json:"no_forced"`     // tool_choice any and tool are refused by the API itself
	MidSystem    bool    `json:"mid_system"`    // takes role system inside the conversation
	Prefill      bool    `json:"prefill"`       // a last assistant message is allowed
	ManyImages   bool    `json:"many_images"`   // 600 images a request instead of 100
	ReadPrice    float64 `json:"read_price"`    // price of a cached token, in units of an uncached one
	Generation   int     `json:"generation"`    // orders models by age, to say who reads whose thinking
	ReadsUpTo    int     `json:"reads_up_to"`   // generation of the newest foreign thinking that it reads
	ReadsAlso    string  `json:"reads_also"`    // space-separated ids read beyond that
	ReadByOthers bool    `json:"read_by_other"` // others may read its thinking at all
}

func efforts(upTo string) []string {
	all := []string{"low", "medium", "high", "xhigh", "max"}
	switch upTo {
	case "":
		return nil
	case "max-without-xhigh":
		return []string{"low", "medium", "high", "max"}
	}
	return all[:slices.Index(all, upTo)+1]
}

// newModel fills in what most current models share.
func newModel(id string, generation, minCache int, effort string) Model {
	return Model{
		ID: "claude-" + id, Line: strings.SplitN(id, "-", 2)[0], Context: 1_000_000, MaxOutput: 128_000, MinCache: minCache,
		Efforts: efforts("max"), DefaultEffort: effort, Thinking: []string{"adaptive"}, ThinkingOn: true,
		OmitsThinking: true, KeepsAll: true, ManyImages: true, ReadPrice: 0.1,
		Generation: generation, ReadsUpTo: generation, ReadByOthers: true,
	}
}

func with(m Model, change func(*Model)) Model {
	change(&m)
	return m
}

// Models returns the table of the public models, newest first.
func Models() []Model {
	always := func(m *Model) { m.Thinking = []string{"adaptive"} }
	bound := func(m *Model) { m.Binding = true; m.NoForcedTool = true }
	var out []Model
	for _, line := range []string{"fable", "mythos"} {
		out = append(out,
			with(newModel(line+"-5-2", 70, 512, "high"), func(m *Model) { bound(m); m.ReadPrice, m.ReadByOthers, m.Fast = 0.025, false, "yes" }),
			with(newModel(line+"-5-1", 60, 512, "high"), func(m *Model) { bound(m); m.ReadPrice = 0.025 }),
			with(newModel(line+"-5", 50, 512, "high"), func(m *Model) { always(m); m.MidSystem = true }))
	}
	out = append(out,
		with(newModel("opus-5-5", 58, 512, "medium"), func(m *Model) {
			bound(m)
			m.Fast = "yes"
			m.ReadPrice, m.ReadsUpTo, m.ReadsAlso = 0.05, 50, "claude-sonnet-5-5 claude-haiku-5-5"
		}),
		with(newModel("sonnet-5-5", 56, 512, "high"), func(m *Model) {
			bound(m)
			m.ReadPrice, m.ReadsUpTo, m.LowEffortOff = 0.05, 48, true
			m.ReadsAlso = "claude-sonnet-5 claude-haiku-5-5"
			m.Thinking = []string{"adaptive", "between_tools"}
		}),
		with(newModel("haiku-5-5", 57, 512, "medium"), func(m *Model) {
			m.Binding, m.LowEffortOff, m.ReadsUpTo, m.ReadsAlso = true, true, 48, "claude-sonnet-5"
			m.Thinking = []string{"adaptive", "disabled"}
		}),
		with(newModel("opus-5", 50, 512, "high"), func(m *Model) {
			m.Fast = "beta"
			m.LowEffortOff, m.MidSystem, m.Thinking = true, true, []string{"adaptive", "disabled"}
		}),
		with(newModel("sonnet-5", 49, 1024, "high"), func(m *Model) { m.Thinking = []string{"adaptive", "disabled"} }),
		with(newModel("opus-4-8", 48, 1024, "high"), func(m *Model) {
			m.MidSystem, m.ThinkingOn, m.Thinking = true, false, []string{"adaptive", "disabled"}
		}),
		with(newModel("opus-4-7", 47, 2048, "high"), func(m *Model) {
			m.ThinkingOn, m.Thinking = false, []string{"adaptive", "disabled"}
		}))
	for id, minCache := range map[string]int{"opus-4-6": 4096, "sonnet-4-6": 1024} {
		out = append(out, with(newModel(id, 46, minCache, "high"), func(m *Model) {
			m.Efforts, m.ThinkingOn, m.OmitsThinking = efforts("max-without-xhigh"), false, false
			m.Thinking = []string{"adaptive", "enabled", "disabled"}
		}))
	}
	for id, minCache := range map[string]int{"opus-4-5": 4096, "sonnet-4-5": 1024, "haiku-4-5": 4096} {
		out = append(out, with(newModel(id, 45, minCache, ""), func(m *Model) {
			m.Context, m.MaxOutput, m.ManyImages = 200_000, 64_000, false
			m.ThinkingOn, m.OmitsThinking, m.Prefill = false, false, true
			m.KeepsAll, m.Efforts = id == "opus-4-5", nil
			if id == "opus-4-5" {
				m.Efforts, m.DefaultEffort = efforts("high"), "high"
			}
			m.Thinking = []string{"enabled", "disabled"}
		}))
	}
	slices.SortStableFunc(out, func(a, b Model) int { return cmp.Or(b.Generation-a.Generation, strings.Compare(a.ID, b.ID)) })
	return out
}

// findModel finds a model by its id or by its id with a date behind it.
func findModel(models []Model, id string) (Model, bool) {
	if i := slices.IndexFunc(models, func(m Model) bool { return m.ID == id }); i >= 0 {
		return models[i], true
	}
	if base, date, ok := cutLast(id, "-"); ok && len(date) == 8 && strings.Trim(date, "0123456789") == "" {
		return findModel(models, base)
	}
	return Model{}, false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// decodeModel reads a model from a script. Its field "like" names the model from which the rest is taken.
func decodeModel(known []Model, data []byte) (Model, error) {
	var head struct {
		ID   string `json:"id"`
		Like string `json:"like"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Model{}, fmt.Errorf("a model of the script: %w", err)
	}
	if head.ID == "" {
		return Model{}, fmt.Errorf("a model of the script has no id")
	}
	m, ok := findModel(known, cmp.Or(head.Like, head.ID))
	if !ok && head.Like != "" {
		return Model{}, fmt.Errorf("model %s of the script is like %s, which is not known", head.ID, head.Like)
	}
	if !ok {
		m = newModel("opus-5-5", 58, 512, "medium")
		m.Line = ""
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return Model{}, fmt.Errorf("model %s of the script: %w", head.ID, err)
	}
	delete(fields, "like")
	rest, err := json.Marshal(fields)
	if err != nil {
		return Model{}, fmt.Errorf("model %s of the script: %w", head.ID, err)
	}
	if err := strictUnmarshal(rest, &m); err != nil {
		return Model{}, fmt.Errorf("model %s of the script: %w", head.ID, err)
	}
	return m, nil
}

// reads reports whether m can read the thinking of another model; what it cannot read is dropped without an error.
func (m Model) reads(other Model) bool {
	if m.ID == other.ID {
		return true
	}
	if !other.ReadByOthers {
		return m.Generation >= other.Generation
	}
	return other.Generation <= m.ReadsUpTo || slices.Contains(strings.Fields(m.ReadsAlso), other.ID)
}
