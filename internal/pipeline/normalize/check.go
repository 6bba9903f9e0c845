package normalize

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// The API's limits that Check knows.
const (
	apiMessages  = 100_000
	apiBytes     = 32 << 20
	apiMedia     = 600
	apiMinBudget = 1024
)

var (
	toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,200}$`) })
	callID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })
)

// Check reports the first rule of the Messages API that the request breaks, or nil. It is written from the API's
// documentation, apart from Normalize, so that one does not inherit the other's mistakes.
func Check(req *provider.Request) error {
	if req == nil {
		return errors.New("there is no request")
	}
	for _, f := range []func(*provider.Request) error{checkTop, checkTools, checkRoles, checkContent, checkPairs, checkMarks} {
		if err := f(req); err != nil {
			return err
		}
	}
	return nil
}

func checkTop(req *provider.Request) error {
	switch {
	case req.Model == "":
		return errors.New("model: empty")
	case req.MaxTokens < 1:
		return fmt.Errorf("max_tokens: %d", req.MaxTokens)
	case len(req.Messages) == 0 || len(req.Messages) > apiMessages:
		return fmt.Errorf("messages: %d of them", len(req.Messages))
	}
	switch th := req.Thinking; th.Type {
	case "", "adaptive", "disabled":
		if th.Budget != 0 {
			return fmt.Errorf("thinking: a budget with type %q", th.Type)
		}
	case "enabled":
		if th.Budget < apiMinBudget || th.Budget >= req.MaxTokens {
			return fmt.Errorf("thinking: budget %d with max_tokens %d", th.Budget, req.MaxTokens)
		}
	default:
		return fmt.Errorf("thinking: type %q", th.Type)
	}
	switch req.Effort {
	case "", "low", "medium", "high", "xhigh", "max":
	default:
		return fmt.Errorf("effort: %q", req.Effort)
	}
	for i, b := range req.System {
		if b.Type != msg.TypeText || strings.TrimSpace(b.Text) == "" {
			return fmt.Errorf("system.%d: not a text block, or empty", i)
		}
	}
	for _, never := range []string{"temperature", "top_p", "top_k", "tool_choice"} {
		if _, ok := req.Extra[never]; ok {
			return fmt.Errorf("%s: current models refuse it", never)
		}
	}
	return nil
}

func checkTools(req *provider.Request) error {
	seen := map[string]bool{}
	for i, d := range req.Tools {
		if !toolName().MatchString(d.Name) || seen[d.Name] {
			return fmt.Errorf("tools.%d: name %q is not valid or not unique", i, d.Name)
		}
		seen[d.Name] = true
		var schema map[string]json.RawMessage
		if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
			return fmt.Errorf("tools.%d.input_schema: %w", i, err)
		}
		if string(schema["type"]) != `"object"` {
			return fmt.Errorf("tools.%d.input_schema: type is not object", i)
		}
		for _, k := range []string{"anyOf", "oneOf", "allOf"} {
			if _, ok := schema[k]; ok {
				return fmt.Errorf("tools.%d.input_schema: %s at the root", i, k)
			}
		}
	}
	return nil
}

// checkRoles wants alternating roles from user to user. Only an answer that ends in a block of a server tool (a
// paused one) may come last: anything else would be a prefill.
func checkRoles(req *provider.Request) error {
	want := msg.RoleUser
	for i, m := range req.Messages {
		if m.Role != want {
			return fmt.Errorf("messages.%d: role %q where %q is due", i, m.Role, want)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: no content", i)
		}
		if want = msg.RoleUser; m.Role == msg.RoleUser {
			want = msg.RoleAssistant
		}
	}
	last := req.Messages[len(req.Messages)-1]
	if last.Role == msg.RoleAssistant && !ofServer(last.Content[len(last.Content)-1].Type) {
		return errors.New("messages: the last one is an answer (prefill)")
	}
	return nil
}

func checkContent(req *provider.Request) error {
	bytes, media := 0, 0
	for i, m := range req.Messages {
		for j, b := range m.Content {
			n, err := checkBlock(b, m.Role, false)
			if err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			bytes += n.bytes
			media += n.media
		}
		if last := m.Content[len(m.Content)-1]; m.Role == msg.RoleAssistant && last.IsThinking() {
			return fmt.Errorf("messages.%d: the final block of an answer is thinking", i)
		}
	}
	if bytes > apiBytes {
		return fmt.Errorf("request: %d bytes of content", bytes)
	}
	if media > apiMedia {
		return fmt.Errorf("request: %d images and documents", media)
	}
	return nil
}

// checkPairs wants each call answered once, in the message right after it, before any other content there.
func checkPairs(req *provider.Request) error {
	seen, open := map[string]bool{}, map[string]bool{}
	for i, m := range req.Messages {
		head := true
		for j, b := range m.Content {
			at := func(format string, args ...any) error {
				return fmt.Errorf("messages.%d.content.%d: %s", i, j, fmt.Sprintf(format, args...))
			}
			switch b.Type {
			case msg.TypeToolUse:
				if len(req.Tools) == 0 {
					return at("tool_use in a request without tools")
				}
				if seen[b.ID] {
					return at("tool_use id %s is not unique", b.ID)
				}
				seen[b.ID], open[b.ID] = true, true
			case msg.TypeToolResult:
				if !head {
					return at("tool_result after other content")
				}
				if !open[b.ToolUseID] {
					return at("tool_result without a tool_use in the message before: %s", b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			default:
				head = false
			}
		}
		if m.Role == msg.RoleUser && len(open) > 0 {
			return fmt.Errorf("messages.%d: %d tool_use blocks of the message before have no tool_result", i, len(open))
		}
		if err := checkServerPairs(m, seen, i == len(req.Messages)-1); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: %d tool_use blocks have no tool_result", len(open))
	}
	return nil
}

func checkServerPairs(m provider.Message, seen map[string]bool, last bool) error {
	open := map[string]bool{}
	for _, b := range m.Content {
		switch {
		case !ofServer(b.Type):
		case strings.HasSuffix(b.Type, "_use"):
			if seen[b.ID] {
				return fmt.Errorf("%s id %s is not unique", b.Type, b.ID)
			}
			seen[b.ID], open[b.ID] = true, true
		case !open[b.ToolUseID]:
			return fmt.Errorf("%s without its call: %s", b.Type, b.ToolUseID)
		default:
			delete(open, b.ToolUseID)
		}
	}
	if len(open) > 0 && !last {
		return fmt.Errorf("%d server tool calls have no result", len(open))
	}
	return nil
}

// checkMarks wants at most four cache marks, in order, on blocks that can carry one, long lifetimes first.
func checkMarks(req *provider.Request) error {
	if len(req.Breakpoints) > 4 {
		return fmt.Errorf("cache_control: %d marks", len(req.Breakpoints))
	}
	before, short := [3]int{}, false
	for i, p := range req.Breakpoints {
		at, n := [3]int{int(p.At), p.Index, p.Block}, 0
		switch p.At {
		case provider.AtTool:
			n = len(req.Tools)
		case provider.AtSystem:
			n = len(req.System)
		case provider.AtMessage:
			n = len(req.Messages)
		}
		if p.Index < 0 || p.Index >= n {
			return fmt.Errorf("cache_control: mark %d at %v, of %d", i, at, n)
		}
		if p.At == provider.AtMessage {
			c := req.Messages[p.Index].Content
			if p.Block < 0 || p.Block >= len(c) || c[p.Block].IsThinking() {
				return fmt.Errorf("cache_control: mark %d on block %v", i, at)
			}
		}
		if i > 0 && !less(before, at) {
			return fmt.Errorf("cache_control: mark %d at %v after %v", i, at, before)
		}
		if p.OneHour && short {
			return errors.New("cache_control: a lifetime of one hour after one of five minutes")
		}
		before, short = at, short || !p.OneHour
	}
	return nil
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
