package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// patience bounds every wait for the program or the fake. It is only ever used up by a test that fails.
const patience = 3 * time.Minute

// rig is a place for one test: a working directory, a home, and a fake API that the program talks to.
type rig struct {
	t    testing.TB
	dir  string // working directory of the program
	home string
	api  *fakeapi.Server
	env  []string // over the defaults

	launched []*running // all so far
}

// newRig starts a fake API with the script. The script may name ${CWD}, the working directory.
func newRig(t testing.TB, script *fakeapi.Script) *rig {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(root, "work"), home: filepath.Join(root, "home")}
	for _, d := range []string{r.dir, r.home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.serve(script)
	return r
}

// serve starts a new fake API; the program uses it from then on.
func (r *rig) serve(script *fakeapi.Script) {
	r.t.Helper()
	api, err := fakeapi.New(fakeapi.Options{Script: script, Vars: map[string]string{"CWD": r.dir}})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := api.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { api.Close() })
	r.api = api
}

// file writes a file below the working directory.
func (r *rig) file(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// binary is the program: the one that LATHE_E2E_BINARY names, or this test binary under the program's name.
func binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("LATHE_E2E_BINARY"); path != "" {
		return path
	}
	path, err := exec.LookPath("lathe")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command is the program, not yet started, with nothing of the machine's own configuration.
func (r *rig) command(args ...string) *exec.Cmd {
	r.t.Helper()
	cmd := exec.Command(binary(r.t), args...)
	cmd.Dir = r.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ANTHROPIC_") && !strings.HasPrefix(v, "CLAUDE") && !strings.HasPrefix(v, "LATHE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+r.home, "GIT_CONFIG_GLOBAL="+filepath.Join(r.home, "gitconfig"),
		"GORACE=atexit_sleep_ms=0", // under -race every process would sleep for a second at its end
		"ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL="+r.api.URL(), "IS_SANDBOX=1",
		"LATHE_RETRY_BASE_DELAY_MS=1", "CLAUDE_CODE_OVERLOADED_RETRY_BASE_DELAY_MS=1")
	cmd.Env = append(cmd.Env, r.env...)
	return cmd
}

// outcome is how a run of the program ended.
type outcome struct {
	code     int
	out, err string
}

// run runs the program to its end. Standard input is empty.
func (r *rig) run(args ...string) outcome {
	r.t.Helper()
	return r.start(args...).wait()
}

// must runs the program and fails the test unless it ends well.
func (r *rig) must(args ...string) outcome {
	r.t.Helper()
	o := r.run(args...)
	if o.code != 0 {
		r.t.Fatalf("lathe %q: exit code %d\n%s\n%s", args, o.code, o.out, o.err)
	}
	return o
}

// running is the program while it runs.
type running struct {
	r      *rig
	cmd    *exec.Cmd
	lines  chan string // of standard output, as they come; closed at its end
	seen   []string    // lines taken so far
	stderr bytes.Buffer
	ended  chan error
	waited bool // ended was read
}

// start starts the program and reads its output line by line, without bound.
func (r *rig) start(args ...string) *running {
	r.t.Helper()
	return r.launch(r.command(args...))
}

// launch starts a prepared command.
func (r *rig) launch(cmd *exec.Cmd) *running {
	r.t.Helper()
	p := &running{r: r, cmd: cmd, lines: make(chan string, 1<<16), ended: make(chan error, 1)}
	out, w, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, &p.stderr
	cmd.WaitDelay = patience
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		defer out.Close()
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				p.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	go func() { p.ended <- cmd.Wait() }()
	r.t.Cleanup(func() { _ = cmd.Process.Kill() })
	r.launched = append(r.launched, p)
	return p
}

// told is what the programs that were started and not waited for have printed. It ends them: it is for a test that fails.
func (r *rig) told() string {
	r.t.Helper()
	var b strings.Builder
	for _, p := range r.launched {
		if p.waited {
			continue
		}
		p.waited = true
		_ = p.cmd.Process.Kill()
		<-p.ended
		for line := range p.lines {
			p.seen = append(p.seen, line)
		}
		b.WriteString(strings.Join(p.seen, "") + p.stderr.String())
	}
	return b.String()
}

// wait waits for the end of the program.
func (p *running) wait() outcome {
	p.r.t.Helper()
	p.waited = true
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.r.t.Fatal(err)
		}
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended // nobody writes any more
		p.r.t.Fatalf("the program does not end\n%s\n%s", strings.Join(p.seen, ""), p.stderr.String())
	}
	for line := range p.lines {
		p.seen = append(p.seen, line)
	}
	return outcome{code: p.cmd.ProcessState.ExitCode(), out: strings.Join(p.seen, ""), err: p.stderr.String()}
}

// line waits for a line of standard output that holds the text.
func (p *running) line(text string) {
	p.r.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.r.t.Fatalf("no line with %q\n%s\n%s", text, strings.Join(p.seen, ""), p.stderr.String())
			}
			p.seen = append(p.seen, line)
			if strings.Contains(line, text) {
				return
			}
		case <-limit:
			p.r.t.Fatalf("no line with %q in time\n%s", text, strings.Join(p.seen, ""))
		}
	}
}

// until waits until the fake's records fulfil the condition.
func (r *rig) until(what string, cond func([]fakeapi.Request) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.api.Wait(ctx, cond); err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

// called waits until the fake was called n times and has sent as many events of the last answer.
func (r *rig) called(n, events int) {
	r.t.Helper()
	r.until("a call", func(all []fakeapi.Request) bool { return len(all) >= n && all[n-1].Sent >= events })
}

// legal fails the test when a request broke a rule of the API.
func (r *rig) legal() {
	r.t.Helper()
	for _, v := range r.api.Violations() {
		r.t.Errorf("request %d broke the rule %s: %v", v.Request, v.Rule, v)
	}
}

// last is the newest request of the fake.
func (r *rig) last() fakeapi.Request {
	r.t.Helper()
	all := r.api.Requests()
	if len(all) == 0 {
		r.t.Fatal("nothing was sent")
	}
	return all[len(all)-1]
}

// transcripts are the session files, in no order that matters.
func (r *rig) transcripts() []string {
	r.t.Helper()
	list, err := filepath.Glob(filepath.Join(r.home, ".lathe", "projects", "*", "*.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// transcript is the only session file.
func (r *rig) transcript() string {
	r.t.Helper()
	list := r.transcripts()
	if len(list) != 1 {
		r.t.Fatalf("there are %d session files: %v", len(list), list)
	}
	return list[0]
}

// read returns a file's text.
func (r *rig) read(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// goesOn continues the newest session with a prompt on a new fake API that answers "well", and returns what was
// sent. The request must break no rule, and it must hold all the texts, in this order.
func (r *rig) goesOn(texts ...string) fakeapi.Request {
	r.t.Helper()
	r.serve(&fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.must("-c", "-p", "and now")
	r.legal()
	req := r.last()
	rest := string(req.Body)
	for _, want := range append(slices.Clone(texts), "and now") {
		_, after, found := strings.Cut(rest, quoted(want))
		if !found {
			r.t.Errorf("the next request does not hold %q behind what came before it:\n%s", want, req.Body)
			break
		}
		rest = after
	}
	return req
}

// quoted is a text as it stands inside a JSON string.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always has a form
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// answer is an assistant turn with these blocks.
func answer(blocks ...fakeapi.Block) fakeapi.Answer { return fakeapi.Answer{Blocks: blocks} }

func bash(command string) fakeapi.Block {
	return fakeapi.Call("Bash", map[string]any{"command": command})
}

func readFile(name string) fakeapi.Block {
	return fakeapi.Call("Read", map[string]any{"file_path": name})
}

// jsonLines decodes each line of stream-json output; a line that is no object fails the test.
func jsonLines(t testing.TB, out string) []map[string]any {
	t.Helper()
	var all []map[string]any
	dec := json.NewDecoder(strings.NewReader(out))
	for {
		var v map[string]any
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("standard output holds something else than JSON objects: %v\n%s", err, out)
		}
		all = append(all, v)
	}
}

// resultOf is the result message, which must be the last line of the output.
func resultOf(t testing.TB, out string) map[string]any {
	t.Helper()
	all := jsonLines(t, out)
	if len(all) == 0 || all[len(all)-1]["type"] != "result" {
		t.Fatalf("the last line is no result:\n%s", out)
	}
	return all[len(all)-1]
}
