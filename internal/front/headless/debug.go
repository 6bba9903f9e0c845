package headless

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lathe/internal/event"
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

func (d *Debug) event(env event.Envelope) {
	if d == nil || d.Out == nil {
		return
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", env.Event), "event.")
	if !d.wants(name) {
		return
	}
	body, err := json.Marshal(env.Event)
	if err != nil {
		body = []byte(err.Error())
	}
	if d.Clean != nil {
		body = d.Clean(body)
	}
	text := string(body)
	if len(text) > maxDebug {
		text = strings.ToValidUTF8(text[:maxDebug], "") + "…"
	}
	fmt.Fprintf(d.Out, "%s %d %s %s\n", env.Time.UTC().Format("15:04:05.000"), env.Seq, name, text)
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
