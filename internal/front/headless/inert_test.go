package headless_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"unicode"

	"lathe/internal/event"
	"lathe/internal/front/headless"
	"lathe/internal/msg"
)

// played is a connection that tells events from a list.
type played []event.Event

func (played) Send(context.Context, event.Op) error { return nil }

func (p played) Events(context.Context) iter.Seq2[event.Envelope, error] {
	return func(yield func(event.Envelope, error) bool) {
		for _, e := range p {
			if !yield(event.Envelope{Event: e}, nil) {
				return
			}
		}
	}
}

const evil = "\x1b]0;title\a\x1b[2J\x9b31m\u009b\u202e\r\x00evil"

func everything() played {
	result := event.Result{Subtype: event.Success, Text: evil}
	return played{
		event.Notice{Level: "warning", Text: evil},
		event.Retry{Text: evil},
		event.ModelChanged{Reason: evil},
		event.Denied{Name: evil, Input: json.RawMessage(`"\u001b[2J"`)},
		event.Discarded{Reason: evil},
		event.Requesting{Model: evil},
		event.ToolStarted{Name: evil, Summary: "Read a\n" + evil},
		event.ToolDone{Name: evil},
		event.Message{Msg: msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.Text(evil)}}},
		event.StageDone{Stage: evil, Notes: []string{evil}},
		event.HookDone{Name: evil, Stdout: evil},
		event.TurnDone{Result: result},
	}
}

// Nothing that came from outside acts on a terminal; a pipe gets the answer's own bytes.
func TestOutputIsInert(t *testing.T) {
	for _, format := range []headless.Format{headless.Text, headless.JSON, headless.StreamJSON} {
		for _, terminal := range []bool{true, false} {
			var out, errOut, log bytes.Buffer
			o := headless.Options{
				Format: format, Verbose: true, Partial: true, Stages: true, Hooks: true, Terminal: terminal,
				NewID: func() string { return "id" }, Debug: &headless.Debug{Out: &log},
			}
			if _, err := headless.Run(t.Context(), everything(), event.Prompt{Text: "x"}, &out, &errOut, o); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"standard error": errOut.String(), "the debug log": log.String(), "standard output": out.String()} {
				if name == "standard output" && !terminal {
					if format == headless.Text && text != evil+"\n" {
						t.Errorf("a pipe got %q", text)
					}
					continue
				}
				if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }); i >= 0 {
					t.Errorf("%s, %s: %q acts on a terminal", format, name, text[i:])
				}
			}
			for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
				if format != headless.Text && !json.Valid([]byte(line)) {
					t.Errorf("%s: %s", format, line)
				}
			}
		}
	}
}

// A secret could lie across two pieces of an answer, so the debug log has none of them.
func TestDebugHasNoPieces(t *testing.T) {
	var log bytes.Buffer
	p := played{event.Stream{Raw: json.RawMessage(`{"text":"half a sec"}`), Text: "half a sec"}, event.TurnDone{}}
	o := headless.Options{NewID: func() string { return "id" }, Debug: &headless.Debug{Out: &log, Clean: func(b []byte) []byte { return b }}}
	if _, err := headless.Run(t.Context(), p, event.Prompt{}, &bytes.Buffer{}, &bytes.Buffer{}, o); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Contains(text, "half") || !strings.Contains(text, `Stream {"Bytes":21,"Think":false}`) {
		t.Errorf("the log is %q", text)
	}
}
