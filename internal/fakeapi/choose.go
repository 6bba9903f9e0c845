package fakeapi

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// session is the state of one script: which turns are used up, and what was captured.
type session struct {
	key    string
	script *Script
	models []Model

	mu      sync.Mutex
	calls   int
	used    []int
	vars    map[string]string
	handed  map[string]handed // by tool_use id
	refused bool              // a thinking block was refused: the client may now strip all thinking
}

// choose takes the turn that answers the request. Index -1 is the default or a computed answer; ok is false
// when the script has nothing left.
func (s *session) choose(r Request) (a Answer, index int, ok bool) {
	if s.script.Func != nil {
		if f := s.script.Func(r); f != nil {
			return s.expand(*f, r), -1, true
		}
	}
	s.mu.Lock()
	i := s.pick(r)
	if i >= 0 {
		s.used[i]++
		s.capture(s.script.Turns[i].Capture, r)
	}
	s.mu.Unlock()
	switch {
	case i >= 0:
		return s.expand(s.script.Turns[i].Answer, r), i, true
	case s.script.Default != nil:
		return s.expand(*s.script.Default, r), -1, true
	}
	return Answer{}, -1, false
}

func (s *session) pick(r Request) int {
	for i, t := range s.script.Turns {
		if t.When != nil && (t.Times <= 0 || s.used[i] < t.Times) && t.When.matches(r) {
			return i
		}
	}
	for i, t := range s.script.Turns {
		if t.When == nil && (t.Times < 0 || s.used[i] < max(1, t.Times)) {
			return i
		}
	}
	return -1
}

func (w When) matches(r Request) bool {
	in := func(text func() string, part string) bool { return part == "" || strings.Contains(text(), part) }
	names := r.ToolNames()
	offered := w.Tool == ""
	for _, n := range names {
		offered = offered || n == w.Tool
	}
	return in(r.LastUserText, w.User) && in(r.LastToolResult, w.ToolResult) && in(r.SystemText, w.System) &&
		in(func() string { return string(r.Body) }, w.Body) && in(func() string { return r.Model }, w.Model) &&
		(w.UserRegexp == "" || regexpMatches(w.UserRegexp, r.LastUserText())) &&
		offered && (!w.NoTools || len(names) == 0) &&
		(w.Call == 0 || w.Call == r.Call) && (w.Stream == nil || *w.Stream == r.Stream)
}

func regexpMatches(expr, text string) bool {
	re, err := regexp.Compile(expr)
	return err == nil && re.MatchString(text)
}

func (s *session) capture(captures []Capture, r Request) {
	for _, c := range captures {
		from := map[string]func() string{
			"": r.LastToolResult, "last_tool_result": r.LastToolResult, "last_user": r.LastUserText, "system": r.SystemText,
			"body": func() string { return string(r.Body) },
		}[c.From]
		re, err := regexp.Compile(c.Regexp)
		if err != nil || from == nil {
			continue
		}
		if m := re.FindStringSubmatch(from()); m != nil {
			s.vars[c.Name] = m[min(1, len(m)-1)]
		}
	}
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_:]*\}`) })

// expand fills in the placeholders of an answer. Names that are not known stay as they are, so that shell text
// in a script needs no quoting.
func (s *session) expand(a Answer, r Request) Answer {
	s.mu.Lock()
	vars := maps.Clone(s.vars)
	s.mu.Unlock()
	value := func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		switch name {
		case "model":
			return r.Model, true
		case "call":
			return strconv.Itoa(r.Call), true
		case "last_user":
			return r.LastUserText(), true
		case "last_tool_result":
			return r.LastToolResult(), true
		}
		if env, ok := strings.CutPrefix(name, "env:"); ok {
			return os.LookupEnv(env)
		}
		return "", false
	}
	fill := func(text string, quote func(string) string) string {
		return placeholder().ReplaceAllStringFunc(text, func(m string) string {
			if v, ok := value(m[2 : len(m)-1]); ok {
				return quote(v)
			}
			return m
		})
	}
	plain := func(v string) string { return v }
	inJSON := func(v string) string {
		data, _ := json.Marshal(v) // a string
		return string(data[1 : len(data)-1])
	}
	a.Text = fill(a.Text, plain)
	blocks := make([]Block, len(a.Blocks))
	for i, b := range a.Blocks {
		b.Text, b.Thinking = fill(b.Text, plain), fill(b.Thinking, plain)
		b.Input, b.Raw = json.RawMessage(fill(string(b.Input), inJSON)), json.RawMessage(fill(string(b.Raw), inJSON))
		b.Chunks = append([]string(nil), b.Chunks...)
		for j := range b.Chunks {
			quote := plain
			if b.Tool != "" {
				quote = inJSON
			}
			b.Chunks[j] = fill(b.Chunks[j], quote)
		}
		blocks[i] = b
	}
	a.Blocks = blocks
	return a
}
