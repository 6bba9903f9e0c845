package jsonl

import (
	"encoding/json"
	"fmt"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// chooseLeaf is the record that the session goes on from: the one asked for, or the newest. A last-prompt record
// behind all messages can name another one, after the user went back and said nothing yet.
func (t *tree) chooseLeaf(f *file, at string) (int, error) {
	if at != "" {
		i, ok := t.index[at]
		if !ok {
			return none, fmt.Errorf("resume at a message: %w: no message %s in the session", session.ErrNotFound, at)
		}
		return i, nil
	}
	leaf := t.leaf()
	if leaf < 0 {
		return leaf, nil
	}
	named := ""
	for i := len(f.lines) - 1; i >= 0; i-- {
		l := &f.lines[i]
		if l.kind >= kindUser && l.kind <= kindAttachment && !l.has(flagSidechain) {
			break
		}
		if named = l.field("leafUuid"); named != "" && l.typ() == "last-prompt" {
			break
		}
	}
	top, ok := t.index[named]
	if !ok {
		return leaf, nil
	}
	return t.newestUnder(top), nil
}

// field is a string field of a record that is not cut on reading; the last one wins.
func (l *line) field(name string) (value string) {
	eachField(l.all, func(key, v []byte) {
		if string(key) == name {
			value, _ = msg.Unquote(v)
		}
	})
	return value
}

func (l *line) typ() string { return l.field("type") }

// state collects what was frozen and kept; the last record of each kind wins.
func (f *file) state() (*session.Frozen, map[string]json.RawMessage) {
	var frozen *session.Frozen
	kept := map[string]json.RawMessage{}
	for i := range f.lines {
		l := &f.lines[i]
		switch l.kind {
		case kindFrozen:
			var z session.Frozen
			if json.Unmarshal(l.all, &z) == nil {
				frozen = &z
			}
		case kindState:
			if kind, v := l.state(); v != nil {
				kept[kind] = append(json.RawMessage(nil), v...)
			}
		}
	}
	return frozen, kept
}

// state returns the kind and value of a state record; the value is nil for those that we do not keep.
func (l *line) state() (kind string, value []byte) {
	typ := l.typ()
	field := "value"
	if typ == typeState {
		kind = l.field("kind")
	} else {
		for k, p := range publicState() {
			if p[0] == typ {
				kind, field = k, p[1]
			}
		}
	}
	if kind == "" {
		return "", nil
	}
	eachField(l.all, func(key, v []byte) {
		if string(key) == field {
			value = v
		}
	})
	return kind, value
}
