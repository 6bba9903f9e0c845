package acp

import (
	"encoding/json"
	"slices"

	"lathe/internal/event"
)

// Settings of a session. The permission mode is told twice, as a mode and as an option, since editors of different
// ages know different ones.

// The options that may be set, and what the session is asked for each.
const (
	optionMode     = "mode"
	optionModel    = "model"
	optionEffort   = "effort"
	optionThinking = "thinking"
)

func modesOf(a event.About) obj {
	modes := []obj{}
	for _, m := range a.Modes {
		modes = append(modes, named("id", m))
	}
	return obj{"currentModeId": a.Mode, "availableModes": modes}
}

func named(key string, c event.Choice) obj {
	o := obj{key: c.ID, "name": c.Name}
	if c.Description != "" {
		o["description"] = c.Description
	}
	return o
}

func optionsOf(a event.About) []obj {
	out := []obj{
		selection(optionMode, "Mode", "mode", "What runs without asking", a.Mode, a.Modes),
		selection(optionModel, "Model", "model", "", a.Model, a.Models),
	}
	if len(a.Efforts) > 0 {
		out = append(out, selection(optionEffort, "Effort", "thought_level", "How much the model works on an answer", a.Effort, a.Efforts))
	}
	if a.CanThink {
		now := "off"
		if a.Thinking {
			now = "on"
		}
		out = append(out, selection(optionThinking, "Thinking", "model_config", "Think before answering", now, []event.Choice{{ID: "on", Name: "On"}, {ID: "off", Name: "Off"}}))
	}
	return out
}

func selection(id, name, category, description, current string, choices []event.Choice) obj {
	values := []obj{}
	for _, c := range choices {
		values = append(values, named("value", c))
	}
	if !slices.ContainsFunc(choices, func(c event.Choice) bool { return c.ID == current }) {
		values = append(values, obj{"value": current, "name": current})
	}
	o := obj{"id": id, "name": name, "category": category, "type": "select", "currentValue": current, "options": values}
	if description != "" {
		o["description"] = description
	}
	return o
}

func commandsOf(a event.About) []obj {
	out := []obj{}
	for _, c := range a.Commands {
		o := obj{"name": c.Name, "description": c.Description}
		if c.Hint != "" {
			o["input"] = obj{"hint": c.Hint}
		}
		out = append(out, o)
	}
	return out
}

func (s *session) setMode(mode string) error {
	if _, err := s.query("set_permission_mode", obj{"mode": mode}); err != nil {
		return err
	}
	return s.refresh()
}

// setOption sets an option and returns all of them, since one may depend on another.
func (s *session) setOption(id string, raw json.RawMessage) (any, error) {
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fault(codeParams, "the value of %q must be a string", id)
	}
	var err error
	switch id {
	case optionMode:
		_, err = s.query("set_permission_mode", obj{"mode": value})
	case optionModel:
		_, err = s.query("set_model", obj{"model": value})
	case optionEffort:
		_, err = s.query("set_effort", obj{"effort": value})
	case optionThinking:
		_, err = s.query("set_thinking", obj{"thinking": value == "on"})
	default:
		return nil, fault(codeParams, "%v: %q", errOption, id)
	}
	if err != nil {
		return nil, err
	}
	if err := s.refresh(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return obj{"configOptions": optionsOf(s.about)}, nil
}

// refresh looks what has changed of the settings and commands, and tells the editor.
func (s *session) refresh() error {
	s.refreshing.Lock() // each change is told once
	defer s.refreshing.Unlock()
	s.mu.Lock()
	was := s.about
	s.mu.Unlock()
	now, err := s.describe()
	if err != nil {
		return err
	}
	if now.Mode != was.Mode {
		s.update(obj{"sessionUpdate": "current_mode_update", "currentModeId": now.Mode})
	}
	if now.Mode != was.Mode || now.Model != was.Model || now.Effort != was.Effort || now.Thinking != was.Thinking || !slices.Equal(now.Efforts, was.Efforts) {
		s.update(obj{"sessionUpdate": "config_option_update", "configOptions": optionsOf(now)})
	}
	if !slices.Equal(now.Commands, was.Commands) {
		s.update(obj{"sessionUpdate": "available_commands_update", "availableCommands": commandsOf(now)})
	}
	return nil
}

// changed starts a refresh; the events' goroutine must not wait for one.
func (s *session) changed() {
	s.answers.Go(func() { _ = s.refresh() }) // a session that has ended has nothing to tell
}
