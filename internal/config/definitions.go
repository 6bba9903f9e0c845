package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"lathe/internal/frontmatter"
)

// Bounds of the look at definitions.
const (
	definitionsMost = 2000    // that are listed; of the others only the hash is
	entriesMost     = 100_000 // files and folders; with more of them nothing is known, and no trust holds
)

// powerWords finds, in the front matter of a definition, what runs something or allows it.
var powerWords = regexp.MustCompile(`(?i)hooks|mcp_?-?servers|allowed_?-?tools|permission_?-?mode`)

// definitions lists what the commands, skills and agents of a directory would run or allow: the front matter of those
// that name hooks, servers or allowed tools, and each line that has a shell line in it. Their other words have no power.
func definitions(dir string) []Grant {
	if dir == "" {
		return nil
	}
	l := listing{top: dir, been: map[string]bool{}, rest: sha256.New()}
	for _, base := range []string{".claude", ".lathe"} {
		for _, kind := range []string{"agents", "commands", "skills"} {
			l.folder(filepath.Join(dir, base, kind))
		}
	}
	switch {
	case l.entries > entriesMost:
		l.out = append(l.out, Grant{Key: Unlisted, Text: fmt.Sprintf("more than can be looked at (%d)", time.Now().UnixNano()), File: dir, Line: 1})
	case l.seen > definitionsMost:
		l.out = append(l.out, Grant{Key: Unlisted, Text: fmt.Sprintf("more than can be shown: sha256 %x", l.rest.Sum(nil)), File: dir, Line: 1})
	}
	return l.out
}

// listing is one look at the definitions of a directory.
type listing struct {
	top           string
	out           []Grant
	been          map[string]bool // folders, links resolved
	seen, entries int
	rest          hash.Hash // of those that are not listed
}

// folder lists the definitions of a folder and of those below it, by name. It follows links, as who loads skills does.
func (l *listing) folder(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || l.been[real] {
		return // what cannot be read is no definition
	}
	l.been[real] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if l.entries++; l.entries > entriesMost {
			return
		}
		path := filepath.Join(dir, e.Name())
		definition := strings.EqualFold(filepath.Ext(path), ".md")
		if !definition && e.Type().IsRegular() {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			l.folder(path)
		case definition:
			l.file(path)
		}
	}
}

func (l *listing) file(path string) {
	text := powerOf(path)
	name, _ := filepath.Rel(l.top, path) // both are below it
	if l.seen++; l.seen > definitionsMost {
		fmt.Fprintf(l.rest, "%q %q\n", name, text)
		return
	}
	if text != "" {
		l.out = append(l.out, Grant{Key: filepath.ToSlash(name), Text: text, File: path, Line: 1})
	}
}

// Deeper lists what the commands, skills and agents of a folder below the project's top would run or allow. Trust in the
// project says nothing of it, since a session that starts elsewhere never sees it.
func Deeper(dir string, among ...string) []Grant {
	out := definitions(dir)
	return append(out, scripts(out, append([]string{dir}, among...))...)
}

// Unlisted is the key of the grant that stands for definitions of which there are too many to be listed.
const Unlisted = "definitions"

// Power is the part of a definition that runs or allows something, "" for none.
func Power(path string) string { return powerOf(path) }

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
	text := strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd") // as who loads it reads it
	head, body, _ := frontmatter.Split(text)
	var out []string
	if power := headPower(text, head); power != "" {
		out = append(out, power)
	}
	body = strings.ReplaceAll(body, "\r\n", "\n")
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

// headPower is the head of a definition where it has power, or cannot be understood. Where its words may stand for others,
// what they stand for comes after it.
func headPower(text, head string) string {
	plain := strings.TrimSpace(strings.ReplaceAll(head, "\r\n", "\n"))
	if plain == "" {
		return ""
	}
	fields, _ := frontmatter.Parse(text)
	named := powerWords.MatchString(head)
	if fields != nil && !named && !hasPower(map[string]any(fields)) {
		return ""
	}
	if fields == nil || named && !strings.Contains(head, `\`) {
		return plain
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(fields) != nil {
		return plain
	}
	return plain + "\n" + strings.TrimSpace(b.String())
}

// hasPower reports whether a key that stands for power is in a value, at any depth.
func hasPower(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			if powerWords.MatchString(k) || hasPower(below) {
				return true
			}
		}
	case map[any]any:
		for k, below := range v {
			if powerWords.MatchString(fmt.Sprint(k)) || hasPower(below) {
				return true
			}
		}
	case []any:
		for _, below := range v {
			if hasPower(below) {
				return true
			}
		}
	}
	return false
}
