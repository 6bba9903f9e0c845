package memory

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// stripComments removes block-level HTML comments outside fenced code.
func stripComments(text string) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	var out []string
	fenced, inside := false, false
	for _, line := range strings.Split(text, "\n") {
		trim := strings.TrimSpace(line)
		switch {
		case inside:
			if _, after, ok := strings.Cut(line, "-->"); ok {
				inside = false
				if strings.TrimSpace(after) != "" {
					out = append(out, after)
				}
			}
		case !fenced && strings.HasPrefix(trim, "<!--"):
			if _, after, ok := strings.Cut(trim, "-->"); !ok {
				inside = true
			} else if strings.TrimSpace(after) != "" {
				out = append(out, after)
			}
		default:
			if isFence(trim) {
				fenced = !fenced
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

var importRef = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(^|[\\s(])@((?:~/|\\.{0,2}/)?[A-Za-z0-9_.][^\\s`)\\]\"']*)")
})

// expand replaces @imports in running text by the files' texts, after the line that names them.
func (l *Loader) expand(text, dir, scope string, depth int) string {
	if depth >= maxDepth || !strings.Contains(text, "@") {
		return text
	}
	var out []string
	fenced := false
	for _, line := range strings.Split(text, "\n") {
		out = append(out, line)
		if isFence(strings.TrimSpace(line)) {
			fenced = !fenced
		}
		if fenced || !strings.Contains(line, "@") {
			continue
		}
		for _, m := range importRef().FindAllStringSubmatch(withoutCode(line), -1) {
			if imported := l.imported(strings.TrimRight(m[2], ".,;:!?"), dir, scope, depth); imported != "" {
				out = append(out, imported)
			}
		}
	}
	return strings.Join(out, "\n")
}

// imported reads one import. A project file may import only from below the working directory (or its own
// repository's ancestors' files it sits beside); a user file may import anything.
func (l *Loader) imported(ref, dir, scope string, depth int) string {
	path := ref
	switch {
	case strings.HasPrefix(ref, "~/"):
		path = filepath.Join(l.Home, ref[2:])
	case !filepath.IsAbs(ref):
		path = filepath.Join(dir, ref)
	}
	if scope != "user" && !within(real(path), real(l.Work)) && !within(real(path), real(dir)) {
		l.Notices = append(l.Notices, fmt.Sprintf("import of %s was left out: it is outside the project", ref))
		return ""
	}
	text, ok := l.read(path)
	if !ok {
		return ""
	}
	text = l.expand(stripComments(text), filepath.Dir(path), scope, depth+1)
	return fmt.Sprintf("[imported from %s]\n%s\n[end of %s]", ref, strings.TrimRight(text, "\n"), ref)
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// withoutCode blanks `code spans`.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	if len(parts) < 3 {
		return line
	}
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = strings.Repeat(" ", len(parts[i]))
	}
	return strings.Join(parts, " ")
}
