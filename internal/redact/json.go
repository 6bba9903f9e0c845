package redact

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON returns a JSON text with each of its strings redacted, keys included. Text that has no secret comes back as it
// is; what is no JSON is redacted as plain text.
func (r *Redactor) JSON(raw []byte) []byte {
	if r == nil || len(raw) == 0 {
		return raw
	}
	t := r.table.Load()
	var out, buf []byte
	done := 0
	for i := 0; i < len(raw); {
		from := i + bytes.IndexByte(raw[i:], '"')
		if from < i {
			from = len(raw)
		}
		if t.has(raw[i:from]) && !json.Valid(raw) { // else it is a number
			return r.Bytes(raw)
		}
		if from == len(raw) {
			break
		}
		to, escaped := stringEnd(raw, from)
		i = to
		text := raw[from+1 : max(from+1, to-1)]
		if escaped {
			buf = unescape(buf[:0], text)
			text = buf
		}
		if !t.has(text) {
			continue
		}
		var whole string
		if json.Unmarshal(raw[from:to], &whole) != nil {
			return r.Bytes(raw)
		}
		out = append(out, raw[done:from]...)
		out = append(out, quote(r.String(whole))...)
		done = to
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// unescape appends the text of a JSON string. It is only searched, so half a character may become anything.
func unescape(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		switch c := s[i+1]; c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			if i+6 > len(s) {
				return dst
			}
			if n, err := strconv.ParseUint(string(s[i+2:i+6]), 16, 16); err == nil {
				dst = utf8.AppendRune(dst, rune(n))
			}
			i += 4
		default:
			dst = append(dst, c)
		}
		s = s[i+2:]
	}
}

// Bytes is String for bytes.
func (r *Redactor) Bytes(b []byte) []byte {
	s := string(b)
	if clean := r.String(s); clean != s {
		return []byte(clean)
	}
	return b
}

// stringEnd returns the offset behind the string that starts at i, and whether it has escapes.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			escaped = true
			j++
		case '"':
			return j + 1, escaped
		}
	}
	return len(b), escaped
}

func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always can be
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Stream returns a function that redacts a text that comes in pieces of whole lines. It remembers a private key whose
// end has not come.
func (r *Redactor) Stream() func(p []byte) []byte {
	if r == nil {
		return func(p []byte) []byte { return p }
	}
	const closed, marked, bare = 0, 1, 2
	state, size := closed, 0 // of a key whose end has not come: whether its place is marked, and its bytes so far
	return func(p []byte) []byte {
		var out []byte
		if state != closed {
			n, ended := keyRest(p)
			if n > 0 && state == bare {
				out, state = []byte(Mark("private key")+"\n"), marked
			}
			p, size = p[n:], size+n
			if ended || len(p) > 0 || size > maxKey {
				state, size = closed, 0
			}
		}
		clean := r.Bytes(p)
		if at := bytes.LastIndex(p, []byte("-----BEGIN ")); r.forms && at >= 0 {
			switch to, n := privateKey(string(p), at).to, keyLines(string(p[at:])); {
			case to == 0 && at+n >= len(bytes.TrimRight(p, "\n")) && bytes.Contains(p[at:], []byte("PRIVATE KEY")):
				state = bare
			case to > 0 && to == at+n && len(bytes.TrimSpace(p[to:])) == 0 && !bytes.Contains(p[at:], []byte("-----END ")):
				state = marked
			}
		}
		return append(out, clean...)
	}
}

// keyRest is how much of p still belongs to a key that began before it.
func keyRest(p []byte) (n int, ended bool) {
	for n < len(p) {
		line, _, more := strings.Cut(string(p[n:]), "\n")
		end := n + len(line)
		if more {
			end++
		}
		if strings.Contains(line, "-----END ") {
			return end, true
		}
		if !keyLine(line) {
			return n, false
		}
		n = end
	}
	return n, false
}
