package headless

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// Debug writes one line for each event. Filter names events ("retry,tool"): only those whose name contains one of
// the words; words with a leading ! leave events out. Empty or "*" means all.
type Debug struct {
	Out    io.Writer
	Filter string
	Clean  func(raw []byte) []byte // takes secrets out of JSON; nil: nothing is changed
}

// maxDebug is how much of an event is shown, in bytes.
const maxDebug = 2000

// Event writes the line of an event that the filter lets through. A nil Debug writes nothing.
func (d *Debug) Event(env event.Envelope) {
	if d == nil || d.Out == nil {
		return
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", env.Event), "event.")
	if !d.wants(name) {
		return
	}
	body := content(env.Event)
	if d.Clean != nil {
		body = d.Clean(body)
	}
	text := string(body)
	if len(text) > maxDebug {
		text = strings.ToValidUTF8(text[:maxDebug], "") + "…"
	}
	fmt.Fprintf(d.Out, "%s %d %s %s\n", env.Time.UTC().Format("15:04:05.000"), env.Seq, name, event.InertJSON(text))
}

// content is what is shown of an event. Of the pieces of an answer only the size: a secret could lie across two of
// them, where nobody would find it, and the whole comes as a message.
func content(e event.Event) []byte {
	if s, ok := e.(event.Stream); ok {
		return fmt.Appendf(nil, `{"Bytes":%d,"Think":%v}`, len(s.Raw), s.Think)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return msg.AppendString(nil, err.Error())
	}
	return body
}

func (d *Debug) wants(name string) bool {
	name = strings.ToLower(name)
	only, ok := false, false
	for _, w := range strings.Split(strings.ToLower(d.Filter), ",") {
		w = strings.TrimSpace(w)
		switch {
		case w == "" || w == "*":
		case strings.HasPrefix(w, "!"):
			if strings.Contains(name, w[1:]) {
				return false
			}
		default:
			only = true
			ok = ok || strings.Contains(name, w)
		}
	}
	return !only || ok
}
