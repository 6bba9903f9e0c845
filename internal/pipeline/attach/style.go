package attach

import (
	"context"
	"strconv"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// styleSource is the name of the source that tells of output styles.
const styleSource = "output_style"

// styleIs begins the key of what tells the model of a style.
const styleIs = "is "

// stylePrompts is after how many prompts the model is reminded of the style.
const stylePrompts = 6

// Style tells the model of an output style that was chosen since the system prompt was made, and reminds it of the one in
// force. made is the name of the style that stands in the system prompt, now the one in force with its text; noStyle is
// the name of none.
func Style(made func() string, now func() (name, text string), noStyle string) Source {
	told := func(t *turn.Turn) string {
		if key := lastKey(t.Messages, styleSource, styleIs); key != "" {
			return strings.TrimPrefix(key, styleIs)
		}
		return made()
	}
	return Source{
		Name: styleSource, Budget: 256 << 10,
		When: func(t *turn.Turn, _ Seen) bool {
			if t.System == nil {
				return false // the system prompt will say it
			}
			name, _ := now()
			return name != told(t) || name != noStyle && promptsSince(t.Messages) >= stylePrompts
		},
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			name, text := now()
			switch was := told(t); {
			case name == was:
				return []Item{{
					Key:  fresh(seen, styleSource, "keep "+strconv.Itoa(len(t.Messages))),
					Text: "The output style " + name + " is still in force: keep to it.",
				}}, nil
			case name == noStyle:
				return []Item{{
					Key:  fresh(seen, styleSource, styleIs+name),
					Text: "The user has ended the output style " + was + ": answer without it from here on.",
				}}, nil
			}
			return []Item{{
				Key:  fresh(seen, styleSource, styleIs+name),
				Text: "The user has chosen the output style " + name + ". From here on it stands in place of any other:\n\n" + text,
			}}, nil
		},
	}
}

// promptsSince counts the user's prompts since the style was last told, or since the beginning.
func promptsSince(messages []msg.Message) int {
	n := 0
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.Kind == msg.KindAttachment && m.Source == styleSource || m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
			return n
		}
		if m.Kind == msg.KindUser && !m.Meta && !onlyResults(m) {
			n++
		}
	}
	return n
}

func onlyResults(m msg.Message) bool {
	for _, b := range m.Blocks {
		if b.Type != msg.TypeToolResult {
			return false
		}
	}
	return true
}
