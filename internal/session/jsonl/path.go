package jsonl

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	ext           = ".jsonl"
	maxProjectLen = 200
)

// projectName is the name of the directory below projects/ that holds the sessions of a working directory: its
// path with everything but letters and digits made "-". A name too long for file systems is cut, and a hash of
// the path keeps it unique.
func projectName(dir string) string {
	units := utf16.Encode([]rune(dir)) // the convention counts these, and so does its hash
	name := make([]byte, 0, len(units))
	hash := int32(0)
	for _, u := range units {
		hash = hash*31 + int32(u)
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z') {
			name = append(name, byte(u))
		} else {
			name = append(name, '-')
		}
	}
	if len(name) <= maxProjectLen {
		return string(name)
	}
	h := int64(hash)
	if h < 0 {
		h = -h
	}
	return string(name[:maxProjectLen]) + "-" + strconv.FormatInt(h, 36)
}

// ProjectDir is the directory of the sessions of a working directory.
func (s Store) ProjectDir(dir string) string {
	name := s.Project
	if name == "" {
		name = projectName(realPath(dir))
	}
	return filepath.Join(s.StateDir, "projects", name)
}

// realPath resolves links, so that a directory has one name whichever way one came to it.
func realPath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// spillDir is where large tool results of the session in the file path are put; it need not exist.
func spillDir(path string) string { return filepath.Join(sideDir(path), "tool-results") }

// SubagentPath is the transcript of a sub-agent of the session in the file path.
func SubagentPath(path, agentID string) string {
	return filepath.Join(sideDir(path), "subagents", "agent-"+agentID+ext)
}

func sideDir(path string) string { return strings.TrimSuffix(path, ext) }

func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ext) }
