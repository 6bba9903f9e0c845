package cache

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/msg"
)

// A miss counts from this share of what was expected, and from this many tokens.
const (
	least      = 2000
	leastShare = 0.05
)

// lookback is how many blocks before a mark, itself included, the server searches for what it has.
const lookback = 20

// Sent is one request and what its answer said of its use.
type Sent struct {
	Body  []byte    // as it was sent; nil when that is not known
	At    time.Time // when it was sent
	Model string
	Usage msg.Usage
}

// The causes of a miss.
const (
	None     = ""         // there is none
	Model    = "model"    // another model
	Setting  = "setting"  // a parameter that the cache depends on
	Tools    = "tools"    // a tool's definition
	System   = "system"   // the system prompt
	Message  = "message"  // a block of an earlier message
	Expired  = "expired"  // more time went by than the entry lives
	Unmarked = "unmarked" // the request asks for no caching
	Lookback = "lookback" // too many blocks came since the last mark
	Server   = "server"   // nothing of ours
	Unknown  = "unknown"  // the requests are not known
)

// Miss is what was not read from the cache, and why.
type Miss struct {
	Cause string `json:"cause"`
	Text  string `json:"text"`            // the cause in a sentence
	Stage string `json:"stage,omitempty"` // of the pipeline, or "settings", that did it

	Where  string `json:"where,omitempty"`  // such as messages[12].content[0]
	Byte   int    `json:"byte"`             // of the block: the first that differs
	BodyAt int    `json:"body_at"`          // the same, in the body of the later request
	Before string `json:"was,omitempty"`    // the bytes around it
	After  string `json:"is_now,omitempty"` // the bytes around it, now
	Gap    string `json:"since,omitempty"`  // time between the requests

	Expected int `json:"expected_tokens"` // what the request before had in the cache
	Read     int `json:"read_tokens"`
	Lost     int `json:"lost_tokens"`
}

// Expected is how many tokens a request that goes on after prev should read from the cache.
func Expected(prev msg.Usage) int { return prev.CacheRead + prev.CacheWrite }

// Counts reports whether a request that read so little missed what it should have read.
func Counts(expected, read int) bool {
	lost := expected - read
	return lost >= least && float64(lost) > leastShare*float64(expected)
}

// Instead is the use of a request as it would have been without a miss of lost tokens.
func Instead(u msg.Usage, lost int) msg.Usage {
	lost = min(lost, u.CacheWrite+u.Input)
	u.CacheRead += lost
	fromWrite := min(lost, u.CacheWrite)
	u.CacheWrite -= fromWrite
	u.Input -= lost - fromWrite
	if c := u.CacheCreation; c != nil {
		split := *c
		short := min(fromWrite, split.FiveMinutes)
		split.FiveMinutes -= short
		split.OneHour = max(0, split.OneHour-(fromWrite-short))
		u.CacheCreation = &split
	}
	return u
}

// Explain says why next read less from the cache than prev had put there. Its Cause is None when it did not, by as
// much as Counts.
func Explain(prev, next Sent) Miss { return new(Explainer).Explain(prev, next) }

// Explainer explains one miss after the other: a request that is next and then prev is taken apart once.
type Explainer struct {
	body   []byte
	parsed *request
}

// parse is parse, and remembers.
func (e *Explainer) parse(body []byte) (*request, error) {
	if e.parsed != nil && len(body) == len(e.body) && &body[0] == &e.body[0] {
		return e.parsed, nil
	}
	r, err := parse(body)
	if err == nil {
		e.body, e.parsed = body, r
	}
	return r, err
}

// Explain is the function Explain.
func (e *Explainer) Explain(prev, next Sent) Miss {
	m := Miss{Expected: Expected(prev.Usage), Read: next.Usage.CacheRead}
	m.Lost = max(0, m.Expected-m.Read)
	if !Counts(m.Expected, m.Read) {
		return m
	}
	gap := next.At.Sub(prev.At)
	m.Gap = gap.Round(time.Second).String()
	if prev.Model != next.Model {
		m.Cause, m.Stage = Model, "settings"
		m.Text = fmt.Sprintf("the model changed from %s to %s; each model has a cache of its own", prev.Model, next.Model)
		return m
	}
	a, errA := e.parse(prev.Body)
	b, errB := e.parse(next.Body)
	if errA != nil || errB != nil {
		m.unknown(gap)
		return m
	}
	life := lifetime(a)
	switch last := lastMark(a); {
	case m.Read == 0 && gap > life:
		m.expired(gap, life)
	case m.differs(a, b, last):
	case lastMark(b) < 0:
		m.Cause, m.Stage, m.Text = Unmarked, "settings", "the request has no cache marks: caching is switched off"
	case gap > life:
		m.expired(gap, life)
	case !reaches(b, last):
		m.Cause, m.Stage = Lookback, "normalize"
		m.Text = fmt.Sprintf("no mark of this request stands within %d blocks of where the one before ended", lookback)
	default:
		m.Cause = Server
		m.Text = "nothing in the request changed and its lifetime was not over: the server had dropped it, or another one answered"
	}
	return m
}

// unknown tells what can be said without the requests.
func (m *Miss) unknown(gap time.Duration) {
	m.Cause = Unknown
	m.Text = fmt.Sprintf("the requests were not recorded; %s went by between them", m.Gap)
	if gap > 5*time.Minute && m.Read == 0 {
		m.Text += ", which is more than the usual lifetime of 5 minutes"
	}
}

func (m *Miss) expired(gap, life time.Duration) {
	m.Cause = Expired
	m.Text = fmt.Sprintf("%s went by since the request before, and what it put into the cache lives for %s", gap.Round(time.Second), life)
}

// differs finds the first difference between what a had cached, up to part last, and b, in the order of the cache.
func (m *Miss) differs(a, b *request, last int) bool {
	for i := 0; i <= last && i < len(a.parts); i++ {
		if i == min(a.heads, b.heads) && m.settings(a, b) {
			return true
		}
		p := a.parts[i]
		if i >= len(b.parts) {
			m.gone(p)
			m.BodyAt = -1
			return true
		}
		q := b.parts[i]
		if p.path == q.path && p.role == q.role && string(p.raw) == string(q.raw) {
			continue
		}
		m.changed(p, q)
		return true
	}
	return false
}

// settings compares the parameters whose change loses the cache of the messages.
func (m *Miss) settings(a, b *request) bool {
	for _, key := range []string{"thinking", "output_config", "tool_choice", "speed"} {
		if a.settings[key] == b.settings[key] {
			continue
		}
		show := func(s string) string {
			if s == "" {
				return "nothing"
			}
			return s
		}
		m.Cause, m.Stage, m.Where = Setting, "settings", key
		m.Before, m.After = a.settings[key], b.settings[key]
		m.Text = fmt.Sprintf("%s changed from %s to %s, and the cache of the messages depends on it", key, show(m.Before), show(m.After))
		return true
	}
	return false
}

func (m *Miss) gone(p part) {
	m.place(p.path)
	m.Where, m.Before = p.path, around(p.raw, 0)
	m.Text = fmt.Sprintf("%s is gone: the request is shorter than the one before", p.path)
}

func (m *Miss) changed(p, q part) {
	if first := min(rank(p.path), rank(q.path)); rank(p.path) == first { // a part more or less is one of that section
		m.place(p.path)
	} else {
		m.place(q.path)
	}
	at := 0
	for at < len(p.raw) && at < len(q.raw) && p.raw[at] == q.raw[at] {
		at++
	}
	m.Where, m.Byte, m.BodyAt = p.path, at, q.at+at
	m.Before, m.After = around(p.raw, at), around(q.raw, at)
	switch {
	case p.path != q.path:
		m.Where = p.path
		m.Text = fmt.Sprintf("%s is no longer there: %s stands in its place", p.path, q.path)
	case isThinking(p.raw) && !isThinking(q.raw):
		m.Text = fmt.Sprintf("the thinking in %s is no longer sent", p.path)
	default:
		m.Text = fmt.Sprintf("%s differs from byte %d on (byte %d of the body)", p.path, at, m.BodyAt)
	}
}

func isThinking(raw []byte) bool {
	return strings.HasPrefix(string(raw[:min(len(raw), 40)]), `{"type":"thinking"`) || strings.HasPrefix(string(raw[:min(len(raw), 40)]), `{"type":"redacted_thinking"`)
}

func section(path string) string { name, _, _ := strings.Cut(path, "["); return name }

// rank is the section's place in the order of the cache.
func rank(path string) int {
	return slices.Index([]string{"tools", "system", "messages"}, section(path))
}

// place sets cause and stage by where the difference is.
func (m *Miss) place(path string) {
	switch section(path) {
	case "tools":
		m.Cause, m.Stage = Tools, "prompt"
	case "system":
		m.Cause, m.Stage = System, "prompt"
	default:
		m.Cause = Message // Blame finds the stage
	}
}

// around returns the bytes at a place, with some before and after.
func around(raw []byte, at int) string {
	const before, after = 24, 48
	from, to := max(0, min(at, len(raw))-before), min(len(raw), at+after)
	return strings.ToValidUTF8(string(raw[from:to]), "")
}

func lastMark(r *request) int {
	for i, p := range slices.Backward(r.parts) {
		if p.mark {
			return i
		}
	}
	return -1
}

// lifetime is that of the last mark.
func lifetime(r *request) time.Duration {
	if i := lastMark(r); i >= 0 && r.parts[i].hour {
		return time.Hour
	}
	return 5 * time.Minute
}

// reaches reports whether a mark of r finds what was written up to part at.
func reaches(r *request, at int) bool {
	for i, p := range r.parts {
		if p.mark && at <= i && at > i-lookback {
			return true
		}
	}
	return false
}

// Lists are what the stages made for a request: each item a name for a message with its content, such as its id and hash.
type Lists struct {
	Messages []string // the conversation
	Summary  bool     // it begins with a summary: the process took it up behind a compaction
	View     []string // what compact left of it
	Request  []string // what normalize made of that
}

// Blame names the stage that changed an earlier message, by the first list that does not go on from the one before.
func (m *Miss) Blame(prev, next Lists) {
	if m.Cause != Message {
		return
	}
	switch {
	case (prev.Summary || next.Summary) && begin(prev.Messages) != begin(next.Messages):
		m.Stage = "compact" // or the undo of one
	case !extends(prev.Messages, next.Messages):
		m.Stage = "session" // another branch, or an edited history
	case !extends(prev.View, next.View):
		m.Stage = "compact"
	case !extends(prev.Request, next.Request):
		m.Stage = "normalize"
	default:
		m.Stage = "model" // a retry that sent something else
	}
	m.Text += " (stage " + m.Stage + ")"
}

func begin(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func extends(prev, next []string) bool {
	return len(next) >= len(prev) && slices.Equal(prev, next[:len(prev)])
}
