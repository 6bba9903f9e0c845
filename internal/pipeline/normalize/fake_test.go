package normalize

import (
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/fakeapi"
	"lathe/internal/provider/wire"
)

// TestAnotherJudge holds the encoded request against the fake API's rules, which were written apart from ours.
func TestAnotherJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := rapid.SliceOfN(anyMessage([]string{"", "a", "b", "c"}), 0, 12).Draw(t, "view")
		out, bps, _ := Normalize(view, anyRules(t))
		req := requestOf(out, bps)
		req.Model = "claude-opus-5-5"
		header := http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
		body := wire.AppendRequest(nil, req)
		if bad := fakeapi.Check(header, body); len(bad) > 0 {
			t.Fatalf("%v\n%s", bad, body)
		}
	})
}
