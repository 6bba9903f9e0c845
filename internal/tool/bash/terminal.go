package bash

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"lathe/internal/proc"
	"lathe/internal/tool"
)

// Terminal runs commands where a person sees them: in a terminal of the editor.
type Terminal interface {
	// Run runs a program with further variables of the environment and waits for its end. It returns what was printed and
	// how it ended. When ctx ends the program is killed, and what it printed until then returned.
	Run(ctx context.Context, callID string, args []string, dir string, env map[string]string) (output string, exit proc.Exit, err error)
}

// forEditor reports whether the command goes to the editor's terminal: one that runs in the foreground and unconfined. A
// sandbox is ours to hold, and work in the background ours to end.
func (j *job) forEditor(unconfined bool) bool {
	return j.Terminal != nil && unconfined && !(j.in.Background && j.Background) && runtime.GOOS != "windows"
}

// scriptInTerminal tells at its end where it ended. What a pager or a prompt would wait for does not come.
const scriptInTerminal = `trap 'pwd -P >"$LATHE_CWD_FILE"' EXIT` + "\n"

// inTerminal runs the command in the editor's terminal.
func (j *job) inTerminal(ctx context.Context) (res tool.Result, err error) {
	defer func() {
		if err != nil {
			j.end.call(true, "")
		}
	}()
	path, err := findShell(j.Sys.Getenv)
	if err != nil {
		return tool.Result{}, err
	}
	f, err := os.CreateTemp("", "lathe-cwd-*")
	if err != nil {
		return tool.Result{}, fmt.Errorf("make a file for the command's directory: %w", err)
	}
	_ = f.Close()
	defer os.Remove(f.Name())
	limited, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	text, exit, err := j.Terminal.Run(limited, j.callID, []string{path, "-c", scriptInTerminal + j.in.Command}, j.dir, map[string]string{
		"LATHE_CWD_FILE": f.Name(), "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
	})
	if err != nil && limited.Err() == nil {
		return tool.Result{}, fmt.Errorf("the editor's terminal: %w", err)
	}
	_, _ = j.out.Write([]byte(text)) // what cannot be stored is said in the text
	j.out.Flush()
	if report, err := os.ReadFile(f.Name()); err == nil {
		exit.Report = report
	}
	interrupted := ctx.Err() != nil
	return j.finish(outcome{Exit: exit, interrupted: interrupted, timedOut: !interrupted && limited.Err() != nil})
}
