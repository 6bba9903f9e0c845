package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

// The names of the tools that find and call others.
const (
	SearchName = "ToolSearch"
	CallName   = "CallTool"
)

const (
	mostFound    = 20
	defaultFound = 5
)

const searchText = "Find tools whose schemas are not loaded. The conversation lists their names. " +
	`query is words that they are about, or "select:" and exact names separated by commas. ` +
	"Each tool that is found comes with its description and the JSON schema of its input; call it with " + CallName + "."

const callText = "Call a tool that " + SearchName + " has found. tool is its full name, input an object that fits its schema. " +
	"The call is judged, and answers, as if the tool had been called itself."

const searchSchema = `{"type":"object","properties":{"query":{"type":"string","description":"words, or select:name,name"},"max_results":{"type":"integer","description":"5 unless given, at most 20"}},"required":["query"]}`

const callSchema = `{"type":"object","properties":{"tool":{"type":"string","description":"full name, such as mcp__server__tool"},"input":{"type":"object","description":"the tool's input"}},"required":["tool","input"]}`

// Search is the tool ToolSearch.
type Search struct{ find func() []mcp.Tool }

// NewSearch returns the tool; find lists all tools that can be called and whose schemas are not among the definitions.
func NewSearch(find func() []mcp.Tool) *Search { return &Search{find} }

// Def implements tool.Tool.
func (*Search) Def() msg.ToolDef {
	return msg.ToolDef{Name: SearchName, Description: searchText, InputSchema: json.RawMessage(searchSchema)}
}

// SearchInput is the canonical input of ToolSearch.
type SearchInput struct {
	Query string `json:"query"`
	Max   int    `json:"max_results,omitempty"`
}

// SearchOutput is the structured result.
type SearchOutput struct {
	Matches []string `json:"matches"`
	Query   string   `json:"query"`
	Total   int      `json:"total_deferred_tools"`
}

// Plan implements tool.Tool.
func (s *Search) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in SearchInput
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of %s: %w", SearchName, err)
	}
	return tool.Plan{
		Summary: "find tools: " + in.Query, Parallel: true, ReadOnly: true,
		Run: func(context.Context, tool.Progress) (tool.Result, error) { return s.run(in), nil },
	}, nil
}

func (s *Search) run(in SearchInput) tool.Result {
	all := s.find()
	found := match(all, in)
	out := SearchOutput{Matches: []string{}, Query: in.Query, Total: len(all)}
	var b strings.Builder
	for _, t := range found {
		out.Matches = append(out.Matches, t.FullName)
		fmt.Fprintf(&b, "%s\n%s\nInput schema: %s\n\n", t.FullName, t.Description, t.Schema)
	}
	if len(found) == 0 {
		fmt.Fprintf(&b, "No tool fits %q. %d can be loaded", in.Query, len(all))
		names := make([]string, 0, len(all))
		for _, t := range all {
			names = append(names, t.FullName)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, ": %s", strings.Join(names[:min(len(names), 100)], ", "))
		}
	} else {
		fmt.Fprintf(&b, "Call them with %s.", CallName)
	}
	res := tool.TextResult(b.String())
	res.Output, res.Budgeted = out, true
	return res
}

// match finds tools by exact names, or ranks them by how many of the words stand in name and description.
func match(all []mcp.Tool, in SearchInput) []mcp.Tool {
	if names, ok := strings.CutPrefix(strings.TrimSpace(in.Query), "select:"); ok {
		var out []mcp.Tool
		for name := range strings.SplitSeq(names, ",") {
			for _, t := range all {
				if t.FullName == strings.TrimSpace(name) {
					out = append(out, t)
				}
			}
		}
		return out
	}
	limit := min(in.Max, mostFound)
	if limit <= 0 {
		limit = defaultFound
	}
	type scored struct {
		mcp.Tool
		score int
	}
	var ranked []scored
	words := strings.FieldsFunc(strings.ToLower(in.Query), func(r rune) bool { return strings.ContainsRune(" \t\n,;:_-./", r) })
	for _, t := range all {
		name, about := strings.ToLower(t.FullName+" "+t.Title), strings.ToLower(t.Description)
		score := 0
		for _, w := range words {
			if strings.Contains(name, w) {
				score += 3
			}
			if strings.Contains(about, w) {
				score++
			}
		}
		if score > 0 {
			ranked = append(ranked, scored{t, score})
		}
	}
	slices.SortStableFunc(ranked, func(a, b scored) int { return b.score - a.score })
	var out []mcp.Tool
	for _, r := range ranked[:min(limit, len(ranked))] {
		out = append(out, r.Tool)
	}
	return out
}

// Caller is the tool CallTool: it stands for a tool that is not among the definitions.
type Caller struct{}

// Def implements tool.Tool.
func (Caller) Def() msg.ToolDef {
	return msg.ToolDef{Name: CallName, Description: callText, InputSchema: json.RawMessage(callSchema)}
}

// Redirect names the tool that is meant. An input that a model wrote as a text is taken as what the text holds.
func (Caller) Redirect(input json.RawMessage) (string, json.RawMessage, error) {
	var in struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return "", nil, fmt.Errorf("input of %s: %w", CallName, err)
	}
	if in.Tool == "" {
		return "", nil, fmt.Errorf("wrong input for %s: tool is missing; it is the full name of a tool that %s found", CallName, SearchName)
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil && json.Valid([]byte(text)) {
		in.Input = json.RawMessage(text)
	}
	return in.Tool, msg.Compact(in.Input), nil
}

// Plan implements tool.Tool; a call never comes here.
func (Caller) Plan(context.Context, tool.Call) (tool.Plan, error) {
	return tool.Plan{}, errors.New(CallName + " calls another tool: name it")
}
