package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lathe/internal/app/keeper"
	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/pipeline"
	"lathe/internal/pipeline/account"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/model"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/pipeline/prompt"
	"lathe/internal/pipeline/tools"
	"lathe/internal/provider"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/sys"
	"lathe/internal/tool/todo"
	"lathe/internal/turn"
)

// closeLimit is how long the end of a run waits for background commands to be stopped.
const closeLimit = 3 * time.Second

// thinkingKind is the state record that remembers that thinking is no longer sent, mismatchKind that the API is asked
// to drop what of it no longer fits.
const (
	thinkingKind = "thinking"
	mismatchKind = "thinking_mismatch"
)

// assemble builds the session and its pipeline from the parts.
func (r *run) assemble() error {
	if r.agent == nil {
		r.openMemory()
		r.hooks = r.newHooks()
	} else if !r.agent.quiet {
		r.openAgentHooks()
	}
	r.openCheckpoints()
	if err := r.engine(); err != nil {
		return err
	}
	if r.agent == nil {
		r.compile(r.place.Settings.Permissions()) // again: the session's own folder is known now
	}
	deps, err := r.deps()
	if err != nil {
		return err
	}
	r.session.Use(pipeline.Stages(deps))
	return nil
}

// engine builds the session.
func (r *run) engine() error {
	r.restorePlan() // the model may depend on the mode
	name := r.chooseModel()
	r.keepChoice(name)
	if r.agent == nil {
		r.doubtModels()
	}
	r.thaw()
	cfg := engine.Config{
		Log: r.conv.Log, State: r.conv.State, Ready: r.ready, Model: name, Effort: r.turnEffort(), Mode: r.o.Mode,
		NewID: r.place.Sys.NewID, Now: r.place.Sys.Now, Tell: r.o.Stages, AfterTurn: r.afterTurn, Halted: &r.halted,
		Begin: r.beginTurn, Clean: r.place.Clean, Query: r.query, CanCall: r.canCall, CanAsk: r.canAsk(), ModeSet: r.modeSet,
	}
	if r.o.askTool() && !r.o.Unattended {
		cfg.Answer = r.askServer
	}
	if f := r.trace.Load(); f != nil {
		cfg.Trace = f
	}
	ledger := account.Deps{Price: r.prices, Keep: r.keep, Fast: func() string { return r.fastState(r.session.Model()) }}
	limits := account.Config{
		MaxTurns: r.maxTurns(), MaxBudget: r.o.MaxBudget, TaskBudget: r.o.TaskBudget, NoCache: r.noCache(), StopCap: r.stopCap(),
	}
	if h := r.hooks; h != nil {
		cfg.Asking = h.asking
		ledger.Stop, ledger.Failed = h.stopping, h.failed
	}
	if r.agent != nil {
		r.agentEngine(&cfg, &ledger, &limits)
		r.session, r.ledger = engine.New(cfg), r.agent.parent.ledger.Sub(ledger, limits)
		return nil
	}
	if h := r.hooks; h != nil {
		cfg.Shown, cfg.Holds, cfg.ShownPart, cfg.ShownResult = h.displayed, h.displays, h.displayPart, h.displayedResult
	}
	cfg.Background, cfg.Kept = r.work, r.keptNow
	r.session, r.ledger = engine.New(cfg), account.New(ledger, limits)
	r.beginFast()
	if r.conv.Resumed {
		r.takeUp()
	}
	if r.o.Name != "" {
		return r.rename(r.o.Name)
	}
	return nil
}

// takeUp brings back what a resumed session had beside its conversation.
func (r *run) takeUp() {
	if err := r.ledger.Restore(r.conv.State.Kept[account.KeepKind], r.conv.State.Messages); err != nil {
		r.place.Notes = append(r.place.Notes, err.Error())
	}
	if path := first(r.conv.State.Meta.Path, r.conv.Log.Path()); path != "" {
		r.ledger.RestoreAgents(jsonl.AgentAnswers(path, r.ledger.Totals().At))
	}
	_ = json.Unmarshal(r.conv.State.Kept[thinkingKind], &r.dropThinking)
	_ = json.Unmarshal(r.conv.State.Kept[mismatchKind], &r.dropMismatch)
	r.takeUpStyle()
	r.restoreTodos()
	r.work.takeUp(r.conv.State.Kept[tasksKind])
	r.tools.files.Restore(r.conv.State.Messages, r.readable)
}

// thaw drops what a resumed session had frozen when this run asks for a structured answer by another schema: its
// tool must be among the definitions. The prompt cache is lost by that.
func (r *run) thaw() {
	f := r.conv.State.Frozen
	if f == nil {
		return
	}
	if r.newCustomTools(f.Tools) {
		r.conv.State.Frozen = nil
		return
	}
	if r.tools.structured == nil {
		return
	}
	want := r.tools.structured.Def()
	for _, d := range f.Tools {
		if d.Name == want.Name && string(d.InputSchema) == string(want.InputSchema) {
			return
		}
	}
	r.conv.State.Frozen = nil
	r.place.Notes = append(r.place.Notes, "the tools of the session change for --json-schema, so the prompt cache starts anew")
}

// keep stores a state record at the end of a turn, and puts the turn on the medium: a loss of power keeps it.
func (r *run) keep(kind string, v any) error {
	if err := r.conv.Log.Keep(kind, v); err != nil {
		return err
	}
	if s, ok := r.conv.Log.(session.Syncer); ok {
		return s.Sync()
	}
	return nil
}

func (r *run) deps() (pipeline.Deps, error) {
	promptDeps, err := r.promptDeps()
	if err != nil {
		return pipeline.Deps{}, err
	}
	r.toolStage = tools.New(r.toolDeps())
	info := r.prices.Info
	norm := normalize.Deps{
		Info: info, DropThinking: func() bool { return r.dropThinking }, DropMismatch: func() bool { return r.dropMismatch },
		ID: r.prices.Resolve, Foreign: r.foreign(), NoThinking: r.noThinking.Load, Fast: r.fastNow, Adjust: r.adjust,
	}
	cfg := r.requestConfig()
	r.compact = r.compaction(norm, cfg)
	in := input.Deps{Commands: r.commands, Unknown: r.o.Unknown, Image: r.tools.image, Resolve: r.resolve}
	if r.hooks != nil && r.agent == nil {
		in.Submit, in.Resume = r.hooks.submit, r.toolStage.Resume
	}
	r.input = in
	return pipeline.Deps{
		Input:     in,
		Attach:    r.sources(),
		Prompt:    promptDeps,
		Compact:   r.compact,
		Normalize: norm,
		Model:     r.modelDeps(normalize.Retarget(norm, cfg)),
		Tools:     r.toolStage,
		Account:   r.ledger,

		NormalizeConfig: cfg,
		ModelConfig:     r.retryConfig(),
	}, nil
}

// environment is what the system prompt leaves out where nothing that varies may stand in it.
func (r *run) environment(ctx context.Context) string {
	if !r.o.NoDynamic || r.agent != nil {
		return ""
	}
	d, err := r.promptDeps()
	if err != nil || !d.NoDynamic {
		return ""
	}
	return d.Environment(ctx)
}

func (r *run) promptDeps() (prompt.Deps, error) {
	o, d := r.o, r.place.Sys.Dirs
	cfg := prompt.Config{
		Cwd: d.Work, Platform: platform(), Shell: shellName(r.place.Sys.Getenv), ExtraDirs: r.dirs, Root: r.place.Root,
		Git: !o.Bare && r.place.Settings.Bool("includeGitInstructions", true) && !sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS")),
	}
	if r.agent != nil {
		return r.agentPrompt(cfg)
	}
	if r.main != nil {
		cfg.Agent = &r.main.Prompt
	}
	own := ""
	if o.System != nil {
		own = *o.System
	}
	custom, err := joinPrompt(o.SystemFile, "system-prompt-file", own)
	if err != nil {
		return prompt.Deps{}, err
	}
	if custom != "" || o.System != nil {
		cfg.Custom = &custom
	}
	cfg.NoDynamic = o.NoDynamic && cfg.Custom == nil
	if cfg.Append, err = joinPrompt(o.AppendFile, "append-system-prompt-file", o.Append); err != nil {
		return prompt.Deps{}, err
	}
	if o.Override != "" {
		cfg.Override = &o.Override
	}
	style := r.style()
	cfg.Style, cfg.General = style.Text, style.Text != "" && !style.Keep
	return prompt.Deps{Config: cfg, Tools: r.tools.registry.Defs, Freeze: r.freeze(style.Name), Clean: r.place.Redact.String}, nil
}

// joinPrompt puts a file's text before the inline one.
func joinPrompt(file, flag, inline string) (string, error) {
	if file == "" {
		return inline, nil
	}
	text, err := readText(flag, file)
	if err != nil || inline == "" {
		return text, err
	}
	return strings.TrimRight(text, "\n") + "\n\n" + inline, nil
}

func (r *run) toolDeps() tools.Deps {
	d := tools.Deps{Registry: r.tools.registry, Decide: r.decide, Touched: r.touch, Classify: r.newClassifier(), Remember: r.remember, Update: r.applyUpdates, Offer: r.offer, Chosen: r.custom.chosen, Heartbeat: heartbeat, Server: r.serverOf, Most: r.number("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY")}
	if r.hooks != nil {
		d.Hooks, d.Covered = r.hooks, r.covered
		if r.agent == nil {
			r.deferring(&d)
		}
	}
	if r.o.Host != nil {
		d.Aliases = r.o.Host.Aliases
	}
	if s := r.tools.structured; s != nil {
		d.Structured = s.Take
		d.StructuredRetries = 5
		if n, err := strconv.Atoi(r.place.Sys.Getenv("MAX_STRUCTURED_OUTPUT_RETRIES")); err == nil && n >= 0 {
			d.StructuredRetries = n
		}
	}
	return d
}

// heartbeat is how often front ends are told of a call that runs on in silence.
const heartbeat = 30 * time.Second

func (r *run) touch(paths []string) {
	r.touchedMu.Lock()
	r.touched = append(r.touched, paths...)
	r.touchedMu.Unlock()
	r.custom.touch(paths, first(r.place.Root, r.place.Sys.Dirs.Work))
}

func (r *run) forgetTouched() {
	r.touchedMu.Lock()
	r.touched = nil
	r.touchedMu.Unlock()
}

func (r *run) takeTouched() []string {
	r.touchedMu.Lock()
	defer r.touchedMu.Unlock()
	return append([]string(nil), r.touched...)
}

// sources are the attachments, in the order in which they appear.
func (r *run) sources() []attach.Source {
	if r.agent != nil {
		return r.agentSources()
	}
	out := append(append(r.memorySources(), r.notesSource()...), r.skillSource())
	if r.servers != nil {
		out = append(out, r.serverSource(), attach.Resources(r.readResource))
	}
	if r.hooks != nil {
		out = append(out, r.hooks.late())
	}
	out = append(append(out, r.planSources()...), r.styleSource())
	ws := r.tools.workspace
	return append(out,
		attach.Environment(r.environment),
		attach.Date(),
		attach.Directory(r.place.Sys.Dirs.Work, r.toldDir()),
		r.agentMention(),
		attach.Mention(r.tools.readFile, r.unmentionable),
		attach.Changed(r.tools.files, ws.Rel, r.hooks.fileChanged),
		attach.Todo(func() string { return todoText(r.tools.todos) }),
		r.taskSource(),
		attach.Budget(r.o.MaxBudget, r.ledger.Used),
		attach.Queued(r.joining, r.blocks, r.join),
	)
}

// taskSource tells the model of background work that ended.
func (r *run) taskSource() attach.Source {
	return attach.Tasks(func() []attach.Item { return r.work.news(false) })
}

// resolve makes a mentioned path absolute, if there is such a file.
func (r *run) resolve(path string) (string, bool) {
	if path, ok := r.resolveResource(path); ok {
		return path, true
	}
	abs := r.tools.workspace.Abs(path)
	_, err := os.Stat(abs)
	return abs, err == nil
}

func (r *run) modelDeps(retarget func(*turn.Turn, *provider.Request, string)) model.Deps {
	var sizes sizer
	if r.keeper == nil {
		r.keeper = &keeper.Keeper{Prices: r.prices}
	}
	r.keeper.Forget() // another conversation has other requests
	d := model.Deps{
		Provider: r.model.Provider, Fallback: r.fallbacks(), Refresh: r.model.Refresh,
		DropThinking: r.forThinking(thinkingKind, &r.dropThinking), DropMismatch: r.forThinking(mismatchKind, &r.dropMismatch),
		Retarget: retarget, Slow: r.slowDown,
		MaxOutput: func(name string) int { return r.prices.Info(name).MaxOutput },
		Size: func(req *provider.Request) (int, int) {
			return sizes.size(req, r.prices.Info(req.Model).NewTokenizer), 0
		},
		Cost: r.prices.Cost, Answered: r.keeper.Answered,
	}
	r.described(&d)
	return d
}

// forThinking remembers a way to deal with thinking that the API refused, for this run and for later ones.
func (r *run) forThinking(kind string, flag *bool) func(*turn.Turn) {
	return func(*turn.Turn) {
		*flag = true
		if err := r.conv.Log.Keep(kind, true); err != nil {
			r.warn("remember what becomes of earlier thinking: " + err.Error())
		}
	}
}

// ready is what front ends are told before each turn.
func (r *run) ready() event.Ready {
	return event.Ready{
		Session: r.conv.Log.ID(), Cwd: r.tools.workspace.Cwd(), Model: r.session.Model(), PermissionMode: string(r.mode()),
		KeySource: r.model.Key, Version: sys.Version, Tools: r.tools.registry.Names(), Commands: r.commandNames(), Skills: r.skillNames(),
		Agents: r.agentNames(), Plugins: r.pluginList(), PluginErrors: r.pluginsNow().errors, OutputStyle: r.style().Name, Resumed: r.conv.Resumed, Fast: r.fastState(r.session.Model()),
		Servers: r.serverStates(), ServerErrors: r.skippedServers,
	}
}

func (r *run) summary() []string { return account.Summary(r.ledger.Totals(), r.prices) }

// todoText renders the to-do list, "" when it is empty or all done.
func todoText(l *todo.List) string {
	var b strings.Builder
	open := false
	for _, i := range l.Items() {
		mark := map[string]string{todo.Pending: " ", todo.InProgress: ">", todo.Completed: "x"}[i.Status]
		open = open || i.Status != todo.Completed
		number := ""
		if i.ID != "" {
			number = "#" + i.ID + " "
		}
		fmt.Fprintf(&b, "[%s] %s%s\n", mark, number, i.Content)
	}
	if !open {
		return ""
	}
	return b.String()
}
