package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// definitionsMost bounds how many definitions are looked at; with more of them, that alone is something to approve.
const definitionsMost = 2000

// powerWords finds, in the front matter of a definition, what runs something or allows it.
var powerWords = regexp.MustCompile(`(?i)hooks|mcp_?-?servers|allowed_?-?tools|permission_?-?mode`)

// definitions lists what the commands, skills and agents of a directory would run or allow: the front matter of those
// that name hooks, servers or allowed tools, and each line that has a shell line in it. Their other words have no power.
func definitions(dir string) []Grant {
	if dir == "" {
		return nil
	}
	var out []Grant
	seen := 0
	for _, base := range []string{".claude", ".lathe"} {
		for _, kind := range []string{"agents", "commands", "skills"} {
			_ = filepath.WalkDir(filepath.Join(dir, base, kind), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md") {
					return nil // what cannot be read is no definition
				}
				if seen++; seen > definitionsMost {
					out = append(out, Grant{Key: "definitions", Text: "more than can be shown", File: path, Line: 1})
					return fs.SkipAll
				}
				if text := powerOf(path); text != "" {
					name, _ := filepath.Rel(dir, path) // both are below dir
					out = append(out, Grant{Key: filepath.ToSlash(name), Text: text, File: path, Line: 1})
				}
				return nil
			})
		}
	}
	return out
}

// Deeper lists what the commands, skills and agents of a folder below the project's top would run or allow. Trust in the
// project says nothing of it, since a session that starts elsewhere never sees it.
func Deeper(dir string) []Grant {
	out := definitions(dir)
	return append(out, scripts(out, []string{dir})...)
}

// powerOf is the part of a definition that has power, "" for none. A file that is too large to be read is one to approve.
func powerOf(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if info.Size() > maxFile {
		return "a file too large to be shown"
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(b), "\ufeff"), "\r\n", "\n")
	head, body := "", text
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if h, after, ok := strings.Cut(rest, "\n---"); ok {
			head, body = h, after
		}
	}
	var out []string
	if powerWords.MatchString(head) {
		out = append(out, strings.TrimSpace(head))
	}
	if strings.Contains(body, "```!") { // a block of shell lines
		out = append(out, strings.TrimSpace(body))
	} else {
		for line := range strings.Lines(body) {
			if strings.Contains(line, "!`") {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(out, "\n")
}
