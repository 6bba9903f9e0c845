package tui

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"

	"lathe/internal/front/tui/editor"
)

// historyKept is how many prompts of a directory are offered.
const historyKept = 500

func (u *ui) historyFile() string {
	if u.session == nil || u.session.StateDir == "" {
		return ""
	}
	return filepath.Join(u.session.StateDir, "prompts", u.session.Key+".jsonl")
}

// loadHistory reads the prompts of this directory. Lines that cannot be read are passed over.
func (u *ui) loadHistory() {
	f, err := os.Open(u.historyFile())
	if err != nil {
		return
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 8<<20)
	var list []editor.Draft
	for in.Scan() {
		var d editor.Draft
		if json.Unmarshal(in.Bytes(), &d) == nil && d.Text != "" {
			list = append(list, d)
		}
	}
	if over := len(list) - historyKept; over > 0 {
		list = list[over:]
	}
	u.prompt.history = append(list, u.prompt.history...)
	u.prompt.at = len(u.prompt.history)
}

// keepHistory adds a prompt to the file, as one write.
func (u *ui) keepHistory(d editor.Draft) {
	path := u.historyFile()
	b, err := json.Marshal(d)
	if path == "" || err != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(b, '\n'))
}
