//go:build unix

package term

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lathe/internal/cli"
	"lathe/internal/fakeapi"
)

// patience bounds every wait. It is only used up by a test that fails.
const patience = time.Minute

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lathe": func() {
			os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
		"asker":       asker,
		"fake-editor": fakeEditor,
	})
}

// rig is a directory, a home and a fake API for one test.
type rig struct {
	t    testing.TB
	dir  string
	home string
	api  *fakeapi.Server
	env  []string

	saysSize bool // the terminal answers to CSI 18 t
}

func newRig(t testing.TB, script *fakeapi.Script) *rig {
	t.Helper()
	root, err := filepath.EvalSymlinks(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(root, "work"), home: root} // the screen shows ~/work
	for _, d := range []string{r.dir, r.home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.serve(script)
	return r
}

// tempDir is a directory whose name has always the same length, so that what shows it wraps in the same way.
func tempDir(t testing.TB) string {
	t.Helper()
	for {
		dir := filepath.Join("/tmp", fmt.Sprintf("lt%08x", rand.Uint32()))
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
}

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

// homeFile writes a file below the home directory.
func (r *rig) homeFile(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// read returns the text of a file below the working directory.
func (r *rig) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *rig) command(args ...string) *exec.Cmd {
	r.t.Helper()
	path := os.Getenv("LATHE_E2E_BINARY")
	if path == "" {
		var err error
		if path, err = exec.LookPath("lathe"); err != nil {
			r.t.Fatal(err)
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = r.dir
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "ANTHROPIC_"), strings.HasPrefix(name, "CLAUDE"), strings.HasPrefix(name, "LATHE_"), name == "TMUX", name == "NO_COLOR",
			name == "COLORTERM", name == "TERM_PROGRAM", name == "EDITOR", name == "VISUAL":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+r.home, "GIT_CONFIG_GLOBAL="+filepath.Join(r.home, "gitconfig"), "GORACE=atexit_sleep_ms=0",
		"ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL="+r.api.URL(), "IS_SANDBOX=1", "LATHE_RETRY_BASE_DELAY_MS=1",
		"TERM=xterm-256color", "XTERM_VERSION=XTerm(1)", "PS1=$ ") // the emulator does not wrap lines anew, as xterm
	cmd.Env = append(cmd.Env, r.env...)
	return cmd
}

func (r *rig) drafts() []string {
	list, _ := filepath.Glob(filepath.Join(r.home, ".lathe", "drafts", "*.json"))
	return list
}

func bash(command string) fakeapi.Block {
	return fakeapi.Call("Bash", map[string]any{"command": command})
}

func answer(blocks ...fakeapi.Block) fakeapi.Answer { return fakeapi.Answer{Blocks: blocks} }
