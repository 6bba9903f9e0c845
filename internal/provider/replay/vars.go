package replay

import (
	"cmp"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// placeholder begins what a recorder writes for a text of its run. It is unlike anything that a shell script has.
const placeholder = "${lathe:"

// vars replaces texts by others: longer ones first, so that a path is not taken for the beginning of another.
type vars []struct{ from, to string }

func (v *vars) add(from, to string) {
	if from != "" && from != to {
		*v = append(*v, struct{ from, to string }{from, to})
	}
}

func (v vars) sort() {
	slices.SortFunc(v, func(a, b struct{ from, to string }) int {
		return cmp.Or(cmp.Compare(len(b.from), len(a.from)), cmp.Compare(a.from, b.from))
	})
}

// inJSON replaces in JSON text.
func (v vars) inJSON(raw []byte) []byte { return []byte(v.replace(string(raw), escape)) }

func (v vars) replace(s string, form func(string) string) string {
	if len(v) == 0 {
		return s
	}
	var pairs []string
	for _, r := range v {
		pairs = append(pairs, form(r.from), form(r.to))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// escape is s as it stands inside a JSON string.
func escape(s string) string {
	q := msg.AppendString(nil, s)
	return string(q[1 : len(q)-1])
}

// inEvent replaces in an event of a stream. The pieces of a call's input are JSON inside JSON.
func (v vars) inEvent(raw []byte) []byte {
	if len(v) == 0 {
		return raw
	}
	c, err := wire.Decode(raw)
	if err != nil || c.Kind != provider.ChunkBlockDelta || c.Delta != provider.DeltaInput {
		return v.inJSON(raw)
	}
	return deltaEvent(c, v.replace(c.Text, escape))
}

// spans returns where texts to replace stand in s, in order.
func (v vars) spans(s string, form func(string) string) [][2]int {
	var out [][2]int
	for i := 0; i < len(s); {
		n := 0
		for _, r := range v {
			if f := form(r.from); strings.HasPrefix(s[i:], f) {
				n = len(f)
				break
			}
		}
		if n == 0 {
			i++
			continue
		}
		out = append(out, [2]int{i, i + n})
		i += n
	}
	return out
}
