package compact

import (
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// losses counts what is no longer sent word for word.
type losses struct {
	Messages int `json:"messages"`
	Results  int `json:"toolResults"`
	Media    int `json:"images"`
	Thinking int `json:"thinkingBlocks"`
	Tokens   int `json:"tokens"`
}

// told says what a compaction left out and what it kept, for the person.
func told(m metadata, skills, files, lists int, n keptNames) string {
	var kept []string
	for _, k := range []struct {
		n         int
		one, many string
	}{
		{n.rules, "instruction file", "instruction files"},
		{n.pins, "pinned message", "pinned messages"},
		{skills, "skill", "skills"},
		{files, "file read again", "files read again"},
		{lists, "list", "lists"},
		{n.open, "open request and its context", "open requests and their context"},
	} {
		switch {
		case k.n == 1:
			kept = append(kept, "1 "+k.one)
		case k.n > 1:
			kept = append(kept, fmt.Sprintf("%d %s", k.n, k.many))
		}
	}
	what := "Beside the summary nothing had to be kept."
	if len(kept) > 0 {
		what = "Kept beside the summary: " + strings.Join(kept, ", ") + "."
	}
	if m.Post > m.Pre {
		what += fmt.Sprintf(" That is %d tokens more than before: there was next to nothing to leave out.", m.Post-m.Pre)
	}
	return fmt.Sprintf("Compacted: about %d tokens instead of %d. No longer sent word for word: %s. %s /compact undo takes it back.", m.Post, m.Pre, m.Lost, what)
}

func (l *losses) String() string {
	s := fmt.Sprintf("%d messages, of them %d with tool results", l.Messages, l.Results)
	if l.Messages == 1 {
		s = "1 message"
	}
	if l.Media > 0 {
		s += ", " + tool.Count(l.Media, "image or document", "images or documents")
	}
	if l.Thinking > 0 {
		s += ", " + tool.Count(l.Thinking, "block of thinking", "blocks of thinking")
	}
	return s + fmt.Sprintf(", about %d tokens", l.Tokens)
}

// goes reports whether the message is no longer sent word for word after a compaction; from waits on, requests have no
// answer yet.
func (v sight) goes(i, waits int) bool {
	m := v.view[i]
	return m.ForModel() && m.APIError == "" && !protected(m, v.set) && !latestCounts(m) && (i < waits || !typed(m))
}

func (v sight) losses() *losses {
	l := &losses{Tokens: v.compactable()}
	waits := unanswered(v.view)
	for i, m := range v.view {
		if !v.goes(i, waits) {
			continue
		}
		l.Messages++
		if hasResult(m) {
			l.Results++
		}
		for _, b := range m.Blocks {
			switch {
			case b.IsThinking():
				l.Thinking++
			case b.Type == msg.TypeImage, b.Type == msg.TypeDocument:
				l.Media++
			}
			for _, c := range b.Content {
				if c.Type == msg.TypeImage || c.Type == msg.TypeDocument {
					l.Media++
				}
			}
		}
	}
	return l
}
