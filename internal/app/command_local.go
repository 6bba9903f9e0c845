package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/perm"
	"lathe/internal/sys"
	"lathe/internal/token"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

func (r *run) cmdCost(_ context.Context, _ *turn.Turn, _ string) (string, error) {
	return or(strings.Join(r.summary(), "\n"), "Nothing was sent to a model yet."), nil
}

// cmdModel lists the models, or changes to one.
func (r *run) cmdModel(_ context.Context, t *turn.Turn, args string) (string, error) {
	if args == "" || args == "list" {
		return r.modelsText(), nil
	}
	choice := args
	if choice == "default" {
		choice = r.defaultModel()
	}
	id := r.resolveFor(choice, r.session.Mode())
	left := ""
	if r.fastState(r.session.Model()) != fastOff && r.fastRefused(id) != nil {
		left = " Fast mode is off: this model has none."
	}
	r.useModel(choice, id)
	if err := t.Emit(event.ModelChanged{Model: id, Reason: "model set to " + id}); err != nil {
		return "", err
	}
	text := withWarning("Model set to "+r.modelState()+" for this session."+left, r.keeper.Warning(r.place.Sys.Now(), id, r.fastState(id) == fastOn))
	return withWarning(text, r.modelDoubt(choice)), nil
}

func (r *run) modelsText() string {
	now := r.session.Model()
	info := r.prices.Info(now)
	var b strings.Builder
	fmt.Fprintf(&b, "%s (window %d tokens, answers up to %d", r.modelState(), info.Window, info.MaxOutput)
	if e := info.Clamp(r.session.Effort()); e != "" {
		fmt.Fprintf(&b, ", effort %s", e)
	}
	b.WriteString(")\n\n")
	for _, alias := range r.prices.Aliases() {
		i := r.prices.Info(alias)
		price := "price unknown"
		if i.Priced {
			price = fmt.Sprintf("$%g in, $%g out per million tokens", i.Price.Input, i.Price.Output)
		}
		mark := " "
		if i.ID == info.ID && (alias != opusPlan || r.pair() != "") {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-10s %-24s %6s  %s\n", mark, alias, i.ID, event.Thousands(i.Window), price)
	}
	b.WriteString("\n/model NAME changes it; /model default goes back. Any other id of the API may be named too.")
	return b.String()
}

// cmdEffort shows or changes how hard the model is asked to work.
func (r *run) cmdEffort(_ context.Context, _ *turn.Turn, args string) (string, error) {
	info := r.prices.Info(r.session.Model())
	if len(info.Efforts) == 0 {
		return info.ID + " takes no effort.", nil
	}
	switch args {
	case "", "status":
		return fmt.Sprintf("Effort: %s (%s takes %s)", info.Clamp(r.session.Effort()), info.ID, strings.Join(info.Efforts, ", ")), nil
	case "auto", "default":
		r.session.SetEffort(r.effort())
		return "Effort: " + info.Clamp(r.session.Effort()) + ".", nil
	}
	if _, err := r.setEffort(event.Encode(map[string]string{"effort": args})); err != nil {
		return "", err
	}
	text := fmt.Sprintf("Effort: %s for this session (/config effortLevel=%s keeps it).", args, args)
	return withWarning(text, r.keeper.Warning(r.place.Sys.Now(), r.session.Model(), r.fastState(r.session.Model()) == fastOn)), nil
}

func (r *run) cmdStatus(context.Context, *turn.Turn, string) (string, error) {
	trusted := "not trusted (its settings only restrict; see lathe trust)"
	switch {
	case r.place.Trusted:
		trusted = "trusted"
	case len(r.place.Grants) == 0:
		trusted = "nothing of it needs trust"
	}
	return fmt.Sprintf("Lathe %s\nSession: %s\nTranscript: %s\nModel: %s\nMode: %s\nCredential: %s\nSandbox: %s\nDirectories: %s\nProject: %s",
		sys.Version, r.conv.Log.ID(), or(r.conv.Log.Path(), "none"), r.modelState(), perm.Mode(r.session.Mode()).Word(), r.model.Key, r.sandboxState(),
		strings.Join(r.tools.workspace.Roots(), ", "), trusted), nil
}

func (r *run) cmdPermissions(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Mode: %s\n", perm.Mode(r.session.Mode()).Word())
	for _, rule := range r.book.Load().rules {
		fmt.Fprintf(&b, "%-5s %-40s %s\n", rule.Effect, rule.Text, rule.Source.Where())
	}
	if len(r.book.Load().rules) == 0 {
		b.WriteString("No rules.\n")
	}
	return b.String(), nil
}

// cmdConfig shows the settings that count, or changes settings of the user's: key=value, or key= to remove one.
func (r *run) cmdConfig(_ context.Context, _ *turn.Turn, args string) (string, error) {
	if !strings.Contains(args, "=") {
		return r.configText(strings.TrimSpace(args))
	}
	file := r.userSettings()
	var told []string
	for _, pair := range assignments(args) {
		key, text, _ := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		if err := checkSetting(key, settingValue(text)); err != nil {
			return "", err
		}
		if err := config.Set(file, key, settingValue(text)); err != nil {
			return "", err
		}
		told = append(told, key)
	}
	r.refresh()
	return fmt.Sprintf("Saved in %s: %s. What a session begins with counts for the next one.", file, strings.Join(told, ", ")), nil
}

// userSettings is the file in which the person's own settings are saved.
func (r *run) userSettings() string { return filepath.Join(r.place.Sys.Dirs.State, "settings.json") }

// assignments splits key=value pairs at blanks; what has no sign of its own belongs to the value before it.
func assignments(args string) []string {
	var out []string
	for _, word := range strings.Fields(args) {
		key, _, ok := strings.Cut(word, "=")
		if ok && key != "" && !strings.ContainsAny(key, `{["`) || len(out) == 0 {
			out = append(out, word)
		} else {
			out[len(out)-1] += " " + word
		}
	}
	return out
}

// settingValue is JSON where the text is that, else a text. Nothing removes the setting.
func settingValue(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return event.Encode(text)
}

func (r *run) configText(key string) (string, error) {
	var b strings.Builder
	for _, v := range r.place.Settings.Effective() {
		if !v.Used || key != "" && v.Key != key && !strings.HasPrefix(v.Key, key+".") {
			continue
		}
		where := string(v.Scope)
		if v.File != "" {
			where = fmt.Sprintf("%s %s:%d", v.Scope, v.File, v.Line)
		}
		fmt.Fprintf(&b, "%s = %s\n    %s\n", v.Key, event.OneLine(r.place.Redact.String(string(v.Value)), 120), where)
	}
	if b.Len() > 0 {
		return b.String(), nil
	}
	if key == "" {
		return "No settings: everything is as it is by default. /config KEY=VALUE sets one.", nil
	}
	if !config.Known(key) {
		return "", fmt.Errorf("there is no setting %q (lathe config schema lists them)", key)
	}
	return key + " is set nowhere.", nil
}

// cmdMemory shows the instruction files in force.
func (r *run) cmdMemory(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	for _, f := range r.memoryFiles() {
		state := fmt.Sprintf("%s, about %s tokens", event.Bytes(int64(f.Size)), event.Thousands(f.Tokens))
		if !f.There {
			state = "not there"
		}
		fmt.Fprintf(&b, "%-8s %s\n         %s\n", f.Scope, f.Path, state)
	}
	if r.memory.Dir != "" {
		fmt.Fprintf(&b, "%-8s %s\n         the project's memory, kept by the model\n", "auto", r.memory.Path())
	}
	return or(b.String(), "No instruction files are looked for (--bare)."), nil
}

// memoryFile is one instruction file, for the query "memory_files".
type memoryFile struct {
	Path   string `json:"path"`
	Scope  string `json:"scope"`
	Size   int    `json:"size"` // bytes, imports in place
	Tokens int    `json:"tokens"`
	There  bool   `json:"exists"` // else it is where one may be written
}

// memoryFiles lists the files in force, and the usual ones that could be made.
func (r *run) memoryFiles() []memoryFile {
	if !r.instructions() {
		return nil
	}
	c := token.Counter{New: r.prices.Info(r.session.Model()).NewTokenizer}
	out := []memoryFile{}
	for _, f := range r.instructionFiles() {
		out = append(out, memoryFile{f.Path, f.Scope, len(f.Text), c.Text(f.Text), true})
	}
	root := first(r.place.Root, r.place.Sys.Dirs.Work)
	for _, f := range []memoryFile{
		{Path: filepath.Join(r.place.Sys.Dirs.Config, "CLAUDE.md"), Scope: "user"},
		{Path: filepath.Join(root, "CLAUDE.md"), Scope: "project"},
	} {
		if !slices.ContainsFunc(out, func(o memoryFile) bool { return o.Scope == f.Scope }) {
			out = append(out, f)
		}
	}
	return out
}

// cmdHooks lists the hooks in force.
func (r *run) cmdHooks(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	if r.hooks != nil {
		for _, h := range r.hooks.set.List() {
			fmt.Fprintf(&b, "%s %s\n    %s\n    %s\n", h.Event, h.Matcher, event.OneLine(r.place.Redact.String(h.Title), 120), h.Where)
		}
	}
	return or(b.String(), "No hooks."), nil
}

// cmdSkills lists the skills and commands of files.
func (r *run) cmdSkills(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	for _, s := range r.skills() {
		var notes []string
		if s.UserOnly {
			notes = append(notes, "not for the model")
		}
		if s.Hidden {
			notes = append(notes, "only for the model")
		}
		if !r.mayGrant(s) && (s.HasShell() || len(s.Allow) > 0) {
			notes = append(notes, "its shell lines and allowed-tools do not count: the project is not trusted")
		}
		fmt.Fprintf(&b, "/%s  (%s)%s\n    %s\n    %s\n", s.Name, s.Scope, strings.TrimSuffix(" "+strings.Join(notes, "; "), " "), event.OneLine(s.Description, 120), s.Path)
	}
	return or(b.String(), "No skills and no commands of files."), nil
}

// directoryAdded is what hooks are told of a new working directory.
func directoryAdded(dir string) hook.Payload {
	return hook.Payload{Event: hook.DirectoryAdded, Match: "slash_command", Fields: map[string]any{"directory": dir, "source": "slash_command"}}
}

// cmdInspect serves the page of this session while the run lasts, and says where.
func (r *run) cmdInspect(context.Context, *turn.Turn, string) (string, error) {
	path := r.conv.Log.Path()
	if path == "" {
		return "", errors.New("this session is not kept, so there is nothing to look at (--no-session-persistence)")
	}
	address, err := r.page.Open(path, r.prices)
	if errors.Is(err, fs.ErrNotExist) { // it is written with its first message
		return "", errors.New("there is nothing to show yet: the session's record begins with the next prompt")
	}
	if err != nil {
		return "", err
	}
	text := address + "\nWhoever has this address and is on this machine can read the session. The page ends with this program."
	if r.trace.Load() == nil {
		text += "\nThis session is recorded without a trace: begin one with --trace to see what each stage did."
	}
	return text, nil
}

func count(n int, one string, many ...string) string { return tool.Count(n, one, many...) }
