package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"github.com/tailscale/hujson"
)

// Scope is where settings come from. A higher scope wins over a lower one.
type Scope string

// The scopes, lowest first.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
	CLI     Scope = "cli"
	Managed Scope = "managed"
)

// maxFile is the size limit of a settings file, in bytes.
const maxFile = 2 << 20

// Layer is one settings file, or the inline JSON of --settings.
type Layer struct {
	Scope Scope
	File  string // empty for inline JSON
	// Anchor is the directory that path rules with one leading slash are relative to.
	Anchor string
	// Trusted says that what grants power (allow rules, environment, helpers, endpoints) counts.
	Trusted bool
	Keys    map[string]json.RawMessage // standard JSON

	tree hujson.Value
	text []byte
}

// SyntaxError is a settings file that is not valid JSON.
type SyntaxError struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *SyntaxError) Error() string {
	file := e.File
	if file == "" {
		file = "--settings"
	}
	return fmt.Sprintf("%s:%d:%d: %s", file, e.Line, e.Col, e.Msg)
}

// ReadLayer reads one settings file. A file that is not there gives nil and no error.
func ReadLayer(scope Scope, file, anchor string) (*Layer, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read settings: %s is not a regular file", file)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read settings: %s is larger than 2 MiB", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return ParseLayer(scope, file, anchor, text)
}

func isNotDir(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Err.Error() == "not a directory"
}

// ParseLayer reads settings text.
func ParseLayer(scope Scope, file, anchor string, text []byte) (*Layer, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	l := &Layer{Scope: scope, File: file, Anchor: anchor, Trusted: true, text: text, Keys: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(text)) == 0 {
		return l, nil
	}
	tree, err := hujson.Parse(text)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	l.tree = tree
	std := tree.Clone()
	std.Standardize()
	if err := json.Unmarshal(std.Pack(), &l.Keys); err != nil {
		return nil, &SyntaxError{File: file, Line: 1, Col: 1, Msg: "settings must be a JSON object"}
	}
	return l, nil
}

// place reads where hujson says an error is: "hujson: line 3, column 7: …".
var place = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)
})

func syntaxError(file string, err error) error {
	m := place().FindStringSubmatch(err.Error())
	if m == nil {
		return &SyntaxError{File: file, Line: 1, Col: 1, Msg: err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	col, _ := strconv.Atoi(m[2])
	return &SyntaxError{File: file, Line: line, Col: col, Msg: m[3]}
}

// Line is the line of the value at a JSON pointer such as /permissions/allow/0; 0 when it is not known.
func (l *Layer) Line(pointer string) int {
	if l.text == nil || l.tree.Value == nil {
		return 0
	}
	v := l.tree.Find(pointer)
	if v == nil {
		return 0
	}
	return 1 + bytes.Count(l.text[:min(v.StartOffset, len(l.text))], []byte("\n"))
}

// name is how messages call the layer.
func (l *Layer) name() string {
	if l.File == "" {
		return "--settings"
	}
	return filepath.ToSlash(l.File)
}
