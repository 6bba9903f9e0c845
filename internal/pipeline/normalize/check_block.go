package normalize

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/msg"
)

// volume is what a block takes of the request's limits.
type volume struct{ bytes, media int }

// checkBlock checks one block as content of a message of the role, or of a tool result.
func checkBlock(b msg.Block, role msg.Role, inResult bool) (volume, error) {
	if b.Raw != nil {
		return checkRaw(b, role, inResult)
	}
	user := role == msg.RoleUser
	v := volume{bytes: len(b.Text) + len(b.Signature) + len(b.Data) + len(b.Input) + len(b.Name)}
	switch b.Type {
	case msg.TypeText:
		if strings.TrimSpace(b.Text) == "" {
			return v, errors.New("text: empty or only blanks")
		}
		return v, nil
	case msg.TypeThinking:
		if user || inResult || b.Signature == "" {
			return v, errors.New("thinking: not in an answer, or without signature")
		}
		return v, nil
	case msg.TypeRedactedThinking:
		if user || inResult || b.Data == "" {
			return v, errors.New("redacted_thinking: not in an answer, or without data")
		}
		return v, nil
	case msg.TypeToolUse:
		return v, checkCall(b, user || inResult)
	case msg.TypeToolResult:
		return checkResult(b, !user || inResult)
	case msg.TypeImage, msg.TypeDocument:
		if !user {
			return v, fmt.Errorf("%s: in an answer", b.Type)
		}
		v.media = 1
		if b.Source != nil {
			v.bytes += len(b.Source.Data)
		}
		return v, checkSource(b)
	}
	return v, fmt.Errorf("type %q has no content", b.Type)
}

func checkCall(b msg.Block, misplaced bool) error {
	var input map[string]json.RawMessage
	switch {
	case misplaced:
		return errors.New("tool_use: not in an answer")
	case !callID().MatchString(b.ID):
		return fmt.Errorf("tool_use: id %q", b.ID)
	case !toolName().MatchString(b.Name):
		return fmt.Errorf("tool_use: name %q", b.Name)
	case len(b.Input) > 0 && (json.Unmarshal(b.Input, &input) != nil || input == nil):
		return errors.New("tool_use: input is not an object")
	}
	return nil
}

func checkResult(b msg.Block, misplaced bool) (volume, error) {
	v := volume{}
	if misplaced {
		return v, errors.New("tool_result: not in a user message")
	}
	if !callID().MatchString(b.ToolUseID) {
		return v, fmt.Errorf("tool_result: tool_use_id %q", b.ToolUseID)
	}
	if b.IsError && len(b.Content) == 0 {
		return v, errors.New("tool_result: an error without content")
	}
	for i, c := range b.Content {
		if b.IsError && c.Type != msg.TypeText {
			return v, fmt.Errorf("tool_result.content.%d: %s in an error", i, c.Type)
		}
		switch c.Type {
		case msg.TypeText, msg.TypeImage, msg.TypeDocument, "search_result", "tool_reference":
		default:
			return v, fmt.Errorf("tool_result.content.%d: type %q", i, c.Type)
		}
		n, err := checkBlock(c, msg.RoleUser, true)
		if err != nil {
			return v, fmt.Errorf("tool_result.content.%d: %w", i, err)
		}
		v.bytes, v.media = v.bytes+n.bytes, v.media+n.media
	}
	return v, nil
}

func checkSource(b msg.Block) error {
	s := b.Source
	if s == nil {
		return fmt.Errorf("%s: no source", b.Type)
	}
	types := map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}
	if b.Type == msg.TypeDocument {
		types = map[string]bool{"application/pdf": true}
	}
	switch {
	case s.Type == "base64" && types[s.MediaType] && s.Data != "":
		if b.Type == msg.TypeImage && len(s.Data) > 10<<20 {
			return errors.New("image: over 10 MB")
		}
		return nil
	case s.Type == "text" && b.Type == msg.TypeDocument && s.MediaType == "text/plain" && s.Data != "":
		return nil
	case s.Type == "url" && s.URL != "", s.Type == "file" && s.FileID != "":
		return nil
	}
	return fmt.Errorf("%s: source of type %q and %q", b.Type, s.Type, s.MediaType)
}

// checkRaw decodes a block that is sent as it is, and checks what it holds.
func checkRaw(b msg.Block, role msg.Role, inResult bool) (volume, error) {
	v := volume{bytes: len(b.Raw)}
	var got msg.Block
	if err := json.Unmarshal(b.Raw, &got); err != nil {
		return v, fmt.Errorf("raw block: %w", err)
	}
	if got.Type != b.Type || got.ID != b.ID || got.ToolUseID != b.ToolUseID {
		return v, fmt.Errorf("raw block: its type or id is not what the %s block says", b.Type)
	}
	switch got.Type {
	case msg.TypeText, msg.TypeThinking, msg.TypeRedactedThinking, msg.TypeToolUse, msg.TypeToolResult, msg.TypeImage, msg.TypeDocument:
		if role == msg.RoleUser && got.Type == msg.TypeText && strings.Contains(string(b.Raw), `"citations"`) {
			return v, errors.New("text: citations in a user message")
		}
		got.Raw = nil
		n, err := checkBlock(got, role, inResult)
		n.bytes = v.bytes
		return n, err
	case "search_result":
		if role == msg.RoleUser {
			return v, nil
		}
	case "tool_reference":
		if inResult {
			return v, nil
		}
	case "container_upload":
		if !inResult && role == msg.RoleUser {
			return v, nil
		}
	case "compaction", "fallback":
		if role == msg.RoleAssistant {
			return v, nil
		}
	}
	if ofServer(got.Type) && role == msg.RoleAssistant {
		return v, nil
	}
	return v, fmt.Errorf("type %q in a message of the %s", got.Type, role)
}

// ofServer reports blocks of tools that run on the provider's side.
func ofServer(t string) bool {
	if t == msg.TypeToolUse || t == msg.TypeToolResult {
		return false
	}
	return strings.HasSuffix(t, "_tool_use") || strings.HasSuffix(t, "_tool_result")
}
