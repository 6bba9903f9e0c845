package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/perm"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/price"
)

// The query "describe" tells a screen or an editor what may be chosen in this session, and what is; set_effort and
// set_thinking change it.

var modeNames = map[perm.Mode][2]string{
	perm.ModeDefault:     {"Manual", "Ask before edits and commands"},
	perm.ModeAcceptEdits: {"Accept edits", "Edit files in the workspace without asking"},
	perm.ModePlan:        {"Plan", "Read and plan; change nothing"},
	perm.ModeAuto:        {"Auto", "A classifier judges what would be asked"},
	perm.ModeDontAsk:     {"Don't ask", "Deny what no rule allows"},
	perm.ModeBypass:      {"Bypass permissions", "Run everything that no rule denies"},
}

func (r *run) describeQueries() map[string]answer {
	return map[string]answer{
		"describe":     on(func(context.Context, nothing) (any, error) { return r.describe() }),
		"set_effort":   func(_ context.Context, payload json.RawMessage) (any, error) { return r.setEffort(payload) },
		"explain_call": on(r.explainCall),
		"set_thinking": func(_ context.Context, payload json.RawMessage) (any, error) { return r.setThinking(payload) },
	}
}

func (r *run) describe() (any, error) {
	info := r.prices.Info(r.session.Model())
	a := event.About{
		Mode: r.session.Mode(), Model: r.session.Model(), Effort: info.Clamp(r.session.Effort()), Window: info.Window, Used: r.usedTokens(),
		Thinking: r.thinks(), CanThink: mayStop(info),
		Modes: []event.Choice{}, Models: []event.Choice{}, Efforts: []event.Choice{}, Commands: []event.Command{},
	}
	for _, m := range modes {
		if m == perm.ModeBypass && !r.mayBypass() {
			continue
		}
		a.Modes = append(a.Modes, event.Choice{ID: string(m), Name: modeNames[m][0], Description: modeNames[m][1]})
	}
	for _, alias := range r.prices.Aliases() {
		info := r.prices.Info(alias)
		if !strings.Contains(info.ID, alias) { // default, best: others have these models too
			continue
		}
		if slices.ContainsFunc(a.Models, func(c event.Choice) bool { return c.ID == info.ID }) {
			continue
		}
		a.Models = append(a.Models, event.Choice{ID: info.ID, Name: alias, Description: fmt.Sprintf("%s, %s tokens", info.ID, strings.Replace(event.Thousands(info.Window), ".0", "", 1))})
	}
	for _, e := range info.Efforts {
		a.Efforts = append(a.Efforts, event.Choice{ID: e, Name: e})
	}
	for _, c := range r.commands() {
		if c.Screen {
			continue
		}
		a.Commands = append(a.Commands, event.Command{Name: c.Name, Description: c.Help, Hint: c.Args})
	}
	return a, nil
}

// mayBypass reports whether bypassPermissions can be chosen later.
func (r *run) mayBypass() bool {
	return (r.o.AllowSkip || r.o.Mode == string(perm.ModeBypass)) && r.bypassRefused(r.place.Settings.Permissions()) == nil
}

// usedTokens is the size of the conversation after the last answer, 0 before the first.
func (r *run) usedTokens() int {
	all := r.session.Messages()
	for i := len(all) - 1; i >= 0; i-- {
		if u := all[i].Usage; u != nil {
			return u.Total()
		}
	}
	return 0
}

// mayStop reports whether a model thinks, and can do without.
func mayStop(info price.Info) bool {
	return (info.Thinking.Adaptive || info.Thinking.Extended) && !info.Thinking.Always
}

// thinks reports whether the model is let think.
func (r *run) thinks() bool {
	return r.requestConfig().Thinking == normalize.ThinkDefault && !r.noThinking.Load()
}

func (r *run) setEffort(payload json.RawMessage) (any, error) {
	var in struct {
		Effort string `json:"effort"`
	}
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, err
	}
	info := r.prices.Info(r.session.Model())
	if !slices.Contains(info.Efforts, in.Effort) {
		return nil, fmt.Errorf("%s takes no effort %q; it takes %v", info.ID, in.Effort, info.Efforts)
	}
	r.session.SetEffort(in.Effort)
	return map[string]string{"effort": in.Effort}, nil
}

func (r *run) setThinking(payload json.RawMessage) (any, error) {
	var in struct {
		Thinking bool `json:"thinking"`
	}
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, err
	}
	info := r.prices.Info(r.session.Model())
	switch {
	case in.Thinking && r.requestConfig().Thinking != normalize.ThinkDefault:
		return nil, errors.New("thinking is switched off by the settings or the command line")
	case !in.Thinking && !mayStop(info):
		return nil, fmt.Errorf("thinking cannot be switched off for %s", info.ID)
	}
	r.noThinking.Store(!in.Thinking)
	return map[string]bool{"thinking": in.Thinking}, nil
}
