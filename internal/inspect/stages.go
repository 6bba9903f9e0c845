package inspect

import (
	"encoding/json"
	"maps"
	"slices"

	"lathe/internal/trace"
)

// listed is how many items of a change are given one by one.
const listed = 100

// stageOf tells what a stage made of the turn.
func stageOf(rec trace.Record) Stage {
	s := Stage{Name: rec.Stage, Dur: rec.Dur, Err: rec.Err}
	for _, n := range rec.Notes {
		s.Notes = append(s.Notes, n.Text)
	}
	for _, list := range []string{trace.Messages, trace.System, trace.Tools, trace.Seen, trace.Request} {
		c := change(list, rec.Before.Items[list], rec.After.Items[list])
		if len(c.Removed) > 0 || len(c.Added) > 0 {
			s.Changes = append(s.Changes, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rec.After.Fields)) {
		before, _ := json.Marshal(rec.Before.Fields[name])
		after, _ := json.Marshal(rec.After.Fields[name])
		if string(before) != string(after) {
			s.Fields = append(s.Fields, Field{name, string(before), string(after)})
		}
	}
	return s
}

// change compares two lists: what they share at their start and end stayed.
func change(list string, before, after []trace.Ref) Change {
	c := Change{List: list, Before: sizeOf(before), After: sizeOf(after)}
	n := min(len(before), len(after))
	for c.Kept < n && before[c.Kept].Hash == after[c.Kept].Hash {
		c.Kept++
	}
	for c.Tail < n-c.Kept && before[len(before)-1-c.Tail].Hash == after[len(after)-1-c.Tail].Hash {
		c.Tail++
	}
	c.Removed = c.items(before)
	c.Added = c.items(after)
	return c
}

func (c *Change) items(list []trace.Ref) []Item {
	var out []Item
	for i, r := range list[c.Kept : len(list)-c.Tail] {
		if i == listed {
			c.Cut += len(list) - c.Tail - c.Kept - i
			break
		}
		out = append(out, Item{Index: c.Kept + i, Ref: r})
	}
	return out
}

func sizeOf(list []trace.Ref) Size {
	s := Size{Items: len(list)}
	for _, r := range list {
		s.Tokens, s.Bytes = s.Tokens+r.Tokens, s.Bytes+r.Bytes
	}
	return s
}

// textOf joins the texts of blocks.
func textOf(blocks json.RawMessage) string {
	var list []struct {
		Type, Text string
	}
	_ = json.Unmarshal(blocks, &list)
	out := ""
	for _, b := range list {
		out += b.Text
	}
	return out
}
