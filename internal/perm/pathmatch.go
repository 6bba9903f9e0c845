package perm

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// pathPattern is the compiled content of a Read or Edit rule: gitignore syntax below one directory. Paths are
// absolute with forward slashes; on Windows C:\x is /c/x.
type pathPattern struct {
	all   bool
	base  string // the anchor directory, "" for the root
	segs  []segment
	deep  bool // matches at any depth below base
	below bool // what is below a match matches too
	fold  bool
}

type segment struct {
	text    string
	any     bool // **
	pattern bool // has * ? [ or \
}

// anchors are the directories that path patterns start from.
type anchors struct {
	start, home, source string
	platform            string
}

// compilePath reads the content of a path rule. why is not empty when the pattern can never match.
func compilePath(content string, effect Verdict, a anchors) (p pathPattern, why string) {
	p.fold = foldsCase(a.platform)
	if content == "*" || content == "**" || content == "//**" {
		return pathPattern{all: true}, ""
	}
	if a.platform == "windows" && hasDrive(content) {
		content = "//" + strings.ToLower(content[:1]) + strings.ReplaceAll(content[2:], `\`, "/")
	}
	rest, relative := content, false
	switch {
	case strings.HasPrefix(content, "//"):
		rest = content[2:]
	case content == "~" || strings.HasPrefix(content, "~/"):
		if a.home == "" {
			return p, "there is no home directory"
		}
		p.base, rest = a.home, strings.TrimPrefix(content[1:], "/")
	case strings.HasPrefix(content, "/"):
		p.base, rest = a.source, content[1:]
	default:
		p.base, rest, relative = a.start, strings.TrimPrefix(content, "./"), true
	}
	for strings.HasPrefix(rest, "../") {
		p.base, rest = parentDir(p.base), rest[3:]
	}
	p.base = strings.TrimSuffix(p.base, "/")
	return p, p.segments(rest, effect, relative)
}

// segments compiles what follows the anchor.
func (p *pathPattern) segments(rest string, effect Verdict, relative bool) (why string) {
	restricts := effect != Allow
	dir := false
	if s, ok := strings.CutSuffix(rest, "/"); ok {
		rest, dir = s, true
	}
	if rest == "" {
		p.below = true
		return ""
	}
	texts := strings.Split(rest, "/")
	if len(texts) > 1 && texts[len(texts)-1] == "**" {
		// The directory itself is covered like what it holds.
		texts, dir = texts[:len(texts)-1], true
	}
	for _, t := range texts {
		if t == ".." || t == "." || t == "" {
			return "it has an empty or dotted segment"
		}
		s := segment{text: p.folded(t), any: t == "**", pattern: strings.ContainsAny(t, `*?[\`)}
		p.segs = append(p.segs, s)
	}
	last := p.segs[len(p.segs)-1]
	p.below = restricts || dir || !last.pattern
	// A bare name matches at any depth; a bare directory does so only where it restricts.
	p.deep = relative && len(texts) == 1 && (restricts || !dir)
	return ""
}

func (p *pathPattern) folded(s string) string {
	if p.fold {
		return foldName(s)
	}
	return s
}

// foldName makes names equal that a case-insensitive file system takes for one.
func foldName(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return strings.ToLower(strings.Map(func(r rune) rune {
				if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
					return -1
				}
				return r
			}, norm.NFC.String(s)))
		}
	}
	return strings.ToLower(s)
}

// match reports whether the pattern covers an absolute path.
func (p *pathPattern) match(path string) bool {
	if p.all {
		return true
	}
	base := p.base
	if p.fold {
		path, base = foldName(path), foldName(base)
	}
	rel, ok := cutDir(path, base)
	if !ok {
		return false
	}
	if rel == "" {
		return len(p.segs) == 0
	}
	for {
		if matchSegs(p.segs, rel, p.below) {
			return true
		}
		_, next, more := strings.Cut(rel, "/")
		if !p.deep || !more {
			return false
		}
		rel = next
	}
}

// cutDir returns path relative to the directory dir ("" for the root), when it is dir or below it.
func cutDir(path, dir string) (rel string, ok bool) {
	rel, ok = strings.CutPrefix(path, dir)
	if !ok || rel != "" && rel[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rel, "/"), true
}

// matchSegs matches pattern segments against a relative path; below also accepts a longer path. As with the stars
// of a name, only the last ** needs to be tried again, so that the time stays in proportion to the product.
func matchSegs(segs []segment, path string, below bool) bool {
	star, retry := -1, ""
	i := 0
	for {
		switch {
		case i < len(segs) && segs[i].any:
			if i == len(segs)-1 {
				return path != ""
			}
			star, retry = i, path
			i++
			continue
		case i == len(segs) && (path == "" || below):
			return true
		case i < len(segs) && path != "":
			name, rest, _ := strings.Cut(path, "/")
			if segs[i].match(name) {
				i, path = i+1, rest
				continue
			}
		}
		if star < 0 || retry == "" {
			return false
		}
		_, retry, _ = strings.Cut(retry, "/")
		i, path = star+1, retry
	}
}

func (s *segment) match(name string) bool {
	if !s.pattern {
		return s.text == name
	}
	return globName(s.text, name)
}

// globName matches one path segment: * ? [a-z] [!a] and backslash. It takes time in proportion to the product
// of both lengths at most.
func globName(pattern, name string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(name) {
		if i < len(pattern) && pattern[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n, m := globOne(pattern[i:], name[j:]); n > 0 {
			i, j = i+n, j+m
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	return strings.Trim(pattern[i:], "*") == ""
}

// globOne matches one character; it returns the bytes used of both, or 0.
func globOne(pattern, name string) (used, took int) {
	if pattern == "" {
		return 0, 0
	}
	r, size := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return 1, size
	case '\\':
		if len(pattern) > 1 && pattern[1] == name[0] {
			return 2, 1
		}
		return 0, 0
	case '[':
		if n, in, ok := class(pattern, r); ok {
			if in {
				return n, size
			}
			return 0, 0
		}
	}
	if pattern[0] == name[0] {
		return 1, 1
	}
	return 0, 0
}

// class matches a bracket expression at the start of pattern; ok is false when it is not one.
func class(pattern string, r rune) (n int, in, ok bool) {
	if len(pattern) < 3 {
		return 0, false, false
	}
	end := strings.IndexByte(pattern[2:], ']')
	if end < 0 {
		return 0, false, false
	}
	body := []rune(pattern[1 : end+2])
	not := len(body) > 1 && (body[0] == '!' || body[0] == '^')
	if not {
		body = body[1:]
	}
	for i := 0; i < len(body); i++ {
		lo, hi := body[i], body[i]
		if i+2 < len(body) && body[i+1] == '-' {
			hi = body[i+2]
			i += 2
		}
		if r >= lo && r <= hi {
			in = true
		}
	}
	return end + 3, in != not, true
}

func hasDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z' &&
		(len(s) == 2 || s[2] == '/' || s[2] == '\\')
}

func parentDir(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		return dir[:i]
	}
	return ""
}
