package bash

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/tool"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxViewed = 10 << 20  // a larger file is not hashed
	keepBytes = 256 << 10 // a larger content is not kept
)

// view is what a command showed of one file.
type view struct {
	path          string
	partial       bool
	offset, limit int // lines, where they are known
}

// viewed records the file that the command showed whole, if it did, and returns its path.
func (j *job) viewed() []string {
	if j.Cache == nil {
		return nil
	}
	v, ok := showsFile(j.in.Command)
	if !ok {
		return nil
	}
	path := v.path
	if !filepath.IsAbs(path) {
		path = filepath.Join(j.dir, path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	state, ok := readState(path, v)
	if !ok {
		return nil
	}
	if old, seen := j.Cache.Get(path); !seen || !v.partial || old.Partial || old.Hash != state.Hash {
		j.Cache.Put(path, state)
	}
	return []string{path}
}

func readState(path string, v view) (tool.ReadState, bool) {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxViewed {
		return tool.ReadState{}, false
	}
	f, err := os.Open(path)
	if err != nil {
		return tool.ReadState{}, false
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxViewed+1))
	if err != nil || len(content) > maxViewed {
		return tool.ReadState{}, false
	}
	s := tool.ReadState{
		Hash: tool.Hash(content), Size: int64(len(content)), ModTime: fi.ModTime(),
		Offset: v.offset, Limit: v.limit, Partial: v.partial,
	}
	if len(content) <= keepBytes {
		s.Content = content
	}
	return s, true
}

// showsFile recognises a command that does nothing but show one file: cat and the like all of it; head, tail,
// sed -n and grep a part.
func showsFile(command string) (view, bool) {
	words, ok := onlyCall(command)
	if !ok || len(words) < 2 {
		return view{}, false
	}
	args := words[1:]
	switch words[0] {
	case "cat", "nl", "bat", "batcat":
		return whole(args)
	case "head", "tail":
		return part(args, 1, "nc")
	case "sed":
		return sedPrint(args)
	case "grep", "egrep", "fgrep", "rg":
		return part(args, 2, "ABCmefgt")
	}
	return view{}, false
}

// onlyCall returns the words of a command that is one simple command without redirection or expansion.
func onlyCall(command string) ([]string, bool) {
	f := parse(command)
	if f == nil || len(f.Stmts) != 1 {
		return nil, false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || s.Background || s.Negated || len(call.Assigns) > 0 {
		return nil, false
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		if words[i], ok = literal(w); !ok {
			return nil, false
		}
	}
	return words, true
}

// whole takes plain options and one file.
func whole(args []string) (view, bool) {
	var files []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			files = append(files, a)
		} else if a == "-" || strings.Contains(a, "range") || strings.HasPrefix(a, "-r") { // bat's --line-range
			return view{}, false
		}
	}
	if len(files) != 1 {
		return view{}, false
	}
	return view{path: files[0]}, true
}

// part takes options and a number of other words, the last of which is the file; the letters are options whose
// value is the next word.
func part(args []string, words int, valued string) (view, bool) {
	file := ""
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case len(a) == 2 && a[0] == '-' && strings.ContainsRune(valued, rune(a[1])):
			if a == "-e" || a == "-f" { // the pattern is given here
				words--
			}
			i++
		case !strings.HasPrefix(a, "-"):
			words--
			file = a
		}
	}
	return view{path: file, partial: true}, words == 0 && file != ""
}

var sedRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+)(?:,(\d+|\$))?p$`) })

func sedPrint(args []string) (view, bool) {
	if len(args) != 3 || args[0] != "-n" {
		return view{}, false
	}
	m := sedRange().FindStringSubmatch(args[1])
	if m == nil {
		return view{}, false
	}
	v := view{path: args[2], partial: true}
	from, _ := strconv.Atoi(m[1])
	to, err := strconv.Atoi(m[2])
	switch {
	case m[2] == "":
		v.offset, v.limit = from, 1
	case err == nil && to >= from:
		v.offset, v.limit = from, to-from+1
	}
	return v, true
}
