package tui

import (
	"encoding/json"
	"fmt"
	"slices"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/width"
)

// rewound is the answer to the query "rewind".
type rewound struct {
	Can       bool     `json:"canRewind"`
	Error     string   `json:"error"`
	Files     []string `json:"filesChanged"`
	Added     int      `json:"insertions"`
	Removed   int      `json:"deletions"`
	Conflicts []struct{ Path, Why string }
	Skipped   []struct{ Path, Why string }
	Lost      []struct{ Path, Why string }
	Failed    []struct{ Path, Why string }
	Prompt    string `json:"prompt"`
	LeftOut   int    `json:"messagesLeftOut"`
}

// rewindTo shows what going back would change, and asks how far.
func (u *ui) rewindTo(id, prompt string) {
	u.query("rewind", map[string]any{"user_message_id": id, "what": "both", "dry_run": true}, func(r event.Reply) {
		var v rewound
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil || v.Error != "" {
			v.Error = first(v.Error, r.Err)
		}
		lines := []string{"❯ " + width.Inert(prompt), ""}
		if v.LeftOut > 0 {
			lines = append(lines, fmt.Sprintf("%s of the conversation would be left out.", count(v.LeftOut, "message")))
		}
		if len(v.Files) > 0 {
			lines = append(lines, fmt.Sprintf("%s would change (+%d −%d):", count(len(v.Files), "file"), v.Added, v.Removed))
			for _, f := range v.Files {
				lines = append(lines, "  "+width.Inert(f))
			}
		}
		for _, c := range slices.Concat(v.Conflicts, v.Skipped, v.Lost) {
			lines = append(lines, u.th.Warning.Paint("  ! "+width.Inert(c.Path)+": "+width.Inert(c.Why)))
		}
		if v.Error != "" {
			lines = append(lines, u.th.Error.Paint(width.Inert(v.Error)))
		}
		do := func(what string, force bool) func(string) {
			return func(string) { u.rewind(id, what, force) }
		}
		options := []option{{label: "Conversation only", hotkey: "c", do: do("conversation", false)}}
		if len(v.Files) > 0 || len(v.Conflicts) > 0 {
			options = []option{
				{label: "Conversation and files", hotkey: "b", do: do("both", false)},
				{label: "Conversation only", hotkey: "c", do: do("conversation", false)},
				{label: "Files only", hotkey: "f", do: do("files", false)},
			}
		}
		if len(v.Conflicts) > 0 {
			options = append(options, option{label: "Conversation and files, those changed by others too", do: do("both", true)})
		}
		options = append(options, option{label: "Leave all as it is", do: func(string) {}})
		u.open(&choice{title: "Go back to before this prompt?", style: u.th.Permission, body: textBody(lines...), options: options, hint: "↑↓ enter · esc"})
	})
}

func (u *ui) rewind(id, what string, force bool) {
	u.query("rewind", map[string]any{"user_message_id": id, "what": what, "force": force}, func(r event.Reply) {
		var v rewound
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil || v.Error != "" {
			u.notice("error", "Nothing was taken back: "+first(v.Error, r.Err))
			return
		}
		text := "Went back."
		if len(v.Files) > 0 {
			text += fmt.Sprintf(" %s put back.", count(len(v.Files), "file"))
		}
		if v.LeftOut > 0 {
			text += fmt.Sprintf(" %s left out of the conversation.", count(v.LeftOut, "message"))
		}
		u.notice("info", text)
		for _, f := range v.Failed {
			u.notice("warning", f.Path+": "+f.Why)
		}
		if what != "files" && v.Prompt != "" && u.prompt.ed.Empty() {
			u.prompt.ed.Load(editor.Draft{Text: v.Prompt})
			u.prompt.changed(u)
		}
		u.refresh()
	})
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
