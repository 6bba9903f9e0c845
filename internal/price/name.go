package price

import "strings"

// The limits of a model that the table does not have.
const (
	unknownWindow = 200_000
	longWindow    = 1_000_000
	unknownOutput = 32_000
	unknownCache  = 1024
)

// Resolve turns what a person or a setting calls a model into the id to send: aliases are replaced and the
// suffix [1m] is taken off; dates and provider prefixes stay, since the provider wants them.
func (t *Table) Resolve(name string) string {
	s, _ := cutLong(strings.TrimSpace(name))
	key := strings.ToLower(s)
	if key == "" {
		key = "default"
	}
	if id, ok := t.aliases[key]; ok {
		id, _ = cutLong(id)
		return id
	}
	return s
}

// Info describes the model that name stands for. It never fails; see Info.Known.
func (t *Table) Info(name string) Info {
	_, long := cutLong(strings.TrimSpace(name))
	id := t.Resolve(name)
	m, ok := t.models[id]
	for _, try := range candidates(id) {
		if ok {
			break
		}
		m, ok = t.models[try]
	}
	if !ok {
		m = t.unknown(id)
		if long {
			m.Window = longWindow
		}
	} else if long && m.LongWindow > m.Window {
		m.Window = m.LongWindow
	}
	if t.window > 0 {
		m.Window = t.window
	}
	return m
}

// unknown gives careful defaults. Names of the vendor's own models are taken to think adaptively, as its newer
// ones do; nothing is assumed of others.
func (t *Table) unknown(id string) Info {
	m := Info{ID: id, Window: unknownWindow, MaxOutput: unknownOutput, MinCache: unknownCache}
	low := strings.ToLower(id)
	if !strings.Contains(low, "claude") && !strings.Contains(low, "anthropic") {
		return m
	}
	m.Thinking = Thinking{Adaptive: true}
	for _, family := range []string{"opus", "sonnet", "haiku", "fable", "mythos"} {
		if !strings.Contains(low, family) {
			continue
		}
		if kin, ok := t.models[baseOf(t.aliases[family])]; ok {
			m.Family, m.Price, m.Above, m.Priced = family, kin.Price, kin.Above, true
			m.NewTokenizer = kin.NewTokenizer
		}
		break
	}
	return m
}

// cutLong takes the suffix [1m] off.
func cutLong(name string) (string, bool) {
	if n := len(name) - len("[1m]"); n >= 0 && strings.EqualFold(name[n:], "[1m]") {
		return strings.TrimSpace(name[:n]), true
	}
	return name, false
}

// candidates are the table ids that a provider's name may stand for, best first.
func candidates(id string) []string {
	base := baseOf(id)
	out := []string{base}
	// claude-3-5-haiku: the older order of family and version.
	if rest, ok := strings.CutPrefix(base, "claude-"); ok {
		if at := strings.LastIndexByte(rest, '-'); at > 0 && isVersion(rest[:at]) {
			out = append(out, "claude-"+rest[at+1:]+"-"+rest[:at])
		}
	}
	if cut, ok := strings.CutSuffix(base, "-0"); ok { // claude-opus-4-0
		out = append(out, cut)
	}
	if cut, ok := strings.CutSuffix(base, "-latest"); ok {
		out = append(out, candidates(cut)...)
	}
	return out
}

// baseOf takes off what providers put around a model's id: us.anthropic., anthropic/, @date, -date, -v1:0, and
// writes version dots as hyphens.
func baseOf(id string) string {
	s := strings.ToLower(id)
	if at := strings.LastIndex(s, "claude-"); at > 0 {
		s = s[at:]
	}
	s, _, _ = strings.Cut(s, "@")
	s, _, _ = strings.Cut(s, ":")
	if at := strings.LastIndex(s, "-v"); at > 0 && isVersion(s[at+2:]) {
		s = s[:at]
	}
	if at := strings.LastIndexByte(s, '-'); at > 0 && len(s)-at-1 == 8 && isVersion(s[at+1:]) {
		s = s[:at]
	}
	if strings.HasPrefix(s, "claude-") {
		s = strings.ReplaceAll(s, ".", "-")
	}
	return s
}

func isVersion(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != ""
}
