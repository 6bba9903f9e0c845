package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lathe/internal/event"
	"lathe/internal/perm"
)

// query answers what a host asks of the session; see docs/sdk.md.
func (r *run) query(ctx context.Context, kind string, payload json.RawMessage) (any, error) {
	var in struct {
		Mode   string `json:"mode"`
		Model  string `json:"model"`
		TaskID string `json:"task_id"`
		Title  string `json:"title"`
	}
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	switch kind {
	case "initialize":
		return r.handshake(&initialize{}), nil
	case "set_permission_mode":
		return r.setMode(in.Mode)
	case "set_model":
		name := first(in.Model, "default")
		r.session.SetModel(r.resolve1m(name))
		return map[string]string{"model": r.session.Model()}, nil
	case "mcp_status":
		return map[string]any{"mcpServers": []any{}}, nil
	case "get_context_usage":
		return r.contextUsage(ctx, r.session.Messages()).payload(), nil
	case "list_models":
		return map[string]any{"models": r.modelList()}, nil
	case "get_session_cost":
		return map[string]any{"total_cost_usd": r.ledger.Totals().Cost}, nil
	case "stop_task":
		_, err := r.tools.tasks.Stop(in.TaskID)
		if err != nil { // an unknown task has ended already
			return map[string]any{}, nil
		}
		return map[string]any{}, nil
	case "rewind_files", "rewind", "checkpoints":
		return r.queryRewind(ctx, kind, payload)
	case "rename_session":
		return map[string]any{}, r.conv.log.Keep("title", in.Title)
	}
	return nil, fmt.Errorf("unsupported control request subtype: %s", kind)
}

// setMode changes the permission mode for a host. What the start would have refused is refused here too.
func (r *run) setMode(mode string) (any, error) {
	m, err := perm.ParseMode(mode)
	if err != nil {
		return nil, err
	}
	if m == perm.ModeBypass && !r.o.allowSkip && r.o.mode != string(perm.ModeBypass) {
		return nil, errors.New("bypassPermissions was not allowed when the session began (--allow-dangerously-skip-permissions)")
	}
	if m == perm.ModeBypass && r.place.settings.Permissions().DisableBypass {
		return nil, errors.New("bypassPermissions is switched off by the settings")
	}
	r.session.SetMode(string(m))
	return map[string]string{"mode": string(m)}, nil
}

// update is one of the documented permission updates.
type update struct {
	Type  string `json:"type"`
	Rules []struct {
		Tool    string  `json:"toolName"`
		Content *string `json:"ruleContent"`
	} `json:"rules"`
	Behavior    string   `json:"behavior"`
	Mode        string   `json:"mode"`
	Directories []string `json:"directories"`
	Destination string   `json:"destination"`
}

// applyUpdates takes the permission updates of a host's answer.
func (r *run) applyUpdates(raw json.RawMessage) error {
	var list []update
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	var errs []error
	for _, u := range list {
		errs = append(errs, r.applyUpdate(u))
	}
	return errors.Join(errs...)
}

func (r *run) applyUpdate(u update) error {
	switch u.Type {
	case "setMode":
		_, err := r.setMode(u.Mode)
		return err
	case "addDirectories":
		for _, d := range u.Directories {
			dir, err := realDir(r.place.sys.Dirs.Work, d)
			if err != nil {
				return err
			}
			if !slices.Contains(r.tools.workspace.Roots(), dir) {
				r.tools.workspace.AddRoot(dir)
			}
		}
		return nil
	case "addRules":
		if u.Behavior != "allow" {
			return fmt.Errorf("rules that %s cannot be added by an answer", u.Behavior)
		}
		var rules []perm.Rule
		for _, rule := range u.Rules {
			text := rule.Tool
			if rule.Content != nil {
				text += "(" + *rule.Content + ")"
			}
			if _, _, _, err := perm.ParseRule(text); err != nil {
				return err
			}
			rules = append(rules, perm.Rule{Text: text})
		}
		where := map[string]event.Scope{"localSettings": event.SaveLocal, "projectSettings": event.SaveProject, "userSettings": event.SaveUser}[u.Destination]
		return r.remember(rules, cmp.Or(where, event.SaveSession))
	}
	return fmt.Errorf("permission updates of type %q are not supported", u.Type)
}
