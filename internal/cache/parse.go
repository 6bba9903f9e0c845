package cache

import (
	"bytes"
	"encoding/json"
	"fmt"

	"lathe/internal/msg"
)

// part is a tool, a system block or a content block of a request: what the cache counts by.
type part struct {
	path string
	at   int    // of its first byte, in the body
	raw  []byte // without its end: the cache mark, where there is one, and the last brace
	mark bool
	hour bool
	role string // of its message
}

// request is a body taken apart.
type request struct {
	settings map[string]string
	parts    []part
	heads    int // parts before the messages
}

// The two forms of a mark at the end of a block.
const (
	shortMark = `,"cache_control":{"type":"ephemeral"}}`
	hourMark  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}}`
)

func parse(body []byte) (*request, error) {
	r := &request{settings: map[string]string{}}
	sections := map[string][]part{}
	err := object(body, 0, func(key string, raw []byte, at int) error {
		switch key {
		case "tools", "system":
			return r.list(key, raw, at, sections)
		case "messages":
			return r.messages(raw, at, sections)
		}
		r.settings[key] = string(raw)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	r.parts = append(sections["tools"], sections["system"]...) // in the order of the cache, whatever the body's is
	r.heads = len(r.parts)
	r.parts = append(r.parts, sections["messages"]...)
	return r, nil
}

func (r *request) list(key string, raw []byte, at int, to map[string][]part) error {
	return array(raw, at, func(i int, raw []byte, at int) error {
		to[key] = append(to[key], newPart(fmt.Sprintf("%s[%d]", key, i), raw, at, ""))
		return nil
	})
}

func (r *request) messages(raw []byte, at int, to map[string][]part) error {
	return array(raw, at, func(i int, raw []byte, at int) error {
		path, role, content, from := fmt.Sprintf("messages[%d]", i), "", []byte(nil), 0
		err := object(raw, at, func(key string, raw []byte, at int) error {
			switch key {
			case "role":
				_ = json.Unmarshal(raw, &role)
			case "content":
				content, from = raw, at
			}
			return nil
		})
		if err != nil {
			return err
		}
		return array(content, from, func(j int, raw []byte, at int) error {
			to["messages"] = append(to["messages"], newPart(fmt.Sprintf("%s.content[%d]", path, j), raw, at, role))
			return nil
		})
	})
}

func newPart(path string, raw []byte, at int, role string) part {
	p := part{path: path, at: at, role: role}
	var ok bool
	if p.raw, ok = bytes.CutSuffix(raw, []byte(shortMark)); ok {
		p.mark = true
	} else if p.raw, ok = bytes.CutSuffix(raw, []byte(hourMark)); ok {
		p.mark, p.hour = true, true
	} else {
		p.raw = raw[:max(0, len(raw)-1)]
	}
	return p
}

// object calls each with the fields of a JSON object and where their values stand in the body, of which they are parts.
func object(raw []byte, base int, each func(key string, raw []byte, at int) error) error {
	return items(raw, base, '{', func(_, key, from, to int) error {
		name, ok := msg.Unquote(raw[key:msg.SkipValue(raw, key)])
		if !ok {
			return broken(base + key)
		}
		return each(name, raw[from:to], base+from)
	})
}

// array is object for the items of an array. A value that is no array counts as its only item.
func array(raw []byte, base int, each func(i int, raw []byte, at int) error) error {
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '[' {
		return each(0, raw, base)
	}
	return items(raw, base, '[', func(i, _, from, to int) error { return each(i, raw[from:to], base+from) })
}

// items calls each with the place of every item of an object or an array, and of its key in an object.
func items(raw []byte, base int, opening byte, each func(i, key, from, to int) error) error {
	at := msg.SkipSpace(raw, 0)
	if at >= len(raw) || raw[at] != opening {
		return broken(base)
	}
	closing := opening + 2 // of both kinds of brackets
	at = msg.SkipSpace(raw, at+1)
	if at < len(raw) && raw[at] == closing {
		return nil
	}
	for i := 0; ; i++ {
		key := at
		if opening == '{' {
			end := msg.SkipValue(raw, at)
			if end < 0 || raw[at] != '"' {
				return broken(base + at)
			}
			if at = msg.SkipSpace(raw, end); at >= len(raw) || raw[at] != ':' {
				return broken(base + at)
			}
			at = msg.SkipSpace(raw, at+1)
		}
		end := msg.SkipValue(raw, at)
		if end < 0 {
			return broken(base + at)
		}
		if err := each(i, key, at, end); err != nil {
			return err
		}
		at = msg.SkipSpace(raw, end)
		switch {
		case at < len(raw) && raw[at] == closing:
			return nil
		case at >= len(raw) || raw[at] != ',':
			return broken(base + at)
		}
		at = msg.SkipSpace(raw, at+1)
	}
}

func broken(at int) error { return fmt.Errorf("it is no JSON at byte %d", at) }
