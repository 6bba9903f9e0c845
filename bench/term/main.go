//go:build unix

// Command term measures what the terminal interface costs: the built binary in a real pty, against a fake of the API on the
// loopback. See bench/README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"lathe/internal/fakeapi"
	"lathe/internal/msg"
	"lathe/internal/session/jsonl"
)

func main() {
	binary := flag.String("lathe", "", "measure this `binary` instead of building one")
	rounds := flag.Int("rounds", 15, "runs of the first frame")
	flag.Parse()
	if err := run(*binary, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench/term:", err)
		os.Exit(1)
	}
}

// The size of the terminal.
const (
	columns = 100
	rows    = 40
)

// answer answers what a terminal answers: its size, and where the cursor stands.
func answer(w io.Writer, output string) {
	for range strings.Count(output, "\x1b[18t") {
		fmt.Fprintf(w, "\x1b[8;%d;%dt", rows, columns)
	}
	for range strings.Count(output, "\x1b[6n") {
		fmt.Fprintf(w, "\x1b[%d;5R", rows-2)
	}
}

// bench is a home, a directory and a binary.
type bench struct{ home, dir, binary string }

func run(binary string, rounds int) error {
	home, err := os.MkdirTemp("", "lathe-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return err
	}
	b := &bench{home: home, dir: filepath.Join(home, "work"), binary: binary}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if binary == "" {
		b.binary = filepath.Join(home, "lathe")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.binary, "lathe/cmd/lathe")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	fmt.Println("| what | figure | limit |\n| --- | ---: | ---: |")
	for _, f := range []func() error{
		func() error { return b.firstFrame(rounds) }, b.idle, b.bytes,
		func() error { return b.deltas(1000, 5, 8) }, func() error { return b.deltas(40, 16, 20) }, b.longSession,
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func row(what, figure, limit string) { fmt.Printf("| %s | %s | %s |\n", what, figure, limit) }

// screen is the program in a terminal of 100 by 40.
type screen struct {
	cmd *exec.Cmd
	pty *os.File

	mu      sync.Mutex
	n       int    // bytes that came
	tail    string // the last of them
	changed chan struct{}
}

func (b *bench) start(script *fakeapi.Script, args ...string) (*screen, func(), error) {
	api, err := fakeapi.New(fakeapi.Options{Script: script})
	if err != nil {
		return nil, nil, err
	}
	url, err := api.Start()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(b.binary, args...)
	cmd.Dir = b.dir
	cmd.Env = []string{
		"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=" + url,
		"LANG=C.UTF-8", "IS_SANDBOX=1",
	}
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, nil, err
	}
	s := &screen{cmd: cmd, pty: f, changed: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.n += n
			s.tail += string(buf[:n])
			if over := len(s.tail) - 64<<10; over > 0 {
				s.tail = s.tail[over:]
			}
			s.mu.Unlock()
			answer(f, string(buf[:n]))
			select {
			case s.changed <- struct{}{}:
			default:
			}
		}
	}()
	return s, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
		<-done
		_ = api.Close()
	}, nil
}

// waitFor waits until the text was written since the last call.
func (s *screen) waitFor(text string) error {
	limit := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		i := strings.LastIndex(s.tail, text)
		if i >= 0 {
			s.tail = s.tail[i+len(text):]
		}
		s.mu.Unlock()
		if i >= 0 {
			return nil
		}
		select {
		case <-s.changed:
		case <-limit:
			return fmt.Errorf("%q does not come", text)
		}
	}
}

func (s *screen) written() int { s.mu.Lock(); defer s.mu.Unlock(); return s.n }

func (s *screen) typed(text string) error {
	_, err := s.pty.WriteString(text)
	return err
}

// cpu is the processor time that the program took so far.
func (s *screen) cpu() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// rss is the memory that the program has, in MB.
func (s *screen) rss() float64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for _, l := range strings.Split(string(raw), "\n") {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(v)[0])
			return float64(kb) / 1024
		}
	}
	return 0
}

func (b *bench) firstFrame(rounds int) error {
	var times []time.Duration
	for range rounds {
		began := time.Now()
		s, stop, err := b.start(fakeapi.Sequence())
		if err != nil {
			return err
		}
		err = s.waitFor("Lathe")
		times = append(times, time.Since(began))
		if err == nil {
			err = s.waitFor("manual mode")
		}
		stop()
		if err != nil {
			return err
		}
	}
	slices.Sort(times)
	row("first frame after exec, best / median", fmt.Sprintf("%.1f / %.1f ms", ms(times[0]), ms(times[len(times)/2])), "30 ms")
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (b *bench) idle() error {
	s, stop, err := b.start(fakeapi.Sequence())
	if err != nil {
		return err
	}
	defer stop()
	if err := s.waitFor("manual mode"); err != nil {
		return err
	}
	time.Sleep(time.Second) // what the start leaves to do
	c, n := s.cpu(), s.written()
	time.Sleep(5 * time.Second)
	row("idle for 5 s: CPU time, bytes", fmt.Sprintf("%d ms, %d", (s.cpu()-c).Milliseconds(), s.written()-n), "0")
	return nil
}

// theStart and theEnd are one character each, which no picture can cut in two.
const theStart, theEnd = "◆", "∎"

// prose is an answer of n lines.
func prose(n int) string {
	var b strings.Builder
	for i := range n {
		switch i % 10 {
		case 0:
			fmt.Fprintf(&b, "\n## Part %d\n", i/10)
		case 5:
			fmt.Fprintf(&b, "- an item with **bold** words and `code` in it, number %d\n", i)
		default:
			fmt.Fprintf(&b, "This is line %d of an answer; it says a few things about the matter at hand, and goes on.\n", i)
		}
	}
	return b.String() + "\n" + theEnd + "\n"
}

func (b *bench) bytes() error {
	text := prose(2000)
	a := fakeapi.Answer{Text: text, Chunk: 40}
	s, stop, err := b.start(fakeapi.Sequence(a))
	if err != nil {
		return err
	}
	defer stop()
	if err := s.waitFor("manual mode"); err != nil {
		return err
	}
	n := s.written()
	if err := s.typed("go\r"); err != nil {
		return err
	}
	if err := s.waitFor(theEnd); err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond)
	row("bytes written for an answer of 2,000 lines, by its own", fmt.Sprintf("%.2f", float64(s.written()-n)/float64(len(text))), "1.3")
	return nil
}

// deltas measures an answer that comes in pieces of so many bytes, so many a second.
func (b *bench) deltas(rate, size, seconds int) error {
	text := theStart + "\n" + prose(size*rate*seconds/90)
	a := fakeapi.Answer{Text: text, Chunk: size, Rate: rate}
	s, stop, err := b.start(fakeapi.Sequence(a))
	if err != nil {
		return err
	}
	defer stop()
	if err := s.waitFor("manual mode"); err != nil {
		return err
	}
	if err := s.typed("go\r"); err != nil {
		return err
	}
	if err := s.waitFor(theStart); err != nil {
		return err
	}
	c, n, began := s.cpu(), s.written(), time.Now()
	if err := s.waitFor(theEnd); err != nil {
		return err
	}
	took := time.Since(began)
	got := float64(len(text)) / float64(size) / took.Seconds()
	row(fmt.Sprintf("deltas of %d bytes a second", size), fmt.Sprintf("%.0f", got), fmt.Sprint(rate))
	row("… CPU, the whole program, of a core", fmt.Sprintf("%.1f %%", 100*(s.cpu()-c).Seconds()/took.Seconds()), "15 %")
	row("… bytes written by the answer's own", fmt.Sprintf("%.2f", float64(s.written()-n)/float64(len(text))), "1.3")
	return nil
}

// longSession resumes a conversation of 5,000 messages.
func (b *bench) longSession() error {
	id, size, err := b.transcript(5000)
	if err != nil {
		return err
	}
	s, stop, err := b.start(fakeapi.Sequence(), "--resume", id)
	if err != nil {
		return err
	}
	defer stop()
	if err := s.waitFor("manual mode"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	var times []time.Duration
	for i := range 60 {
		c := string(rune('a' + i%26))
		began := time.Now()
		if err := s.typed(c); err != nil {
			return err
		}
		if err := s.waitFor(c); err != nil {
			return err
		}
		times = append(times, time.Since(began))
		time.Sleep(20 * time.Millisecond)
	}
	slices.Sort(times)
	row(fmt.Sprintf("key to screen after 5,000 messages (%.1f MB), median / 95 %% of 60", float64(size)/1e6),
		fmt.Sprintf("%.2f / %.2f ms", ms(times[30]), ms(times[56])), "5 ms")
	row("memory after 5,000 messages", fmt.Sprintf("%.1f MB", s.rss()), "60 MB")
	return nil
}

func (b *bench) transcript(n int) (id string, size int64, err error) {
	store := jsonl.Store{StateDir: filepath.Join(b.home, ".lathe"), Version: "0.1.0", Entrypoint: "cli"}
	log, err := store.Create(jsonl.Start{Dir: b.dir})
	if err != nil {
		return "", 0, err
	}
	parent := ""
	for i := range n {
		m := msg.Message{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Parent: parent, Time: time.Now(), Kind: msg.KindUser}
		m.Blocks = []msg.Block{msg.Text(fmt.Sprintf("Question %d: what about this?", i))}
		if i%2 == 1 {
			m.Kind, m.APIID, m.Model, m.StopReason = msg.KindAssistant, fmt.Sprint("msg_", i), "claude-opus-5-5", "end_turn"
			m.Blocks = []msg.Block{msg.Text(prose(8))}
			m.Usage = &msg.Usage{Input: 10, Output: 200}
		}
		parent = m.ID
		if err := log.Append(m); err != nil {
			return "", 0, err
		}
	}
	path, id := log.Path(), log.ID()
	if err := log.Close(); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	return id, info.Size(), nil
}
