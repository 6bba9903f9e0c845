package jsonl

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// timeLayout is RFC 3339 in UTC with milliseconds, as everywhere in such files.
const timeLayout = "2006-01-02T15:04:05.000Z"

const subTombstone = "lathe_tombstone"

// header is what all records of a session share.
type header struct {
	session    string
	dir        string
	version    string
	branch     string
	entrypoint string
	forkedFrom string // session id; set while history is copied
	agent      string // id of the sub-agent whose own file it is

	cost func(model string, u msg.Usage) float64 // in USD; nil: not written
}

// extras is the field "lathe": what the public shape has no place for.
type extras struct {
	Kind    msg.Kind        `json:"kind,omitempty"` // attachment
	Source  string          `json:"source,omitempty"`
	Key     string          `json:"key,omitempty"`
	Shown   bool            `json:"shown,omitempty"` // an attachment without Meta, although isMeta is written
	Aborted bool            `json:"aborted,omitempty"`
	Blocks  json.RawMessage `json:"blocks,omitempty"` // of a system message, when they are more than one text
	Extra   json.RawMessage `json:"extra,omitempty"`  // of a system message, when its fields clash with ours
	Usage   json.RawMessage `json:"usage,omitempty"`  // of an answer whose final usage is not known yet
	Request string          `json:"request,omitempty"`
}

func (e extras) empty() bool {
	return e.Kind == "" && e.Source == "" && e.Key == "" && !e.Shown && !e.Aborted && e.Blocks == nil && e.Extra == nil && e.Usage == nil && e.Request == ""
}

// enc appends fields to a record.
type enc struct{ b []byte }

func (e *enc) key(k string) {
	if last := e.b[len(e.b)-1]; last != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(append(append(e.b, '"'), k...), '"', ':')
}

func (e *enc) str(k, v string) {
	e.key(k)
	e.b = msg.AppendString(e.b, v)
}

// opt writes a string that is not empty.
func (e *enc) opt(k, v string) {
	if v != "" {
		e.str(k, v)
	}
}

func (e *enc) raw(k string, v []byte) {
	e.key(k)
	e.b = append(e.b, v...)
}

// flag writes a true; false is left out.
func (e *enc) flag(k string, v bool) {
	if v {
		e.raw(k, []byte("true"))
	}
}

// null writes a string, or null for an empty one.
func (e *enc) null(k, v string) {
	if v == "" {
		e.raw(k, []byte("null"))
		return
	}
	e.str(k, v)
}

// appendMessage appends the record of a message, without the line end.
func appendMessage(dst []byte, h *header, m msg.Message) []byte {
	e := enc{append(dst, '{')}
	x := extras{Source: m.Source, Key: m.Key, Aborted: m.Aborted}
	switch m.Kind {
	case msg.KindAttachment:
		x.Kind, x.Shown = m.Kind, !m.Meta
	case msg.KindSystem, msg.KindTombstone:
		if !plainSystem(m.Blocks) {
			x.Blocks = msg.AppendBlocks(nil, m.Blocks)
		}
		if !inlinable(m.Extra) {
			x.Extra = m.Extra
		}
	case msg.KindAssistant:
		if m.Partial {
			m, x = unfinished(m, x)
		}
	}
	e.envelope(h, m)
	e.flag("isMeta", m.Meta || m.Kind == msg.KindAttachment)
	e.flag("isCompactSummary", m.Kind == msg.KindSummary)
	e.flag("isVisibleInTranscriptOnly", m.TranscriptOnly)
	e.opt("sourceToolAssistantUUID", m.SourceAssistant)
	e.opt("requestId", m.RequestID)
	if h.cost != nil && h.forkedFrom == "" && m.Usage != nil && m.APIID != "" && !m.Partial {
		e.raw("costUSD", strconv.AppendFloat(nil, h.cost(m.Model, *m.Usage), 'g', -1, 64))
	}
	if m.APIError != "" && m.Kind == msg.KindAssistant {
		e.flag("isApiErrorMessage", true)
		e.str("error", m.APIError)
	}
	if !x.empty() {
		e.extras(x)
	}
	switch m.Kind {
	case msg.KindAssistant:
		e.assistant(m)
	case msg.KindSystem, msg.KindTombstone:
		e.system(m, x)
	default:
		e.user(m)
	}
	if m.ToolOutput != nil {
		e.raw("toolUseResult", m.ToolOutput)
	}
	return append(e.b, '}')
}

// unfinished moves what is not final out of the sight of other programs. Many of them count the first record of
// each pair of message and request id, and what an answer cost is known with its last block only.
func unfinished(m msg.Message, x extras) (msg.Message, extras) {
	x.Request, m.RequestID = m.RequestID, ""
	if m.Usage != nil {
		if u, err := json.Marshal(m.Usage); err == nil {
			x.Usage = u
		}
		m.Usage = &msg.Usage{}
	}
	return m, x
}

func (e *enc) envelope(h *header, m msg.Message) {
	switch m.Kind {
	case msg.KindAssistant:
		e.str("type", "assistant")
	case msg.KindSystem, msg.KindTombstone:
		e.str("type", "system")
	default:
		e.str("type", "user")
	}
	e.str("uuid", m.ID)
	if m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
		// The chain begins anew here; what came before is named for those who show the past.
		e.null("parentUuid", "")
		e.opt("logicalParentUuid", m.Parent)
	} else {
		e.null("parentUuid", m.Parent)
	}
	e.str("sessionId", h.session)
	e.str("timestamp", m.Time.UTC().Format(timeLayout))
	e.str("cwd", h.dir)
	e.str("version", h.version)
	e.opt("gitBranch", h.branch)
	e.str("userType", "external")
	e.opt("entrypoint", h.entrypoint)
	e.str("writer", "lathe")
	if h.forkedFrom != "" {
		e.key("forkedFrom")
		e.b = append(e.b, '{')
		e.str("sessionId", h.forkedFrom)
		e.str("messageUuid", m.ID)
		e.b = append(e.b, '}')
	}
	if m.Sidechain || h.agent != "" {
		e.flag("isSidechain", true)
		e.opt("agentId", h.agent)
	} else {
		e.raw("isSidechain", []byte("false"))
	}
}

func (e *enc) extras(x extras) {
	e.key("lathe")
	e.b = append(e.b, '{')
	e.opt("kind", string(x.Kind))
	e.opt("source", x.Source)
	e.opt("key", x.Key)
	e.flag("shown", x.Shown)
	e.flag("aborted", x.Aborted)
	if x.Blocks != nil {
		e.raw("blocks", x.Blocks)
	}
	if x.Extra != nil {
		e.raw("extra", x.Extra)
	}
	if x.Usage != nil {
		e.raw("usage", x.Usage)
	}
	e.opt("request", x.Request)
	e.b = append(e.b, '}')
}

func (e *enc) assistant(m msg.Message) {
	e.key("message")
	e.b = append(e.b, '{')
	e.str("id", m.APIID)
	e.str("type", "message")
	e.str("role", "assistant")
	e.str("model", m.Model)
	e.key("content")
	e.b = msg.AppendBlocks(e.b, m.Blocks)
	e.null("stop_reason", m.StopReason)
	e.null("stop_sequence", "")
	if m.Usage != nil {
		if u, err := json.Marshal(m.Usage); err == nil {
			e.raw("usage", u)
		}
	}
	e.b = append(e.b, '}')
}

// user writes a lone text as a string, as viewers expect typed prompts; read back it is the same block.
func (e *enc) user(m msg.Message) {
	e.key("message")
	e.b = append(e.b, '{')
	e.str("role", "user")
	e.key("content")
	if len(m.Blocks) == 1 && m.Blocks[0].Type == msg.TypeText && m.Blocks[0].Raw == nil {
		e.b = msg.AppendString(e.b, m.Blocks[0].Text)
	} else {
		e.b = msg.AppendBlocks(e.b, m.Blocks)
	}
	e.b = append(e.b, '}')
}

func (e *enc) system(m msg.Message, x extras) {
	sub := m.Subtype
	if m.Kind == msg.KindTombstone {
		sub = subTombstone
		list, err := json.Marshal(m.Withdraws)
		if err == nil && m.Withdraws != nil {
			e.raw("withdraws", list)
		}
	}
	e.opt("subtype", sub)
	e.opt("level", m.Level)
	if x.Blocks == nil && len(m.Blocks) == 1 {
		e.str("content", m.Blocks[0].Text)
	}
	if x.Extra == nil && len(m.Extra) > 2 {
		e.b = append(e.b, ',')
		e.b = append(e.b, m.Extra[1:len(m.Extra)-1]...)
	}
}

// plainSystem reports whether the blocks fit the content field of system records, a string.
func plainSystem(blocks []msg.Block) bool {
	return len(blocks) == 0 || len(blocks) == 1 && blocks[0].Type == msg.TypeText && blocks[0].Raw == nil
}

// inlinable reports whether the fields can stand in the record beside our own.
func inlinable(extra json.RawMessage) bool {
	if len(extra) == 0 {
		return true
	}
	ok := true
	end := eachField(extra, func(key, _ []byte) {
		if _, known := systemKeys()[string(key)]; known {
			ok = false
		}
	})
	return ok && end == len(extra)
}

// appendFrozen appends the record of what is sent unchanged on every call. Encoded by hand, since encoding/json
// would escape characters inside schemas and so change bytes that were sent.
func appendFrozen(dst []byte, h *header, at time.Time, f session.Frozen) []byte {
	e := enc{append(dst, '{')}
	e.str("type", typeFrozen)
	e.str("sessionId", h.session)
	e.str("timestamp", at.UTC().Format(timeLayout))
	e.opt("model", f.Model)
	e.opt("dir", f.Dir)
	e.raw("static", fmt.Append(nil, f.Static))
	e.key("system")
	e.b = msg.AppendBlocks(e.b, f.System)
	e.key("tools")
	e.b = append(e.b, '[')
	for i, t := range f.Tools {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, '{')
		e.str("name", t.Name)
		e.str("description", t.Description)
		if len(t.InputSchema) > 0 {
			e.raw("input_schema", t.InputSchema)
		}
		e.b = append(e.b, '}')
	}
	return append(e.b, "]}"...)
}

// publicState maps kinds of state records to their public record: type and the field that holds the value.
func publicState() map[string][2]string {
	return map[string][2]string{
		"title":           {"custom-title", "customTitle"},
		"ai-title":        {"ai-title", "aiTitle"},
		"permission-mode": {"permission-mode", "permissionMode"},
		"last-prompt":     {"last-prompt", "lastPrompt"},
	}
}

// appendState appends a state record; value is JSON.
func appendState(dst []byte, h *header, at time.Time, kind string, value []byte) []byte {
	e := enc{append(dst, '{')}
	if p, ok := publicState()[kind]; ok && len(value) > 0 && value[0] == '"' {
		e.str("type", p[0])
		e.raw(p[1], value)
		e.str("sessionId", h.session)
		return append(e.b, '}')
	}
	e.str("type", typeState)
	e.str("sessionId", h.session)
	e.str("timestamp", at.UTC().Format(timeLayout))
	e.str("kind", kind)
	e.raw("value", value)
	return append(e.b, '}')
}
