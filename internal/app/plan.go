package app

import (
	"context"
	_ "embed" // what the model is told
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"lathe/internal/app/conversation"
	"lathe/internal/event"
	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/input"
	"lathe/internal/tool"
	"lathe/internal/tool/plan"
	"lathe/internal/tool/question"
	"lathe/internal/turn"
)

//go:embed planmode.md
var planModeText string

//go:embed planmode_how.md
var planModeHow string

// planKind is the state record of the plan in force, modeKind that of the permission mode.
const (
	planKind = "plan"
	modeKind = "permission-mode"
)

// planning is the plan that is carried out.
type planning struct {
	mu    sync.Mutex
	now   plan.Approved
	on    bool
	stamp time.Time // of the file when it was last read
	start string    // the mode that the run would have begun in, had plan mode not been restored
}

// canAsk reports whether somebody is there to answer questions.
func (r *run) canAsk() bool {
	return r.o.Asks || r.o.PromptTool == "stdio" && !r.o.Unattended
}

// personTools are the tools that need somebody to answer.
func (r *run) personTools() []tool.Tool {
	if !r.canAsk() || r.agent != nil {
		return nil
	}
	var out []tool.Tool
	if r.o.Entry != EntryLibrary || r.o.Questions { // a Go program's permission callback says yes or no
		out = append(out, question.New(r.place.Sys.Getenv("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT")))
	}
	return append(out, plan.New(plan.Deps{
		Mode: func() string { return r.session.Mode() },
		SetMode: func(mode string) error {
			r.changeMode(mode)
			return nil
		},
		Before: func() string { return first(r.session.ModeBefore(), r.plan.start) },
		Save:   r.savePlan,
	})...)
}

// changeMode changes the permission mode and tells of it. It is called from no goroutine that reads events.
func (r *run) changeMode(mode string) {
	if mode == r.session.Mode() {
		return
	}
	model := r.session.Model()
	r.session.SetMode(mode)
	_ = r.session.Relay(event.Envelope{Event: event.ModeChanged{Mode: mode}}) // nobody listens: nobody needs it
	r.tellFollowed(model)
}

// modeSet keeps the mode with the session. A plan that was carried out is over when planning begins again.
func (r *run) modeSet(mode string) {
	if err := r.conv.Log.Keep(modeKind, mode); err != nil {
		r.warn("remember the permission mode: " + err.Error())
	}
	r.followMode(mode)
	if mode != string(perm.ModePlan) {
		return
	}
	r.plan.mu.Lock()
	was := r.plan.on
	r.plan.on = false
	r.plan.mu.Unlock()
	if was {
		r.keepPlan(plan.Approved{})
	}
}

// restorePlan brings back the plan of a resumed session, and plan mode where somebody can end it.
func (r *run) restorePlan() {
	if r.agent != nil {
		return
	}
	r.planAnew()
	if r.conv.Resumed {
		kept := ""
		_ = json.Unmarshal(r.conv.State.Kept[modeKind], &kept)
		if kept == string(perm.ModePlan) && !r.modeGiven && r.canAsk() {
			if r.o.Mode != kept {
				r.plan.start = r.o.Mode
			}
			r.o.Mode = kept
		}
	}
	if r.o.Mode == string(perm.ModePlan) {
		r.plan.on = false
		if err := r.conv.Log.Keep(modeKind, r.o.Mode); err != nil {
			r.warn("remember the permission mode: " + err.Error())
		}
	}
}

// planAnew takes up the plan that the conversation is carrying out.
func (r *run) planAnew() {
	a, ok := plan.Restore(r.conv.State.Messages)
	if raw := r.conv.State.Kept[planKind]; !ok && raw != nil {
		ok = json.Unmarshal(raw, &a) == nil && a.Text != ""
	}
	r.plan.mu.Lock()
	r.plan.now, r.plan.on, r.plan.stamp = a, ok, time.Time{}
	r.plan.mu.Unlock()
}

// plansDir is where approved plans go. A setting of the project leads neither out of it, by a link, nor to where the model
// may not write unasked: a plan there could be a command or an agent.
func (r *run) plansDir() string {
	d := r.place.Sys.Dirs
	if dir := r.place.Settings.String("plansDirectory", "", false); dir != "" && filepath.IsLocal(dir) {
		dir = filepath.Join(d.Work, dir)
		env := r.env()
		env.Mode = perm.ModeAcceptEdits
		in := event.Encode(map[string]string{"file_path": filepath.Join(dir, "plan.md"), "content": ""})
		if perm.Decide(perm.Request{Tool: "Write", Input: in}, env).Verdict == perm.Allow {
			return dir
		}
	}
	return filepath.Join(d.State, "plans")
}

// readPlan reads a plan's file again. The path may come from a session that somebody else has written, and the file may
// have become a link: what is no plan of ours, or must not be read, is not.
func (r *run) readPlan(path string) (string, bool) {
	const most = 1 << 20
	real, err := file.Resolve(path)
	if err != nil || filepath.Ext(real) != ".md" || r.readDenied(real) {
		return "", false
	}
	for _, dir := range []string{filepath.Join(r.place.Sys.Dirs.State, "plans"), r.plansDir()} {
		if dir, err = file.Resolve(dir); err == nil && filepath.Dir(real) == dir {
			f, err := file.Load(real, most)
			if err != nil {
				return "", false
			}
			return string(f.Data), true
		}
	}
	return "", false
}

// savePlan keeps an approved plan. A session that keeps nothing has it in memory only.
func (r *run) savePlan(text string) (string, error) {
	a := plan.Approved{Text: text}
	if conversation.Keeps(r.o.Which, r.place) {
		dir := r.plansDir()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("keep the plan: %w", err)
		}
		id := r.conv.Log.ID()
		a.Path = filepath.Join(dir, slug(text)+"-"+id[:min(8, len(id))]+".md")
		if err := os.WriteFile(a.Path, []byte(strings.TrimRight(text, "\n")+"\n"), 0o600); err != nil {
			return "", fmt.Errorf("keep the plan: %w", err)
		}
	}
	r.plan.mu.Lock()
	r.plan.now, r.plan.on, r.plan.stamp = a, true, stampOf(a.Path)
	r.plan.mu.Unlock()
	r.keepPlan(a)
	return a.Path, nil
}

func (r *run) keepPlan(a plan.Approved) {
	if err := r.conv.Log.Keep(planKind, a); err != nil {
		r.warn("remember the plan: " + err.Error())
	}
}

// slug makes a file name of a plan's first line.
func slug(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.Trim(line, "#*- \t\r\n"); line == "" {
			continue
		}
		for _, c := range strings.ToLower(line) {
			switch {
			case b.Len() >= 40:
			case c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)):
				b.WriteRune(c)
			case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
				b.WriteByte('-')
			}
		}
		break
	}
	return first(strings.Trim(b.String(), "-"), "plan")
}

func stampOf(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// activePlan is the plan that is carried out, as its file has it now.
func (r *run) activePlan() (path, text string, ok bool) {
	p := &r.plan
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return "", "", false
	}
	if stamp := stampOf(p.now.Path); !stamp.IsZero() && !stamp.Equal(p.stamp) {
		if text, ok := r.readPlan(p.now.Path); ok {
			if strings.TrimRight(text, "\n") != strings.TrimRight(p.now.Text, "\n") {
				p.now.Text = r.place.Redact.String(text)
			}
			p.stamp = stamp
		}
	}
	return p.now.Path, p.now.Text, true
}

// planSources tell the model of plan mode and of the plan that is carried out.
func (r *run) planSources() []attach.Source {
	on := func() bool { return r.session.Mode() == string(perm.ModePlan) }
	return []attach.Source{attach.PlanMode(on, r.planModeReminder), attach.Plan(r.activePlan)}
}

// planModeReminder is what the model is told when plan mode begins. A host may say how to plan; that nothing may change,
// and how planning ends, is always said.
func (r *run) planModeReminder(t *turn.Turn) string {
	how := planModeHow
	if h := r.o.Host; h != nil && strings.TrimSpace(h.PlanMode) != "" {
		how = h.PlanMode
	}
	end := "When the plan is ready, call " + plan.Exit + " with all of it; the user approves it there. End your turn with that call, or with a question to the user, and with nothing else."
	offered := slices.ContainsFunc(t.Tools, func(d msg.ToolDef) bool { return d.Name == plan.Exit })
	if _, ok := r.tools.registry.Get(plan.Exit); !ok || len(t.Tools) > 0 && !offered {
		end = "When the plan is ready, give it as your answer, whole. The user decides then whether it is carried out."
	}
	return strings.Join([]string{strings.TrimSpace(planModeText), strings.TrimSpace(how), end}, "\n\n")
}

// expandPlan is the command plan: it turns plan mode on, and hands the task over.
func (r *run) expandPlan(_ context.Context, t *turn.Turn, args string) (input.Expanded, error) {
	r.changeMode(string(perm.ModePlan))
	if r.pair() != "" {
		t.Model = r.session.Model() // for the first call, too
	}
	if args = strings.TrimSpace(args); args != "" {
		return input.Expanded{Text: args}, nil
	}
	return input.Expanded{Answer: "Plan mode is on: the next prompts are looked into and planned, and nothing is changed until you approve a plan."}, nil
}
