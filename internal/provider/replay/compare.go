package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// compare returns where the request's body first differs from what the call expects, empty when it fits.
func (p *Player) compare(c *call, body []byte) string {
	if c.Match == MatchNone {
		return ""
	}
	recorded := p.vars.inJSON(c.Request)
	if p.opts.Clean != nil {
		recorded, body = p.opts.Clean(recorded), p.opts.Clean(body)
	}
	want, err := parse(recorded)
	if err != nil {
		return "the recorded request is no JSON: " + err.Error()
	}
	got, err := parse(body)
	if err != nil {
		return "the request is no JSON: " + err.Error()
	}
	path := ""
	if c.Match == MatchLast {
		var n int
		want, _ = last(want)
		got, n = last(got)
		path = fmt.Sprintf("messages[%d]", n)
	}
	return p.diff(path, want, got)
}

func parse(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// last returns the last message of a body, and its index.
func last(body any) (any, int) {
	m, _ := body.(map[string]any)
	list, _ := m["messages"].([]any)
	if len(list) == 0 {
		return nil, 0
	}
	return list[len(list)-1], len(list) - 1
}

// diff returns a sentence on the first difference of two JSON values.
func (p *Player) diff(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return p.diffObject(path, w, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return p.diffArray(path, w, g)
		}
	case string:
		if g, ok := got.(string); ok {
			return p.diffText(path, w, g)
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("at %s: recorded %s, sent %s", place(path), show(want), show(got))
}

func (p *Player) diffObject(path string, want, got map[string]any) string {
	var keys []string
	for k := range want {
		keys = append(keys, k)
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if k == "cache_control" {
			continue
		}
		at := strings.TrimPrefix(path+"."+k, ".")
		w, inWant := want[k]
		g, inGot := got[k]
		switch {
		case !inWant:
			return fmt.Sprintf("at %s: recorded nothing, sent %s", at, show(g))
		case !inGot:
			return fmt.Sprintf("at %s: recorded %s, sent nothing", at, show(w))
		}
		if d := p.diff(at, w, g); d != "" {
			return d
		}
	}
	return ""
}

func (p *Player) diffArray(path string, want, got []any) string {
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(want):
			return fmt.Sprintf("at %s: recorded nothing, sent %s", at, show(got[i]))
		case i >= len(got):
			return fmt.Sprintf("at %s: recorded %s, sent nothing", at, show(want[i]))
		}
		if d := p.diff(at, want[i], got[i]); d != "" {
			return d
		}
	}
	return ""
}

func (p *Player) diffText(path, want, got string) string {
	for _, re := range p.rec.ignore {
		want, got = re.ReplaceAllString(want, "…"), re.ReplaceAllString(got, "…")
	}
	if want == got {
		return ""
	}
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	for i > 0 && i < len(want) && !utf8.RuneStart(want[i]) {
		i--
	}
	return fmt.Sprintf("at %s, byte %d: recorded %s, sent %s", place(path), i, around(want, i), around(got, i))
}

func place(path string) string {
	if path == "" {
		return "the top"
	}
	return path
}

// around quotes what stands at byte i of s, with a little before it.
func around(s string, i int) string {
	from, to := max(0, i-20), min(len(s), i+40)
	text := strings.ToValidUTF8(s[from:to], "")
	if from > 0 {
		text = "…" + text
	}
	if to < len(s) {
		text += "…"
	}
	return fmt.Sprintf("%q", text)
}

func show(v any) string {
	raw, _ := json.Marshal(v)
	if len(raw) > 80 {
		return strings.ToValidUTF8(string(raw[:80]), "") + "…"
	}
	return string(raw)
}
