package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lathe/internal/front/tui/width"
	"lathe/internal/msg"
)

// sessionEntries reads the answer to the query "sessions".
func sessionEntries(raw json.RawMessage) []entry {
	var v struct {
		Sessions []struct {
			ID       string    `json:"session_id"`
			Title    string    `json:"title"`
			Prompt   string    `json:"prompt"`
			Modified time.Time `json:"modified"`
			Branch   string    `json:"branch"`
			Current  bool      `json:"current"`
			Match    string    `json:"match"`
		} `json:"sessions"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var out []entry
	for _, s := range v.Sessions {
		if s.Current {
			continue
		}
		name := first(s.Title, first(firstLine(s.Prompt), s.ID))
		note := ago(time.Since(s.Modified))
		if s.Branch != "" {
			note += " · " + s.Branch
		}
		if s.Match != "" {
			note += " · " + s.Match
		}
		out = append(out, entry{name: width.Cut(name, 60, "…"), note: note, value: s.ID})
	}
	return out
}

// previewLines reads the answer to the query "session_preview".
func previewLines(raw json.RawMessage) []string {
	var v struct {
		Messages []struct {
			Role string `json:"role"`
			Text string `json:"text"`
		} `json:"last"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var out []string
	for _, m := range v.Messages {
		if m.Role == "user" && interruption(m.Text) {
			continue
		}
		mark := "  "
		if m.Role == "user" {
			mark = "❯ "
		}
		text := m.Text
		if it, ok := shellItem(text); ok {
			mark, text = "! ", strings.TrimSpace(it.summary)
		}
		out = append(out, mark+width.Inert(firstLine(text)))
	}
	return out
}

// interruption reports whether a text is a mark for the model; the end of the turn says it to the person.
func interruption(text string) bool { return text == msg.Interrupted || text == msg.InterruptedTools }

func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 60*24*time.Hour:
		return count(int(d.Hours()/24), "day") + " ago"
	}
	return fmt.Sprintf("%d months ago", int(d.Hours()/24/30))
}
