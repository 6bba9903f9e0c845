package keymap

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Table is what keys do.
type Table struct {
	contexts map[string]map[string]string // context → keys → action; "" is unbound
	order    []Binding
	own      map[string]bool // context and keys that the user's file sets
}

// file is the form of the keybindings file.
type file struct {
	Bindings []struct {
		Context  string                     `json:"context"`
		Bindings map[string]json.RawMessage `json:"bindings"`
	} `json:"bindings"`
}

var commandAction = regexp.MustCompile(`^command:[a-zA-Z0-9:_-]+$`)

// Parse makes the table of the defaults with the user's file on top; nil is no file. What does not hold in the file is
// left out and told of; a file that is no JSON of that form changes nothing. Warnings are sentences in a stable order.
func Parse(content []byte) (*Table, []string) {
	bindings, actions := readDefaults()
	t := &Table{contexts: map[string]map[string]string{}, own: map[string]bool{}}
	for c := range actions {
		t.contexts[c] = map[string]string{}
	}
	for _, b := range bindings {
		t.contexts[b.Context][b.Keys] = b.Action
	}
	t.order = bindings
	if len(strings.TrimSpace(string(content))) == 0 {
		return t, nil
	}
	var f file
	if err := json.Unmarshal(content, &f); err != nil {
		return t, []string{fmt.Sprintf("keybindings.json is not used: %v", err)}
	}
	p := parser{t: t, actions: actions, set: map[string]string{}}
	for _, block := range f.Bindings {
		if actions[block.Context] == nil {
			p.warn("there is no context %q (%s)", block.Context, strings.Join(Contexts(), ", "))
			continue
		}
		keys := make([]string, 0, len(block.Bindings))
		for k := range block.Bindings {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			p.bind(block.Context, k, block.Bindings[k])
		}
	}
	p.prefixes()
	return t, p.warnings
}

// Contexts are the names of contexts, in the order of the documentation.
func Contexts() []string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(defaults)) {
		if line = strings.TrimSpace(line); !strings.Contains(line, ":") {
			out = append(out, line)
		}
	}
	return out
}

type parser struct {
	t        *Table
	actions  map[string]map[string]bool
	set      map[string]string // context and keys that the file has set, as written
	warnings []string
}

func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, "keybindings.json: "+fmt.Sprintf(format, args...))
}

func (p *parser) bind(context, written string, value json.RawMessage) {
	keys, err := chord(written)
	if err != nil {
		p.warn("%s: %v", context, err)
		return
	}
	if why := reserved(keys[0]); why != "" {
		p.warn("%s: %s cannot be bound: %s", context, Show(written), why)
		return
	}
	var action *string
	if err := json.Unmarshal(value, &action); err != nil {
		p.warn("%s: %s needs the name of an action, or null", context, written)
		return
	}
	name := ""
	if action != nil {
		name = *action
		if !p.known(context, name) {
			p.warn("%s: %s: there is no action %q here", context, written, name)
			return
		}
		if why := clashes(keys[0]); why != "" && p.t.contexts[context][strings.Join(keys, " ")] == "" {
			p.warn("%s: %s may not arrive: %s", context, Show(keys[0]), why)
		}
	}
	canonical := strings.Join(keys, " ")
	if before, twice := p.set[context+" "+canonical]; twice {
		p.warn("%s: %q and %q are the same keys; the second counts", context, before, written)
	}
	p.set[context+" "+canonical] = written
	p.t.contexts[context][canonical] = name
	p.t.own[context+" "+canonical] = true
	p.t.order = slices.DeleteFunc(p.t.order, func(b Binding) bool { return b.Context == context && b.Keys == canonical })
	if name != "" {
		p.t.order = append(p.t.order, Binding{context, canonical, name})
	}
}

func (p *parser) known(context, action string) bool {
	return p.actions[context][action] || p.actions["Global"][action] || commandAction.MatchString(action)
}

// prefixes warns of keys that can never be reached or finished: a binding that is also the start of a chord.
func (p *parser) prefixes() {
	for _, context := range Contexts() {
		var all []string
		for k, action := range p.t.contexts[context] {
			if action != "" {
				all = append(all, k)
			}
		}
		slices.Sort(all)
		for i, k := range all {
			for _, longer := range all[i+1:] {
				if strings.HasPrefix(longer, k+" ") && (p.set[context+" "+k] != "" || p.set[context+" "+longer] != "") {
					p.warn("%s: %s waits for more, since %s is bound too", context, Show(k), Show(longer))
				}
			}
		}
	}
}

// Keys are the keys of an action in a context, in order; for hints. Show makes them readable.
func (t *Table) Keys(context, action string) []string {
	var out []string
	for _, b := range t.order {
		if b.Context == context && b.Action == action {
			out = append(out, b.Keys)
		}
	}
	return out
}

// Bindings are all bindings that hold, defaults first.
func (t *Table) Bindings() []Binding { return slices.Clone(t.order) }

// State is what became of a key.
type State int

const (
	Free    State = iota // no binding
	Bound                // an action
	Pending              // the start of a chord
	Unbound              // the user took the binding away
)

// Matcher follows what is pressed.
type Matcher struct {
	t       *Table
	pressed []string
	own     bool
}

// Matcher returns a matcher with nothing pressed.
func (t *Table) Matcher() *Matcher { return &Matcher{t: t} }

// OwnMatcher returns one that knows only what the user's file binds and takes away; the defaults are left to who asks.
func (t *Table) OwnMatcher() *Matcher { return &Matcher{t: t, own: true} }

// Pending is what was pressed of a chord, for the hint line.
func (m *Matcher) Pending() string { return strings.Join(m.pressed, " ") }

// Press takes a key in the form in which terminals' keys are named here ("ctrl+x", "K", "pgup"). The contexts are looked
// at in order. A key that does not go on with a chord is looked up by itself.
func (m *Matcher) Press(key string, contexts ...string) (action string, s State) {
	if c, err := Canonical(key); err == nil {
		key = c
	}
	m.pressed = append(m.pressed, key)
	action, s = m.t.look(strings.Join(m.pressed, " "), contexts, m.own)
	if s == Free && len(m.pressed) > 1 {
		m.pressed = []string{key}
		action, s = m.t.look(key, contexts, m.own)
	}
	if s != Pending {
		m.pressed = nil
	}
	return action, s
}

func (t *Table) look(keys string, contexts []string, own bool) (string, State) {
	for _, c := range contexts {
		for k, action := range t.contexts[c] {
			if action != "" && (!own || t.own[c+" "+k]) && strings.HasPrefix(k, keys+" ") {
				return "", Pending
			}
		}
		if action, ok := t.contexts[c][keys]; ok && (!own || t.own[c+" "+keys]) {
			if action == "" {
				return "", Unbound
			}
			return action, Bound
		}
	}
	return "", Free
}
