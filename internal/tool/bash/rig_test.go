//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/proc"
	"lathe/internal/sys"
	"lathe/internal/tool"
)

// patience bounds every wait. It is only ever used up by a test that fails.
const patience = time.Minute

// rig is a session's shell tools in a fresh workspace.
type rig struct {
	t       testing.TB
	dir     string
	env     map[string]string // over the environment of the tests, for the tool itself
	deps    Deps
	tools   *tool.Registry
	reports []string
	report  func() // called after each report, where it is set
}

func newRig(t testing.TB, change ...func(*rig)) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, env: map[string]string{"SHELL": "/bin/bash"}}
	results := filepath.Join(t.TempDir(), "results")
	r.deps = Deps{
		Sys: sys.Sys{
			Now:     time.Now,
			Getenv:  func(key string) string { return r.env[key] },
			Environ: os.Environ,
		},
		Workspace:  tool.NewWorkspace(dir, ""),
		Cache:      tool.NewReadCache(),
		Procs:      &proc.Group{},
		Tasks:      NewTasks(time.Now),
		ResultsDir: func() string { return results },
		Background: true,
	}
	for _, c := range change {
		c(r)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.deps.Tasks.Close(ctx); err != nil {
			t.Error(err)
		}
		r.deps.Procs.Close()
	})
	r.tools = tool.NewRegistry(New(r.deps)...)
	return r
}

type got struct {
	text   string
	failed bool
	out    any
	res    tool.Result
}

func (g got) bash() Output { return g.out.(Output) }

// call runs a tool as the pipeline does.
func (r *rig) call(ctx context.Context, name string, in map[string]any) got {
	r.t.Helper()
	tl, ok := r.tools.Get(name)
	if !ok {
		r.t.Fatalf("no tool %s", name)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	if raw, err = tool.Canonical(tl, raw); err != nil {
		r.t.Fatal(err)
	}
	plan, err := tl.Plan(ctx, tool.Call{ID: "toolu_1", Input: raw})
	if err != nil {
		return got{text: err.Error(), failed: true}
	}
	res, err := plan.Run(ctx, func(s string) {
		r.reports = append(r.reports, s)
		if r.report != nil {
			r.report()
		}
	})
	if err != nil {
		return got{text: err.Error(), failed: true}
	}
	if len(res.Blocks) != 1 || res.Blocks[0].Text == "" {
		r.t.Fatalf("blocks %+v, want one text", res.Blocks)
	}
	return got{res.Blocks[0].Text, res.IsError, res.Output, res}
}

func (r *rig) bash(command string) got {
	r.t.Helper()
	return r.call(context.Background(), "Bash", map[string]any{"command": command})
}

func (r *rig) write(name, content string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
	}
}
