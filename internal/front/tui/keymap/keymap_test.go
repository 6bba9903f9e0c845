package keymap

import (
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"ctrl+e": "ctrl+e", "Control+E": "ctrl+e", "shift+ctrl+x": "ctrl+shift+x", "K": "K", "shift+k": "K", "k": "k", "ctrl+K": "ctrl+k", "meta+P": "alt+p",
		"opt+left": "alt+left", "cmd+k": "super+k", "escape": "esc", "PageUp": "pgup", "Return": "enter", "+": "+", "ctrl++": "ctrl++", "?": "?", "shift+tab": "shift+tab", "é": "é",
	} {
		if got, err := Canonical(in); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"hyper+x", "foo", "ctrl+", "", "ctrl+foo"} {
		if got, err := Canonical(in); err == nil {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestDefaultsHold(t *testing.T) {
	table, warnings := Parse(nil)
	if len(warnings) > 0 {
		t.Errorf("%q", warnings)
	}
	seen := map[string]bool{}
	for _, b := range table.Bindings() {
		var canonical []string
		for k := range strings.FieldsSeq(b.Keys) {
			c, err := Canonical(k)
			if err != nil {
				t.Error(err)
			}
			canonical = append(canonical, c)
		}
		if k := strings.Join(canonical, " "); k != b.Keys {
			t.Errorf("%s is written %s", b.Keys, k)
		}
		if id := b.Context + " " + b.Keys; seen[id] {
			t.Errorf("%s twice", id)
		} else {
			seen[id] = true
		}
		m := table.Matcher()
		keys := strings.Fields(b.Keys)
		for _, k := range keys[:len(keys)-1] {
			if _, s := m.Press(k, b.Context); s != Pending {
				t.Errorf("%s in %s does not wait", b.Keys, b.Context)
			}
		}
		if a, s := m.Press(keys[len(keys)-1], b.Context); a != b.Action || s != Bound {
			t.Errorf("%s in %s: %s", b.Keys, b.Context, a)
		}
	}
}

const mine = `{"$schema": "x", "bindings": [
	{"context": "Chat", "bindings": {"ctrl+e": "chat:externalEditor", "ctrl+g": null, "ctrl+k ctrl+c": "command:compact", "ctrl+c": "chat:cancel",
		"ctrl+b": "chat:stash", "foo": "chat:stash", "ctrl+n": "chat:nothing", "CTRL+E": "chat:stash", "ctrl+x": "chat:undo", "alt+x": 5}},
	{"context": "Nowhere", "bindings": {"a": "chat:stash"}}
]}`

func TestParse(t *testing.T) {
	table, warnings := Parse([]byte(mine))
	got := strings.Join(warnings, "\n")
	want := `Chat: "CTRL+E" and "ctrl+e" are the same keys; the second counts
Chat: alt+x needs the name of an action, or null
Chat: Ctrl+B may not arrive: tmux takes Ctrl+B unless it is pressed twice
Chat: Ctrl+C cannot be bound: Ctrl+C always interrupts
Chat: Ctrl+X waits for more, since Ctrl+X Ctrl+E is bound too`
	for line := range strings.SplitSeq(want, "\n") {
		if !strings.Contains(got, line) {
			t.Errorf("no warning %q in:\n%s", line, got)
		}
	}
	for _, part := range []string{`no key "foo"`, `no action "chat:nothing"`, `no context "Nowhere"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in:\n%s", part, got)
		}
	}
	m := table.Matcher()
	for _, c := range []struct {
		key    string
		action string
		state  State
	}{
		{"ctrl+e", "chat:externalEditor", Bound},
		{"ctrl+g", "", Unbound},
		{"ctrl+k", "", Pending},
		{"ctrl+c", "command:compact", Bound},
		{"ctrl+k", "", Pending},
		{"enter", "chat:submit", Bound}, // does not go on with the chord
		{"ctrl+t", "app:toggleTodos", Bound},
		{"z", "", Free},
	} {
		if a, s := m.Press(c.key, "Chat", "Global"); a != c.action || s != c.state {
			t.Errorf("%s: %q %v, want %q %v", c.key, a, s, c.action, c.state)
		}
	}
	if k := table.Keys("Chat", "chat:externalEditor"); strings.Join(k, ",") != "ctrl+x ctrl+e,ctrl+e" {
		t.Errorf("%q", k)
	}
	if _, w := Parse([]byte(`{"bindings": 5}`)); len(w) != 1 || !strings.Contains(w[0], "not used") {
		t.Errorf("%q", w)
	}
}

func TestShow(t *testing.T) {
	for in, want := range map[string]string{"ctrl+x ctrl+k": "Ctrl+X Ctrl+K", "K": "Shift+K", "k": "k", "pgup": "PageUp", "super+k": "Cmd+K", "esc": "Esc", "ctrl++": "Ctrl++", "+": "+"} {
		if got := Show(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mine))
	f.Add([]byte(`{"bindings":[{"context":"Chat","bindings":{"+":"command:x","shift+":null}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, _ := Parse(b)
		for _, k := range table.Bindings() {
			Show(k.Keys)
		}
		table.Matcher().Press(string(b), "Chat")
	})
}
