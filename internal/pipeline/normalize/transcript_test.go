package normalize

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
	"lathe/internal/msg"
	"lathe/internal/provider/wire"
	"lathe/internal/session/jsonl"
	"lathe/internal/testkit"
)

// TestTranscripts resumes every recorded session: the next request is valid by both judges, and every text on the
// live branch is in it.
func TestTranscripts(t *testing.T) {
	files := 0
	err := filepath.WalkDir(testkit.Shared(t, "data/transcripts"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") || strings.HasPrefix(d.Name(), "hook-stdin") {
			return err
		}
		state, err := jsonl.Read(path, "")
		if err != nil {
			t.Logf("%s: %v", d.Name(), err)
			return nil
		}
		files++
		view := append(state.Messages, user(msg.Text("and now?")))
		out, bps, changes := Normalize(view, testRules())
		req := requestOf(out, bps)
		if err := Check(req); err != nil {
			t.Errorf("%s: %v", d.Name(), err)
		}
		req.Model = "claude-opus-5-5"
		header := http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
		for _, v := range fakeapi.Check(header, wire.AppendRequest(nil, req)) {
			t.Errorf("%s: %v", d.Name(), v)
		}
		sent := map[string]bool{}
		for _, m := range out {
			for _, b := range m.Content {
				sent[b.Text] = true
			}
		}
		for _, m := range view {
			for _, b := range m.Blocks {
				if m.ForModel() && m.APIError == "" && b.Type == msg.TypeText && !blank(b.Text) && !sent[b.Text] {
					t.Errorf("%s: not sent: %.80q", d.Name(), b.Text)
				}
			}
		}
		if len(changes) > 0 {
			t.Logf("%s: %d messages, %d repairs, first %s", d.Name(), len(view), len(changes), changes[0])
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Errorf("%d files, %v", files, err)
	}
}
