package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// recent tells which of a turn's touched files are new since they were last taken.
type recent struct{ n int }

// since returns them. A shorter list than before is that of another turn.
func (r *recent) since(t *turn.Turn, touched []string) []string {
	if t.Step <= 1 || r.n > len(touched) {
		r.n = 0
	}
	return touched[r.n:]
}

func (r *recent) any(t *turn.Turn, touched []string) bool { return len(r.since(t, touched)) > 0 }

// take returns the new ones, and with a turn's first pass those that the prompt mentions.
func (r *recent) take(t *turn.Turn, touched []string) []string {
	out := slices.Clone(r.since(t, touched))
	r.n = len(touched)
	if t.Step <= 1 {
		for _, m := range t.Mentions {
			out = append(out, m.Path)
		}
	}
	return out
}

// shortHash tells texts apart in keys.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// again separates a key from the number that makes it new.
const again = " ·"

// lastKey is the newest key with the prefix that the source attached since the last compaction, without the number
// that fresh adds.
func lastKey(messages []msg.Message, source, prefix string) string {
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary:
			return ""
		case m.Kind == msg.KindAttachment && m.Source == source && strings.HasPrefix(m.Key, prefix):
			key, _, _ := strings.Cut(m.Key, again)
			return key
		}
	}
	return ""
}

// fresh returns a key that was not attached yet, so that a text which comes back after another one is attached again.
func fresh(seen Seen, source, key string) string {
	if !seen.Has(source, key) {
		return key
	}
	return fmt.Sprintf("%s%s%d", key, again, len(seen[source]))
}
