package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lathe/agent"
	"lathe/internal/fakeapi"
)

// Close stops a turn from elsewhere: the loop is told that the turn was interrupted or that the session is closed, and
// nothing that the turn has started is left when Close returns.
func TestCloseInside(t *testing.T) {
	b := newBench(t, calls(bash("echo $$ > pid.tmp && mv pid.tmp pid; exec sleep 300")))
	s := b.open(agent.Options{Permission: func(context.Context, agent.Question) (agent.Answer, error) { return agent.Answer{Allow: true}, nil }})
	var closing sync.WaitGroup
	var last error
	ended := ""
	pid := 0
	for e, err := range s.Submit(t.Context(), agent.Prompt{Text: "go"}) {
		last = err
		switch e := e.(type) {
		case agent.ToolStarted:
			closing.Go(func() {
				pid = written(t, filepath.Join(b.dir, "pid"))
				s.Close()
				if pid > 0 && runs(pid) {
					t.Errorf("the command with pid %d runs on behind Close", pid)
				}
			})
		case agent.Done:
			ended = e.Result.Terminal
		}
	}
	closing.Wait()
	if pid == 0 {
		t.Error("the command did not start")
	}
	if last != nil && !errors.Is(last, agent.ErrClosed) || last == nil && ended != "aborted_tools" {
		t.Errorf("the loop ended with %v, the turn with %q", last, ended)
	}
	if _, err := s.Run(t.Context(), "and now?"); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
}

// written waits for a file that a command writes its pid to; 0: it does not come.
func written(t *testing.T, path string) int {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Errorf("the pid: %v", err)
		}
		return pid
	}
	return 0
}

func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

// A callback whose question nobody waits for any more is told so.
func TestWithdrawnQuestion(t *testing.T) {
	b := newBench(t, calls(bash("touch x")), fakeapi.Text("on"))
	asked, told := make(chan struct{}), make(chan struct{})
	s := b.open(agent.Options{Permission: func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
		close(asked)
		<-ctx.Done()
		close(told)
		return agent.Answer{Allow: true}, nil
	}})
	var stopping sync.WaitGroup
	stopping.Go(func() {
		<-asked
		s.Interrupt()
	})
	r, err := s.Run(t.Context(), "go")
	stopping.Wait()
	if err != nil || !strings.HasPrefix(r.Terminal, "aborted_") {
		t.Errorf("%+v, %v", r, err)
	}
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("the callback still waits for an answer to be wanted")
	}
	if r, err := s.Run(t.Context(), "and now?"); err != nil || r.Text != "on" {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "x")); err == nil {
		t.Error("the late answer counted")
	}
}
