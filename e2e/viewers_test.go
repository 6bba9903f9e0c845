package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/fakeapi"
)

// spent is what a program says of one model.
type spent struct {
	Input, Output, Write, Read int
	Cost                       float64
}

// near compares counts, and costs up to a thousandth of a cent.
func (s spent) near(o spent) bool {
	d := math.Abs(s.Cost - o.Cost)
	s.Cost, o.Cost = 0, 0
	return s == o && d < 1e-5
}

// viewed makes sessions for other programs to read: answers of several blocks, two models, a resume and a fork.
// The state directory is also the configuration directory, as these programs expect it. It returns the ids of the
// session and of its fork, and what the last run of the session said of each model.
func viewed(t *testing.T) (r *rig, id, fork string, models map[string]spent) {
	t.Helper()
	r = newRig(t, fakeapi.Sequence(
		answer(fakeapi.Block{Thinking: "Where is it?"}, fakeapi.Block{Text: "I look at two files."}, readFile("one.txt"), readFile("two.txt")),
		answer(fakeapi.Block{Text: "And change one of them."}, edit("one.txt", "first", "FIRST")),
		fakeapi.Text(strings.Repeat("Changed the first file. ", 40)),
		answer(fakeapi.Block{Text: "Once more."}, bash("ls")),
		fakeapi.Text("Nothing more to do."),
		fakeapi.Text("The fork agrees."),
	))
	r.env = append(r.env, "CLAUDE_CONFIG_DIR="+filepath.Join(r.home, "conf"))
	r.file("one.txt", "first\n"+strings.Repeat("a line that is long enough to be counted\n", 300))
	r.file("two.txt", strings.Repeat("another line\n", 100))
	res := resultOf(t, r.must("-p", "Change the <first> file", "--output-format", "json", "--permission-mode", "acceptEdits", "--name", "my session").out)
	id, _ = res["session_id"].(string)
	res = resultOf(t, r.must("-p", "anything else?", "--resume", id, "--model", "claude-opus-4-7", "--output-format", "json").out)
	models = map[string]spent{}
	for name, m := range res["modelUsage"].(map[string]any) {
		n := func(key string) int { return int(m.(map[string]any)[key].(float64)) }
		models[name] = spent{
			n("inputTokens"), n("outputTokens"), n("cacheCreationInputTokens"), n("cacheReadInputTokens"),
			m.(map[string]any)["costUSD"].(float64),
		}
	}
	res = resultOf(t, r.must("-p", "do you agree?", "--resume", id, "--fork-session", "--model", "claude-opus-4-7", "--output-format", "json").out)
	fork, _ = res["session_id"].(string)
	r.legal()
	return r, id, fork, models
}

// counted runs the published usage viewer and returns its sums by model.
func (r *rig) counted(program string, args ...string) map[string]spent {
	r.t.Helper()
	cmd := exec.Command("node", append([]string{program, "daily", "--json", "--offline", "--breakdown"}, args...)...)
	cmd.Env = append(r.command().Env, "LOG_LEVEL=0")
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("ccusage: %v\n%s", err, out)
	}
	var report struct {
		Daily []struct {
			Models []struct {
				Name   string  `json:"modelName"`
				Input  int     `json:"inputTokens"`
				Output int     `json:"outputTokens"`
				Write  int     `json:"cacheCreationTokens"`
				Read   int     `json:"cacheReadTokens"`
				Cost   float64 `json:"cost"`
			} `json:"modelBreakdowns"`
		} `json:"daily"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		r.t.Fatalf("ccusage: %v\n%s", err, out)
	}
	sums := map[string]spent{}
	for _, d := range report.Daily {
		for _, m := range d.Models {
			s := sums[m.Name]
			sums[m.Name] = spent{s.Input + m.Input, s.Output + m.Output, s.Write + m.Write, s.Read + m.Read, s.Cost + m.Cost}
		}
	}
	return sums
}

// TestUsageViewer has a published program count what our sessions used and cost.
func TestUsageViewer(t *testing.T) {
	t.Parallel()
	program := filepath.Join(npmInstall(t, "ccusage@18.0.11"), "node_modules", "ccusage", "dist", "index.js")
	r, id, fork, models := viewed(t)
	forked := filepath.Join(r.home, "aside.jsonl")
	path := filepath.Join(r.home, "conf", "projects", "*", fork+".jsonl")
	list, err := filepath.Glob(path)
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %v %v", path, list, err)
	}
	// The session alone, as its own result has it.
	if err := os.Rename(list[0], forked); err != nil {
		t.Fatal(err)
	}
	compareSpent(t, "session "+id, r.counted(program), models)
	// The same with the viewer's own prices, for the model that it knows.
	own := r.counted(program, "--mode", "calculate")["claude-opus-4-7"]
	if want := models["claude-opus-4-7"]; !own.near(want) || own.Cost == 0 {
		t.Errorf("the viewer's own price of claude-opus-4-7: %+v, want %+v", own, want)
	}
	// With the fork: what was copied is counted once.
	if err := os.Rename(forked, list[0]); err != nil {
		t.Fatal(err)
	}
	all := map[string]spent{}
	for _, c := range r.api.Calls("") {
		s, u := all[c.Model], c.Usage
		all[c.Model] = spent{s.Input + u.Input, s.Output + u.Output, s.Write + u.Write5m + u.Write1h, s.Read + u.Read, s.Cost}
	}
	got := r.counted(program)
	for name, s := range got {
		s.Cost = 0
		got[name] = s
	}
	compareSpent(t, "session and fork", got, all)
}

func compareSpent(t *testing.T, what string, got, want map[string]spent) {
	t.Helper()
	if len(want) != 2 {
		t.Errorf("%s: %d models, want 2: %+v", what, len(want), want)
	}
	if len(got) != len(want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
	for name, w := range want {
		if !got[name].near(w) {
			t.Errorf("%s, %s: %+v, want %+v", what, name, got[name], w)
		}
	}
}

// TestSessionReader has the published SDK list and read our sessions.
func TestSessionReader(t *testing.T) {
	t.Parallel()
	dir := npmInstall(t, "@anthropic-ai/claude-agent-sdk@0.3.332")
	r, id, fork, _ := viewed(t)
	script := filepath.Join(dir, "read.mjs")
	source := `import {listSessions, getSessionMessages} from '@anthropic-ai/claude-agent-sdk';
const [dir, id] = process.argv.slice(2);
const say = m => typeof m.message.content === 'string' ? m.message.content : m.message.content.map(b => b.type + (b.text ? ' ' + b.text.slice(0, 30) : b.name ? ' ' + b.name : '')).join();
console.log(JSON.stringify({
	here: await listSessions({dir}), all: (await listSessions({})).length,
	messages: (await getSessionMessages(id, {dir})).map(m => m.type + ': ' + say(m)),
}));
`
	if err := os.WriteFile(script, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, r.dir, id)
	cmd.Env = r.command().Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading by the SDK: %v\n%s", err, out)
	}
	var got struct {
		Here []struct {
			ID     string `json:"sessionId"`
			Prompt string `json:"firstPrompt"`
			Title  string `json:"customTitle"`
			Cwd    string `json:"cwd"`
		} `json:"here"`
		All      int      `json:"all"`
		Messages []string `json:"messages"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	listed := map[string]string{}
	for _, s := range got.Here {
		listed[s.ID] = fmt.Sprint(s.Prompt, "; ", s.Title, "; ", s.Cwd)
	}
	line := func(title string) string { return "Change the <first> file; " + title + "; " + r.dir }
	if d := cmp.Diff(map[string]string{id: line("my session"), fork: line("my session (fork)")}, listed); d != "" || got.All != 2 {
		t.Errorf("listed sessions (%d in all):\n%s", got.All, d)
	}
	want := []string{
		"user: Change the <first> file",
		"assistant: thinking",
		"assistant: text I look at two files.",
		"assistant: tool_use Read",
		"assistant: tool_use Read",
		"user: tool_result",
		"user: tool_result",
		"assistant: text And change one of them.",
		"assistant: tool_use Edit",
		"user: tool_result",
		"assistant: text Changed the first file. Change",
		"user: anything else?",
		"assistant: text Once more.",
		"assistant: tool_use Bash",
		"user: tool_result",
		"assistant: text Nothing more to do.",
	}
	if d := cmp.Diff(want, got.Messages); d != "" {
		t.Errorf("messages:\n%s", d)
	}
}
