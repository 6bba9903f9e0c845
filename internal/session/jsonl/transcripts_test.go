package jsonl

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/testkit"
)

// facts is what an independent count says about a recorded transcript.
type facts struct {
	Lines        int            `json:"lines"`
	Unparseable  int            `json:"unparseable"`
	Records      int            `json:"records"`
	Types        map[string]int `json:"types"`
	ToolUses     int            `json:"tool_uses"`
	Unanswered   []string       `json:"tool_uses_without_result"`
	ResultsAlone []string       `json:"results_without_use"`
	Boundaries   int            `json:"compact_boundaries"`
	Sidechain    int            `json:"sidechain_records"`
	Usage        struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Write  int `json:"cache_creation_input_tokens"`
		Read   int `json:"cache_read_input_tokens"`
	} `json:"usage_by_message_id"`
	LastUser *string `json:"last_user_text"`
}

func transcripts(t testing.TB) (string, map[string]facts) {
	t.Helper()
	root := testkit.Shared(t, "data/transcripts")
	data, err := os.ReadFile(filepath.Join(root, "facts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]facts
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return root, all
}

// distinct counts records, copies once.
func distinct(f *file) int {
	n, seen := 0, map[string]bool{}
	for _, l := range f.lines {
		if id := string(l.get(l.uuid)); id == "" || !seen[id] {
			seen[id] = true
			n++
		}
	}
	return n
}

// noTalk are the files that hold no conversation.
func noTalk(f facts) bool { return f.Types["user"]+f.Types["assistant"] == 0 }

func TestTranscripts(t *testing.T) {
	root, all := transcripts(t)
	if len(all) < 40 {
		t.Fatalf("only %d files in facts.json", len(all))
	}
	for name, want := range all {
		t.Run(name, func(t *testing.T) { checkTranscript(t, filepath.Join(root, name), want) })
	}
}

func checkTranscript(t *testing.T, path string, want facts) {
	f, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A cut stub and a whole record on one line count as unparseable there; we get the record back.
	rescued := 0
	if strings.HasSuffix(path, "concatenated.jsonl") {
		rescued = 1
	}
	if f.bad != want.Unparseable {
		t.Errorf("%d bad lines, want %d", f.bad, want.Unparseable)
	}
	if got := distinct(f); got != want.Records+rescued {
		t.Errorf("%d records, want %d", got, want.Records+rescued)
	}
	state, err := Read(path, "")
	if noTalk(want) {
		if !errors.Is(err, session.ErrNotFound) {
			t.Fatalf("a file without a conversation gives %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Notes) == 0 && want.Unparseable > 0 {
		t.Error("nothing said about bad lines")
	}
	all := state.Messages
	if state.Earlier != nil {
		earlier, err := state.Earlier()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all { // what a compaction preserved is in both
			earlier = slices.DeleteFunc(earlier, func(e msg.Message) bool { return e.ID == m.ID })
		}
		all = append(earlier, all...)
	}
	want.ToolUses += rescued
	checkPairs(t, f, all, want)
	if rescued == 0 {
		checkUsage(t, all, want)
	}
	if want.Boundaries > 0 && state.Messages[0].Subtype != msg.SubCompactBoundary {
		t.Errorf("history begins with %s %s, not with the boundary", state.Messages[0].Kind, state.Messages[0].Subtype)
	}
	// The last prompt of one file is a repetition of a damaged record, which the count leaves out.
	if want.LastUser != nil && !strings.HasSuffix(path, "rewind-branch.jsonl") && !strings.HasSuffix(path, "edge-cases-handmade.jsonl") {
		checkLast(t, all, *want.LastUser)
	}
}

// dead are uuids that belong to dead branches, by file.
func dead(name string) bool { return strings.HasSuffix(name, "rewind-branch.jsonl") }

// checkPairs: the calls and results of the whole file are there, each once, unless in a side chain.
func checkPairs(t *testing.T, f *file, all []msg.Message, want facts) {
	if dead(t.Name()) {
		return
	}
	uses, results := map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.ID] {
			t.Errorf("message %s is there twice", m.ID)
		}
		seen[m.ID] = true
		for _, b := range m.Blocks {
			switch b.Type {
			case msg.TypeToolUse:
				uses[b.ID]++
			case msg.TypeToolResult:
				results[b.ToolUseID]++
			}
		}
	}
	tr := newTree(f.lines)
	inFile, answered := map[string]bool{}, map[string]bool{}
	for i := range tr.recs {
		m := identified(decodeMessage(&tr.recs[i]), &tr.recs[i], i)
		if m == nil {
			continue
		}
		if !tr.recs[i].has(flagCopy) && m.Kind != msg.KindAttachment && !seen[m.ID] {
			t.Errorf("record %d (%s %s) is not on the live branch: %.80q", i, m.Kind, m.Subtype, m.Text())
		}
		for _, b := range m.Blocks {
			switch b.Type {
			case msg.TypeToolUse:
				inFile[b.ID] = true
			case msg.TypeToolResult:
				answered[b.ToolUseID] = true
			}
		}
	}
	for id := range inFile {
		if uses[id] != 1 {
			t.Errorf("tool_use %s is on the branch %d times", id, uses[id])
		}
	}
	for id := range answered {
		if results[id] != 1 {
			t.Errorf("result of %s is on the branch %d times", id, results[id])
		}
	}
	if want.Sidechain == 0 && len(uses) != want.ToolUses {
		t.Errorf("%d tool uses, want %d", len(uses), want.ToolUses)
	}
}

// checkUsage: usage counted once for each answer, the last record winning, equals the independent count.
func checkUsage(t *testing.T, all []msg.Message, want facts) {
	if dead(t.Name()) || want.Sidechain > 0 {
		return
	}
	byID := map[string]msg.Usage{}
	for _, m := range all {
		if m.Usage != nil && m.APIID != "" {
			byID[m.APIID] = *m.Usage
		}
	}
	var sum msg.Usage
	for _, u := range byID {
		sum = sum.Add(u)
	}
	got := [4]int{sum.Input, sum.Output, sum.CacheWrite, sum.CacheRead}
	if w := [4]int{want.Usage.Input, want.Usage.Output, want.Usage.Write, want.Usage.Read}; got != w {
		t.Errorf("usage %v, want %v", got, w)
	}
}

func checkLast(t *testing.T, all []msg.Message, want string) {
	last := ""
	for _, m := range all {
		if m.Kind == msg.KindUser && !m.Meta && !hasResult(&m) {
			if s := strings.TrimSpace(m.Text()); s != "" {
				last = s
			}
		}
	}
	if n := min(len(want), len(last), 60); last[:n] != strings.TrimSpace(want)[:n] {
		t.Errorf("last prompt is %.80q, want %.80q", last, want)
	}
}
