package tui

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

// elicitKind is the one thing that a session asks of its host and the terminal can do: a question of an MCP server.
const elicitKind = "elicitation"

// Calls reports whether the screen answers a kind of Call.
func Calls(kind string) bool { return kind == elicitKind }

// elicitation is what a server wants of the person: a form, or a visit to an address.
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
type elicitation struct {
	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode"` // form or url
	URL     string          `json:"url"`
	Schema  json.RawMessage `json:"requested_schema"`
}

// elicited is the answer: accept with what was filled in, decline, or cancel.
func elicited(id, action string, content map[string]any) event.Return {
	v := map[string]any{"action": action}
	if action == "accept" && content != nil {
		v["content"] = content
	}
	return event.Return{ID: id, Value: event.Encode(v)}
}

// formField is one property of a form. What a server may ask for is flat: a text, a number, yes or no, one or several
// of a list.
type formField struct {
	name, label, note string
	kind              string // string, number, integer, boolean, array
	values, labels    []string
	required          bool
	format            string
	minLen, maxLen    int     // characters, or choices of an array; maxLen -1: any
	least, most       float64 // of a number
	preset            json.RawMessage
}

// choices reports that one or several of a list are wanted.
func (f *formField) choices() bool { return len(f.values) > 0 }

type schemaConst struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

type schemaProperty struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []schemaConst   `json:"oneOf"`
	AnyOf       []schemaConst   `json:"anyOf"`
	Items       *schemaProperty `json:"items"`
	Format      string          `json:"format"`
	MinLength   int             `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	MinItems    int             `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	Default     json.RawMessage `json:"default"`
}

// formFields reads the schema of a form. The order is that of the JSON text.
func formFields(schema json.RawMessage) []formField {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return nil
	}
	var out []formField
	for _, p := range fields(s.Properties) {
		var x schemaProperty
		if json.Unmarshal([]byte(p.value), &x) != nil {
			x = schemaProperty{}
		}
		out = append(out, x.field(p.name, slices.Contains(s.Required, p.name)))
	}
	return out
}

func (x *schemaProperty) field(name string, required bool) formField {
	f := formField{
		name: name, label: width.Inert(first(x.Title, name)), note: event.Inert(x.Description), kind: x.Type, required: required,
		format: x.Format, minLen: x.MinLength, maxLen: -1, least: math.Inf(-1), most: math.Inf(1), preset: x.Default,
	}
	if x.MaxLength != nil {
		f.maxLen = *x.MaxLength
	}
	if x.Minimum != nil {
		f.least = *x.Minimum
	}
	if x.Maximum != nil {
		f.most = *x.Maximum
	}
	from := x
	if x.Type == "array" {
		f.minLen, f.maxLen, from = x.MinItems, -1, &schemaProperty{}
		if x.MaxItems != nil {
			f.maxLen = *x.MaxItems
		}
		if x.Items != nil {
			from = x.Items
		}
	}
	f.values, f.labels = from.Enum, from.EnumNames
	for _, c := range append(from.OneOf, from.AnyOf...) {
		f.values, f.labels = append(f.values, c.Const), append(f.labels, first(c.Title, c.Const))
	}
	if len(f.labels) != len(f.values) {
		f.labels = f.values
	}
	switch {
	case f.kind == "array" && f.choices(), f.kind == "number", f.kind == "integer", f.kind == "boolean":
	default:
		f.kind = "string"
	}
	return f
}

// text is the value that a text or number field has, or what is wrong with it. given is false for one left empty.
func (f *formField) text(s string) (v any, given bool, wrong string) {
	if f.kind == "string" && s == "" || f.kind != "string" && strings.TrimSpace(s) == "" {
		if f.required {
			return nil, false, "is needed"
		}
		return nil, false, ""
	}
	switch f.kind {
	case "integer", "number":
		return f.number(strings.TrimSpace(s))
	}
	if n := utf8.RuneCountInString(s); n < f.minLen {
		return nil, true, fmt.Sprintf("must have at least %s", count(f.minLen, "character"))
	} else if f.maxLen >= 0 && n > f.maxLen {
		return nil, true, fmt.Sprintf("may have at most %s; these are %d", count(f.maxLen, "character"), n)
	}
	return s, true, f.shape(s)
}

func (f *formField) number(s string) (v any, given bool, wrong string) {
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		return nil, true, "must be a number"
	case n < f.least:
		return nil, true, fmt.Sprintf("must be %v or more", f.least)
	case n > f.most:
		return nil, true, fmt.Sprintf("must be %v or less", f.most)
	case f.kind == "number":
		return n, true, ""
	}
	whole, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, true, "must be a whole number"
	}
	return whole, true, ""
}

// shape says what keeps a text from having the format that is wanted.
func (f *formField) shape(s string) string {
	switch f.format {
	case "email":
		if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
			return "must be an e-mail address"
		}
	case "uri":
		if u, err := url.Parse(s); err != nil || u.Scheme == "" {
			return "must be an address, with its scheme, such as https://"
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "must be a date such as 2006-01-31"
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return "must be a time such as 2006-01-31T15:04:05Z"
		}
	}
	return ""
}

// wants tells in words what a field takes.
func (f *formField) wants() string {
	var out []string
	switch {
	case f.kind == "integer":
		out = append(out, "a whole number")
	case f.kind == "number":
		out = append(out, "a number")
	case f.kind == "string" && f.format != "" && !f.choices():
		out = append(out, width.Inert(f.format))
	}
	low, high := !math.IsInf(f.least, 0), !math.IsInf(f.most, 0)
	switch {
	case low && high:
		out = append(out, fmt.Sprintf("%v to %v", f.least, f.most))
	case low:
		out = append(out, fmt.Sprintf("%v or more", f.least))
	case high:
		out = append(out, fmt.Sprintf("%v or less", f.most))
	}
	if !f.required {
		out = append(out, "may be left out")
	}
	return strings.Join(out, ", ")
}

// called answers what the session asks of its host.
func (u *ui) called(e event.Call) {
	var in elicitation
	if e.Kind != elicitKind || json.Unmarshal(e.Payload, &in) != nil {
		u.op(event.Return{ID: e.ID, Err: "the terminal cannot do " + e.Kind})
		return
	}
	var d dialog
	if in.Mode == "url" {
		d = u.visitDialog(e.ID, in)
	} else {
		d = newForm(u, e.ID, in)
	}
	if u.hostCalls == nil {
		u.hostCalls = map[string]dialog{}
	}
	u.hostCalls[e.ID] = d
	u.open(d)
	u.attention("Lathe asks: " + in.Server)
}

// uncalled closes what was asked for somebody who no longer waits for it.
func (u *ui) uncalled(id string) {
	if d := u.hostCalls[id]; d != nil {
		u.closeDialog(d)
		delete(u.hostCalls, id)
		u.notice("info", "A question of an MCP server was withdrawn.")
	}
}

// elicitAnswer answers a server's question, and closes it.
func (u *ui) elicitAnswer(id, action string, content map[string]any) {
	u.closeDialog(u.hostCalls[id])
	delete(u.hostCalls, id)
	u.op(elicited(id, action, content))
	u.work.lastByte = u.o.Now()
}

// visitDialog asks to open an address. Nothing is opened, or told to the server, before the person has said so.
func (u *ui) visitDialog(id string, in elicitation) dialog {
	var c *choice
	c = &choice{
		title: "The MCP server " + width.Inert(in.Server) + " wants you to open an address", style: u.th.Permission, stays: true,
		body: func(cols int) []string {
			out := append(textBody(event.Inert(in.Message), "")(cols), width.Line{Text: u.th.Link.Paint(exact(in.URL))}.Rows(cols)...)
			if a, err := url.Parse(in.URL); err == nil && a.Hostname() != "" {
				out = append(out, textBody(u.th.Muted.Paint("It leads to ")+u.th.Strong.Paint(width.Inert(a.Hostname()))+u.th.Muted.Paint(". What you enter there, only that place sees."))(cols)...)
			}
			return out
		},
		options: []option{
			{label: "Open it in the browser", hotkey: "o", do: func(string) {
				c.sel = 2
				u.query("open_address", map[string]string{"url": in.URL}, func(r event.Reply) {
					u.hint = "opened · go on when you are done there"
					if r.Err != "" {
						u.clipboard(in.URL)
						u.hint = "no browser could be opened (" + width.Inert(firstLine(r.Err)) + "); the address is in the clipboard"
					}
				})
			}},
			{label: "Copy the address", hotkey: "c", do: func(string) {
				u.clipboard(in.URL)
				c.sel = 2
				u.hint = "copied · go on when you are done there"
			}},
			{label: "Go on: I am done there", hotkey: "y", do: func(string) { u.elicitAnswer(id, "accept", nil) }},
			{label: "No", hotkey: "n", do: func(string) { u.elicitAnswer(id, "decline", nil) }},
		},
		hint: "↑↓ enter · esc: cancel",
		esc:  func() { u.elicitAnswer(id, "cancel", nil) },
	}
	return c
}
