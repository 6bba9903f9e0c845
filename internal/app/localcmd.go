package app

import (
	"context"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/turn"
)

func (r *run) cmdCost(_ context.Context, _ *turn.Turn, _ string) (string, error) {
	return or(strings.Join(r.summary(), "\n"), "Nothing was sent to a model yet."), nil
}

func (r *run) cmdModel(_ context.Context, t *turn.Turn, args string) (string, error) {
	if args == "" {
		info := r.prices.Info(r.session.Model())
		return fmt.Sprintf("%s (window %d tokens, answers up to %d)", r.session.Model(), info.Window, info.MaxOutput), nil
	}
	id := r.resolve1m(args)
	r.session.SetModel(id)
	r.keepModel(id)
	if err := t.Emit(event.ModelChanged{Model: id, Reason: "model set to " + id}); err != nil {
		return "", err
	}
	return "Model set to " + id + " for this session.", nil
}

func (r *run) cmdStatus(context.Context, *turn.Turn, string) (string, error) {
	trusted := "not trusted (its settings only restrict; see lathe trust)"
	if r.place.trusted {
		trusted = "trusted"
	}
	return fmt.Sprintf("Lathe %s\nSession: %s\nTranscript: %s\nModel: %s\nMode: %s\nCredential: %s\nSandbox: %s\nDirectories: %s\nProject: %s",
		Version, r.conv.log.ID(), or(r.conv.log.Path(), "none"), r.session.Model(), r.session.Mode(), r.model.keySource, r.sandboxState(),
		strings.Join(r.tools.workspace.Roots(), ", "), trusted), nil
}

func (r *run) cmdTodos(context.Context, *turn.Turn, string) (string, error) {
	return or(todoText(r.tools.todos), "The to-do list is empty."), nil
}

func (r *run) cmdTasks(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	for _, t := range r.tools.tasks.Snapshot() {
		fmt.Fprintf(&b, "%s  %-9s %s\n", t.ID, t.State, oneLine(t.Command, 80))
	}
	return or(b.String(), "No background commands."), nil
}

func (r *run) cmdPermissions(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Mode: %s\n", r.session.Mode())
	for _, rule := range r.book.Load().rules {
		fmt.Fprintf(&b, "%-5s %-40s %s\n", rule.Effect, rule.Text, origin(rule.Source))
	}
	if len(r.book.Load().rules) == 0 {
		b.WriteString("No rules.\n")
	}
	return b.String(), nil
}
