package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/front/headless"
	"lathe/internal/front/sdk"
	"lathe/internal/hook"
	"lathe/internal/pipeline/prompt"
	"lathe/internal/turn"
)

// initialize is what a host may set in the handshake. Unknown fields are ignored.
type initialize struct {
	SystemPrompt promptBlocks      `json:"systemPrompt"`
	Append       string            `json:"appendSystemPrompt"`
	JSONSchema   json.RawMessage   `json:"jsonSchema"`
	Title        string            `json:"title"`
	Hooks        json.RawMessage   `json:"hooks"`
	SDKServers   []string          `json:"sdkMcpServers"`
	Agents       json.RawMessage   `json:"agents"`
	Dialogs      []string          `json:"supportedDialogKinds"`
	AgentText    bool              `json:"forwardSubagentText"`
	PlanMode     string            `json:"planModeInstructions"`
	Skills       *[]string         `json:"skills"`
	NoDynamic    bool              `json:"excludeDynamicSections"`
	Snapshot     *bool             `json:"systemPromptSnapshot"`
	Suggest      bool              `json:"promptSuggestions"`
	Summaries    bool              `json:"agentProgressSummaries"`
	Aliases      map[string]string `json:"toolAliases"`
	Plugins      *[]hostPlugin     `json:"plugins"`
	// Servers are MCP servers that the program connects to, ServerConfigs and Manifests what is known of those in the
	// host's own process.
	Servers       json.RawMessage `json:"mcpServers"`
	ServerConfigs json.RawMessage `json:"sdkMcpServerConfigs"`
	Manifests     json.RawMessage `json:"sdkMcpServerManifests"`
}

// promptBlocks are the blocks of a system prompt; older hosts send one text.
type promptBlocks []string

func (p *promptBlocks) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*p = make(promptBlocks, 1)
		return json.Unmarshal(data, &(*p)[0])
	}
	return json.Unmarshal(data, (*[]string)(p))
}

// runHost serves a program that speaks the control protocol on standard input and output.
func runHost(o *options, st Streams) int {
	in := sdk.NewReader(st.In)
	first, err := in.Next()
	if errors.Is(err, io.EOF) {
		return exitOK // nothing was asked
	}
	if err != nil {
		return report(st, err)
	}
	o.host = &initialize{}
	if o.awaitInit && (first.Type != "control_request" || first.Subtype() != "initialize") {
		return report(st, fmt.Errorf("with --await-initialize the first line must be an initialize request, not %q", first.Type))
	}
	for first.Type != "control_request" && first.Type != "user" { // signs of life, and what is not known
		if first, err = in.Next(); errors.Is(err, io.EOF) {
			return exitOK
		} else if err != nil {
			return report(st, err)
		}
	}
	greeted := first.Type == "control_request" && first.Subtype() == "initialize"
	if greeted {
		if err := json.Unmarshal(first.Request, o.host); err != nil {
			return report(st, fmt.Errorf("initialize: %w", err))
		}
		o.host.apply(o)
	}
	o.print = true
	r, err := newRun(o, st)
	if err != nil {
		return hostFailed(st, err)
	}
	defer r.close()
	opts := r.hostOptions()
	if !greeted {
		opts.First = &first
	} else if _, err := st.Out.Write(append(sdk.Initialized(first.RequestID, r.handshake(o.host)), '\n')); err != nil {
		return exitClosedPipe
	}
	return r.host(in, opts)
}

func (r *run) hostOptions() sdk.Options {
	getenv := r.place.Sys.Getenv
	opts := sdk.Options{
		Encoder:  event.Encoder{NewID: r.place.Sys.NewID, Partial: r.o.partial, Replay: r.o.replayed, Stages: r.o.stages, Hooks: r.o.hookEvents, AgentText: r.o.agentText},
		Session:  r.conv.log.ID(),
		States:   isOn(getenv("CLAUDE_CODE_SDK_READS_SESSION_STATE")) || isOn(getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")),
		HostOnly: !isOn(getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")), Warn: r.warn,
	}
	if r.o.mirror != nil {
		opts.Mirrored = r.o.mirror.take
	}
	return opts
}

func (r *run) host(in *sdk.Reader, opts sdk.Options) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	live := r.connect(ctx)
	conn := live.Conn
	interrupted, stop := r.signals(conn)
	defer stop()
	debug, err := r.openDebug()
	if err != nil {
		live.disconnect()
		return report(r.st, err)
	}
	last, err := sdk.Run(ctx, &beginning{Conn: logged{conn, debug}, first: r.initialPrompt()}, in, r.st.Out, opts)
	live.disconnect()
	if err != nil && !errors.Is(err, sdk.ErrOutput) {
		fmt.Fprintf(r.st.Err, "Error: %s\n", event.Aside(err.Error()))
	}
	switch {
	case errors.Is(err, sdk.ErrOutput):
		return exitClosedPipe
	case interrupted():
		return exitInterrupted
	case err != nil || last.IsError:
		return exitFailed
	}
	return exitOK
}

// logged writes what the host is shown to the debug log.
type logged struct {
	event.Conn
	debug *headless.Debug // nil: no log
}

func (s logged) Events(ctx context.Context) iter.Seq2[event.Envelope, error] {
	if s.debug == nil {
		return s.Conn.Events(ctx)
	}
	return func(yield func(event.Envelope, error) bool) {
		for e, err := range s.Conn.Events(ctx) {
			s.debug.Event(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

// hostFailed tells a host in its own form that the session cannot start.
func hostFailed(st Streams, err error) int {
	enc := event.Encoder{NewID: uuid.NewString}
	failed := event.Result{Subtype: event.ErrDuring, IsError: true, Errors: []string{err.Error()}}
	for _, line := range enc.Lines(event.Envelope{Session: uuid.NewString(), Event: event.TurnDone{Result: failed}}) {
		if _, werr := st.Out.Write(append(line, '\n')); werr != nil {
			return exitClosedPipe
		}
	}
	return report(st, err)
}

// apply puts the handshake's settings over the command line's.
func (i *initialize) apply(o *options) {
	if i.SystemPrompt != nil {
		o.system, o.systemSet = joinBlocks(i.SystemPrompt), true
	}
	if i.Append != "" {
		o.appendSystem = i.Append
	}
	if len(i.JSONSchema) > 0 && string(i.JSONSchema) != "null" {
		o.jsonSchema = string(i.JSONSchema)
	}
	if i.Snapshot != nil {
		o.snapshot = map[bool]string{true: "on", false: "off"}[*i.Snapshot]
	}
	if i.Title != "" {
		o.name = i.Title
	}
	if len(i.Agents) > 0 && string(i.Agents) != "null" {
		o.agents = string(i.Agents)
	}
	o.agentSummaries = i.Summaries
	o.agentText, o.noDynamic, o.suggestPrompts = o.agentText || i.AgentText, o.noDynamic || i.NoDynamic, o.suggestPrompts || i.Suggest
	if len(i.Servers) > 0 && string(i.Servers) != "null" {
		o.serverConfigs = append(o.serverConfigs, string(event.Encode(map[string]json.RawMessage{"mcpServers": i.Servers})))
	}
	if i.Plugins != nil {
		for _, p := range *i.Plugins {
			o.plugins = append(o.plugins, p.dir())
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
func (r *run) handshake(i *initialize) map[string]any {
	answer := map[string]any{
		"commands": r.commandList(), "agents": r.agentList(), "output_style": r.style().Name, "available_output_styles": styleNames(r.styles()),
		"models": r.modelList(), "account": map[string]any{"apiKeySource": r.model.keySource, "apiProvider": "firstParty"},
		"claude_code_version": Version, "pid": os.Getpid(), "hooks_applied": true, "hook_on_failure_supported": true,
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
func (r *run) initializeAgain(i *initialize) (any, error) {
	if r.hooks == nil {
		return nil, errors.New("hooks of a host can be set only in a session that a host began")
	}
	problems, err := r.hooks.bus.SetHost(i.Hooks)
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
	if r.o.canCall != nil {
		return r.o.canCall(kind)
	}
	if r.o.host == nil {
		return false
	}
	switch kind {
	case "hook_callback", "mcp_message", "elicitation":
		return true
	case "request_user_dialog":
		return len(r.o.host.Dialogs) > 0
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
