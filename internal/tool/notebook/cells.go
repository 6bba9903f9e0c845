package notebook

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/file"
	"lathe/internal/msg"
)

// edited is a notebook after a change.
type edited struct {
	text               string
	id, kind, language string
	oldSource          string
}

// span is the place of a JSON value in the notebook's text.
type span struct{ start, end int }

// field is a member of a JSON object, in order.
type field struct {
	key   string
	value span
}

// object lists the members of the object that starts text[at:]. Offsets are those of text.
func object(text string, at int) ([]field, error) {
	dec := json.NewDecoder(strings.NewReader(text[at:]))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var out []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := value(dec, text, at)
		if err != nil {
			return nil, err
		}
		out = append(out, field{fmt.Sprint(key), v})
	}
	_, err := dec.Token()
	return out, err
}

// array lists the elements of the array at text[s.start:s.end].
func array(text string, s span) ([]span, error) {
	dec := json.NewDecoder(strings.NewReader(text[s.start:s.end]))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return nil, errors.New("cells is not an array")
	}
	var out []span
	for dec.More() {
		v, err := value(dec, text, s.start)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// value reads the next value of a decoder that started at text[at:].
func value(dec *json.Decoder, text string, at int) (span, error) {
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return span{}, err
	}
	end := at + int(dec.InputOffset())
	for end > at+len(raw) && text[end-len(raw):end] != string(raw) {
		end-- // blanks after a number count as read
	}
	return span{end - len(raw), end}, nil
}

// book is a notebook of which the cells' places are known.
type book struct {
	text   string
	cells  []span
	list   span
	indent string // of one level; empty when the file is on one line
	ids    bool   // cells have ids: nbformat 4.5 and later
	lang   string
}

func parse(text string) (*book, error) {
	if !json.Valid([]byte(text)) {
		return nil, errors.New("the notebook is not valid JSON; repair it with Edit")
	}
	at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	top, err := object(text, at)
	if err != nil {
		return nil, fmt.Errorf("read the notebook: %w", err)
	}
	b := &book{text: text, lang: "python"}
	var major, minor int
	for _, f := range top {
		raw := text[f.value.start:f.value.end]
		switch f.key {
		case "cells":
			b.list = f.value
		case "nbformat":
			major, _ = strconv.Atoi(raw)
		case "nbformat_minor":
			minor, _ = strconv.Atoi(raw)
		case "metadata":
			b.lang = language(raw)
		}
	}
	if b.list.end == 0 || major != 0 && major < 4 {
		return nil, errors.New("the notebook has no cells at its top level (nbformat 4 is needed)")
	}
	b.ids = major > 4 || major == 4 && minor >= 5
	rest := strings.TrimLeft(text[at+1:], "\r\n")
	if strings.IndexByte(text[at:], '\n') >= 0 {
		b.indent = rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
	}
	b.cells, err = array(text, b.list)
	return b, err
}

func language(metadata string) string {
	var m struct {
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
		Info struct {
			Name string `json:"name"`
		} `json:"language_info"`
	}
	_ = json.Unmarshal([]byte(metadata), &m)
	for _, s := range []string{m.Kernel.Language, m.Info.Name} {
		if s != "" {
			return s
		}
	}
	return "python"
}

// find returns the index of the cell with an id, or with the number that Read shows for cells without one.
func (b *book) find(id string) (int, error) {
	for i, c := range b.cells {
		var cell struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(b.text[c.start:c.end]), &cell) == nil && cell.ID == id {
			return i, nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(id, "cell-")); err == nil && n >= 0 && n < len(b.cells) {
		return n, nil
	}
	return 0, fmt.Errorf("there is no cell %q; Read shows the ids", id)
}

// change makes the edit in the text of a notebook.
func change(text string, in Input) (edited, error) {
	b, err := parse(text)
	if err != nil {
		return edited{}, err
	}
	at := -1
	if in.CellID != "" {
		if at, err = b.find(in.CellID); err != nil {
			return edited{}, err
		}
	}
	var out edited
	switch in.Mode {
	case "insert":
		out = b.insert(at, in)
	case "delete":
		out, err = b.remove(at)
	default:
		out, err = b.replace(at, in)
	}
	out.language = b.lang
	if err == nil && !json.Valid([]byte(out.text)) {
		err = errors.New("the change would break the notebook; nothing was written")
	}
	return out, err
}

func (b *book) replace(at int, in Input) (edited, error) {
	c := b.cells[at]
	fields, err := object(b.text, c.start)
	if err != nil {
		return edited{}, fmt.Errorf("read cell %s: %w", in.CellID, err)
	}
	out := edited{id: in.CellID}
	raw := map[string]string{}
	for _, f := range fields {
		raw[f.key] = b.text[f.value.start:f.value.end]
	}
	out.oldSource = sourceText(raw["source"])
	_ = json.Unmarshal([]byte(raw["cell_type"]), &out.kind)
	was := out.kind
	if in.CellType != "" {
		out.kind = in.CellType
	}
	set := map[string]string{"source": source(in.Source, strings.HasPrefix(raw["source"], `"`)), "cell_type": string(msg.AppendString(nil, out.kind))}
	if out.kind == "code" { // what the old source put out is not what the new one would
		set["outputs"], set["execution_count"] = "[]", "null"
	}
	var parts []string
	for _, f := range fields {
		if was != out.kind && out.kind != "code" && (f.key == "outputs" || f.key == "execution_count") {
			continue
		}
		v := raw[f.key]
		if s, ok := set[f.key]; ok {
			v = s
			delete(set, f.key)
		}
		parts = append(parts, quote(f.key)+":"+v)
	}
	for _, key := range []string{"execution_count", "outputs", "source"} { // a cell that was no code cell
		if v, ok := set[key]; ok {
			parts = append(parts, quote(key)+":"+v)
		}
	}
	out.text = b.text[:c.start] + b.format("{"+strings.Join(parts, ",")+"}", 2) + b.text[c.end:]
	return out, nil
}

// insert puts a new cell after cell number at.
func (b *book) insert(at int, in Input) edited {
	out := edited{id: fmt.Sprintf("cell-%d", at+1), kind: in.CellType}
	parts := []string{`"cell_type":` + quote(in.CellType)}
	if in.CellType == "code" {
		parts = append(parts, `"execution_count":null`)
	}
	if b.ids {
		out.id = newID()
		parts = append(parts, `"id":`+quote(out.id))
	}
	parts = append(parts, `"metadata":{}`)
	if in.CellType == "code" {
		parts = append(parts, `"outputs":[]`)
	}
	cell := b.format("{"+strings.Join(append(parts, `"source":`+source(in.Source, false)), ",")+"}", 2)
	sep := b.newline(2)
	switch {
	case len(b.cells) == 0:
		out.text = b.text[:b.list.start] + "[" + sep + cell + b.newline(1) + "]" + b.text[b.list.end:]
	case at < 0:
		first := b.cells[0].start
		out.text = b.text[:first] + cell + "," + sep + b.text[first:]
	default:
		end := b.cells[at].end
		out.text = b.text[:end] + "," + sep + cell + b.text[end:]
	}
	return out
}

func (b *book) remove(at int) (edited, error) {
	c := b.cells[at]
	var cell struct {
		ID     string          `json:"id"`
		Type   string          `json:"cell_type"`
		Source json.RawMessage `json:"source"`
	}
	if err := json.Unmarshal([]byte(b.text[c.start:c.end]), &cell); err != nil {
		return edited{}, fmt.Errorf("read the cell: %w", err)
	}
	out := edited{id: cell.ID, kind: cell.Type, oldSource: sourceText(string(cell.Source))}
	if out.id == "" {
		out.id = fmt.Sprintf("cell-%d", at)
	}
	switch {
	case len(b.cells) == 1:
		out.text = b.text[:b.list.start] + "[]" + b.text[b.list.end:]
	case at == 0:
		out.text = b.text[:c.start] + b.text[b.cells[1].start:]
	default:
		out.text = b.text[:b.cells[at-1].end] + b.text[c.end:]
	}
	return out, nil
}

// format writes JSON as the file is written, at a depth.
func (b *book) format(raw string, depth int) string {
	var buf bytes.Buffer
	if b.indent == "" {
		_ = json.Compact(&buf, []byte(raw))
		return buf.String()
	}
	_ = json.Indent(&buf, []byte(raw), strings.Repeat(b.indent, depth), b.indent)
	if file.LineEnds(b.text) == "CRLF" {
		return strings.ReplaceAll(buf.String(), "\n", "\r\n")
	}
	return buf.String()
}

// newline is what stands before a value at a depth.
func (b *book) newline(depth int) string {
	if b.indent == "" {
		return ""
	}
	end := "\n"
	if file.LineEnds(b.text) == "CRLF" {
		end = "\r\n"
	}
	return end + strings.Repeat(b.indent, depth)
}

func quote(s string) string { return string(msg.AppendString(nil, s)) }

// source is the JSON of a cell's text: an array of lines, or one string where the cell had it so.
func source(s string, plain bool) string {
	if plain {
		return quote(s)
	}
	if s == "" {
		return "[]"
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		lines[i] = quote(l)
	}
	return "[" + strings.Join(lines, ",") + "]"
}

func sourceText(raw string) string {
	var list []string
	if json.Unmarshal([]byte(raw), &list) == nil {
		return strings.Join(list, "")
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s)
	return s
}

// newID is a fresh id of a cell, as notebook programs make them.
func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
