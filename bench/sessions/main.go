// Command sessions starts many driven sessions at once, each a process of its own, against one fake API, and checks that
// none is lost and none mixed: each must get its own answers, send only its own words, and leave its own transcript.
//
//	go run ./bench/sessions -n 100 [-lathe FILE]
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/fakeapi"
)

func main() {
	n := flag.Int("n", 100, "sessions at once")
	binary := flag.String("lathe", "", "the program to measure; built when empty")
	flag.Parse()
	if err := run(*n, *binary); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(n int, binary string) error {
	dir, err := os.MkdirTemp("", "lathe-sessions-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		binary = filepath.Join(dir, "lathe")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/lathe")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	api, err := fakeapi.New(fakeapi.Options{})
	if err != nil {
		return err
	}
	if _, err := api.Start(); err != nil {
		return err
	}
	defer api.Close()
	all := make([]*one, n)
	for i := range all {
		if all[i], err = prepare(api, dir, binary, i); err != nil {
			return err
		}
	}
	var wg sync.WaitGroup
	start := time.Now()
	for _, s := range all {
		wg.Go(func() { s.err = s.run() })
	}
	wg.Wait()
	wall := time.Since(start)
	return report(api, all, wall)
}

// one is a session.
type one struct {
	i                   int
	word                string // that only this session knows
	dir, home, url, key string
	binary              string
	took                time.Duration
	peak                int64 // KB
	session             string
	err                 error
}

func prepare(api *fakeapi.Server, root, binary string, i int) (*one, error) {
	s := &one{i: i, word: fmt.Sprintf("word%05d", i), key: fmt.Sprintf("s%d", i), binary: binary}
	s.dir, s.home = filepath.Join(root, s.key, "work"), filepath.Join(root, "home") // one home, as on one machine
	for _, d := range []string{s.dir, s.home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte("the file of "+s.word+"\n"), 0o600); err != nil {
		return nil, err
	}
	s.url = api.URLFor(s.key)
	return s, api.AddScript(s.key, fakeapi.Sequence(
		fakeapi.Answer{Blocks: []fakeapi.Block{fakeapi.Call("Read", map[string]string{"file_path": "a.txt"})}},
		fakeapi.Text("first "+s.word),
		fakeapi.Answer{Blocks: []fakeapi.Block{fakeapi.Call("Bash", map[string]string{"command": "echo " + s.word + " > b.txt"})}},
		fakeapi.Text("second "+s.word),
	))
}

// run has two turns, with a question to the host in the second.
func (s *one) run() error {
	start := time.Now()
	cmd := exec.Command(s.binary, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--permission-prompt-tool=stdio", "--setting-sources=")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.home, "CLAUDE_CONFIG_DIR="+filepath.Join(s.home, ".claude"), "ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL="+s.url,
		"CLAUDE_CODE_SDK_READS_SESSION_STATE=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	talk := s.talk(in, out)
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	s.took, s.peak = time.Since(start), peakOf(cmd.ProcessState)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return errors.Join(talk, err)
}

func (s *one) talk(in io.Writer, out io.Reader) error {
	say := func(format string, args ...any) { fmt.Fprintf(in, format+"\n", args...) }
	say(`{"type":"control_request","request_id":"init","request":{"subtype":"initialize","hooks":null}}`)
	say(`{"type":"user","session_id":"","message":{"role":"user","content":"hello from %s"},"parent_tool_use_id":null}`, s.word)
	lines := bufio.NewReader(out)
	want := []string{"first " + s.word, "second " + s.word}
	for len(want) > 0 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("session %d ended early: %w", s.i, err)
		}
		var m struct {
			Type, Result, RequestID, SessionID string
			Request                            struct{ Input json.RawMessage }
		}
		var raw map[string]json.RawMessage
		if err := json.Unmarshal(line, &raw); err != nil {
			return fmt.Errorf("session %d: %w", s.i, err)
		}
		_ = json.Unmarshal(line, &m)
		_ = json.Unmarshal(raw["request_id"], &m.RequestID)
		_ = json.Unmarshal(raw["session_id"], &m.SessionID)
		switch m.Type {
		case "control_request":
			say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow"}}}`, m.RequestID)
		case "result":
			if m.Result != want[0] {
				return fmt.Errorf("session %d got %q, not %q", s.i, m.Result, want[0])
			}
			if want = want[1:]; len(want) > 0 {
				say(`{"type":"user","session_id":"","message":{"role":"user","content":"again from %s"},"parent_tool_use_id":null}`, s.word)
			}
			s.session = m.SessionID
		}
	}
	return nil
}

// report checks what the sessions left, and prints the figures.
func report(api *fakeapi.Server, all []*one, wall time.Duration) error {
	var bad []error
	seen := map[string]int{}
	var took []time.Duration
	var peak []int64
	for _, s := range all {
		if s.err != nil {
			bad = append(bad, s.err)
			continue
		}
		if other, twice := seen[s.session]; twice {
			bad = append(bad, fmt.Errorf("sessions %d and %d have one id", other, s.i))
		}
		seen[s.session] = s.i
		took, peak = append(took, s.took), append(peak, s.peak)
		if b, _ := os.ReadFile(filepath.Join(s.dir, "b.txt")); strings.TrimSpace(string(b)) != s.word {
			bad = append(bad, fmt.Errorf("session %d wrote %q", s.i, b))
		}
		calls := api.Calls(s.key)
		if len(calls) != 4 {
			bad = append(bad, fmt.Errorf("session %d made %d calls", s.i, len(calls)))
		}
		for _, c := range calls {
			if foreign(string(c.Body), s.i, len(all)) {
				bad = append(bad, fmt.Errorf("session %d sent the words of another", s.i))
			}
		}
		files, _ := filepath.Glob(filepath.Join(s.home, ".claude", "projects", "*", s.session+".jsonl"))
		if len(files) != 1 {
			bad = append(bad, fmt.Errorf("session %d left %d transcripts", s.i, len(files)))
		}
	}
	for _, v := range api.Violations() {
		bad = append(bad, fmt.Errorf("a request broke a rule: %v", v))
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}
	slices.Sort(took)
	slices.Sort(peak)
	fmt.Printf("%s/%s, %d cores: %d sessions at once, 2 turns and 4 calls each\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), len(all))
	fmt.Printf("all ended well, none lost, none mixed\n")
	fmt.Printf("wall %.2f s · a session: median %.2f s, longest %.2f s · peak memory of one: median %.1f MB, most %.1f MB\n",
		wall.Seconds(), took[len(took)/2].Seconds(), took[len(took)-1].Seconds(), float64(peak[len(peak)/2])/1024, float64(peak[len(peak)-1])/1024)
	return nil
}

// foreign reports whether a body holds the word of another session.
func foreign(body string, own, n int) bool {
	for i := range n {
		if i != own && strings.Contains(body, fmt.Sprintf("word%05d", i)) {
			return true
		}
	}
	return false
}
