package websearch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
)

// found is what an answer holds.
type found struct {
	results  []any
	answer   string
	pages    []Page // each once
	errs     []string
	searches int // results of searches, failed ones too
}

// resultType is the type of the blocks that hold the results of a search.
const resultType = "web_search_tool_result"

// Made is how many searches an answer shows, failed ones too.
func Made(blocks []msg.Block) int {
	n := 0
	for _, b := range blocks {
		if b.Type == resultType {
			n++
		}
	}
	return n
}

// read takes an answer apart. An answer that did not search holds nothing that counts: what a model says by itself is not
// a result.
func read(blocks []msg.Block) found {
	f := found{results: []any{}}
	var text strings.Builder
	flush := func() {
		if s := strings.TrimSpace(text.String()); s != "" {
			f.results = append(f.results, s)
			f.answer = strings.TrimSpace(f.answer + "\n\n" + s)
		}
		text.Reset()
	}
	for _, b := range blocks {
		switch b.Type {
		case msg.TypeText: // one sentence may be several blocks: each with sources is one of its own
			text.WriteString(b.Text)
		case resultType:
			flush()
			f.result(b.Raw)
		}
	}
	flush()
	return f
}

func (f *found) result(raw json.RawMessage) {
	f.searches++
	var block struct {
		ID      string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(raw, &block)
	var pages []Page
	if json.Unmarshal(block.Content, &pages) != nil {
		var failed struct {
			Code string `json:"error_code"`
		}
		_ = json.Unmarshal(block.Content, &failed)
		text := "A search failed: " + errorText(failed.Code)
		f.errs, f.results = append(f.errs, text), append(f.results, text)
		return
	}
	hits := Hits{ID: block.ID, Pages: []Page{}}
	for _, p := range pages {
		if p.URL == "" {
			continue
		}
		hits.Pages = append(hits.Pages, p)
		if !slices.ContainsFunc(f.pages, func(q Page) bool { return q.URL == p.URL }) {
			f.pages = append(f.pages, p)
		}
	}
	f.results = append(f.results, hits)
}

// errorText says what a code of the search means.
func errorText(code string) string {
	switch code {
	case "too_many_requests":
		return "too many requests; wait a little before you try again"
	case "invalid_input":
		return "the query or a domain is not valid; a domain is written like example.org or example.org/docs"
	case "query_too_long":
		return "the query is too long; use fewer words"
	case "max_uses_exceeded":
		return fmt.Sprintf("one call makes at most %d searches; ask a narrower question", Most)
	case "unavailable":
		return "the search is not available now; try again later"
	case "":
		return "the answer cannot be read"
	}
	return code
}

// text is what the model is told.
func (f *found) text() string {
	if f.searches == 0 {
		return "The provider did not search: it may not have a web search, or left the query alone. Nothing was found out."
	}
	parts := slices.Clone(f.errs)
	if f.answer != "" {
		parts = append(parts, f.answer)
	}
	if len(f.pages) > 0 {
		lines := []string{"Sources:"}
		for _, p := range f.pages {
			lines = append(lines, "- "+strings.Join(strings.Fields(p.Title+" "+p.URL), " "))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	} else if len(f.errs) == 0 {
		parts = append(parts, "No page was found.")
	}
	return strings.Join(parts, "\n\n")
}
