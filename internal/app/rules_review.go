package app

import (
	"context"
	"path/filepath"

	"lathe/internal/app/classify"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/turn"
)

// newClassifier builds the classifier of a run, as the tools stage wants it.
func (r *run) newClassifier() func(context.Context, *turn.Turn, perm.Request, perm.Decision) (perm.Decision, error) {
	c := &classify.Classifier{Ask: func(ctx context.Context, text string) (string, error) { return r.askSmall(ctx, "permission", text) }}
	if path := r.conv.Log.Path(); path != "" {
		c.Log = filepath.Join(filepath.Dir(path), r.conv.Log.ID(), "auto-decisions.jsonl")
	}
	return func(ctx context.Context, t *turn.Turn, req perm.Request, asked perm.Decision) (perm.Decision, error) {
		return classify.Reviewer{Classifier: c, Said: userWords(t.Messages)}.Classify(ctx, req, asked)
	}
}

// userWords are the texts that a person typed.
func userWords(messages []msg.Message) []string {
	var out []string
	for _, m := range messages {
		if m.Kind == msg.KindUser && !m.Meta && m.SourceAssistant == "" {
			out = append(out, m.Text())
		}
	}
	return out
}
