package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
		v := classify.Reviewer{Classifier: c, Said: userWords(t.Messages)}
		if r.agent != nil { // its prompts come from a model, which may have been talked into them
			v.Said, v.Told = r.personSaid(), v.Said
		}
		return v.Classify(ctx, req, asked)
	}
}

// userWords are the texts that a person typed. Of a command of the person's own what it printed is not among them.
func userWords(messages []msg.Message) []string {
	var out []string
	for _, m := range messages {
		if m.Kind == msg.KindUser && !m.Meta && m.SourceAssistant == "" {
			text := m.Text()
			if strings.HasPrefix(text, "<bash-input>") {
				text, _, _ = strings.Cut(text, "<bash-stdout>")
			}
			out = append(out, text)
		}
	}
	return out
}

// saidNow are the messages of the session's running turn that a person typed: the session has them when it has ended.
type saidNow struct {
	mu   sync.Mutex
	list []msg.Message
}

// add is told of messages of the session itself that are on disk now.
func (s *saidNow) add(messages []msg.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		if len(userWords([]msg.Message{m})) > 0 {
			s.list = append(s.list, m)
		}
	}
	const most = 5 // more are not reviewed
	s.list = s.list[max(0, len(s.list)-most):]
}

// forget is called when the turn has ended.
func (s *saidNow) forget() {
	s.mu.Lock()
	s.list = nil
	s.mu.Unlock()
}

// keptNow is told of messages of the session itself that are on disk now.
func (r *run) keptNow(messages []msg.Message) {
	r.work.kept(messages)
	r.said.add(messages)
}

// personSaid is what the person has said in the session, also in the turn that runs.
func (r *run) personSaid() []string {
	messages := r.root().session.Messages()
	r.said.mu.Lock()
	defer r.said.mu.Unlock()
	out := userWords(messages)
	for _, m := range r.said.list {
		if !slices.ContainsFunc(messages, func(o msg.Message) bool { return o.ID == m.ID }) {
			out = append(out, userWords([]msg.Message{m})...)
		}
	}
	return out
}
