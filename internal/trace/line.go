package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"lathe/internal/msg"
)

// line is the form of a record in its file.
type line struct {
	Record
	Before *deltas `json:"before,omitempty"`
	After  *deltas `json:"after,omitempty"`
}

type deltas struct {
	Fields map[string]any   `json:"fields,omitempty"`
	Items  map[string]delta `json:"items,omitempty"`
}

// delta is a list: the first Keep items of the last list of its name, then Add.
type delta struct {
	Keep int   `json:"keep"`
	Add  []Ref `json:"add,omitempty"`
}

// append writes what json.Marshal does, at a third of its price: a record is written for each stage of each pass.
func (l line) append(b []byte) ([]byte, error) {
	w := writer{b: append(b, '{')}
	w.text("run", l.Run)
	w.b = field(w.b, "session")
	w.b = msg.AppendString(w.b, l.Session)
	w.b = field(w.b, "turn")
	w.b = msg.AppendString(w.b, l.Turn)
	w.b = field(w.b, "stage")
	w.b = msg.AppendString(w.b, l.Stage)
	w.text("parent", l.Parent)
	w.b = strconv.AppendInt(field(w.b, "step"), int64(l.Step), 10)
	w.b = append(l.Start.AppendFormat(append(field(w.b, "start"), '"'), time.RFC3339Nano), '"')
	w.b = strconv.AppendInt(field(w.b, "dur_ns"), int64(l.Dur), 10)
	w.notes(l.Notes)
	w.text("err", l.Err)
	w.other("call", l.Call, l.Call != nil)
	w.other("tool", l.Tool, l.Tool != nil)
	w.deltas("before", l.Before)
	w.deltas("after", l.After)
	return append(w.b, '}'), w.err
}

// writer appends fields to an object; the first error stays.
type writer struct {
	b   []byte
	err error
}

// field begins a field of the object that b ends in.
func field(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), name...), '"', ':')
}

func (w *writer) text(name, s string) {
	if s != "" {
		w.b = msg.AppendString(field(w.b, name), s)
	}
}

func (w *writer) other(name string, v any, is bool) {
	if !is {
		return
	}
	raw, err := json.Marshal(v)
	if err != nil {
		raw = []byte("null")
		w.err = err
	}
	w.b = append(field(w.b, name), raw...)
}

func (w *writer) deltas(name string, d *deltas) {
	if d == nil {
		return
	}
	w.b = append(field(w.b, name), '{')
	if len(d.Fields) > 0 {
		w.b = append(field(w.b, "fields"), '{')
		for _, k := range slices.Sorted(maps.Keys(d.Fields)) {
			w.value(k, d.Fields[k])
		}
		w.b = append(w.b, '}')
	}
	if len(d.Items) > 0 {
		w.b = append(field(w.b, "items"), '{')
		for _, k := range slices.Sorted(maps.Keys(d.Items)) {
			w.b = strconv.AppendInt(append(field(w.b, k), `{"keep":`...), int64(d.Items[k].Keep), 10)
			w.refs(d.Items[k].Add)
			w.b = append(w.b, '}')
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, '}')
}

// value writes a field of the turn, whose name needs no escape.
func (w *writer) value(name string, v any) {
	switch v := v.(type) {
	case string:
		w.b = msg.AppendString(field(w.b, name), v)
	case bool:
		w.b = strconv.AppendBool(field(w.b, name), v)
	default:
		w.other(name, v, true)
	}
}

func (w *writer) notes(list []Note) {
	if len(list) == 0 {
		return
	}
	w.b = append(field(w.b, "notes"), '[')
	for i, n := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = msg.AppendString(append(w.b, `{"text":`...), n.Text)
		w.other("data", n.Data, len(n.Data) > 0)
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
}

func (w *writer) refs(list []Ref) {
	if len(list) == 0 {
		return
	}
	w.b = append(field(w.b, "add"), '[')
	for i, r := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '{')
		w.text("id", r.ID)
		w.b = msg.AppendString(field(w.b, "kind"), r.Kind)
		w.text("source", r.Source)
		w.text("key", r.Key)
		w.b = msg.AppendString(field(w.b, "hash"), r.Hash)
		w.b = strconv.AppendInt(field(w.b, "bytes"), int64(r.Bytes), 10)
		if r.Tokens != 0 {
			w.b = strconv.AppendInt(field(w.b, "tokens"), int64(r.Tokens), 10)
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
}
