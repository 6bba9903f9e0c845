package prompt

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/turn"
)

func newTurn() *turn.Turn {
	t := turn.New("t", "s", event.Prompt{}, nil, turn.Services{Now: time.Now, Emit: func(event.Event) error { return nil }})
	t.Model = "m"
	return t
}

// short names the parts of a prompt: the default text and the environment are too long to be written out.
func short(f session.Frozen) []string {
	var out []string
	for _, b := range f.System {
		text := strings.Replace(b.Text, strings.TrimSpace(static), "STATIC", 1)
		text = strings.Replace(text, strings.TrimSpace(withoutCode()), "GENERAL", 1)
		if at := strings.Index(text, "Environment\n"); at >= 0 {
			end := strings.Index(text, "\n\n")
			if end < 0 {
				end = len(text)
			}
			text = text[:at] + "ENVIRONMENT" + text[end:]
		}
		out = append(out, text)
	}
	return out
}

// Override, else custom, else default; what is appended comes last, unless the prompt was overridden. Nothing that
// varies stands before the boundary.
func TestPrecedence(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		conf   Config
		want   []string
		static int
		dir    string
	}{
		"default":              {Config{}, []string{"STATIC", "ENVIRONMENT"}, 1, "/w"},
		"appended":             {Config{Append: "more"}, []string{"STATIC", "ENVIRONMENT\n\nmore"}, 1, "/w"},
		"a style":              {Config{Style: "look", Append: "more"}, []string{"STATIC", "ENVIRONMENT\n\nlook\n\nmore"}, 1, "/w"},
		"a general style":      {Config{Style: "look", General: true}, []string{"GENERAL", "ENVIRONMENT\n\nlook"}, 1, "/w"},
		"custom and a style":   {Config{Custom: text("mine"), Style: "look", General: true}, []string{"mine"}, 1, ""},
		"custom":               {Config{Custom: text("mine")}, []string{"mine"}, 1, ""},
		"custom and appended":  {Config{Custom: text("mine"), Append: "more"}, []string{"mine", "more"}, 1, ""},
		"custom in two parts":  {Config{Custom: text("mine\n" + Boundary + "\nvaries"), Append: "more"}, []string{"mine", "varies\n\nmore"}, 1, ""},
		"nothing before it":    {Config{Custom: text(Boundary + "\nvaries")}, []string{"varies"}, 0, ""},
		"overridden":           {Config{Override: text("all"), Custom: text("mine"), Append: "more"}, []string{"all"}, 1, ""},
		"overridden by nought": {Config{Override: text("")}, nil, 0, ""},
	} {
		c.conf.Cwd, c.conf.Platform, c.conf.Shell = "/w", "linux", "bash"
		var kept session.Frozen
		tn := newTurn()
		stage := New(Deps{Config: c.conf, Freeze: func(f session.Frozen) error { kept = f; return nil }})
		if err := stage(context.Background(), tn); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, short(kept)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if kept.Static != c.static || tn.Static != c.static || kept.Dir != c.dir || kept.Model != "m" {
			t.Errorf("%s: static %d and %d, directory %q, model %q", name, kept.Static, tn.Static, kept.Dir, kept.Model)
		}
		if diff := cmp.Diff(kept.System, tn.System); diff != "" {
			t.Errorf("%s: kept and sent differ: %s", name, diff)
		}
	}
}

// What was built once is sent again, whatever the settings say now; also where it was empty.
func TestFrozen(t *testing.T) {
	tools := []msg.ToolDef{{Name: "Bash", InputSchema: json.RawMessage(`{}`)}}
	for _, f := range []session.Frozen{
		{System: []msg.Block{msg.Text("old")}, Tools: []msg.ToolDef{}, Static: 1},
		{System: []msg.Block{}, Tools: []msg.ToolDef{}},
	} {
		tn := newTurn()
		tn.System, tn.Tools, tn.Static = f.System, f.Tools, f.Static
		stage := New(Deps{Tools: func() []msg.ToolDef { return tools }, Freeze: func(session.Frozen) error { t.Error("frozen anew"); return nil }})
		if err := stage(context.Background(), tn); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f, session.Frozen{System: tn.System, Tools: tn.Tools, Static: tn.Static}); diff != "" {
			t.Error(diff)
		}
	}
}
