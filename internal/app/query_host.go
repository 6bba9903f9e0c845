package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/perm"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/place"
	"lathe/internal/sys"
)

// hostQueries are what programs ask that drive a session, in the form of the published SDKs.
func (r *run) hostQueries() map[string]answer {
	return map[string]answer{
		"read_file":            on(r.readForHost),
		"cancel_async_message": on(r.cancelPrompt),
		"get_task_output":      on(r.hostTaskOutput),
		"register_repo_root":   on(r.registerRoot),
		"get_usage":            on(func(context.Context, nothing) (any, error) { return r.usage(), nil }),
		"get_binary_version": on(func(context.Context, nothing) (any, error) {
			return map[string]any{"version": sys.Version}, nil
		}),
		"reload_skills": on(func(context.Context, nothing) (any, error) {
			return map[string]any{"skills": r.commandList()}, nil
		}),
		"reload_output_styles": on(func(context.Context, nothing) (any, error) {
			return map[string]any{"available_output_styles": r.reloadStyles()}, nil
		}),
		"set_color":           on(func(context.Context, nothing) (any, error) { return nothing{}, nil }), // for screens
		"set_has_subscribers": on(func(context.Context, nothing) (any, error) { return nothing{}, nil }), // nothing is held back
		"get_hooks_listing":   on(func(context.Context, nothing) (any, error) { return r.hooksListing(), nil }),
		"set_max_thinking_tokens": func(_ context.Context, payload json.RawMessage) (any, error) {
			return r.setThinkingTokens(payload)
		},
	}
}

// maxRead bounds what read_file gives.
const maxRead = 32 << 20

type readRequest struct {
	Path     string `json:"path"`
	MaxBytes int64  `json:"max_bytes"`
	Encoding string `json:"encoding"`
}

// readForHost reads a file that the model could read without a question.
func (r *run) readForHost(_ context.Context, in readRequest) (any, error) {
	if in.Path == "" {
		return nil, errors.New("read_file needs a path")
	}
	abs := filepath.Clean(r.tools.workspace.Abs(in.Path))
	if d := r.decide(perm.Request{Tool: "Read", Input: event.Encode(map[string]string{"file_path": abs}), ReadOnly: true}); d.Verdict != perm.Allow {
		return nil, fmt.Errorf("%s may not be read: %s", abs, d.Reason)
	}
	f, err := os.Open(abs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", abs)
	}
	if err != nil {
		return nil, err
	}
	limit := in.MaxBytes
	if limit <= 0 || limit > maxRead {
		limit = maxRead
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, err
	}
	out := map[string]any{"absPath": abs}
	if info.Size() > int64(len(data)) {
		out["truncated"] = true
	}
	if in.Encoding == "base64" {
		out["contents"], out["encoding"] = base64.StdEncoding.EncodeToString(data), "base64"
		return out, nil
	}
	out["contents"], out["lossy"] = string(bytes.ToValidUTF8(data, []byte("\ufffd"))), !utf8.Valid(data)
	return out, nil
}

// cancelPrompt takes back a message that no turn has taken up.
func (r *run) cancelPrompt(_ context.Context, in struct {
	ID string `json:"message_uuid"`
},
) (any, error) {
	gone := r.session.Unqueue(in.ID)
	told := engine.Followed{Value: map[string]any{"cancelled": gone}}
	if gone {
		told.First = event.PromptDropped{ID: in.ID} // whoever has the answer is not told of it as waiting any more
	}
	return told, nil
}

// tail is how much of a task's output is given.
const tail = 8 << 10

func (r *run) hostTaskOutput(_ context.Context, in struct {
	ID string `json:"task_id"`
},
) (any, error) {
	for _, t := range slices.Concat(r.tools.tasks.Snapshot(), r.work.snapshot()) {
		if t.ID != in.ID {
			continue
		}
		out := map[string]any{"output": "", "total_bytes": 0, "truncated": false}
		f, err := os.Open(t.OutputFile)
		if err != nil {
			return out, nil // it has written nothing
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		from := max(0, info.Size()-tail)
		data, err := io.ReadAll(io.NewSectionReader(f, from, tail))
		if err != nil {
			return nil, err
		}
		out["output"], out["total_bytes"], out["truncated"] = strings.ToValidUTF8(string(data), ""), info.Size(), from > 0
		return out, nil
	}
	return nil, fmt.Errorf("there is no background task %s", in.ID)
}

// registerRoot makes a directory below a working directory one of its own.
func (r *run) registerRoot(_ context.Context, in struct {
	Dir string `json:"directory"`
},
) (any, error) {
	dir, err := place.RealDir(r.place.Sys.Dirs.Work, in.Dir)
	if err != nil {
		return nil, err
	}
	for _, root := range r.tools.workspace.Roots() {
		if root == dir {
			return nil, fmt.Errorf("%s is a working directory already", dir)
		}
	}
	if !r.within(dir) {
		return nil, fmt.Errorf("%s is not below a working directory", dir)
	}
	return nothing{}, r.addDir(dir, "register_repo_root")
}

func (r *run) usage() map[string]any {
	t := r.ledger.Totals()
	models := map[string]any{}
	for name, m := range t.Models {
		info := r.prices.Info(name)
		models[name] = map[string]any{
			"inputTokens": m.Input, "outputTokens": m.Output, "cacheReadInputTokens": m.CacheRead, "cacheCreationInputTokens": m.CacheWrite,
			"webSearchRequests": m.WebSearch, "costUSD": m.Cost, "contextWindow": info.Window, "maxOutputTokens": info.MaxOutput,
		}
	}
	return map[string]any{
		"session": map[string]any{
			"total_cost_usd": t.Cost, "total_api_duration_ms": t.API.Milliseconds(), "total_duration_ms": t.Wall.Milliseconds(),
			"total_lines_added": t.Added, "total_lines_removed": t.Removed, "model_usage": models,
		},
		"subscription_type": nil, "rate_limits_available": false, "rate_limits": nil, "behaviors": nil,
	}
}

// thinking is what a host has changed of the model's thinking.
type thinking struct {
	budget  *int    // tokens; nil: as at the start; 0: off
	display *string // nil: as at the start
}

// setThinkingTokens changes budget and display of thinking; null brings back what the session began with.
func (r *run) setThinkingTokens(payload json.RawMessage) (any, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, err
	}
	now := thinking{}
	if t := r.thinkingNow.Load(); t != nil {
		now = *t
	}
	if raw, ok := in["max_thinking_tokens"]; ok {
		now.budget = nil
		if err := json.Unmarshal(raw, &now.budget); err != nil || now.budget != nil && *now.budget < 0 {
			return nil, fmt.Errorf("max_thinking_tokens must be a number or null, not %s", raw)
		}
	}
	if raw, ok := in["thinking_display"]; ok {
		now.display = nil
		if err := json.Unmarshal(raw, &now.display); err != nil || now.display != nil && *now.display != "summarized" && *now.display != "omitted" {
			return nil, fmt.Errorf("thinking_display must be summarized, omitted or null, not %s", raw)
		}
	}
	r.thinkingNow.Store(&now)
	return nothing{}, nil
}

// adjust puts what the host has changed into the settings of a request.
func (r *run) adjust(c *normalize.Config) {
	t := r.thinkingNow.Load()
	if t == nil {
		return
	}
	if t.display != nil {
		c.Display = *t.display
	}
	switch {
	case t.budget == nil:
	case *t.budget == 0:
		c.Thinking = normalize.ThinkOff
	default:
		c.Budget = *t.budget
		if c.Thinking == normalize.ThinkOff {
			c.Thinking = normalize.ThinkDefault
		}
	}
}
