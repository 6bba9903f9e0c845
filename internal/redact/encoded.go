package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// minEncoded is the length, in bytes, below which a value is not looked for in encoded forms, and below which a form is
// not one.
const minEncoded = 16

// encodings are the texts by which a value is found where something has encoded it, alone or in the midst of other bytes:
// base64 at each of its three offsets without the characters that its neighbours have a part in, hexadecimal digits, and
// as a part of a URL.
func encodings(value string) []string {
	if len(value) < minEncoded {
		return nil
	}
	var out []string
	add := func(s string) {
		if len(s) >= minEncoded && s != value && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for before := range 3 {
		whole := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
		from, to := (before*8+5)/6, (before+len(value))*8/6 // the characters that hold bits of the value alone
		add(whole[from:to])
		add(strings.NewReplacer("+", "-", "/", "_").Replace(whole[from:to]))
	}
	digits := hex.EncodeToString([]byte(value))
	add(digits)
	add(strings.ToUpper(digits))
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	return out
}

// encoded matches an encoded form, which programs write in lines.
func encoded(form, mark string) rule {
	return rule{match: func(s string, i int) found {
		at := i
		for k := 0; k < len(form); k++ {
			for k > 0 && at < len(s) && (s[at] == '\n' || s[at] == '\r') {
				at++
			}
			if at >= len(s) || s[at] != form[k] {
				return found{}
			}
			at++
		}
		return found{from: i, to: at, mark: mark}
	}}
}
