package event

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/msg"
)

// Encoder turns events into the lines of the stream-json protocol. Front ends that write or serve that protocol
// share it. Its zero value needs NewID.
type Encoder struct {
	NewID   func() string // uuid of lines that are not messages
	Partial bool          // the provider's own stream events too (--include-partial-messages)
	Replay  bool          // the user's own messages too (--replay-user-messages)
	Stages  bool          // a line for each stage
	// Named reports whether the host named a message by a uuid of its own; results tell which of them a turn took up.
	// Nil: none.
	Named func(id string) bool
	// AgentText adds the words and thoughts of sub-agents (--forward-subagent-text).
	AgentText bool
	Hooks     bool // lines for the commands of hooks (--include-hook-events); those of SessionStart always

	results    int                      // so far
	progressed map[string]time.Duration // how long a running call had run when a line last said so
	taken      []string                 // uuids that the host gave to what this turn took up
	bound      bool                     // an answer of this turn has named them
}

// obj is a JSON object; encoding/json sorts its keys, so lines are stable.
type obj = map[string]any

// Lines returns the protocol lines of one event: none, one, or several; each a compact JSON object without its
// line end.
func (e *Encoder) Lines(env Envelope) [][]byte {
	if env.Parent != "" && !e.shown(env) {
		return nil
	}
	switch ev := env.Event.(type) {
	case Ready:
		return e.line(env, "system", "init", e.init(ev))
	case Message:
		return e.message(env, ev.Msg)
	case Stream:
		if !e.Partial {
			return nil
		}
		return e.stream(env, ev)
	case HookStarted:
		return e.hook(env, ev.Event, "hook_started", obj{"hook_id": ev.ID, "hook_name": ev.Name})
	case HookDone:
		return e.hook(env, ev.Event, "hook_response", hookResponse(ev))
	case ConversationReset:
		fields := obj{"new_conversation_id": ev.New, "trigger": ev.Trigger, "timestamp": env.Time.UTC().Format(time.RFC3339Nano)}
		if ev.Trigger == "clear" && ev.Prompt != "" {
			fields["user_message_uuid"] = ev.Prompt
		}
		return e.line(env, "conversation_reset", "", fields)
	case TurnDone:
		return e.line(env, "result", ev.Result.Subtype, e.result(env, ev.Result))
	case TaskStarted, TaskProgress, TaskUpdated, TaskDone, TasksChanged:
		return e.task(env)
	case TurnStarted:
		if env.Parent == "" {
			e.taken, e.bound = nil, false
			e.takes(ev.Prompt.ID)
		}
		return nil
	case Suggestion:
		return e.line(env, "prompt_suggestion", "", obj{"suggestion": ev.Text})
	case ToolProgress:
		return e.progress(env, ev)
	case ToolDone:
		delete(e.progressed, ev.ID)
		return nil
	}
	return e.aside(env)
}

// aside returns the lines of what is told beside the conversation. Replies, questions and the start of a call have none:
// other front ends show those.
func (e *Encoder) aside(env Envelope) [][]byte {
	switch ev := env.Event.(type) {
	case Retry:
		return e.line(env, "system", "api_retry", obj{
			"attempt": ev.Attempt, "max_retries": ev.Max,
			"retry_delay_ms": ev.Delay.Milliseconds(), "error_status": status(ev.Status), "error": ev.Category,
		})
	case Denied:
		if ev.Decision.Source.Kind == "hook" { // its own line is the hook's
			return nil
		}
		return e.line(env, "system", "permission_denied", obj{
			"tool_name": ev.Name, "tool_use_id": ev.ID,
			"decision_reason_type": ev.Decision.Source.Kind, "decision_reason": ev.Decision.Reason, "message": ev.Decision.Reason,
		})
	case Notice:
		fields := obj{"content": ev.Text, "level": noticeLevel(ev.Level)}
		if ev.Ends {
			fields["prevent_continuation"] = true
		}
		return e.line(env, "system", "informational", fields)
	case Status:
		fields := obj{"status": nullable(ev.Status)}
		if ev.Result != "" {
			fields["compact_result"] = ev.Result
		}
		if ev.Err != "" {
			fields["compact_error"] = ev.Err
		}
		return e.line(env, "system", "status", fields)
	case Requesting:
		if !e.Partial {
			return nil
		}
		return e.line(env, "system", "status", obj{"status": "requesting"})
	case Discarded:
		return e.line(env, "system", "discarded", obj{"message_id": ev.APIID, "uuids": ev.IDs, "reason": ev.Reason})
	case ModeChanged:
		return e.line(env, "system", "status", obj{"status": nil, "permissionMode": ev.Mode})
	case ModelChanged:
		return e.line(env, "system", "informational", obj{"content": ev.Reason, "level": "notice", "model": ev.Model})
	case StageDone:
		if !e.Stages {
			return nil
		}
		return e.line(env, "system", "stage", obj{
			"stage": ev.Stage, "step": ev.Step,
			"duration_us": ev.Dur.Microseconds(), "notes": ev.Notes, "error": ev.Err,
		})
	case CommandsChanged:
		return e.line(env, "system", "commands_changed", obj{"commands": ev.Commands})
	}
	return nil
}

// progressEvery is how often at most a line tells that a call runs on.
const progressEvery = time.Second

// progress gives the line of a call that takes longer.
func (e *Encoder) progress(env Envelope, p ToolProgress) [][]byte {
	if p.Elapsed-e.progressed[p.ID] < progressEvery {
		return nil
	}
	if e.progressed == nil {
		e.progressed = map[string]time.Duration{}
	}
	e.progressed[p.ID] = p.Elapsed
	return e.line(env, "tool_progress", "", obj{
		"tool_use_id": p.ID, "tool_name": p.Name, "parent_tool_use_id": parent(env), "elapsed_time_seconds": p.Elapsed.Seconds(),
	})
}

// stream writes a stream_event line by hand: there is one for each delta, so it must cost next to nothing. The provider's
// event comes from outside: it may have several lines, and what stands in one of them must not become a line of ours.
func (e *Encoder) stream(env Envelope, ev Stream) [][]byte {
	if !json.Valid(ev.Raw) {
		return nil
	}
	raw := ev.Raw
	if bytes.ContainsAny(raw, "\r\n") {
		var one bytes.Buffer
		if json.Compact(&one, raw) != nil {
			return nil
		}
		raw = one.Bytes()
	}
	b := make([]byte, 0, len(raw)+200)
	b = append(b, `{"event":`...)
	b = append(b, raw...)
	b = append(b, `,"parent_tool_use_id":`...)
	if env.Parent == "" {
		b = append(b, "null"...)
	} else {
		b = msg.AppendString(b, env.Parent)
	}
	b = append(b, `,"session_id":`...)
	b = msg.AppendString(b, env.Session)
	if ev.TTFT > 0 {
		b = append(b, `,"ttft_ms":`...)
		b = strconv.AppendInt(b, ev.TTFT.Milliseconds(), 10)
	}
	b = append(b, `,"type":"stream_event","uuid":`...)
	b = msg.AppendString(b, e.NewID())
	return [][]byte{append(b, '}')}
}

func status(code int) any {
	if code == 0 {
		return nil
	}
	return code
}

func parent(env Envelope) any {
	if env.Parent == "" {
		return nil
	}
	return env.Parent
}

func (e *Encoder) line(env Envelope, typ, subtype string, fields obj) [][]byte {
	fields["type"] = typ
	if subtype != "" {
		fields["subtype"] = subtype
	}
	fields["session_id"] = env.Session
	mark(fields, env)
	if _, ok := fields["uuid"]; !ok {
		fields["uuid"] = e.NewID()
	}
	return [][]byte{Encode(fields)}
}

// Encode returns compact JSON without HTML escapes and without a line end. A value that cannot be encoded (a
// broken raw message) becomes an object that says so.
func Encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte(`{"type":"system","subtype":"informational","level":"error","content":"an event could not be encoded"}`)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func (e *Encoder) init(r Ready) obj {
	servers := make([]obj, 0, len(r.Servers))
	for _, s := range r.Servers {
		o := obj{"name": s.Name, "status": s.Status}
		if s.Source != "" {
			o["source"] = s.Source
		}
		servers = append(servers, o)
	}
	plugins := make([]obj, 0, len(r.Plugins))
	for _, p := range r.Plugins {
		o := obj{"name": p.Name, "path": p.Path}
		if p.Version != "" {
			o["version"] = p.Version
		}
		plugins = append(plugins, o)
	}
	o := obj{
		"cwd": r.Cwd, "model": r.Model, "permissionMode": r.PermissionMode, "apiKeySource": r.KeySource,
		"claude_code_version": r.Version, "tools": toolNames(r.Tools), "mcp_servers": servers, "slash_commands": list(r.Commands),
		"agents": list(r.Agents), "skills": list(r.Skills), "plugins": plugins, "output_style": r.OutputStyle,
		"capabilities": []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "mcp_read_resource_v1"},
	}
	if r.Fast != "" && r.Fast != "off" {
		o["fast_mode_state"] = r.Fast
	}
	if len(r.PluginErrors) > 0 {
		o["plugin_errors"] = r.PluginErrors
	}
	if len(r.ServerErrors) > 0 {
		o["mcp_server_errors"] = r.ServerErrors
	}
	return o
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// message gives the line of a conversation message. The user's own words, attachments and notices are not
// echoed: the host knows the first, and the others are for the model.
func (e *Encoder) message(env Envelope, m msg.Message) [][]byte {
	fields := obj{"parent_tool_use_id": parent(env), "uuid": m.ID, "timestamp": m.Time.UTC().Format("2006-01-02T15:04:05.000Z")}
	switch m.Kind {
	case msg.KindAssistant:
		fields["message"] = assistantMessage(m)
		if m.RequestID != "" {
			fields["request_id"] = m.RequestID
		}
		if m.APIError != "" {
			fields["error"] = m.APIError
		}
		if m.Aborted {
			fields["aborted"] = true
		}
		if n := len(e.taken); n > 0 && env.Parent == "" && !e.bound { // so that a host knows early what is answered
			fields["user_message_uuid"], fields["user_message_uuids"], e.bound = e.taken[n-1], slices.Clone(e.taken), true
		}
		return e.line(env, "assistant", "", fields)
	case msg.KindUser:
		results := hasToolResult(m)
		if !results && !m.Meta {
			e.takes(m.ID)
		}
		note := msg.IsInterruptNote(m)
		if !results && !m.Meta && !note && !e.Replay {
			return nil
		}
		fields["message"] = obj{"role": "user", "content": m.Blocks}
		if m.ToolOutput != nil {
			fields["tool_use_result"] = m.ToolOutput
		}
		if m.Meta {
			fields["isSynthetic"] = true
		} else if !results && !note {
			fields["isReplay"] = true
		}
		return e.line(env, "user", "", fields)
	case msg.KindSystem:
		if m.Subtype == msg.SubCompactBoundary {
			return e.line(env, "system", m.Subtype, obj{"compact_metadata": compactMetadata(m.Extra), "uuid": m.ID})
		}
		if m.Subtype == msg.SubLocalCommand {
			return e.localCommand(env, m, fields)
		}
	case msg.KindSummary:
		fields["message"] = obj{"role": "user", "content": m.Blocks}
		fields["isSynthetic"] = true
		return e.line(env, "user", "", fields)
	case msg.KindAttachment, msg.KindTombstone:
	}
	return nil
}

// localCommand shows the output of a slash command that ran here as an answer that no model gave.
func (e *Encoder) localCommand(env Envelope, m msg.Message, fields obj) [][]byte {
	_, text, _ := strings.Cut(m.Text(), "\n") // behind the command itself
	if strings.TrimSpace(text) == "" {
		return nil
	}
	fields["message"] = assistantMessage(msg.Message{ID: m.ID, Model: "<synthetic>", Blocks: []msg.Block{msg.Text(text)}, StopReason: "end_turn"})
	return e.line(env, "assistant", "", fields)
}

// compactMetadata is what is told of a compaction, in the names of the protocol.
func compactMetadata(extra json.RawMessage) obj {
	var x struct {
		Meta struct {
			Trigger   string `json:"trigger"`
			Pre       int    `json:"preTokens"`
			Post      int    `json:"postTokens"`
			Preserved *struct {
				Anchor string   `json:"anchorUuid"`
				UUIDs  []string `json:"uuids"`
			} `json:"preservedMessages"`
		} `json:"compactMetadata"`
	}
	_ = json.Unmarshal(extra, &x) // ours; a damaged one is told without figures
	o := obj{"trigger": x.Meta.Trigger, "pre_tokens": x.Meta.Pre, "post_tokens": x.Meta.Post}
	if p := x.Meta.Preserved; p != nil {
		o["preserved_messages"] = obj{"anchor_uuid": p.Anchor, "uuids": p.UUIDs}
	}
	return o
}

func assistantMessage(m msg.Message) obj {
	var stop any // null while an answer is told block by block; its result says why it ended
	if m.StopReason != "" && m.APIID == "" {
		stop = m.StopReason
	}
	usage := m.Usage
	if usage == nil {
		usage = &msg.Usage{}
	}
	id := m.APIID
	if id == "" {
		id = m.ID
	}
	return obj{
		"id": id, "type": "message", "role": "assistant", "model": m.Model, "content": m.Blocks,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
}

func hasToolResult(m msg.Message) bool {
	for _, b := range m.Blocks {
		if b.Type == msg.TypeToolResult {
			return true
		}
	}
	return false
}

// takes notes that the turn took up a message of the host.
func (e *Encoder) takes(id string) {
	if e.Named != nil && e.Named(id) && !slices.Contains(e.taken, id) && len(e.taken) < 64 {
		e.taken = append(e.taken, id)
	}
}

func (e *Encoder) result(env Envelope, r Result) obj {
	o := resultFields(r)
	o["result_index"] = e.results
	e.results++
	if n := len(e.taken); n > 0 {
		o["user_message_uuid"], o["user_message_uuids"] = e.taken[n-1], e.taken
	}
	return o
}

// noticeLevel is a notice's level in the words of the protocol.
func noticeLevel(level string) string {
	if level == "error" {
		return "warning"
	}
	return level
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}
