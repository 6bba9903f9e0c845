package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// rec writes a record as another program would: kind, uuid, parent ("-" for null, "" for no key) and more fields.
func rec(kind, id, parent, more string) string {
	s := `{"type":"` + kind + `","uuid":"` + id + `"`
	switch parent {
	case "":
	case "-":
		s += `,"parentUuid":null`
	default:
		s += `,"parentUuid":"` + parent + `"`
	}
	if more != "" {
		s += "," + more
	}
	return s + "}\n"
}

func typed(id, parent string) string {
	return rec("user", id, parent, `"message":{"role":"user","content":"prompt `+id+`"}`)
}

func said(id, parent, api string) string {
	return rec("assistant", id, parent, `"message":{"id":"`+api+`","role":"assistant","content":[{"type":"text","text":"`+id+`"}]}`)
}

func asked(id, parent, api, use string) string {
	return rec("assistant", id, parent, `"message":{"id":"`+api+`","role":"assistant","content":[{"type":"tool_use","id":"`+use+`","name":"Read","input":{}}]}`)
}

func told(id, parent, use string) string {
	return rec("user", id, parent, `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+use+`","content":"x"}]}`)
}

func boundary(id, logical, meta string) string {
	return rec("system", id, "-", `"subtype":"compact_boundary","content":"Conversation compacted","logicalParentUuid":"`+logical+`"`+meta)
}

func summary(id, parent string) string {
	return rec("user", id, parent, `"isCompactSummary":true,"message":{"role":"user","content":"summary"}`)
}

func TestLiveBranch(t *testing.T) {
	kept := `,"compactMetadata":{"trigger":"auto","preservedSegment":{"headUuid":"u2","anchorUuid":"s","tailUuid":"a2"}}`
	const ours = `,"writer":"lathe"`
	old := typed("u1", "-") + said("a1", "u1", "m1") + typed("u2", "a1") + said("a2", "u2", "m2")
	for name, c := range map[string]struct{ file, want string }{
		"a line":            {typed("u1", "-") + said("a1", "u1", "m1"), "u1 a1"},
		"rewind":            {old + typed("u3", "a1"), "u1 a1 u3"},
		"first edited":      {old + typed("u3", "-") + said("a3", "u3", "m3"), "u3 a3"},
		"no links":          {typed("u1", "") + said("a1", "", "m1") + typed("u2", ""), "u1 a1 u2"},
		"all links null":    {typed("u1", "-") + said("a1", "-", "m1") + typed("u2", "-"), "u1 a1 u2"},
		"dangling":          {old + typed("u3", "gone"), "u1 a1 u2 a2 u3"},
		"parent after":      {typed("u1", "a1") + said("a1", "u1", "m1"), "u1 a1"},
		"own parent":        {typed("u1", "-") + said("a1", "a1", "m1"), "u1 a1"},
		"parallel":          {typed("u", "-") + asked("a", "u", "m", "t1") + asked("b", "a", "m", "t2") + told("r1", "a", "t1") + told("r2", "b", "t2") + said("c", "r2", "m2"), "u a b r1 r2 c"},
		"parallel, cut":     {typed("u", "-") + asked("a", "u", "m", "t1") + asked("b", "a", "m", "t2") + told("r2", "b", "t2") + told("r1", "a", "t1"), "u a b r2 r1"},
		"meta on a result":  {typed("u", "-") + asked("a", "u", "m", "t1") + asked("b", "a", "m", "t2") + told("r1", "a", "t1") + rec("user", "x", "r1", `"isMeta":true,"message":{"role":"user","content":"image"}`) + told("r2", "b", "t2") + said("c", "r2", "m2"), "u a b r1 x r2 c"},
		"answered twice":    {typed("u", "-") + asked("a", "u", "m", "t1") + told("r1", "a", "t1") + told("r2", "a", "t1") + said("c", "r2", "m2"), "u a r2 c"},
		"progress links":    {typed("u", "-") + asked("a", "u", "m", "t1") + rec("progress", "p", "a", `"data":{}`) + told("r", "p", "t1"), "u a r"},
		"sidechain":         {typed("u", "-") + rec("user", "s", "-", `"isSidechain":true,"message":{"role":"user","content":"x"}`) + said("a", "u", "m"), "u a"},
		"only a sidechain":  {rec("user", "s", "-", `"isSidechain":true,"message":{"role":"user","content":"x"}`), "s"},
		"damaged, repeated": {old + rec("user", "u3", "a2", `"message":"error"`) + typed("u3", "a2"), "u1 a1 u2 a2 u3"},
		"copies":            {old + typed("u1", "-") + said("a1", "u1", "m1"), "u1 a1 u2 a2"},
		"boundary":          {old + boundary("b", "a2", "") + summary("s", "b") + typed("u3", "s"), "b s u3"},
		"back over it":      {old + boundary("b", "a2", "") + summary("s", "b") + typed("u3", "a1"), "u1 a1 u3"},
		"preserved":         {old + boundary("b", "a2", kept) + summary("s", "b") + typed("u3", "s"), "b s u2 a2 u3"},
		"preserved, linked": {old + boundary("b", "a2", kept) + summary("s", "b") + typed("u3", "a2"), "b s u2 a2 u3"},
		"preserved, copied": {old + boundary("b", "a2", "") + summary("s", "b") + typed("u2", "s") + said("a2", "u2", "m2") + typed("u3", "a2"), "b s u2 a2 u3"},
		"brought back":      {old + boundary("b", "a2", kept+ours) + typed("u3", "a2"), "b u2 a2 u3"},
		"gone back within":  {old + boundary("b", "a2", kept+ours) + typed("u3", "u2"), "b u2 u3"},
		"leaf named":        {old + typed("u3", "a1") + `{"type":"last-prompt","leafUuid":"u2"}` + "\n", "u1 a1 u2 a2"},
		"leaf stale":        {old + `{"type":"last-prompt","leafUuid":"a1"}` + "\n" + typed("u3", "a2"), "u1 a1 u2 a2 u3"},
		"leaf an ancestor":  {old + `{"type":"last-prompt","leafUuid":"a1"}` + "\n", "u1 a1 u2 a2"},
		"two programs":      {old + typed("x1", "a2") + typed("y1", "a2") + said("x2", "x1", "m3") + said("y2", "y1", "m4"), "u1 a1 u2 a2 y1 y2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			must(t, os.WriteFile(path, []byte(c.file), 0o600))
			state, err := Read(path, "")
			must(t, err)
			if d := cmp.Diff(c.want, ids(state.Messages)); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func ids(list []msg.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

func TestReadAtAndEarlier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	must(t, os.WriteFile(path, []byte(typed("u1", "-")+said("a1", "u1", "m1")+boundary("b", "a1", "")+summary("s", "b")+
		typed("u2", "s")+boundary("c", "u2", "")+summary("t", "c")), 0o600))
	state, err := Read(path, "")
	must(t, err)
	earlier, err := state.Earlier()
	must(t, err)
	if got := ids(state.Messages) + "|" + ids(earlier); got != "c t|u1 a1 b s u2" {
		t.Fatal(got)
	}
	if state, err = Read(path, "u2"); err != nil || ids(state.Messages) != "b s u2" {
		t.Fatalf("%v %v", state, err)
	}
	if _, err = Read(path, "nowhere"); !errors.Is(err, session.ErrNotFound) {
		t.Fatal(err)
	}
}

// A transcript of another program is copied, never written to; what follows is one session of ours.
func TestForeignTranscript(t *testing.T) {
	s, start := testStore(t)
	path := filepath.Join(t.TempDir(), "theirs.jsonl")
	file := typed("u", "-") + asked("a", "u", "m", "t1") + rec("progress", "p", "a", `"data":{}`) + told("r", "p", "t1") +
		rec("assistant", "b", "r", `"message":{"id":"m2","content":[{"type":"thinking","thinking":"cut off"},{"type":"text","text":"so"}]}`)
	must(t, os.WriteFile(path, []byte(file), 0o400))
	state, log, err := s.Open(start, path)
	must(t, err)
	if _, err := os.Stat(log.Path()); err == nil {
		t.Fatal("a file before the first message")
	}
	if d := cmp.Diff([]msg.Block{msg.Text("so")}, state.Messages[3].Blocks); d != "" {
		t.Fatal(d)
	}
	must(t, log.Append(user("u2", "b", "go on")))
	must(t, log.Close())
	again, _, err := s.Open(start, log.ID())
	must(t, err)
	if got := ids(again.Messages); got != "u a r b u2" {
		t.Fatal(got)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != file {
		t.Fatal("the foreign file was changed", err)
	}
}

func TestForkAndFind(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "the first prompt"), answer("a1", "u1", "m", msg.Text("x"))))
	must(t, log.Freeze(session.Frozen{System: []msg.Block{msg.Text("sys")}, Tools: []msg.ToolDef{}}))
	must(t, log.Keep("title", "my work"))
	before, err := os.ReadFile(log.Path())
	must(t, err)
	state, fork, err := s.Fork(start, "my work")
	must(t, err)
	must(t, fork.Append(user("u2", "a1", "fork")))
	must(t, fork.Close())
	forked, _, err := s.Open(start, fork.ID())
	must(t, err)
	if got := ids(forked.Messages); got != "u1 a1 u2" || forked.Frozen == nil || fork.ID() == log.ID() || state.Meta.ID != fork.ID() {
		t.Fatalf("fork: %s %+v", got, forked)
	}
	if after, err := os.ReadFile(log.Path()); err != nil || string(after) != string(before) {
		t.Fatal("the fork changed its origin", err)
	}
	if _, _, err := s.Open(start, "my work"); !errors.Is(err, session.ErrAmbiguous) {
		t.Fatalf("two sessions of one title: %v", err)
	}
	m, err := s.Find(t.TempDir(), log.ID()) // from another project
	if err != nil || m.Prompt != "the first prompt" || m.Dir != start.Dir || m.Branch != "main" {
		t.Fatalf("%+v %v", m, err)
	}
	for _, ref := range []string{"nothing", "", "../x", filepath.Join(s.StateDir, "no.jsonl"), "a*"} {
		_, _, err := s.Open(start, ref)
		if !errors.Is(err, session.ErrNotFound) || err.Error() != "No conversation found with session ID: "+ref {
			t.Errorf("%q: %v", ref, err)
		}
	}
	list, err := s.List(start.Dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
}

// Bug B059: -c finds what -p -c wrote, but only where headless sessions count.
func TestLatest(t *testing.T) {
	s, start := testStore(t)
	if _, err := s.Latest(start.Dir, true); !errors.Is(err, session.ErrNotFound) {
		t.Fatalf("an empty folder: %v", err)
	}
	headless := s
	headless.Entrypoint = "sdk-cli"
	log, err := headless.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "a")))
	if _, err := s.Latest(start.Dir, false); !errors.Is(err, session.ErrNotFound) {
		t.Fatalf("only a headless session: %v", err)
	}
	m, err := s.Latest(start.Dir, true)
	if err != nil || m.ID != log.ID() || !m.Headless {
		t.Fatalf("%+v %v", m, err)
	}
	must(t, os.WriteFile(filepath.Join(s.ProjectDir(start.Dir), "empty.jsonl"), nil, 0o600))
	if m, err = s.Latest(start.Dir, true); err != nil || m.ID != log.ID() {
		t.Fatalf("beside an empty file: %+v %v", m, err)
	}
}

// Two directories can share a folder: what was said in one is not the other's.
func TestSharedFolder(t *testing.T) {
	s, start := testStore(t)
	top := t.TempDir()
	own, other := filepath.Join(top, "a-b"), filepath.Join(top, "a", "b")
	start.Dir = own
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "a")))
	if m, err := s.Latest(own, true); err != nil || m.ID != log.ID() {
		t.Errorf("its own: %+v %v", m, err)
	}
	if m, err := s.Latest(other, true); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("another directory's session was found: %+v %v", m, err)
	}
	if list, err := s.List(other); err != nil || len(list) != 0 {
		t.Errorf("another directory's sessions are listed: %+v %v", list, err)
	}
}

// A session goes with the folder of its project, whatever its directory was called when it began; one id in two projects
// means neither from a third.
func TestMovedProjects(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "a")))
	data, err := os.ReadFile(log.Path())
	must(t, err)
	moved := t.TempDir()
	must(t, os.MkdirAll(s.ProjectDir(moved), 0o700))
	must(t, os.WriteFile(filepath.Join(s.ProjectDir(moved), filepath.Base(log.Path())), data, 0o600))
	if list, err := s.List(moved); err != nil || len(list) != 1 {
		t.Errorf("where it was moved: %+v %v", list, err)
	}
	if m, err := s.Find(t.TempDir(), log.ID()); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("from a third: %+v %v", m, err)
	}
}

// FuzzRead: no bytes make the reader fail or hang; what it gives has ids, each once, and can be stored again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(typed("u1", "-") + said("a1", "u1", "m1") + boundary("b", "a1", `,"compactMetadata":{"preservedMessages":{"uuids":["a1"]}}`) + summary("s", "b")))
	f.Add([]byte(asked("a", "a", "m", "t") + told("r", "", "t") + "\x00\x00" + told("r", "a", "t") + `{"type":"us` + said("c", "r", "m")))
	f.Add([]byte("\ufeff\r\n[1]\n{\"type\":\"last-prompt\",\"leafUuid\":\"a\"}\n{\"type\":\"user\",\"message\":{\"content\":[\"x\",{\"type\":\"text\",\"text\":\"y\",\"z\":1}]}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr := newTree(scan(data).lines)
		leaf, err := tr.chooseLeaf(scan(data), "")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range tr.messages(leaf) {
			if m.ID == "" || m.Kind == "" || seen[m.ID] && len(tr.copies) == 0 {
				t.Fatalf("message %+v", m)
			}
			seen[m.ID] = true
			text := appendRecord(nil, &header{session: "s"}, m)
			if l, ok := parseLine(text[:len(text)-1]); !ok || !l.has(flagOurs) || strings.Count(string(text), "\n") != 1 {
				t.Fatalf("stored again as %q", text)
			}
		}
	})
}
