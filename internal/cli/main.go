package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"lathe/internal/event"
	"lathe/internal/front/headless"
	"lathe/internal/front/tui/term"
	"lathe/internal/sandbox"
	"lathe/internal/sys"
)

// Exit codes. They are documented in docs/exit-codes.md.
const (
	exitOK          = 0
	exitFailed      = 1   // the run failed, or could not start
	exitInterrupted = 130 // SIGINT
	exitClosedPipe  = 141 // the reader of standard output has gone
	exitTerminated  = 143 // SIGTERM, SIGHUP
)

// Streams are the process's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the program and returns its exit code. args do not hold the program's name.
func Main(args []string, st Streams) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		fmt.Fprintf(st.Out, "%s (Lathe)\n", sys.Version)
		return exitOK
	}
	if len(args) == 1 && args[0] == guardName {
		return term.Guard()
	}
	if len(args) > 0 && args[0] == sandbox.HelperName {
		return sandbox.Helper(args[1:], st.Err)
	}
	if len(args) > 0 {
		if sub, ok := subcommands()[args[0]]; ok {
			if args[0] != "demo" { // it has a front end of its own
				st.Out = inertOut(st.Out)
			}
			if slices.Contains(args[1:], "--help") || slices.Contains(args[1:], "-h") {
				fmt.Fprintln(st.Out, sub.usage)
				return exitOK
			}
			return report(st, sub.run(args[1:], st))
		}
	}
	o, f, err := parseFlags(args)
	switch {
	case err != nil:
		return report(st, err)
	case o.version:
		fmt.Fprintf(st.Out, "%s (Lathe)\n", sys.Version)
		return exitOK
	case o.help:
		fmt.Fprint(st.Out, help(f))
		return exitOK
	}
	if near := mistyped(o); near != "" {
		return report(st, fmt.Errorf("there is no command %q. Did you mean lathe %s? (A prompt of one word needs -p.)", o.Prompt, near))
	}
	if o.pick && !wantsTerminal(o, st) {
		return report(st, errors.New("--resume without a value lets you choose a session, which needs a terminal: give it a session id, a name or a transcript file, or use -c for the newest"))
	}
	if o.setupOnly {
		o.Print = true
		return runSetup(o, st)
	}
	if o.inputFormat == "stream-json" {
		return runHost(o, st)
	}
	if wantsTerminal(o, st) {
		return runTerminal(o, st)
	}
	return runPrompt(o, st)
}

// inertOut makes what a command prints inert where that is a terminal: rules, settings and paths come from files that
// others wrote.
func inertOut(w io.Writer) io.Writer {
	if isTerminal(w) {
		return inertWriter{w}
	}
	return w
}

type inertWriter struct{ w io.Writer }

func (i inertWriter) Write(p []byte) (int, error) {
	_, err := io.WriteString(i.w, event.Inert(string(p)))
	return len(p), err
}

// report prints an error and turns it into an exit code.
func report(st Streams, err error) int {
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(st.Err, "Error: %s\n", event.Aside(err.Error()))
	return exitFailed
}

// exitCode is an error that only carries a code; everything was said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// exitOf is the exit code of a finished turn.
func exitOf(r event.Result, err error, interrupted bool) int {
	switch {
	case isClosedPipe(err):
		return exitClosedPipe
	case interrupted:
		return exitInterrupted
	case err != nil, r.IsError:
		return exitFailed
	}
	return exitOK
}

// isClosedPipe reports whether the reader of standard output has gone, which is no fault; a full disk is one.
func isClosedPipe(err error) bool {
	return errors.Is(err, headless.ErrOutput) && readerGone(err)
}

// readerGone reports whether a write failed because nobody reads any more.
func readerGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe) || runtime.GOOS == "windows"
}

// mistyped finds the subcommand that a single bare word was meant to be.
func mistyped(o *flags) string {
	word := o.Prompt
	if o.Print || word == "" || strings.ContainsAny(word, " \t\n/.") {
		return ""
	}
	best := ""
	for _, name := range slices.Sorted(maps.Keys(subcommands())) {
		if near(word, name) && (best == "" || strings.HasPrefix(name, word)) {
			best = name
		}
	}
	return best
}

// near reports whether two words differ by one letter: one more, one less, one other, or two swapped.
func near(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(a) < 3 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		if i == len(a) || a[i+1:] == b[i+1:] {
			return true
		}
		return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return a[i:] == b[i+1:]
}
