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
	w.call(l.Call)
	w.other("tool", l.Tool, l.Tool != nil)
	w.deltas("before", l.Before)
	w.deltas("after", l.After)
	return append(w.b, '}'), w.err
}

// tells reports whether the line has text from outside, in which a secret may stand. Most records of a stage have none:
// they name what was added by id and hash.
func (l line) tells() bool {
	return len(l.Notes) > 0 || l.Err != "" || l.Call != nil || l.Tool != nil || l.Before.tells() || l.After.tells()
}

func (d *deltas) tells() bool {
	if d == nil {
		return false
	}
	for _, v := range d.Fields {
		switch v.(type) {
		case bool, int, msg.Usage:
		default:
			return true
		}
	}
	for _, item := range d.Items {
		for _, r := range item.Add {
			if r.Source != "" || r.Key != "" || r.Kind == "tool" {
				return true
			}
		}
	}
	return false
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

func (w *writer) number(name string, n int64) {
	if n != 0 {
		w.b = strconv.AppendInt(field(w.b, name), n, 10)
	}
}

func (w *writer) call(c *Call) {
	if c == nil {
		return
	}
	w.b = append(field(w.b, "call"), '{')
	w.b = msg.AppendString(field(w.b, "model"), c.Model)
	w.b = msg.AppendString(field(w.b, "head"), c.Head)
	w.other("marks", c.Marks, len(c.Marks) > 0)
	w.b = msg.AppendString(field(w.b, "body"), c.Body)
	w.b = strconv.AppendInt(field(w.b, "bytes"), int64(c.Bytes), 10)
	w.other("headers", c.Headers, c.Headers != nil)
	w.b = strconv.AppendInt(field(w.b, "attempt"), int64(c.Attempt), 10)
	w.number("wait_ns", int64(c.Wait))
	w.text("why", c.Why)
	w.number("ttft_ns", int64(c.TTFT))
	if c.Usage != nil {
		w.usage(*c.Usage)
	}
	w.other("cost_usd", c.Cost, c.Cost != 0)
	w.text("stop", c.Stop)
	w.text("api_id", c.APIID)
	w.text("request_id", c.RequestID)
	w.number("status", int64(c.Status))
	w.text("failure", c.Failure)
	w.text("purpose", c.Purpose)
	w.b = append(w.b, '}')
}

func (w *writer) usage(u msg.Usage) {
	w.b = append(field(w.b, "usage"), '{')
	w.b = strconv.AppendInt(field(w.b, "input_tokens"), int64(u.Input), 10)
	w.b = strconv.AppendInt(field(w.b, "cache_creation_input_tokens"), int64(u.CacheWrite), 10)
	w.b = strconv.AppendInt(field(w.b, "cache_read_input_tokens"), int64(u.CacheRead), 10)
	w.b = strconv.AppendInt(field(w.b, "output_tokens"), int64(u.Output), 10)
	if c := u.CacheCreation; c != nil {
		w.b = strconv.AppendInt(append(field(w.b, "cache_creation"), `{"ephemeral_5m_input_tokens":`...), int64(c.FiveMinutes), 10)
		w.b = append(strconv.AppendInt(append(w.b, `,"ephemeral_1h_input_tokens":`...), int64(c.OneHour), 10), '}')
	}
	w.other("server_tool_use", u.ServerTools, u.ServerTools != nil)
	w.text("service_tier", u.ServiceTier)
	w.text("speed", u.Speed)
	w.b = append(w.b, '}')
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
	case msg.Usage:
		w.usage(v)
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
