package input_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline/input"
	"lathe/internal/turn"
)

// submit runs a prompt through the stage with these commands and returns the turn.
func submit(p event.Prompt, d input.Deps) (*turn.Turn, error) {
	t := turn.New("t", "s", p, nil, turn.Services{
		Emit:    func(event.Event) error { return nil },
		Persist: func(m ...msg.Message) ([]msg.Message, error) { return m, nil },
		Now:     time.Now,
	})
	if d.Resolve == nil {
		d.Resolve = func(path string) (string, bool) { return "/w/" + path, strings.HasSuffix(path, ".md") }
	}
	return t, input.New(d)(context.Background(), t)
}

func said(t *turn.Turn) []string {
	var out []string
	for _, m := range t.Messages {
		who := string(m.Kind)
		if m.Meta {
			who += " (meta)"
		}
		out = append(out, who+": "+m.Text())
	}
	return out
}

func commands(c ...input.Command) func() []input.Command {
	return func() []input.Command { return c }
}

func TestExpandedCommand(t *testing.T) {
	fix := input.Command{Name: "fix", Aliases: []string{"git:fix"}, Expand: func(_ context.Context, _ *turn.Turn, args string) (input.Expanded, error) {
		return input.Expanded{Text: "Fix " + args + " by @rules.md", Model: "m2", Effort: "high"}, nil
	}}
	for name, c := range map[string]struct {
		prompt   event.Prompt
		want     []string
		mentions []string
	}{
		"plain": {
			event.Prompt{Text: "/fix a @b.md"},
			[]string{"user: <command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>a @b.md</command-args>", "user (meta): Fix a @b.md by @rules.md"},
			[]string{"/w/b.md", "/w/rules.md"},
		},
		"without arguments, by its other name": {
			event.Prompt{Text: "/git:fix"},
			[]string{"user: <command-message>fix</command-message>\n<command-name>/fix</command-name>", "user (meta): Fix  by @rules.md"},
			[]string{"/w/rules.md"},
		},
		"mentions in what was piped mean nothing": {
			event.Prompt{Text: "/fix\n\n@piped.md", Typed: 4},
			[]string{"user: <command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>@piped.md</command-args>", "user (meta): Fix @piped.md by @rules.md"},
			[]string{"/w/rules.md"},
		},
		"literal": {event.Prompt{Text: "/fix a", Literal: true}, []string{"user: /fix a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tn, err := submit(c.prompt, input.Deps{Commands: commands(fix)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said(tn)); diff != "" {
				t.Error(diff)
			}
			var paths []string
			for _, m := range tn.Mentions {
				paths = append(paths, m.Path)
			}
			if diff := cmp.Diff(c.mentions, paths); diff != "" {
				t.Error(diff)
			}
			if !c.prompt.Literal && (tn.Model != "m2" || tn.Effort != "high" || tn.Done) {
				t.Errorf("model %q, effort %q, done %v", tn.Model, tn.Effort, tn.Done)
			}
		})
	}
}

func TestCommandsThatFailOrAreRefused(t *testing.T) {
	expand := func(e input.Expanded, err error) func() []input.Command {
		return commands(input.Command{Name: "x", Expand: func(context.Context, *turn.Turn, string) (input.Expanded, error) { return e, err }})
	}
	var stop *turn.Stop
	tn, err := submit(event.Prompt{Text: "/x"}, input.Deps{Commands: expand(input.Expanded{}, errors.New("not allowed"))})
	if !errors.As(err, &stop) || stop.Error() != "/x: not allowed" || len(tn.Messages) > 0 {
		t.Errorf("%v, %v", err, said(tn))
	}
	blocked := turn.Hooked{Decision: &perm.Decision{Verdict: perm.Deny, Reason: "not today"}}
	tn, err = submit(event.Prompt{Text: "/x"}, input.Deps{Commands: expand(input.Expanded{Text: "t", Hooked: blocked}, nil)})
	if !errors.As(err, &stop) || !stop.Fine || stop.Text != "not today" || len(tn.Messages) > 0 {
		t.Errorf("%v, %v", err, said(tn))
	}
	tn, err = submit(event.Prompt{Text: "/x"}, input.Deps{Commands: expand(input.Expanded{Blocks: []msg.Block{msg.Text("see @a.md")}}, nil)})
	if err != nil || len(tn.Messages) != 2 || tn.Messages[1].Text() != "see @a.md" || len(tn.Mentions) > 0 {
		t.Errorf("%v, %v", err, said(tn))
	}
	tn, err = submit(event.Prompt{Text: "/x"}, input.Deps{Commands: expand(input.Expanded{Text: "t", Answer: "done"}, nil)})
	if err != nil || !tn.Done || tn.Text != "done" || len(tn.Messages) != 2 {
		t.Errorf("%v, %v, %v", err, tn.Text, said(tn))
	}
}

func TestUnknownCommand(t *testing.T) {
	help := commands(input.Command{Name: "help", Run: func(context.Context, *turn.Turn, string) (string, error) { return "", nil }})
	if _, err := submit(event.Prompt{Text: "/hlep me"}, input.Deps{Commands: help}); err == nil || !strings.Contains(err.Error(), "Did you mean /help?") {
		t.Errorf("%v", err)
	}
	for name, d := range map[string]input.Deps{"for a host": {Commands: help, Unknown: true}, "switched off": {Commands: commands()}, "no commands": {}} {
		tn, err := submit(event.Prompt{Text: "/hlep me"}, d)
		if err != nil || len(tn.Messages) != 1 || tn.Messages[0].Text() != "/hlep me" {
			t.Errorf("%s: %v, %v", name, err, said(tn))
		}
	}
}

// A prompt that needs a turn of its own does not slip into one that runs, where what it asks for would be lost.
func TestJoins(t *testing.T) {
	d := input.Deps{
		Commands: commands(input.Command{Name: "compact"}),
		Resolve:  func(path string) (string, bool) { return "/w/" + path, strings.HasSuffix(path, ".md") },
		Unknown:  true,
	}
	for _, c := range []struct {
		name string
		p    event.Prompt
		want bool
	}{
		{"words", event.Prompt{Text: "also that"}, true},
		{"an image", event.Prompt{Images: []string{"a.png"}}, true},
		{"nothing", event.Prompt{}, false},
		{"a command", event.Prompt{Text: "/compact now"}, false},
		{"a command as text", event.Prompt{Text: "/compact now", Literal: true}, true},
		{"no command", event.Prompt{Text: "/etc/hosts is wrong"}, true},
		{"a command that nobody knows, which is text", event.Prompt{Text: "/nobody"}, true},
		{"a file", event.Prompt{Text: "see @a.md"}, false},
		{"a sub-agent", event.Prompt{Text: "ask @agent-x about it"}, false},
		{"a sub-agent by its name", event.Prompt{Text: `ask @"x (agent)" about it`}, false},
		{"an address", event.Prompt{Text: "ask a@b.org"}, true},
		{"a file in what was piped in", event.Prompt{Text: "see @a.md", Typed: 3}, true},
		{"a file, where nothing was typed", event.Prompt{Text: "see @a.md", Typed: -1}, true},
		{"a command, where nothing was typed", event.Prompt{Text: "/compact now", Typed: -1}, true},
		{"deep thinking", event.Prompt{Text: "ultrathink about it"}, false},
		{"no turn", event.Prompt{Text: "x", NoQuery: true}, false},
		{"ended work", event.Prompt{Text: "x", Origin: "task-notification"}, false},
	} {
		if got := d.Joins(c.p); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	d.Unknown = false
	if d.Joins(event.Prompt{Text: "/nobody"}) {
		t.Error("a command that nobody knows has an answer of its own in a terminal")
	}
}

// Hooks see the prompts of people, and may keep them out; what the program itself begins a turn with is none.
func TestHooksSeePromptsOfPeople(t *testing.T) {
	for origin, want := range map[string][]string{"": nil, "task-notification": {"user (meta): hi"}} {
		seen := 0
		tn, err := submit(event.Prompt{Text: "hi", Origin: origin}, input.Deps{Submit: func(context.Context, *turn.Turn) turn.Hooked {
			seen++
			return turn.Hooked{Decision: &perm.Decision{Verdict: perm.Deny, Reason: "no"}}
		}})
		if diff := cmp.Diff(want, said(tn)); diff != "" || (err != nil) != (origin == "") || seen != 1-len(want) {
			t.Errorf("origin %q: seen %d times, %v: %s", origin, seen, err, diff)
		}
	}
}

// A command that an interrupt ends has not failed: its error is the interrupt's, which the runner names.
func TestInterruptedCommand(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	waits := input.Command{Name: "waits", Run: func(ctx context.Context, _ *turn.Turn, _ string) (string, error) {
		cancel(turn.ErrInterrupted)
		return "", context.Cause(ctx)
	}}
	reads := input.Command{Name: "reads", Expand: func(ctx context.Context, _ *turn.Turn, _ string) (input.Expanded, error) {
		cancel(turn.ErrInterrupted)
		return input.Expanded{}, context.Cause(ctx)
	}}
	for _, text := range []string{"/waits", "/reads"} {
		tn := turn.New("t", "s", event.Prompt{Text: text}, nil, turn.Services{Now: time.Now})
		err := input.New(input.Deps{Commands: commands(waits, reads)})(ctx, tn)
		var stop *turn.Stop
		if errors.As(err, &stop) || !errors.Is(err, turn.ErrInterrupted) {
			t.Errorf("%s: %+v", text, err)
		}
	}
}
