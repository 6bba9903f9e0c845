package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/pipeline/prompt"
	"lathe/internal/sys"
	"lathe/internal/turn"
)

// Host is what a host may set in the handshake. Unknown fields are ignored.
type Host struct {
	SystemPrompt PromptBlocks      `json:"systemPrompt"`
	Append       string            `json:"appendSystemPrompt"`
	JSONSchema   json.RawMessage   `json:"jsonSchema"`
	Title        string            `json:"title"`
	Hooks        json.RawMessage   `json:"hooks"`
	SDKServers   []string          `json:"sdkMcpServers"`
	Agents       json.RawMessage   `json:"agents"`
	Dialogs      []string          `json:"supportedDialogKinds"`
	AgentText    bool              `json:"forwardSubagentText"` // for its front end
	PlanMode     string            `json:"planModeInstructions"`
	Skills       *[]string         `json:"skills"`
	NoDynamic    bool              `json:"excludeDynamicSections"`
	Snapshot     *bool             `json:"systemPromptSnapshot"`
	Suggest      bool              `json:"promptSuggestions"`
	Summaries    bool              `json:"agentProgressSummaries"`
	Aliases      map[string]string `json:"toolAliases"`
	Plugins      *[]HostPlugin     `json:"plugins"`
	// Servers are MCP servers that the program connects to, ServerConfigs and Manifests what is known of those in the
	// host's own process.
	Servers       json.RawMessage `json:"mcpServers"`
	ServerConfigs json.RawMessage `json:"sdkMcpServerConfigs"`
	Manifests     json.RawMessage `json:"sdkMcpServerManifests"`
}

// PromptBlocks are the blocks of a system prompt; older hosts send one text.
type PromptBlocks []string

func (p *PromptBlocks) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*p = make(PromptBlocks, 1)
		return json.Unmarshal(data, &(*p)[0])
	}
	return json.Unmarshal(data, (*[]string)(p))
}

// Apply puts the handshake's settings over the options.
func (i *Host) Apply(o *Options) {
	if i.SystemPrompt != nil {
		text := joinBlocks(i.SystemPrompt)
		o.System = &text
	}
	if i.Append != "" {
		o.Append = i.Append
	}
	if len(i.JSONSchema) > 0 && string(i.JSONSchema) != "null" {
		o.Schema = string(i.JSONSchema)
	}
	if i.Snapshot != nil {
		o.Refreeze = !*i.Snapshot
	}
	if i.Title != "" {
		o.Name = i.Title
	}
	if len(i.Agents) > 0 && string(i.Agents) != "null" {
		o.Agents = string(i.Agents)
	}
	o.AgentSummaries = i.Summaries
	o.NoDynamic, o.SuggestPrompts = o.NoDynamic || i.NoDynamic, o.SuggestPrompts || i.Suggest
	if len(i.Servers) > 0 && string(i.Servers) != "null" {
		o.Servers = append(o.Servers, string(event.Encode(map[string]json.RawMessage{"mcpServers": i.Servers})))
	}
	if i.Plugins != nil {
		for _, p := range *i.Plugins {
			o.Plugins = append(o.Plugins, p.dir())
		}
	}
}

// joinBlocks makes one text of the host's prompt blocks. The boundary keeps its line.
func joinBlocks(blocks []string) string {
	var out []string
	for _, b := range blocks {
		if b == prompt.Boundary || strings.TrimSpace(b) != "" {
			out = append(out, b)
		}
	}
	return strings.Join(out, "\n\n")
}

// handshake is the payload of the answer to initialize.
func (r *run) handshake(i *Host) map[string]any {
	answer := map[string]any{
		"commands": r.commandList(), "agents": r.agentList(), "output_style": r.style().Name, "available_output_styles": styleNames(r.styles()),
		"models": r.modelList(), "account": map[string]any{"apiKeySource": r.model.Key, "apiProvider": "firstParty"},
		"claude_code_version": sys.Version, "pid": os.Getpid(), "hooks_applied": true, "hook_on_failure_supported": true,
	}
	if i.Plugins != nil {
		answer["plugins_applied"] = len(r.pluginsNow().errors) == 0
	}
	if len(i.Servers) > 0 {
		answer["mcp_servers_applied"] = true
	}
	if names := keysOf(i.Manifests); len(names) > 0 { // what a manifest says, the server is asked for all the same
		parked := map[string]string{}
		for _, n := range names {
			parked[n] = "not_honoured"
		}
		answer["sdk_mcp_manifests_parked"] = parked
	}
	return answer
}

// keysOf are the keys of a JSON object.
func keysOf(raw json.RawMessage) []string {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(raw, &m) // anything else has none
	return slices.Sorted(maps.Keys(m))
}

// initializeAgain takes a later handshake: the hooks are replaced, what the session began with stays.
func (r *run) initializeAgain(i *Host) (any, error) {
	if r.hooks == nil {
		return nil, errors.New("hooks of a host can be set only in a session that a host began")
	}
	allowed, note := hostHooks(r.place.Settings, i.Hooks)
	if note != "" {
		r.warn(note)
	}
	problems, err := r.hooks.bus.SetHost(allowed)
	for _, p := range problems {
		r.warn(p)
	}
	if err != nil {
		return nil, err
	}
	return engine.Followed{Value: r.handshake(i), Then: r.work.present()}, nil
}

// canCall says what the host answers.
func (r *run) canCall(kind string) bool {
	if r.o.Calls != nil {
		return r.o.Calls(kind)
	}
	if r.o.Host == nil {
		return false
	}
	switch kind {
	case "hook_callback", "mcp_message", "elicitation":
		return true
	case "request_user_dialog":
		return len(r.o.Host.Dialogs) > 0
	}
	return false
}

// callback runs a hook of the host.
func (r *run) callback(ctx context.Context, id, callID string, input json.RawMessage) (json.RawMessage, error) {
	v, err := r.session.Call(ctx, "hook_callback", callID, map[string]any{"callback_id": id, "input": input})
	if errors.Is(err, turn.ErrNobody) || errors.Is(err, engine.ErrClosed) {
		return nil, hook.ErrGone
	}
	return v, err
}

func (r *run) modelList() []map[string]any {
	var out []map[string]any
	for _, alias := range r.prices.Aliases() {
		info := r.prices.Info(alias)
		out = append(out, map[string]any{
			"value": alias, "displayName": alias, "description": fmt.Sprintf("%s, %d tokens", info.ID, info.Window), "resolvedModel": info.ID,
			"supportsEffort": len(info.Efforts) > 0, "supportedEffortLevels": info.Efforts, "supportsAdaptiveThinking": info.Thinking.Adaptive,
		})
	}
	return out
}
