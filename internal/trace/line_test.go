package trace

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/msg"
)

// A record that was written by hand is the one that was given, and reads as json.Marshal's would.
func TestLine(t *testing.T) {
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"a", "<\"\\&>\n", "\u2028", "\x00\x7f"}))
	refs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Ref {
		s := func(name string) string { return text.Draw(t, name) }
		return Ref{ID: s("id"), Kind: s("kind"), Source: s("source"), Key: s("key"), Hash: s("hash"), Bytes: rapid.Int().Draw(t, "bytes"), Tokens: rapid.IntRange(0, 9).Draw(t, "tokens")}
	}), 0, 3)
	changes := rapid.Custom(func(t *rapid.T) *deltas {
		d := &deltas{Items: map[string]delta{}, Fields: map[string]any{}}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{Messages, Seen, Sent}), 0, 3).Draw(t, "lists") {
			d.Items[name] = delta{Keep: rapid.IntRange(0, 99).Draw(t, "keep"), Add: refs.Draw(t, "add")}
		}
		if rapid.Bool().Draw(t, "fields") {
			d.Fields = map[string]any{"model": text.Draw(t, "model"), "done": true, "usage": msg.Usage{Input: 3}, "n": 2}
		}
		return d
	})
	calls := rapid.Custom(func(t *rapid.T) *Call {
		s := func(name string) string { return text.Draw(t, name) }
		n := func(name string) int { return rapid.OneOf(rapid.Just(0), rapid.Int()).Draw(t, name) }
		c := &Call{
			Model: s("model"), Head: s("head"), Body: s("body"), Bytes: n("bytes"), Attempt: n("attempt"), Wait: time.Duration(n("wait")),
			Why: s("why"), TTFT: time.Duration(n("ttft")), Cost: rapid.Float64Range(0, 1).Draw(t, "cost"), Stop: s("stop"), APIID: s("api id"),
			RequestID: s("request id"), Status: n("status"), Failure: s("failure"), Purpose: s("purpose"),
		}
		if rapid.Bool().Draw(t, "more of the call") {
			c.Marks, c.Headers = []Mark{{At: "tools", Index: 1}}, map[string]string{s("header"): s("value")}
			c.Usage = &msg.Usage{
				Input: n("in"), CacheWrite: n("write"), CacheRead: n("read"), Output: n("out"), ServiceTier: s("tier"), Speed: s("speed"),
				CacheCreation: &msg.CacheCreation{FiveMinutes: n("five"), OneHour: n("hour")}, ServerTools: &msg.ServerTools{WebSearch: n("searches")},
			}
		}
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		s := func(name string) string { return text.Draw(t, name) }
		l := line{Record: Record{
			Run: s("run"), Session: s("session"), Turn: s("turn"), Stage: s("stage"), Parent: s("parent"), Err: s("err"),
			Step: rapid.Int().Draw(t, "step"), Dur: time.Duration(rapid.Int64().Draw(t, "dur")),
			Start: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
		}}
		if rapid.Bool().Draw(t, "more") {
			l.Notes = []Note{{Text: s("note"), Data: map[string]any{"n": 1}}}
			l.Call, l.Tool = calls.Draw(t, "call"), &Tool{ID: s("tool"), Input: json.RawMessage(`{"a":1}`)}
			l.Before, l.After = changes.Draw(t, "before"), changes.Draw(t, "after")
		}
		b, err := l.append(nil)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(l)
		var x, y any
		if err := json.Unmarshal(b, &x); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		_ = json.Unmarshal(want, &y)
		if d := cmp.Diff(y, x); d != "" {
			t.Error(d)
		}
	})
}

// No field of what is written by hand is left out: one that is new must be written, too.
func TestEachFieldIsWritten(t *testing.T) {
	filled := func(v any) {
		t.Helper()
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			switch f := s.Field(i); f.Interface().(type) {
			case time.Time:
				f.Set(reflect.ValueOf(time.Unix(1e9, 0).UTC()))
			default:
				fill(f)
			}
		}
	}
	var c Call
	filled(&c)
	filled(c.Usage)
	var r Record
	filled(&r)
	r.Call, r.Before, r.After = &c, View{}, View{}
	var ref Ref
	filled(&ref)
	l := line{Record: r, After: &deltas{Items: map[string]delta{Messages: {Keep: 1, Add: []Ref{ref}}}}}
	b, err := l.append(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(l)
	var x, y any
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	_ = json.Unmarshal(want, &y)
	if d := cmp.Diff(y, x); d != "" {
		t.Error(d)
	}
}

// fill gives a field a value that is not left out as empty.
func fill(f reflect.Value) {
	switch f.Kind() {
	case reflect.String:
		f.SetString("x")
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Float64:
		f.SetFloat(0.5)
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
		v := reflect.New(f.Type().Elem()).Elem()
		if v.Kind() == reflect.Interface {
			v.Set(reflect.ValueOf("x"))
		}
		f.SetMapIndex(reflect.ValueOf("k"), v)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Struct:
	default:
		f.SetInt(7)
	}
}
