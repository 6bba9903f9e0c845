package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// AppendRequest appends the body of req to dst. It is a pure function of req: the same request gives the same
// bytes in every process, which prompt caching and thinking blocks depend on. The messages come last, so that
// the body of the next request of a conversation begins with this one, but for its end and the cache marks.
func AppendRequest(dst []byte, req *provider.Request) []byte {
	dst = appendHead(dst, req)
	for i := range req.Messages {
		dst = appendMessage(dst, req, i)
	}
	return append(dst, ']', '}')
}

// appendHead writes all that stands before the first message.
func appendHead(dst []byte, req *provider.Request) []byte {
	dst = append(dst, `{"model":`...)
	dst = msg.AppendString(dst, req.Model)
	dst = append(dst, `,"max_tokens":`...)
	dst = strconv.AppendInt(dst, int64(req.MaxTokens), 10)
	if !req.NoStream {
		dst = append(dst, `,"stream":true`...)
	}
	dst = appendThinking(dst, req.Thinking)
	dst = appendOutput(dst, req)
	if req.Fast {
		dst = append(dst, `,"speed":"`+msg.SpeedFast+`"`...)
	}
	dst = appendExtra(dst, req.Extra, req.Fast)
	dst = appendTools(dst, req)
	dst = appendSystem(dst, req)
	return append(dst, `,"messages":[`...)
}

// appendMessage writes message i, and the comma before it.
func appendMessage(dst []byte, req *provider.Request, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	m := req.Messages[i]
	dst = append(dst, `{"role":`...)
	dst = msg.AppendString(dst, string(m.Role))
	dst = append(dst, `,"content":[`...)
	for j, b := range m.Content {
		if j > 0 {
			dst = append(dst, ',')
		}
		dst = msg.AppendBlock(dst, b, mark(req, provider.AtMessage, i, j))
	}
	return append(dst, ']', '}')
}

func appendThinking(dst []byte, t provider.Thinking) []byte {
	if t.Type == "" {
		return dst
	}
	dst = append(dst, `,"thinking":{"type":`...)
	dst = msg.AppendString(dst, t.Type)
	if t.Budget > 0 && t.Type == "enabled" {
		dst = append(dst, `,"budget_tokens":`...)
		dst = strconv.AppendInt(dst, int64(t.Budget), 10)
	}
	if t.Display != "" && t.Type != "disabled" {
		dst = append(dst, `,"display":`...)
		dst = msg.AppendString(dst, t.Display)
	}
	if t.OnMismatch != "" && t.Type != "disabled" {
		dst = append(dst, `,"block_binding":{"prefix_mismatch_behavior":`...)
		dst = msg.AppendString(dst, t.OnMismatch)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// appendOutput writes output_config: the effort, and what Extra has of the same field.
func appendOutput(dst []byte, req *provider.Request) []byte {
	extra := bytes.TrimSpace(req.Extra["output_config"])
	if req.Effort == "" && len(extra) == 0 {
		return dst
	}
	dst = append(dst, `,"output_config":`...)
	if len(extra) == 0 || extra[0] != '{' {
		if req.Effort == "" {
			return append(dst, extra...)
		}
		extra = nil
	}
	dst = append(dst, '{')
	if req.Effort != "" {
		dst = append(dst, `"effort":`...)
		dst = msg.AppendString(dst, req.Effort)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(extra, &fields) == nil {
		for _, k := range sortedKeys(fields) {
			if k == "effort" && req.Effort != "" {
				continue
			}
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = msg.AppendString(dst, k)
			dst = append(dst, ':')
			dst = append(dst, msg.Compact(fields[k])...)
		}
	}
	return append(dst, '}')
}

// appendExtra writes the additional fields. Those that the request sets itself win over them; sampling
// parameters and a forced tool choice are left out, since current models refuse a request that has them.
func appendExtra(dst []byte, extra map[string]json.RawMessage, fast bool) []byte {
	for _, k := range sortedKeys(extra) {
		switch k {
		case "model", "max_tokens", "stream", "thinking", "output_config", "tools", "system", "messages",
			"temperature", "top_p", "top_k":
			continue
		}
		v := msg.Compact(extra[k])
		if v == nil || k == "tool_choice" && forced(v) || k == "speed" && fast {
			continue
		}
		dst = append(dst, ',')
		dst = msg.AppendString(dst, k)
		dst = append(dst, ':')
		dst = append(dst, v...)
	}
	return dst
}

func forced(choice json.RawMessage) bool {
	var c struct{ Type string }
	return json.Unmarshal(choice, &c) != nil || c.Type != "auto" && c.Type != "none"
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func appendTools(dst []byte, req *provider.Request) []byte {
	if len(req.Tools) == 0 && len(req.ServerTools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i, d := range req.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendTool(dst, d, mark(req, provider.AtTool, i, 0))
	}
	for i, t := range req.ServerTools {
		if i > 0 || len(req.Tools) > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t...)
	}
	return append(dst, ']')
}

// AppendTool writes one tool definition, with its cache mark where that is not nil.
func AppendTool(dst []byte, d msg.ToolDef, mark json.RawMessage) []byte {
	dst = append(dst, `{"name":`...)
	dst = msg.AppendString(dst, d.Name)
	dst = append(dst, `,"description":`...)
	dst = msg.AppendString(dst, d.Description)
	dst = append(dst, `,"input_schema":`...)
	if len(d.InputSchema) == 0 {
		dst = append(dst, `{"type":"object"}`...)
	} else {
		dst = append(dst, d.InputSchema...)
	}
	if mark != nil {
		dst = append(dst, `,"cache_control":`...)
		dst = append(dst, mark...)
	}
	return append(dst, '}')
}

func appendSystem(dst []byte, req *provider.Request) []byte {
	if len(req.System) == 0 {
		return dst
	}
	dst = append(dst, `,"system":[`...)
	for i, b := range req.System {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = msg.AppendBlock(dst, b, mark(req, provider.AtSystem, i, 0))
	}
	return append(dst, ']')
}

// mark returns the cache_control value of a place, nil when none is set there.
func mark(req *provider.Request, at provider.Place, index, block int) json.RawMessage {
	for _, b := range req.Breakpoints {
		if b.At != at || b.Index != index || at == provider.AtMessage && b.Block != block {
			continue
		}
		if b.OneHour {
			return json.RawMessage(`{"type":"ephemeral","ttl":"1h"}`)
		}
		return json.RawMessage(`{"type":"ephemeral"}`)
	}
	return nil
}
