package msg

import (
	"bytes"
	"encoding/json"
)

// decoder reads blocks in the shapes that nearly all of them have. On anything else (a key that it does not
// know or sees twice, a value of another type, a mark) it gives up with -1 and decodeAny takes over.
type decoder struct {
	scanner
	depth int // of content within content
}

// maxNest is how deep content may lie within content here; real results nest once.
const maxNest = 8

// The fields that the known block types have.
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

// fields are the values of a block, each decoded where it stands: what is long is passed over once.
type fields struct {
	have  uint // bit i: field i is there
	typ   []byte
	str   [numFields]string // of fields that are strings
	input []byte

	content []Block
	isError bool
	source  *Source
}

// only reports whether nothing but the type and these fields is there.
func (f *fields) only(list ...int) bool {
	may := uint(1 << fieldType)
	for _, i := range list {
		may |= 1 << i
	}
	return f.have&^may == 0
}

// fields reads the object at i.
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
		if k < 0 || f.have&(1<<k) != 0 {
			return -1
		}
		f.have |= 1 << k
		if i = d.colon(keyEnd); i < 0 || i >= len(d.b) {
			return -1
		}
		end := d.field(k, i, f)
		if end < 0 {
			return -1
		}
		var done bool
		if i, done = d.next(end, '}'); done || i < 0 {
			return i
		}
	}
}

// field reads the value of field k at i.
func (d *decoder) field(k, i int, f *fields) (end int) {
	switch k {
	case fieldType:
		if end = d.value(i, 0); end > 0 {
			f.typ = d.b[i:end]
		}
	case fieldInput:
		d.loose = false
		if end = d.value(i, 0); d.loose {
			return -1
		}
		if end > 0 {
			f.input = d.b[i:end]
		}
	case fieldContent:
		if d.b[i] == 'n' {
			return d.literal(i, "null")
		}
		f.content, end = d.content(i)
	case fieldIsError:
		if f.isError = d.b[i] == 't'; f.isError {
			return d.literal(i, "true")
		}
		return d.literal(i, "false")
	case fieldSource:
		f.source = &Source{}
		end = d.sourceAt(i, f.source)
	default:
		f.str[k], end = d.string(i)
	}
	return end
}

// block reads the block at i.
func (d *decoder) block(i int) (Block, int) {
	var f fields
	end := d.fields(i, &f)
	if end < 0 {
		return Block{}, -1
	}
	b, ok := f.block()
	if !ok {
		return Block{}, -1
	}
	return b, end
}

func (f *fields) block() (b Block, ok bool) {
	switch string(f.typ) {
	case `"text"`:
		b.Type, b.Text = TypeText, f.str[fieldText]
		ok = f.only(fieldText)
	case `"thinking"`:
		b.Type, b.Text, b.Signature = TypeThinking, f.str[fieldThinking], f.str[fieldSignature]
		ok = f.only(fieldThinking, fieldSignature)
	case `"redacted_thinking"`:
		b.Type, b.Data = TypeRedactedThinking, f.str[fieldData]
		ok = f.only(fieldData)
	case `"tool_use"`:
		b.Type, b.ID, b.Name = TypeToolUse, f.str[fieldID], f.str[fieldName]
		b.Input = json.RawMessage(bytes.Clone(f.input))
		if len(b.Input) == 0 || string(b.Input) == "null" {
			b.Input = json.RawMessage("{}")
		}
		ok = f.only(fieldID, fieldName, fieldInput)
	case `"tool_result"`:
		b.Type, b.ToolUseID, b.Content, b.IsError = TypeToolResult, f.str[fieldToolUseID], f.content, f.isError
		ok = f.only(fieldToolUseID, fieldContent, fieldIsError)
	case `"image"`, `"document"`:
		b.Type, b.Source = string(bytes.Trim(f.typ, `"`)), f.source
		ok = f.only(fieldSource)
	}
	return b, ok
}

// content reads message or tool_result content at i.
func (d *decoder) content(i int) ([]Block, int) {
	if i >= len(d.b) {
		return nil, -1
	}
	switch d.b[i] {
	case '"':
		s, end := d.string(i)
		if end < 0 {
			return nil, -1
		}
		return []Block{Text(s)}, end
	case '[':
		if d.depth == maxNest {
			return nil, -1
		}
		d.depth++
		blocks, end := d.blocks(i)
		d.depth--
		return blocks, end
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

func (d *decoder) sourceAt(i int, s *Source) int {
	if d.b[i] != '{' {
		return -1
	}
	seen := 0
	for i = d.space(i + 1); ; {
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
		if i = d.colon(keyEnd); i < 0 || bit == 0 || seen&bit != 0 {
			return -1
		}
		seen |= bit
		var end int
		if *to, end = d.string(i); end < 0 {
			return -1
		}
		var done bool
		if i, done = d.next(end, '}'); done || i < 0 {
			return i
		}
	}
}
