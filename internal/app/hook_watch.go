package app

import (
	"context"
	"path/filepath"

	"lathe/internal/hook"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/price"
)

// added tells hooks of a further working directory.
func (h *hooks) added(dir, source string) {
	if h != nil {
		h.observe(hook.Payload{Event: hook.DirectoryAdded, Match: source, Fields: map[string]any{"directory": dir, "source": source}})
	}
}

// switching asks the hooks that want a say before the model changes. It returns why the change must not happen.
func (h *hooks) switching(ctx context.Context, s modelSwitch) (refused string) {
	if h == nil || !h.bus.Has(hook.PreModelSwitch, s.to) {
		return ""
	}
	o := h.bus.Fire(ctx, hook.Payload{Event: hook.PreModelSwitch, Match: s.to, Fields: s.fields()})
	h.tell(o)
	if o.Decision != nil && o.Decision.Verdict == perm.Deny {
		return o.Decision.Reason
	}
	return ""
}

// switched tells hooks of a changed model.
func (h *hooks) switched(s modelSwitch) {
	if h != nil {
		h.observe(hook.Payload{Event: hook.PostModelSwitch, Match: s.to, Fields: s.fields()})
	}
}

// modelSwitch is a change of the model, as hooks see it.
type modelSwitch struct {
	from, to, asked, source string
	tokens                  int
	priced                  bool
	cost                    float64
}

func (s modelSwitch) fields() map[string]any {
	f := map[string]any{
		"from_model": s.from, "to_model": s.to, "requested_model": nil, "source": s.source, "context_tokens": s.tokens,
		"prompt_cache_warm": s.tokens > 0, "cache_ttl": "5m", "estimated_cache_write_usd": s.cost, "pricing": "catalog",
	}
	if s.asked != "" {
		f["requested_model"] = s.asked
	}
	if !s.priced {
		f["pricing"] = "default"
	}
	return f
}

// switchOf describes a change of the model to an id.
func (r *run) switchOf(to, asked, source string) modelSwitch {
	s := modelSwitch{from: r.session.Model(), to: to, asked: asked, source: source}
	for _, m := range r.session.Messages() {
		if m.Kind == msg.KindAssistant && m.Usage != nil {
			s.tokens = m.Usage.Total()
		}
	}
	s.cost = r.prices.Estimate(to, price.Call{Fresh: s.tokens, Write: true})
	s.priced = s.cost > 0
	return s
}

// reworded is a message with another text in the place of its own.
func reworded(m msg.Message, text string) msg.Message {
	var blocks []msg.Block
	put := false
	for _, b := range m.Blocks {
		switch {
		case b.Type != msg.TypeText:
			blocks = append(blocks, b)
		case !put:
			blocks, put = append(blocks, msg.Text(text)), true
		}
	}
	m.Blocks = blocks
	return m
}

// fileChanged tells hooks that a file which the conversation has read changed on disk.
func (h *hooks) fileChanged(path, what string) {
	if h == nil || h.toldOf(path) {
		return
	}
	h.r.prepareEnvFile()
	h.observe(hook.Payload{Event: hook.FileChanged, Match: filepath.Base(path), Fields: map[string]any{"file_path": path, "event": what}})
}
