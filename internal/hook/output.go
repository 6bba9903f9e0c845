package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// output is the JSON object that a handler may answer with.
type output struct {
	Continue       *bool  `json:"continue"`
	StopReason     string `json:"stopReason"`
	SystemMessage  string `json:"systemMessage"`
	SuppressOutput bool   `json:"suppressOutput"`
	Decision       string `json:"decision"`
	Reason         string `json:"reason"`
	HidePrompt     bool   `json:"suppressOriginalPrompt"`
	Async          bool   `json:"async"`

	Specific specific `json:"hookSpecificOutput"`
}

// specific is hookSpecificOutput. Fields that an event does not know are ignored by it.
type specific struct {
	Event         string          `json:"hookEventName"`
	Context       string          `json:"additionalContext"`
	Permission    string          `json:"permissionDecision"`
	PermReason    string          `json:"permissionDecisionReason"`
	Input         json.RawMessage `json:"updatedInput"`
	ToolOutput    json.RawMessage `json:"updatedToolOutput"`
	MCPOutput     json.RawMessage `json:"updatedMCPToolOutput"`
	FirstMessage  string          `json:"initialUserMessage"`
	SessionTitle  string          `json:"sessionTitle"`
	Display       *string         `json:"displayContent"`
	WorktreePath  string          `json:"worktreePath"`
	WatchPaths    []string        `json:"watchPaths"`
	RequestAnswer *answer         `json:"decision"`
	Action        string          `json:"action"` // of an elicitation: accept, decline or cancel
	Content       json.RawMessage `json:"content"`
}

// answer is what a PermissionRequest hook says in the person's place.
type answer struct {
	Behavior    string          `json:"behavior"`
	Input       json.RawMessage `json:"updatedInput"`
	Permissions json.RawMessage `json:"updatedPermissions"`
	Message     string          `json:"message"`
	Interrupt   bool            `json:"interrupt"`
}

// looksJSON reports whether text is to be read as JSON: an object from its first to its last character.
func looksJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 1 && text[0] == '{' && text[len(text)-1] == '}'
}

// parseOutput reads and checks a JSON answer.
func parseOutput(e Event, text []byte) (*output, error) {
	o := &output{}
	if err := json.Unmarshal(bytes.TrimSpace(text), o); err != nil {
		return nil, fmt.Errorf("its JSON cannot be read: %w", err)
	}
	if err := o.check(e); err != nil {
		return nil, fmt.Errorf("its JSON is not valid: %w", err)
	}
	return o, nil
}

func (o *output) check(e Event) error {
	s := o.Specific
	if s.Event != "" && s.Event != string(e) {
		return fmt.Errorf("hookEventName is %q, the event is %s", s.Event, e)
	}
	if o.Decision != "" && o.Decision != "approve" && o.Decision != "block" {
		return fmt.Errorf("decision is %q, not approve or block", o.Decision)
	}
	switch s.Permission {
	case "", "allow", "deny", "ask":
	case "defer":
		if e != PreToolUse && e != PreSkillShellCommand {
			return errors.New("permissionDecision defer is for PreToolUse only")
		}
	default:
		return fmt.Errorf("permissionDecision is %q, not allow, deny, ask or defer", s.Permission)
	}
	if a := s.RequestAnswer; e == PermissionRequest && a != nil && a.Behavior != "allow" && a.Behavior != "deny" {
		return fmt.Errorf("decision.behavior is %q, not allow or deny", a.Behavior)
	}
	inputs := []json.RawMessage{s.Input}
	if s.RequestAnswer != nil {
		inputs = append(inputs, s.RequestAnswer.Input)
	}
	for _, in := range inputs {
		if !absent(in) && !looksJSON(in) {
			return errors.New("updatedInput is not an object")
		}
	}
	return nil
}

func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
}

// verdictOf is the answer of a prompt or agent hook.
type verdict struct {
	OK         *bool  `json:"ok"`
	Reason     string `json:"reason"`
	Impossible bool   `json:"impossible"`
}

// parseVerdict finds the JSON object in a model's answer.
func parseVerdict(text string) (verdict, error) {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	var v verdict
	if from < 0 || to < from || json.Unmarshal([]byte(text[from:to+1]), &v) != nil || v.OK == nil {
		return verdict{}, fmt.Errorf("the model's answer is not {\"ok\": …}: %s", firstLine(text))
	}
	return v, nil
}
