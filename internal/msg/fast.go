package msg

import (
	"bytes"
	"encoding/json"
)

// decoder reads blocks in the shapes that nearly all of them have. On anything else (a key that it does not
// know or sees twice, a value of another type, a mark) it gives up with -1 and decodeAny takes over.
type decoder struct{ scanner }

// The fields that the known block types have. Their order is that of the span array in block.
const (
	fieldType = iota
	fieldText
	fieldThinking
	fieldSignature
	fieldData
	fieldID
	fieldName
	fieldInput
	fieldToolUseID
	fieldContent
	fieldIsError
	fieldSource
	numFields
)

func fieldOf(key []byte) int {
	switch string(key) {
	case "type":
		return fieldType
	case "text":
		return fieldText
	case "thinking":
		return fieldThinking
	case "signature":
		return fieldSignature
	case "data":
		return fieldData
	case "id":
		return fieldID
	case "name":
		return fieldName
	case "input":
		return fieldInput
	case "tool_use_id":
		return fieldToolUseID
	case "content":
		return fieldContent
	case "is_error":
		return fieldIsError
	case "source":
		return fieldSource
	}
	return -1
}

// fields are the values of an object, by field; what is absent is nil.
type fields struct {
	raw   [numFields][]byte
	have  int
	loose bool // white space inside the input
}

// only reports whether nothing but the type and these fields is there.
func (f *fields) only(list ...int) bool {
	n := 1
	for _, i := range list {
		if f.raw[i] != nil {
			n++
		}
	}
	return f.have == n
}

// object returns the fields of the object at i.
func (d *decoder) fields(i int, f *fields) int {
	if i >= len(d.b) || d.b[i] != '{' {
		return -1
	}
	i = d.space(i + 1)
	for {
		if i >= len(d.b) || d.b[i] != '"' {
			return -1
		}
		keyEnd := d.str(i)
		if keyEnd < 0 {
			return -1
		}
		k := fieldOf(d.b[i+1 : keyEnd-1])
		if k < 0 || f.raw[k] != nil {
			return -1
		}
		if i = d.colon(keyEnd); i < 0 {
			return -1
		}
		d.loose = false
		end := d.value(i, 0)
		if end < 0 {
			return -1
		}
		if k == fieldInput {
			f.loose = d.loose
		}
		f.raw[k] = d.b[i:end]
		f.have++
		var done bool
		if i, done = d.next(end, '}'); done || i < 0 {
			return i
		}
	}
}

// block reads the block at i.
func (d *decoder) block(i int) (Block, int) {
	var f fields
	end := d.fields(i, &f)
	if end < 0 || f.raw[fieldType] == nil {
		return Block{}, -1
	}
	b, ok := f.block()
	if !ok {
		return Block{}, -1
	}
	return b, end
}

func (f *fields) block() (b Block, ok bool) {
	switch string(f.raw[fieldType]) {
	case `"text"`:
		b.Type = TypeText
		ok = f.only(fieldText) && f.str(fieldText, &b.Text)
	case `"thinking"`:
		b.Type = TypeThinking
		ok = f.only(fieldThinking, fieldSignature) && f.str(fieldThinking, &b.Text) && f.str(fieldSignature, &b.Signature)
	case `"redacted_thinking"`:
		b.Type = TypeRedactedThinking
		ok = f.only(fieldData) && f.str(fieldData, &b.Data)
	case `"tool_use"`:
		b.Type = TypeToolUse
		ok = f.only(fieldID, fieldName, fieldInput) && f.str(fieldID, &b.ID) && f.str(fieldName, &b.Name) && f.input(&b)
	case `"tool_result"`:
		b.Type = TypeToolResult
		ok = f.only(fieldToolUseID, fieldContent, fieldIsError) && f.str(fieldToolUseID, &b.ToolUseID) && f.result(&b)
	case `"image"`, `"document"`:
		b.Type = string(bytes.Trim(f.raw[fieldType], `"`))
		ok = f.only(fieldSource) && f.source(&b)
	}
	return b, ok
}

// str stores a string field; an absent one is empty.
func (f *fields) str(field int, to *string) bool {
	raw := f.raw[field]
	if raw == nil {
		return true
	}
	if raw[0] != '"' {
		return false
	}
	s, ok := unquote(raw)
	*to = s
	return ok
}

func (f *fields) input(b *Block) bool {
	raw := f.raw[fieldInput]
	if f.loose {
		return false
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	b.Input = json.RawMessage(bytes.Clone(raw))
	return true
}

func (f *fields) result(b *Block) bool {
	switch string(f.raw[fieldIsError]) {
	case "", "false":
	case "true":
		b.IsError = true
	default:
		return false
	}
	raw := f.raw[fieldContent]
	if raw == nil || string(raw) == "null" {
		return true
	}
	d := decoder{scanner{b: raw}}
	var end int
	b.Content, end = d.content(0)
	return end == len(raw)
}

// content reads message or tool_result content at i.
func (d *decoder) content(i int) ([]Block, int) {
	if i >= len(d.b) {
		return nil, -1
	}
	switch d.b[i] {
	case '"':
		end := d.str(i)
		if end < 0 {
			return nil, -1
		}
		s, ok := unquote(d.b[i:end])
		if !ok {
			return nil, -1
		}
		return []Block{Text(s)}, end
	case '[':
		return d.blocks(i)
	}
	return nil, -1
}

func (d *decoder) blocks(i int) ([]Block, int) {
	list := []Block{}
	i = d.space(i + 1)
	if i < len(d.b) && d.b[i] == ']' {
		return list, i + 1
	}
	for {
		b, end := d.block(i)
		if end < 0 { // an odd block among plain ones: only it goes the slow way
			if end = d.value(i, 0); end < 0 || b.decodeAny(d.b[i:end]) != nil {
				return nil, -1
			}
		}
		list = append(list, b)
		var done bool
		if i, done = d.next(end, ']'); done || i < 0 {
			return list, i
		}
	}
}

func (f *fields) source(b *Block) bool {
	raw := f.raw[fieldSource]
	if raw == nil {
		return true
	}
	d := decoder{scanner{b: raw}}
	var s Source
	if d.sourceAt(&s) != len(raw) {
		return false
	}
	b.Source = &s
	return true
}

func (d *decoder) sourceAt(s *Source) int {
	if d.b[0] != '{' {
		return -1
	}
	seen := 0
	for i := d.space(1); ; {
		if i >= len(d.b) || d.b[i] != '"' {
			return -1
		}
		keyEnd := d.str(i)
		if keyEnd < 0 {
			return -1
		}
		var to *string
		bit := 0
		switch string(d.b[i+1 : keyEnd-1]) {
		case "type":
			to, bit = &s.Type, 1
		case "media_type":
			to, bit = &s.MediaType, 2
		case "data":
			to, bit = &s.Data, 4
		case "url":
			to, bit = &s.URL, 8
		case "file_id":
			to, bit = &s.FileID, 16
		}
		if i = d.colon(keyEnd); i < 0 || i >= len(d.b) || d.b[i] != '"' || bit == 0 || seen&bit != 0 {
			return -1
		}
		seen |= bit
		end := d.str(i)
		if end < 0 {
			return -1
		}
		var ok bool
		if *to, ok = unquote(d.b[i:end]); !ok {
			return -1
		}
		var done bool
		if i, done = d.next(end, '}'); done || i < 0 {
			return i
		}
	}
}
