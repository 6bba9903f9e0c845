//go:build unix

package term

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// tmux is the program in a real tmux.
type tmux struct {
	t      *testing.T
	r      *rig
	socket string
}

func (r *rig) tmux(t *testing.T, cols, rows int) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("SKIPPED: tmux is not installed")
	}
	m := &tmux{t: t, r: r, socket: filepath.Join(r.home, "tmux.sock")}
	m.do("new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), r.command().Path)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) do(args ...string) string {
	m.t.Helper()
	cmd := m.r.command()
	c := exec.Command("tmux", append([]string{"-S", m.socket, "-f", "/dev/null"}, args...)...)
	c.Env, c.Dir = cmd.Env, cmd.Dir
	out, err := c.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// until waits until the screen, or with the scrollback, shows a text.
func (m *tmux) until(text string, from ...string) {
	m.t.Helper()
	look := append([]string{"capture-pane", "-p"}, from...)
	for limit := time.Now().Add(patience); !strings.Contains(m.do(look...), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			m.t.Fatalf("no %q:\n%s", text, m.do("capture-pane", "-p"))
		}
	}
}

func (m *tmux) all() string { m.t.Helper(); return m.do("capture-pane", "-p", "-J", "-S", "-") }

// TestTmux: the inline screen inside of a real tmux.
func TestTmux(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text(longAnswer(60)+"\n\n日本語 👩‍👩‍👧 fin."), fakeapi.Text("Again.")))
	m := r.tmux(t, 80, 24)
	m.until("manual mode")
	m.do("send-keys", "go", "Enter")
	m.until("fin.")
	m.until("ctx")
	m.do("resize-window", "-x", "60", "-y", "20")
	m.do("send-keys", "-l", "draft")
	m.until("❯ draft")
	m.do("send-keys", "Enter")
	m.until("Again.")
	all := m.all()
	for _, kept := range []string{"item 1 of", "item 33 of", "item 60 of", "fin."} { // twice where the resize came at once
		if !strings.Contains(all, kept) {
			t.Errorf("%q is lost:\n%s", kept, all)
		}
	}
	if n := strings.Count(all, "what shall be done?"); n != 1 {
		t.Errorf("the input stands there %d times:\n%s", n, all)
	}
	m.do("send-keys", "/exit", "Enter")
	for limit := time.Now().Add(patience); exec.Command("tmux", "-S", m.socket, "has-session").Run() == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the session does not end")
		}
	}
}

// TestTmuxResizeWhileStreaming makes a tmux lower and higher, narrower and wider, while an answer comes. tmux tells of a new
// size only some time after it has changed, so much is on its way then.
func TestTmuxResizeWhileStreaming(t *testing.T) {
	var text strings.Builder
	for i := 1; i <= 400; i++ {
		fmt.Fprintf(&text, "- item %d of the list %swith its end %d.\n", i, strings.Repeat("and more words ", i%9), i)
	}
	r := newRig(t, fakeapi.Sequence(fakeapi.Answer{Text: text.String() + "\nThe end of it.", Chunk: 40, Rate: 200}))
	m := r.tmux(t, 80, 24)
	m.do("set-option", "-g", "history-limit", "20000")
	m.until("manual mode")
	m.do("send-keys", "go", "Enter")
	for i, size := range [][2]string{{"80", "14"}, {"100", "30"}, {"57", "12"}, {"57", "26"}, {"120", "11"}, {"90", "40"}, {"72", "15"}} {
		m.until(fmt.Sprintf("end %d.", 40*(i+1)), "-S", "-")
		m.do("resize-window", "-x", size[0], "-y", size[1])
	}
	m.until("The end of it.")
	m.until("what shall be done?")
	lines := strings.Split(m.all(), "\n")
	for i := 1; i <= 400; i++ {
		want := fmt.Sprintf("item %d of the list %swith its end %d.", i, strings.Repeat("and more words ", i%9), i)
		found := false
		for _, l := range lines {
			found = found || strings.HasSuffix(strings.TrimRight(l, " "), want)
		}
		if !found {
			t.Fatalf("item %d is lost or damaged:\n%s", i, strings.Join(lines, "\n"))
		}
	}
}
