package tui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

// plainForm is a server's question, asked field by field.
type plainForm struct {
	id      string
	url     bool
	fields  []formField
	at      int
	content map[string]any
}

func (p *plain) called(e event.Call) {
	var in elicitation
	if e.Kind != elicitKind || json.Unmarshal(e.Payload, &in) != nil {
		p.send(event.Return{ID: e.ID, Err: "the terminal cannot do " + e.Kind})
		return
	}
	f := &plainForm{id: e.ID, url: in.Mode == "url", content: map[string]any{}}
	p.say("The MCP server %s asks: %s", in.Server, in.Message)
	if f.url {
		p.say("It wants you to open this address: %s", exact(in.URL))
		p.say("Type yes when you have been there, no, or cancel.")
	} else {
		f.fields = formFields(in.Schema)
		p.say("Type an answer to each of the following, or decline, or cancel.")
		p.askField(f)
	}
	p.mu.Lock()
	p.forms = append(p.forms, f)
	p.mu.Unlock()
}

func (p *plain) uncalled(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forms = slices.DeleteFunc(p.forms, func(f *plainForm) bool { return f.id == id })
}

// askField says what the next field of a form wants.
func (p *plain) askField(f *plainForm) {
	if f.at == len(f.fields) {
		p.say("Type send to answer with this, decline, or cancel.")
		return
	}
	x := &f.fields[f.at]
	text := x.label
	if x.note != "" {
		text += ": " + x.note
	}
	if w := x.wants(); w != "" {
		text += " (" + w + ")"
	}
	p.say("%s", text)
	switch {
	case x.kind == "boolean":
		p.say("Type yes or no.")
	case x.choices():
		for i, l := range x.labels {
			p.say("  %d. %s", i+1, width.Inert(l))
		}
		if x.kind == "array" {
			p.say("Type the numbers, with blanks between.")
		} else {
			p.say("Type the number.")
		}
	}
}

// formLine is what was typed as an answer to a form.
func (p *plain) formLine(f *plainForm, l string) {
	word := strings.ToLower(strings.TrimSpace(l))
	action := map[string]string{"decline": "decline", "cancel": "cancel"}[word]
	switch {
	case f.url:
		action = map[string]string{"yes": "accept", "y": "accept", "no": "decline", "n": "decline", "decline": "decline", "cancel": "cancel"}[word]
		if action == "" {
			p.say("Type yes, no or cancel.")
			return
		}
	case action == "" && f.at == len(f.fields):
		if word != "send" {
			p.say("Type send, decline or cancel.")
			return
		}
		action = "accept"
	case action == "":
		x := &f.fields[f.at]
		v, given, wrong := x.line(l)
		if wrong != "" {
			p.say("It %s.", wrong)
			return
		}
		if given {
			f.content[x.name] = v
		}
		f.at++
		p.askField(f)
		return
	}
	p.uncalled(f.id)
	p.send(elicited(f.id, action, f.content))
}

// line reads a field's value out of a typed line.
func (x *formField) line(l string) (v any, given bool, wrong string) {
	words := strings.Fields(strings.ReplaceAll(l, ",", " "))
	switch {
	case x.kind != "boolean" && !x.choices():
		return x.text(l)
	case len(words) == 0 && !x.required:
		return nil, false, ""
	case x.kind == "boolean":
		yes, ok := map[string]bool{"yes": true, "y": true, "no": false, "n": false}[strings.ToLower(strings.TrimSpace(l))]
		if !ok {
			return nil, true, "must be yes or no"
		}
		return yes, true, ""
	}
	list := []string{}
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > len(x.values) {
			return nil, true, "must be a number of the list"
		}
		list = append(list, x.values[n-1])
	}
	if x.kind == "array" {
		if len(list) < x.minLen || x.maxLen >= 0 && len(list) > x.maxLen {
			return nil, true, "has too few or too many choices"
		}
		return list, true, ""
	}
	if len(list) != 1 {
		return nil, true, "must be one number of the list"
	}
	return list[0], true, ""
}
