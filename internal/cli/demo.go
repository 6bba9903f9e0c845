package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"lathe/internal/app"
	"lathe/internal/demo"
	"lathe/internal/event"
	"lathe/internal/place"
)

const demoHead = `This is a demo. A recording answers; no model is called, no key and no
network are needed. Everything else is real: the prompt goes through every
stage of the pipeline, and the tools read, edit and run tests in a copy of
a small repository.

  repository  %s
  prompt      %s

Each line "[pass] stage time what it did" is one stage of one pass. The first
run of the tests compiles what it needs of Go's library, which can take a
while.

`

const demoTail = `
The repository is left in %s
and the transcript in      %s

On your own repository, with a key:
  export ANTHROPIC_API_KEY=…
  lathe -p "fix the failing test"
With a local model (Ollama, llama.cpp), before that:
  export ANTHROPIC_BASE_URL=http://127.0.0.1:11434
  export ANTHROPIC_AUTH_TOKEN=local ANTHROPIC_MODEL=<name>
`

const demoUsage = `usage: lathe demo
Plays a recorded session in a copy of a small repository: no key, no network.`

// demoCommand runs the recorded session in a fresh copy of the demo's repository.
func demoCommand(args []string, st Streams) error {
	if len(args) > 0 {
		return errors.New("lathe demo takes no arguments; see lathe demo --help")
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the demo runs the tests of a Go module, and there is no go on the PATH. Install Go and try again")
	}
	base, err := os.MkdirTemp("", "lathe-demo-*")
	if err != nil {
		return err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	dir := filepath.Join(base, "words")
	if err := demo.Copy(context.Background(), dir); err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	fmt.Fprintf(st.Out, demoHead, dir, demo.Prompt)
	one := Streams{In: st.In, Out: st.Out, Err: st.Out} // so that the order is kept
	o := demoFlags(base)
	s, err := o.open(one)
	if err != nil {
		return err
	}
	defer s.Close()
	code := o.headless(s, event.Prompt{Text: demo.Prompt}, one)
	fmt.Fprintf(st.Out, demoTail, dir, s.Path())
	if code != exitOK {
		return exitCode(code)
	}
	return nil
}

// demoFlags are the demo's command line. It neither reads the user's settings nor writes to the user's state.
func demoFlags(base string) *flags {
	return &flags{outputFormat: "text", verbose: true, Options: app.Options{
		Print: true, Stages: true, Mode: "acceptEdits", Allowed: []string{"Bash(go test *)"},
		Options: place.Options{Sources: []string{"project"}, StateDir: filepath.Join(base, "state")}, Recording: demo.Recording,
	}}
}
