package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/provider"
)

// Fast mode is said once, whatever additional fields say.
func TestSpeedOnce(t *testing.T) {
	extra := map[string]json.RawMessage{"speed": json.RawMessage(`"standard"`)}
	for fast, want := range map[bool]string{true: `"speed":"fast"`, false: `"speed":"standard"`} {
		head := string(appendHead(nil, &provider.Request{Model: "m", MaxTokens: 1, Fast: fast, Extra: extra}))
		if strings.Count(head, `"speed"`) != 1 || !strings.Contains(head, want) {
			t.Errorf("fast %v: %s", fast, head)
		}
	}
}
