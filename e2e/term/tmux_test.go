//go:build unix

package term

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// squeeze leaves one space of each run: prose has more where it wraps.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// until waits until the screen shows a text, rows that were wrapped joined.
func (m *tmux) until(text string) {
	m.t.Helper()
	look := []string{"capture-pane", "-p", "-J"}
	for limit := time.Now().Add(patience); !strings.Contains(squeeze(m.do(look...)), text); time.Sleep(20 * time.Millisecond) {
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
	m.until("what shall be done?")
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

// TestTmuxResizeWhileStreaming makes a tmux lower and higher, narrower and wider, in the middle of an answer.
func TestTmuxResizeWhileStreaming(t *testing.T) {
	sizes := [][2]int{{81, 14}, {100, 30}, {57, 12}, {57, 26}, {120, 11}, {90, 40}, {72, 15}}
	item := func(i int) string {
		return fmt.Sprintf("item %d of the list %swith its end %d.", i, strings.Repeat("and more words ", i%9), i)
	}
	var answers []fakeapi.Answer
	for n := range sizes { // half of an answer, and the rest when the new size is seen
		var half [2]string
		for i := 1; i <= 50; i++ {
			half[(i-1)/25] += "- " + item(50*n+i) + "\n"
		}
		a := answer(fakeapi.Block{Text: half[0] + half[1], Chunks: half[:]})
		a.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 4}}
		answers = append(answers, a)
	}
	r := newRig(t, fakeapi.Sequence(answers...))
	m := r.tmux(t, 80, 24)
	m.do("set-option", "-g", "history-limit", "20000")
	m.until("manual mode")
	for n, size := range sizes {
		m.do("send-keys", "go", "Enter")
		m.until(fmt.Sprintf("end %d.", 50*n+25))
		m.do("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		m.wide(size[0])
		for r.api.Requests()[n].Sent == 4 { // it may not have come to its stall yet
			r.api.Release()
			time.Sleep(time.Millisecond)
		}
		m.until(fmt.Sprintf("end %d.", 50*n+50))
		m.until("what shall be done?")
	}
	lines := strings.Split(m.all(), "\n")
	for i := 1; i <= 50*len(sizes); i++ {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasSuffix(squeeze(l), item(i)) }) {
			t.Fatalf("item %d is lost or damaged:\n%s", i, strings.Join(lines, "\n"))
		}
	}
}

// wide waits until the status line reaches the right edge of a width.
func (m *tmux) wide(cols int) {
	m.t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		screen := m.do("capture-pane", "-p")
		for _, l := range strings.Split(screen, "\n") {
			if strings.Contains(l, "manual mode") && utf8.RuneCountInString(l) == cols-1 {
				return
			}
		}
		if time.Now().After(limit) {
			m.t.Fatalf("no status line of %d columns:\n%s", cols, screen)
		}
	}
}
