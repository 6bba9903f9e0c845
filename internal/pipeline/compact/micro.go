package compact

import (
	"encoding/json"
	"fmt"
	"slices"

	"lathe/internal/msg"
)

// clearLeast is how many tokens a result must have to be worth a placeholder.
const clearLeast = 300

// Microcompact replaces results that newer ones supersede (a file that was read again or edited since, a listing or
// a command that was repeated) by one line. The newest stays.
func Microcompact(view []msg.Message, s Settings) ([]msg.Message, Report) {
	return report(view, findSuperseded(view, s), s)
}

func findSuperseded(view []msg.Message, s Settings) Edit {
	a := study(view, s)
	newer := map[string]string{} // what a call is about, to what came later about it
	e := Edit{Step: "microcompact"}
	first, seen := -1, 0
	for i := len(view) - 1; i >= 0; i-- {
		for _, b := range slices.Backward(view[i].Blocks) {
			if b.Type != msg.TypeToolUse {
				continue
			}
			c, ok := a.calls[b.ID]
			if !ok || c.asked != i || c.result < 0 || c.failed {
				continue
			}
			seen++
			sub := subjectOf(b)
			why := newer[sub.about]
			if why == "" && sub.part != "" {
				why = newer[sub.part]
			}
			if why != "" && c.tokens >= clearLeast && seen > s.Recent {
				e.Clear = append(e.Clear, Clear{Call: b.ID, Text: fmt.Sprintf("[Left out: %s]", why)})
				if first < 0 || c.result < first {
					first = c.result
				}
			}
			for about, text := range sub.supersedes {
				if newer[about] == "" {
					newer[about] = text
				}
			}
		}
	}
	if first < 0 {
		return Edit{}
	}
	slices.Reverse(e.Clear)
	e.Thinking = a.thinkingAfter(first)
	return e
}

// subject is what a call is about: the keys under which a later call supersedes it, and what it supersedes itself.
type subject struct {
	about      string
	part       string // the whole of which it read a part
	supersedes map[string]string
}

func subjectOf(b msg.Block) subject {
	var in struct {
		File     string          `json:"file_path"`
		Notebook string          `json:"notebook_path"`
		Offset   json.RawMessage `json:"offset"`
		Limit    json.RawMessage `json:"limit"`
	}
	_ = json.Unmarshal(b.Input, &in) // what is no object is about nothing
	path := in.File
	if path == "" {
		path = in.Notebook
	}
	switch b.Name {
	case "Read":
		if path == "" {
			return subject{}
		}
		whole, part := "file "+path, fmt.Sprintf("part %s %s %s", path, in.Offset, in.Limit)
		if in.Offset == nil && in.Limit == nil {
			// A whole read supersedes all parts as well; a part supersedes only itself.
			return subject{about: whole, supersedes: map[string]string{whole: path + " was read again later"}}
		}
		return subject{about: part, part: whole, supersedes: map[string]string{part: path + " was read again later"}}
	case "Edit", "Write", "NotebookEdit":
		if path == "" {
			return subject{}
		}
		return subject{supersedes: map[string]string{"file " + path: path + " was changed since by " + b.Name + "; read it again if you need it"}}
	case "Glob", "Grep", "LS", "Bash":
		key := "call " + b.Name + " " + string(b.Input)
		return subject{about: key, supersedes: map[string]string{key: "the same " + b.Name + " call was made again later"}}
	}
	return subject{}
}
