package websearch

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Name is the tool's name.
const Name = "WebSearch"

// Most is how many searches one call may make.
const Most = 8

//go:embed websearch.md
var description string

const schema = `{"type":"object","properties":{"query":{"type":"string"},` +
	`"allowed_domains":{"type":"array","items":{"type":"string"},"description":"only these"},` +
	`"blocked_domains":{"type":"array","items":{"type":"string"}}},"required":["query"]}`

// Query is what is searched for: the tool's canonical input, and how many searches it may take.
type Query struct {
	Text    string   `json:"query"`
	Allowed []string `json:"allowed_domains"`
	Blocked []string `json:"blocked_domains"`
	Most    int      `json:"-"`
}

// Deps is what the tool needs of its session. All must be set.
type Deps struct {
	// Search has the provider search and returns the blocks of the answer. searches is how many were made, also with an
	// error.
	Search func(ctx context.Context, q Query) (blocks []msg.Block, searches int, err error)
	Budget *Budget
}

// Tool is the tool WebSearch. It may be used by several calls at once.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool { return &Tool{d} }

// Output is the structured result.
type Output struct {
	Query    string  `json:"query"`
	Results  []any   `json:"results"` // Hits, and texts between them
	Seconds  float64 `json:"durationSeconds"`
	Searches int     `json:"searchCount,omitempty"`
}

// Hits are the pages that one search found.
type Hits struct {
	ID    string `json:"tool_use_id"`
	Pages []Page `json:"content"`
}

// Page is one of them.
type Page struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Def is what the model is told.
func (*Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: Name, Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are the common wrong names.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"q": "query", "search": "query", "search_query": "query", "domains": "allowed_domains"}
}

// Plan reads the query.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var q Query
	if err := json.Unmarshal(call.Input, &q); err != nil {
		return tool.Plan{}, fmt.Errorf("reading the input of %s: %w", Name, err)
	}
	if q.Text = strings.TrimSpace(q.Text); q.Text == "" {
		return tool.Plan{}, errors.New("query is empty; say what to search for")
	}
	q.Allowed, q.Blocked = domains(q.Allowed), domains(q.Blocked)
	if len(q.Allowed) > 0 && len(q.Blocked) > 0 {
		return tool.Plan{}, errors.New("give allowed_domains or blocked_domains, not both")
	}
	return tool.Plan{
		Summary:  "search the web: " + q.Text,
		Parallel: true,
		Run:      func(ctx context.Context, _ tool.Progress) (tool.Result, error) { return t.run(ctx, q) },
	}, nil
}

// domains brings what models write into the form that the search takes: no scheme, no end slash.
func domains(list []string) []string {
	var out []string
	for _, d := range list {
		d = strings.TrimSpace(d)
		if _, rest, ok := strings.Cut(d, "://"); ok {
			d = rest
		}
		if d = strings.TrimRight(d, "/"); d != "" {
			out = append(out, d)
		}
	}
	return out
}

func (t *Tool) run(ctx context.Context, q Query) (tool.Result, error) {
	start := time.Now()
	q.Most = t.d.Budget.Take(Most)
	if q.Most == 0 {
		text := t.d.Budget.spent()
		res := tool.TextResult(text)
		res.Output = Output{Query: q.Text, Results: []any{text}}
		return res, nil
	}
	blocks, searches, err := t.d.Search(ctx, q)
	t.d.Budget.Return(q.Most - searches)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Result{}, fmt.Errorf("searching the web: %w", err)
	}
	found := read(blocks)
	res := tool.TextResult(found.text())
	res.IsError = found.searches == 0 || len(found.pages) == 0 && len(found.errs) > 0
	res.Output = Output{Query: q.Text, Results: found.results, Seconds: time.Since(start).Seconds(), Searches: searches}
	return res, nil
}
