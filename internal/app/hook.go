package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe/internal/app/filewatch"
	"lathe/internal/config"
	"lathe/internal/hook"
	"lathe/internal/perm"
)

// endLimit is how long the hooks of a session's end may take together, unless they ask for more; endMost is the
// most that they get.
const (
	endLimit = 1500 * time.Millisecond
	endMost  = 60 * time.Second
)

// hooks fires the user's hooks for the stages. It exists only where there are any.
type hooks struct {
	r   *run
	top *hooks // of the session, where r is a sub-agent's; it waits for what runs
	bus *hook.Bus
	set *hook.Set
	// effort is the session's. Settings that are read anew do not change it, and hooks run beside that reading.
	effort string
	also   *hook.Set       // of the agent; nil: none
	ctx    context.Context // ends with the run
	stop   context.CancelFunc
	wg     sync.WaitGroup // of hooks that nobody waits for

	files *filewatch.Watch // of the session; nil: of a sub-agent
	tasks taskNumbers
	idle  idleWatch
	shown display

	mu    sync.Mutex
	cwd   string // as last seen
	begun bool
}

// newHooks reads the hooks of all trusted settings. It returns nil when there are none.
func (r *run) newHooks() *hooks {
	d := r.place.Sys.Dirs
	sources := r.hookSources()
	r.programs = r.programFiles(sources)
	set := hook.Parse(sources, perm.Options{Start: d.Work, Home: d.Home, ProjectRoot: d.Work, Platform: platform()})
	r.place.Notes = append(r.place.Notes, set.Warnings...)
	if set.Empty() && r.o.Host == nil { // a host may register hooks at any time
		return nil
	}
	return r.makeHooks(set)
}

// makeHooks builds what fires the handlers of a set.
func (r *run) makeHooks(set *hook.Set) *hooks {
	h := &hooks{r: r, set: set, cwd: r.tools.workspace.Cwd(), effort: r.effort()}
	h.ctx, h.stop = context.WithCancel(context.Background())
	deps := hook.Deps{
		Set: set, Procs: &r.procs, Environ: r.place.Sys.Environ, Getenv: r.place.Sys.Getenv,
		Base: h.base, Perm: r.env, Spill: r.spill, Ask: r.askHook, Tool: r.serverHook, Agent: r.agentHook, Refuse: r.refuseHook,
		URLs: trustedList(r.place.Settings, "allowedHttpHookUrls"), HeaderVars: trustedList(r.place.Settings, "httpHookAllowedEnvVars"),
	}
	if r.o.Host != nil {
		deps.Call = r.callback
	}
	h.bus = hook.New(deps)
	if r.o.Host != nil {
		allowed, note := hostHooks(r.place.Settings, r.o.Host.Hooks)
		if note != "" {
			r.place.Notes = append(r.place.Notes, note)
		}
		problems, err := h.bus.SetHost(allowed)
		if err != nil {
			problems = append(problems, err.Error())
		}
		r.place.Notes = append(r.place.Notes, problems...)
	}
	h.files = h.newFileWatch()
	return h
}

// obeyedFiles are variables that name a file which shells or reading commands obey, and which can have them run programs.
const obeyedFiles = "RIPGREP_CONFIG_PATH BASH_ENV ENV GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM INPUTRC PYTHONSTARTUP NPM_CONFIG_USERCONFIG"

// programFiles are the files in the working directories that hooks and helpers run by name, and those that variables name.
func (r *run) programFiles(sources []hook.Source) []string {
	d := r.place.Sys.Dirs
	var out []string
	add := func(raw json.RawMessage) {
		out = append(out, config.ProgramFiles(raw, []string{d.Work, first(r.place.Root, d.Work)}, r.tools.workspace.Roots())...)
	}
	for name := range strings.FieldsSeq(obeyedFiles) {
		if path := r.place.Sys.Getenv(name); filepath.IsAbs(path) {
			out = append(out, filepath.Clean(path))
		}
	}
	for _, s := range sources {
		add(s.Hooks)
	}
	for _, l := range r.place.Settings.Layers {
		for _, key := range []string{"statusLine", "fileSuggestion", "apiKeyHelper"} {
			if v, ok := l.Keys[key]; ok && l.Trusted {
				add(v)
			}
		}
	}
	return out
}

// hookSources are the hooks that count: of trusted files only, and none or only the organisation's where the
// settings say so.
func (r *run) hookSources() []hook.Source {
	if r.o.Recording != nil {
		return nil // the demo runs nothing of the user's
	}
	off, onlyManaged := hooksOff(r.place.Settings)
	var out []hook.Source
	for _, l := range r.place.Settings.Layers {
		v, ok := l.Keys["hooks"]
		managed := l.Scope == config.Managed
		switch {
		case !ok || string(v) == "null", off == config.Managed, off != "" && !managed, onlyManaged && !managed:
			continue
		case r.o.Bare && !managed && l.Scope != config.CLI:
			continue
		case !l.Trusted:
			r.place.Notes = append(r.place.Notes, fmt.Sprintf(
				"the hooks in %s are not run: this project is not trusted (lathe trust, or --trust for one run)", filepath.ToSlash(l.File)))
			if r.place.Lapsed { // who relied on a guard must not lose it unseen
				out = append(out, hook.Source{
					Scope: string(l.Scope), File: l.File, Dir: l.Anchor, Hooks: v, Line: l.Line, CallsOnly: !r.o.Print,
					Held: "what this project's files grant or run has changed since you trusted it (lathe trust --show tells what; after lathe trust, start the session anew)",
				})
			}
			continue
		}
		out = append(out, hook.Source{Scope: string(l.Scope), File: l.File, Dir: l.Anchor, Hooks: v, Line: l.Line})
	}
	if off == "" && !onlyManaged {
		out = append(out, r.pluginHooks()...)
	}
	if r.main != nil {
		out = append(out, r.agentHookSource(*r.main)...)
	}
	return out
}

// hooksOff returns the scope that switches hooks off, and whether only the organisation's count.
func hooksOff(s *config.Settings) (off config.Scope, onlyManaged bool) {
	decided := false
	for _, l := range s.Layers { // highest first
		if v, ok := l.Keys["disableAllHooks"]; ok && l.Trusted && !decided {
			decided = true
			if string(v) == "true" {
				off = l.Scope
			}
		}
		if l.Scope == config.Managed && string(l.Keys["allowManagedHooksOnly"]) == "true" {
			onlyManaged = true
		}
	}
	return off, onlyManaged
}

// hostHooks are the callbacks of a host that count: none where the organisation switches all hooks off, since only it can
// have meant that of its own, too. The note says so.
func hostHooks(s *config.Settings, hooks json.RawMessage) (allowed json.RawMessage, note string) {
	if off, _ := hooksOff(s); off != config.Managed || len(hooks) == 0 || string(hooks) == "null" || string(hooks) == "{}" {
		return hooks, ""
	}
	return nil, "the hooks of the host are not called: the managed settings switch all hooks off (disableAllHooks)"
}

// trustedList joins a list of all trusted layers; nil when none has it.
func trustedList(s *config.Settings, key string) []string {
	var out []string
	for _, l := range s.Layers {
		v, ok := l.Keys[key]
		var list []string
		if !ok || !l.Trusted {
			continue
		}
		if out == nil {
			out = []string{}
		}
		if json.Unmarshal(v, &list) == nil { // another type allows nothing
			out = append(out, list...)
		}
	}
	return out
}

// askHook asks a model for a prompt hook.
func (r *run) askHook(ctx context.Context, model, prompt string) (string, error) {
	if model == "" {
		return r.askSmall(ctx, "hook", prompt)
	}
	return r.side(ctx, "hook", r.prices.Resolve(model), prompt)
}

// covered judges a call as if a rule allowed its tool: what a hook's allow is worth.
func (r *run) covered(req perm.Request) perm.Decision {
	if d, refused := r.notes.refuses(req, r.tools.workspace.Abs); refused {
		return d
	}
	env := r.env()
	src := perm.Source{Kind: "hook", Rule: req.Tool, Scope: "session"}
	env.Rules = env.Rules.With(perm.Rule{Text: req.Tool, Effect: perm.Allow, Source: src})
	return r.judge(req, env)
}

// spill keeps a hook's text that is too long for the conversation.
func (r *run) spill(text string) (string, error) {
	return keepIn(r.resultsDir(), "hook-*.txt", []byte(text))
}

// keepIn writes a new file, private to the user, into a directory and returns its path. pattern names it as for
// os.CreateTemp.
func keepIn(dir, pattern string, data []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return f.Name(), err
}

func (h *hooks) base() hook.Base {
	r := h.r
	return hook.Base{
		Session: r.conv.Log.ID(), Transcript: r.conv.Log.Path(), Cwd: r.tools.workspace.Cwd(), Project: r.place.Project,
		Mode: r.session.Mode(), Effort: h.effort, EnvFile: r.envFile(),
	}
}

// envFile is where hooks leave variables for later commands.
func (r *run) envFile() string { return filepath.Join(r.resultsDir(), "hook-env.sh") }

// prepareEnvFile makes the file's folder; a file of the user's own still counts.
func (r *run) prepareEnvFile() {
	path := r.envFile()
	if _, err := os.Stat(path); err == nil {
		return
	}
	own := ""
	if file := r.place.Sys.Getenv("CLAUDE_ENV_FILE"); file != "" {
		own = ". '" + strings.ReplaceAll(file, "'", `'\''`) + "'\n"
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil && own != "" {
		_ = os.WriteFile(path, []byte(own), 0o600) // without it only those variables are missing
	}
}

// environ is the environment of commands, with what hooks have set.
func (r *run) environ() []string {
	env := r.place.Sys.Environ()
	if r.hooks == nil {
		return env
	}
	if info, err := os.Stat(r.envFile()); err == nil && info.Size() > 0 {
		env = append(env, "CLAUDE_ENV_FILE="+r.envFile())
	}
	return env
}

// observe fires hooks that decide nothing, and does not wait for them.
func (h *hooks) observe(p hook.Payload) {
	h.mark(&p)
	if h.top != nil {
		h.top.observe(p)
		return
	}
	if !h.bus.Has(p.Event, p.Match) && !p.Also.Has(p.Event, p.Match) {
		return
	}
	h.wg.Go(func() { h.tell(h.bus.Fire(h.ctx, p)) })
}

// tell shows what hooks outside a turn said.
func (h *hooks) tell(o hook.Outcome) {
	for _, s := range append(o.Problems, o.System...) {
		h.r.warn(s)
	}
}

// close fires the end of the session and ends what still runs.
func (h *hooks) close() {
	if h == nil {
		return
	}
	h.wakeUp(true)
	h.files.Close()
	if h.begun {
		p := hook.Payload{Event: hook.SessionEnd, Match: "other", Fields: map[string]any{"reason": "other"}, Limit: h.endLimit()}
		h.tell(h.bus.Fire(h.ctx, p))
	}
	timer := time.AfterFunc(endLimit, h.stop)
	h.wg.Wait()
	timer.Stop()
	h.stop()
	h.bus.Close()
}

func (h *hooks) endLimit() time.Duration {
	limit := endLimit
	if n, err := strconv.Atoi(h.r.place.Sys.Getenv("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS")); err == nil && n > 0 {
		limit = time.Duration(n) * time.Millisecond
	}
	return max(limit, min(h.set.Longest(hook.SessionEnd), endMost))
}

// configChanged tells of changed settings files. It reports whether a hook refused them; the organisation's own
// cannot be refused.
func (h *hooks) configChanged(files []config.Change) (refused bool) {
	for _, f := range files {
		source := map[config.Scope]string{
			config.User: "user_settings", config.Project: "project_settings", config.Local: "local_settings", config.Managed: "policy_settings",
		}[f.Scope]
		p := hook.Payload{Event: hook.ConfigChange, Match: source, Fields: map[string]any{"source": source, "file_path": f.File}}
		if !h.bus.Has(p.Event, p.Match) {
			continue
		}
		o := h.bus.Fire(h.ctx, p)
		h.tell(o)
		refused = refused || o.Decision != nil && o.Decision.Verdict == perm.Deny && f.Scope != config.Managed
	}
	return refused
}
