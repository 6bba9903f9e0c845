package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
	"lathe/internal/testkit"
)

// TestResumeTranscripts resumes every recorded transcript by its path: the next request breaks no rule, holds every
// turn of the live branch, the recorded file stays as it is, and the session goes on in a file of our own.
func TestResumeTranscripts(t *testing.T) {
	t.Parallel()
	root := testkit.Shared(t, "data/transcripts")
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".jsonl") && !strings.Contains(filepath.Base(path), "hook-stdin") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 45 {
		t.Fatalf("%d transcripts: %v", len(paths), err)
	}
	for _, path := range paths {
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resumeRecorded(t, path)
		})
	}
}

func resumeRecorded(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := readBranch(data)
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	o := r.run("-p", "and now", "--resume", path, "--output-format", "json")
	if after, err := os.ReadFile(path); err != nil || sha256.Sum256(after) != sha256.Sum256(data) {
		t.Errorf("the recorded file was changed: %v", err)
	}
	if want.empty() {
		if o.code != 1 || !strings.Contains(o.err, "No conversation found") {
			t.Errorf("a file without a conversation: exit code %d, %s", o.code, o.err)
		}
		return
	}
	if o.code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", o.code, o.out, o.err)
	}
	r.legal()
	req := r.last()
	want.check(t, req)
	if req.LastUserText() == "" || !strings.HasSuffix(strings.TrimSpace(req.LastUserText()), "and now") && !strings.Contains(req.LastUserText(), "and now") {
		t.Errorf("the prompt is not in the last message: %.200q", req.LastUserText())
	}
	own := r.transcript() // there is exactly one
	id, _ := resultOf(t, o.out)["session_id"].(string)
	if filepath.Base(own) != id+".jsonl" {
		t.Errorf("session %s is in %s", id, own)
	}
	// And once more, from our own file: what was sent is sent again.
	r.must("-p", "and then", "--resume", id)
	r.legal()
	want.check(t, r.last())
	if !bytes.Contains(r.last().Body, []byte("and now")) {
		t.Error("the second request does not hold the first prompt")
	}
	if len(r.transcripts()) != 1 {
		t.Errorf("session files: %v", r.transcripts())
	}
}

// branchFacts is what must be in the next request, read from a transcript by the rules of its format and without
// the program's own reader.
type branchFacts struct {
	texts   []string        // of people and of the model, in file order
	uses    map[string]bool // ids of calls
	results map[string]bool // ids of answered calls
	dead    map[string]bool // texts and ids that must not be there
}

func (b *branchFacts) empty() bool { return len(b.texts) == 0 && len(b.uses) == 0 }

// record is one line of a transcript, as far as this reading needs it.
type record struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	UUID      string  `json:"uuid"`
	Parent    *string `json:"parentUuid"`
	Sidechain bool    `json:"isSidechain"`
	API       bool    `json:"isApiErrorMessage"`
	Message   struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Compact struct {
		Segment struct {
			Head string `json:"headUuid"`
			Tail string `json:"tailUuid"`
		} `json:"preservedSegment"`
	} `json:"compactMetadata"`
}

type block struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	ID    string `json:"id"`
	UseID string `json:"tool_use_id"`
}

func (r *record) blocks() []block {
	var list []block
	if json.Unmarshal(r.Message.Content, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

// readBranch reads the live branch: what follows the last compact boundary, without side chains, without copies, and
// without what hangs only on a branch that a rewind left behind.
func readBranch(data []byte) *branchFacts {
	var recs []record
	seen := map[string]bool{}
	onlySide := true
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for _, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.Trim(line, "\x00\r\t ")
		var rec record
		if json.Unmarshal(line, &rec) != nil {
			// A cut stub and a whole record may stand on one line.
			i := bytes.LastIndex(line, []byte(`{"parentUuid"`))
			if i <= 0 || json.Unmarshal(line[i:], &rec) != nil {
				continue
			}
		}
		if rec.UUID != "" && seen[rec.UUID] || !slices.Contains([]string{"user", "assistant", "system"}, rec.Type) {
			continue
		}
		seen[rec.UUID] = true
		onlySide = onlySide && (rec.Sidechain || rec.Type == "system")
		recs = append(recs, rec)
	}
	if !onlySide {
		recs = slices.DeleteFunc(recs, func(r record) bool { return r.Sidechain })
	}
	return collect(sinceBoundary(recs))
}

// sinceBoundary is what a compaction left: the records that it preserved, and those behind it.
func sinceBoundary(recs []record) []record {
	for i := len(recs) - 1; i >= 0; i-- {
		if recs[i].Subtype != "compact_boundary" {
			continue
		}
		var kept []record
		in := false
		for _, r := range recs[:i] {
			in = in || r.UUID != "" && r.UUID == recs[i].Compact.Segment.Head
			if in {
				kept = append(kept, r)
			}
			if r.UUID == recs[i].Compact.Segment.Tail {
				in = false
			}
		}
		return slices.Concat(recs[i+1:min(i+2, len(recs))], kept, recs[min(i+2, len(recs)):]) // behind the summary
	}
	return recs
}

// rewound finds the records that a rewind left behind: a prompt hangs on a record on which an answer hangs already,
// so that answer, and what follows it, is dead.
func rewound(recs []record) map[string]bool {
	at := map[string]int{}
	for i, r := range recs {
		at[r.UUID] = i
	}
	dead := map[string]bool{}
	for i, r := range recs {
		if r.Type != "user" || r.Parent == nil || !prompt(&r) {
			continue
		}
		j, ok := at[*r.Parent]
		if !ok || j >= i {
			continue
		}
		for _, k := range recs[j+1 : i] {
			hangs := k.Parent != nil && (*k.Parent == *r.Parent && k.Type == "assistant" || dead[*k.Parent])
			dead[k.UUID] = dead[k.UUID] || hangs
		}
	}
	return dead
}

// prompt reports whether a user record is no tool result.
func prompt(r *record) bool {
	return !slices.ContainsFunc(r.blocks(), func(b block) bool { return b.Type == "tool_result" })
}

func collect(recs []record) *branchFacts {
	f := &branchFacts{uses: map[string]bool{}, results: map[string]bool{}, dead: map[string]bool{}}
	dead := rewound(recs)
	for i := range recs {
		r := &recs[i]
		if r.Type == "system" || r.API || r.Message.Model == "<synthetic>" {
			continue
		}
		for _, b := range r.blocks() {
			key := b.ID
			switch b.Type {
			case "text":
				key = strings.TrimSpace(b.Text)
			case "tool_result":
				key = b.UseID
			case "tool_use":
			default:
				continue
			}
			if dead[r.UUID] {
				f.dead[key] = true
				continue
			}
			switch {
			case key == "":
			case b.Type == "text":
				f.texts = append(f.texts, key)
			case b.Type == "tool_use":
				f.uses[key] = true
			default:
				f.results[key] = true
			}
		}
	}
	return f
}

// check compares a request with the facts.
func (b *branchFacts) check(t *testing.T, req fakeapi.Request) {
	t.Helper()
	var all strings.Builder
	uses, results := map[string]int{}, map[string]int{}
	for _, m := range req.Messages() {
		for _, bl := range m.Blocks {
			switch bl.Type {
			case "text":
				all.WriteString(bl.Text + "\n")
			case "tool_use":
				uses[bl.ID]++
			case "tool_result":
				results[bl.ID]++
			}
		}
	}
	rest := all.String()
	for i, text := range b.texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			where := "at all"
			if strings.Contains(all.String(), text) {
				where = "at its place"
			}
			t.Errorf("text %d is not there %s: %.200q", i, where, text)
			continue
		}
		rest = after
	}
	for id := range b.uses {
		if uses[id] != 1 || results[id] != 1 {
			t.Errorf("call %s is there %d times, its result %d times", id, uses[id], results[id])
		}
	}
	for id := range uses {
		if !b.uses[id] {
			t.Errorf("call %s is there, but not on the branch", id)
		}
	}
	for key := range b.dead {
		if !b.uses[key] && !slices.Contains(b.texts, key) && (uses[key] > 0 || strings.Contains(all.String(), key)) {
			t.Errorf("what a rewind left behind is there: %.200q", key)
		}
	}
}

// TestRecordedFacts compares the reading above with an independent count, so that it cannot pass by finding nothing.
func TestRecordedFacts(t *testing.T) {
	t.Parallel()
	root := testkit.Shared(t, "data/transcripts")
	data, err := os.ReadFile(filepath.Join(root, "facts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Uses      int            `json:"tool_uses"`
		Alone     []string       `json:"tool_uses_without_result"`
		Sidechain int            `json:"sidechain_records"`
		Bounds    int            `json:"compact_boundaries"`
		Types     map[string]int `json:"types"`
		First     *string        `json:"first_user_text"`
		Last      *string        `json:"last_user_text"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, want := range all {
		data, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is not there", name)
			continue
		}
		got := readBranch(data)
		if want.Types["user"]+want.Types["assistant"] == 0 != got.empty() {
			t.Errorf("%s: empty %v", name, got.empty())
		}
		if want.Sidechain > 0 || want.Bounds > 0 || strings.HasPrefix(name, "derived/") {
			continue
		}
		compared++
		if len(got.uses) != want.Uses {
			t.Errorf("%s: %d calls, want %d", name, len(got.uses), want.Uses)
		}
		for _, text := range []*string{want.First, want.Last} {
			if text == nil || strings.TrimSpace(*text) == "" {
				continue
			}
			start := strings.TrimSpace(*text)
			start = start[:min(len(start), 60)]
			if !slices.ContainsFunc(got.texts, func(s string) bool { return strings.HasPrefix(s, start) }) {
				t.Errorf("%s: no text %q", name, start)
			}
		}
	}
	if compared < 15 {
		t.Errorf("only %d files compared", compared)
	}
}
