package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

func raw(s string) msg.Block {
	var b msg.Block
	if err := json.Unmarshal([]byte(s), &b); err != nil {
		panic(err)
	}
	return b
}

func call(t *testing.T, tl *Tool, input string) tool.Result {
	t.Helper()
	in, err := tool.Canonical(tl, json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tl.Plan(context.Background(), tool.Call{ID: "1", Input: in})
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestResult(t *testing.T) {
	hit := raw(`{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"A\nB","url":"https://a.example/","encrypted_content":"x"},{"title":"","url":"https://b.example/"},{"title":"no address"}]}`)
	failed := raw(`{"type":"web_search_tool_result","tool_use_id":"s2","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}}`)
	empty := raw(`{"type":"web_search_tool_result","tool_use_id":"s3","content":[]}`)
	cited := raw(`{"type":"text","text":"Two.","citations":[{"url":"https://a.example/"}]}`)
	for _, c := range []struct {
		name    string
		blocks  []msg.Block
		text    string
		results string
		failed  bool
	}{
		{
			"found",
			[]msg.Block{msg.Text("First. "), hit, msg.Text("One. "), cited},
			"First.\n\nOne. Two.\n\nSources:\n- A B https://a.example/\n- https://b.example/",
			`["First.",{"tool_use_id":"s1","content":[{"title":"A\nB","url":"https://a.example/"},{"title":"","url":"https://b.example/"}]},"One. Two."]`, false,
		},
		{"a page twice", []msg.Block{hit, hit}, "Sources:\n- A B https://a.example/\n- https://b.example/", "", false},
		{"some failed", []msg.Block{hit, failed}, "A search failed: the search is not available now; try again later\n\nSources:\n- A B https://a.example/\n- https://b.example/", "", false},
		{"all failed", []msg.Block{failed}, "A search failed: the search is not available now; try again later", `["A search failed: the search is not available now; try again later"]`, true},
		{"nothing found", []msg.Block{empty, msg.Text("Nothing.")}, "Nothing.\n\nNo page was found.", "", false},
		{"not searched", []msg.Block{msg.Text("I know that by heart.")}, "The provider did not search: it may not have a web search, or left the query alone. Nothing was found out.", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBudget(10, 0, time.Now)
			tl := New(Deps{Budget: b, Search: func(_ context.Context, q Query) ([]msg.Block, int, error) {
				if q.Most != 8 || q.Text != "x y" {
					t.Errorf("%+v", q)
				}
				return c.blocks, 1, nil
			}})
			res := call(t, tl, `{"query":" x y "}`)
			if got := msg.JoinText(res.Blocks); got != c.text || res.IsError != c.failed {
				t.Errorf("failed %v, text %q", res.IsError, got)
			}
			out := res.Output.(Output)
			if got, _ := json.Marshal(out.Results); c.results != "" && string(got) != c.results {
				t.Errorf("results %s", got)
			}
			if out.Query != "x y" || out.Searches != 1 || b.Take(20) != 9 {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestInput(t *testing.T) {
	var got Query
	tl := New(Deps{Budget: NewBudget(10, 0, time.Now), Search: func(_ context.Context, q Query) ([]msg.Block, int, error) {
		got = q
		return nil, 0, nil
	}})
	call(t, tl, `{"q":"x","allowed_domains":["https://go.dev/doc/"," a.example ",""]}`)
	if strings.Join(got.Allowed, " ") != "go.dev/doc a.example" {
		t.Errorf("%+v", got)
	}
	if n := Made([]msg.Block{msg.Text("x"), raw(`{"type":"web_search_tool_result","content":[]}`), raw(`{"type":"web_search_tool_result","content":{}}`)}); n != 2 {
		t.Errorf("%d searches", n)
	}
	for _, in := range []string{`{"query":" "}`, `{"query":"x","allowed_domains":["a.b"],"blocked_domains":["c.d"]}`} {
		if _, err := tl.Plan(context.Background(), tool.Call{Input: json.RawMessage(in)}); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

// What a search that failed did not use comes back; a budget that is spent is told, and asks nobody.
func TestBudget(t *testing.T) {
	now := time.Unix(0, 0)
	b := NewBudget(4, 100, func() time.Time { return now })
	calls := 0
	tl := New(Deps{Budget: b, Search: func(_ context.Context, q Query) ([]msg.Block, int, error) {
		calls++
		if calls == 1 {
			return nil, 1, errors.New("broken")
		}
		return nil, q.Most, nil
	}})
	plan, err := tl.Plan(context.Background(), tool.Call{Input: json.RawMessage(`{"query":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v", err)
	}
	call(t, tl, `{"query":"x"}`) // the 3 that are left
	res := call(t, tl, `{"query":"x"}`)
	if calls != 2 || res.IsError || !strings.Contains(msg.JoinText(res.Blocks), "has used up its web searches (4, ") {
		t.Errorf("%d calls, %v", calls, res)
	}
	now = now.Add(36 * time.Second) // one of 100 an hour
	if n := b.Take(8); n != 1 {
		t.Errorf("%d came back", n)
	}
	now = now.Add(time.Hour)
	if n := b.Take(8); n != 4 {
		t.Errorf("%d are there", n)
	}
	if b.Return(9); b.Take(8) != 4 {
		t.Error("more came back than a session may make")
	}
}
