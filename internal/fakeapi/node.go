package fakeapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// node is one JSON value that keeps what a decoder into Go types loses: the order of keys, duplicate keys, and
// the text of numbers. Strings are decoded only when somebody asks, since a body may carry megabytes of base64.
type node struct {
	kind byte // 'o' object, 'a' array, 's' string, 'n' number, 'b' boolean, '0' null
	raw  []byte
	keys []string
	vals []*node
	sum  *[sha256.Size]byte // of the canonical form, once it was asked for
}

// parseNode reads one JSON value. It refuses invalid UTF-8 and objects with a duplicate key: both are faults of
// a client's encoder, and lenient servers differ in what they make of them.
func parseNode(data []byte) (*node, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("the body is not valid UTF-8")
	}
	if !json.Valid(data) {
		var v any
		err := json.Unmarshal(data, &v)
		return nil, fmt.Errorf("the body is not valid JSON: %w", err)
	}
	p := nodeParser{data: data}
	n := p.value()
	if p.dup != "" {
		return nil, fmt.Errorf("the body has the key %q twice in one object", p.dup)
	}
	return n, nil
}

// nodeParser walks text that is known to be valid JSON, so it needs no error paths.
type nodeParser struct {
	data []byte
	pos  int
	dup  string
}

func (p *nodeParser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *nodeParser) value() *node {
	p.space()
	start := p.pos
	n := &node{}
	switch p.data[p.pos] {
	case '{':
		n.kind = 'o'
		p.object(n)
	case '[':
		n.kind = 'a'
		p.array(n)
	case '"':
		n.kind = 's'
		p.skipString()
	case 't':
		n.kind = 'b'
		p.pos += 4
	case 'f':
		n.kind = 'b'
		p.pos += 5
	case 'n':
		n.kind = '0'
		p.pos += 4
	default:
		n.kind = 'n'
		for p.pos < len(p.data) && bytes.IndexByte([]byte("+-.eE0123456789"), p.data[p.pos]) >= 0 {
			p.pos++
		}
	}
	n.raw = p.data[start:p.pos]
	return n
}

func (p *nodeParser) object(n *node) {
	p.pos++
	for p.space(); p.data[p.pos] != '}'; p.space() {
		if p.data[p.pos] == ',' {
			p.pos++
			p.space()
		}
		start := p.pos
		p.skipString()
		key := unquote(p.data[start:p.pos])
		if slices.Contains(n.keys, key) && p.dup == "" {
			p.dup = key
		}
		p.space()
		p.pos++ // the colon
		n.keys = append(n.keys, key)
		n.vals = append(n.vals, p.value())
	}
	p.pos++
}

func (p *nodeParser) array(n *node) {
	p.pos++
	for p.space(); p.data[p.pos] != ']'; p.space() {
		if p.data[p.pos] == ',' {
			p.pos++
		}
		n.vals = append(n.vals, p.value())
	}
	p.pos++
}

func (p *nodeParser) skipString() {
	for p.pos++; p.data[p.pos] != '"'; p.pos++ {
		if p.data[p.pos] == '\\' {
			p.pos++
		}
	}
	p.pos++
}

func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// get returns the value of a key, nil when it is missing or null. A nil node has no keys, so calls chain.
func (n *node) get(key string) *node {
	if n == nil || n.kind != 'o' {
		return nil
	}
	if i := slices.Index(n.keys, key); i >= 0 && n.vals[i].kind != '0' {
		return n.vals[i]
	}
	return nil
}

func (n *node) is(kind byte) bool { return n != nil && n.kind == kind }

// text returns the decoded string, "" for any other kind of value.
func (n *node) text() string {
	if !n.is('s') {
		return ""
	}
	return unquote(n.raw)
}

// blank reports whether a string is empty or white space only, without decoding a long one.
func (n *node) blank() bool {
	if n.is('s') && len(n.raw) > 2 && n.raw[1] > ' ' && n.raw[1] < utf8.RuneSelf && n.raw[1] != '\\' {
		return false
	}
	return strings.TrimSpace(n.text()) == ""
}

// digest is the hash of the canonical form. It is kept: a block is hashed for the cache and for thinking.
func (n *node) digest() []byte {
	if n.sum == nil {
		h := sha256.New()
		n.canon(h)
		n.sum = (*[sha256.Size]byte)(h.Sum(nil))
	}
	return n.sum[:]
}

// str is the text of a string field.
func (n *node) str(key string) string { return n.get(key).text() }

// isTrue reports whether n is the literal true.
func (n *node) isTrue() bool { return n.is('b') && n.raw[0] == 't' }

// integer returns the value of a whole number.
func (n *node) integer() (int, bool) {
	if !n.is('n') {
		return 0, false
	}
	i, err := strconv.Atoi(string(n.raw))
	return i, err == nil
}

// items returns the elements of an array, nil for any other kind.
func (n *node) items() []*node {
	if !n.is('a') {
		return nil
	}
	return n.vals
}

// skippedInCanon are fields that do not belong to what the model sees: where the cache is marked, and who made a call.
var skippedInCanon = map[string]bool{"cache_control": true, "caller": true}

// canon writes a form of a content block, tool or system block in which the order of the block's own keys, white
// space, escapes, cache marks, nulls and a false is_error do not count. Inside the block (a tool's input, a
// schema) the order of keys does count: the model reads it in that order.
func (n *node) canon(w io.Writer) {
	if !n.is('o') {
		n.canonInner(w)
		return
	}
	order := make([]int, 0, len(n.keys))
	for i, k := range n.keys {
		v := n.vals[i]
		if skippedInCanon[k] || v.kind == '0' || k == "is_error" && !v.isTrue() {
			continue
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare([]byte(n.keys[a]), []byte(n.keys[b])) })
	for _, i := range order {
		fmt.Fprintf(w, "%q=", n.keys[i])
		if n.keys[i] == "content" {
			canonContent(w, n.vals[i])
			continue
		}
		n.vals[i].canonInner(w)
	}
	_, _ = io.WriteString(w, ";")
}

// canonContent treats a string as the one text block that it stands for.
func canonContent(w io.Writer, n *node) {
	if n.is('s') {
		fmt.Fprintf(w, "[%q=", "text")
		n.canonInner(w)
		fmt.Fprintf(w, "%q=4:text;]", "type")
		return
	}
	_, _ = io.WriteString(w, "[")
	for _, b := range n.items() {
		b.canon(w)
	}
	_, _ = io.WriteString(w, "]")
}

func (n *node) canonInner(w io.Writer) {
	switch n.kind {
	case 'o':
		_, _ = io.WriteString(w, "{")
		for i, k := range n.keys {
			fmt.Fprintf(w, "%q=", k)
			n.vals[i].canonInner(w)
		}
		_, _ = io.WriteString(w, "}")
	case 'a':
		_, _ = io.WriteString(w, "[")
		for _, v := range n.vals {
			v.canonInner(w)
			_, _ = io.WriteString(w, ",")
		}
		_, _ = io.WriteString(w, "]")
	case 's':
		s := canonString(n.raw)
		fmt.Fprintf(w, "%d:", len(s))
		_, _ = w.Write(s)
	default:
		_, _ = w.Write(n.raw)
	}
}

// canonString gives all spellings of a string one form. Only \u and \/ have a second spelling, so that most
// strings are their own canonical form and need no decoding.
func canonString(raw []byte) []byte {
	body := raw[1 : len(raw)-1]
	if !bytes.Contains(body, []byte(`\u`)) && !bytes.Contains(body, []byte(`\/`)) {
		return body
	}
	var out []byte
	for _, c := range []byte(unquote(raw)) {
		if i := strings.IndexByte("\"\\\b\f\n\r\t", c); i >= 0 {
			out = append(out, '\\', `"\bfnrt`[i])
			continue
		}
		out = append(out, c)
	}
	return out
}
