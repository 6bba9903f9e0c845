package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how a text file's letters became bytes.
type Encoding int

// The encodings. Other is text of an encoding that we cannot tell: it can be shown, but not written.
const (
	UTF8 Encoding = iota
	UTF8BOM
	UTF16LE // with BOM
	UTF16BE // with BOM
	Other
)

func (e Encoding) String() string {
	return [...]string{"UTF-8", "UTF-8 with BOM", "UTF-16LE", "UTF-16BE", "not UTF-8"}[e]
}

// Errors of Decode and Encode.
var (
	ErrBinary   = errors.New("binary content")
	ErrEncoding = errors.New("text that is not UTF-8")
)

const (
	bom8    = "\xef\xbb\xbf"
	bomLE   = "\xff\xfe"
	bomBE   = "\xfe\xff"
	bom32LE = "\xff\xfe\x00\x00"
)

// Text is a file's content as letters.
type Text struct {
	Body string // valid UTF-8 without a BOM, with the line ends of the file
	Enc  Encoding
}

// Decode tells text from binary content and decodes it. Content of encoding Other has U+FFFD where bytes made no
// sense. For every other encoding Encode gives back exactly the same bytes.
func Decode(data []byte) (Text, error) {
	switch {
	case bytes.HasPrefix(data, []byte(bom8)) && utf8.Valid(data):
		if !plausible(data) {
			return Text{}, ErrBinary
		}
		return Text{Body: string(data[len(bom8):]), Enc: UTF8BOM}, nil
	case bytes.HasPrefix(data, []byte(bom32LE)):
		return Text{}, ErrBinary
	case bytes.HasPrefix(data, []byte(bomLE)):
		return decode16(data, UTF16LE)
	case bytes.HasPrefix(data, []byte(bomBE)):
		return decode16(data, UTF16BE)
	case !plausible(data):
		return Text{}, ErrBinary
	case utf8.Valid(data):
		return Text{Body: string(data), Enc: UTF8}, nil
	}
	return Text{Body: strings.ToValidUTF8(string(data), "\ufffd"), Enc: Other}, nil
}

// sample is how much of a file is looked at for control characters.
const sample = 8192

// plausible reports whether data may be text: no NUL, and few control characters at the start. It looks at single
// bytes that no letter of several bytes contains, so where the sample ends does not matter.
func plausible(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	head := data[:min(len(data), sample)]
	odd := 0
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' && c != 0x1b || c == 0x7f {
			odd++
		}
	}
	return odd*10 <= len(head)
}

func decode16(data []byte, enc Encoding) (Text, error) {
	order := byteOrder(enc)
	if len(data)%2 != 0 {
		return Text{}, ErrBinary
	}
	units := make([]uint16, 0, len(data)/2-1)
	for i := 2; i < len(data); i += 2 {
		u := order.Uint16(data[i:])
		if u == 0 {
			return Text{}, ErrBinary
		}
		units = append(units, u)
	}
	t := Text{Body: string(utf16.Decode(units)), Enc: enc}
	back, err := t.Enc.Encode(t.Body)
	if err != nil || !bytes.Equal(back, data) { // half of a surrogate pair
		return Text{}, ErrBinary
	}
	return t, nil
}

// Encode turns letters into the bytes of a file, with the BOM that belongs to the encoding.
func (e Encoding) Encode(s string) ([]byte, error) {
	switch e {
	case UTF8:
		return []byte(s), nil
	case UTF8BOM:
		return append([]byte(bom8), s...), nil
	case UTF16LE, UTF16BE:
		units := utf16.Encode([]rune(s))
		out := append(make([]byte, 0, 2+2*len(units)), bomLE...)
		if e == UTF16BE {
			copy(out, bomBE)
		}
		for _, u := range units {
			out = byteOrder(e).AppendUint16(out, u)
		}
		return out, nil
	}
	return nil, ErrEncoding
}

type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func byteOrder(e Encoding) order {
	if e == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Editable decodes the file for a change. What could not be written back as it was is refused, with words for the
// model.
func (f *File) Editable(name string) (Text, error) {
	t, err := Decode(f.Data)
	if err != nil {
		return Text{}, fmt.Errorf("%s is a binary file and is not edited as text: %w", name, err)
	}
	if t.Enc == Other {
		return Text{}, fmt.Errorf("%s is %w (perhaps Latin-1, Shift-JIS or GBK), and editing would damage it; "+
			"convert it first (iconv), or change it with a program that knows its encoding", name, ErrEncoding)
	}
	return t, nil
}

// LF turns CRLF line ends into LF.
func LF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// LineEnds names the line ends of text for people: LF, CRLF, mixed, or none.
func LineEnds(s string) string {
	crlf := strings.Count(s, "\r\n")
	switch lf := strings.Count(s, "\n"); {
	case lf == 0:
		return "none"
	case crlf == 0:
		return "LF"
	case crlf == lf:
		return "CRLF"
	}
	return "mixed"
}

// Lossy reports whether decoding the JSON text raw replaced something that is no letter (half of a surrogate pair,
// broken UTF-8) by U+FFFD in one of the decoded strings. Such text must not be written to a file.
func Lossy(raw []byte, decoded ...string) bool {
	for _, s := range decoded {
		if strings.ContainsRune(s, utf8.RuneError) {
			return !bytes.Contains(raw, []byte("\ufffd")) && !bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`))
		}
	}
	return false
}
