package tui

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"lathe/internal/front/tui/editor"
)

// edited has the person edit a text in their own editor.
func (u *ui) edited(text, ext string) (string, error) {
	command := first(u.o.Getenv("VISUAL"), u.o.Getenv("EDITOR"))
	if command == "" {
		command = "vi"
	}
	dir, err := os.MkdirTemp("", "lathe-edit-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "prompt"+ext)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	u.stepAside()
	err = u.tty.Lend(func() error {
		words := strings.Fields(command)
		cmd := exec.Command(words[0], append(words[1:], path)...)
		if runtime.GOOS != "windows" && strings.ContainsAny(command, `"'$\`) {
			cmd = exec.Command("/bin/sh", "-c", command+` "$1"`, "sh", path)
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = u.o.In, u.o.Out, u.o.Out
		return cmd.Run()
	})
	u.back()
	if err != nil {
		return "", errors.New("the editor " + command + ": " + err.Error())
	}
	b, err := os.ReadFile(path)
	return strings.TrimSuffix(string(b), "\n"), err
}

func (u *ui) externalEditor() {
	d := u.prompt.ed.Draft()
	text, err := u.edited(d.Text, ".md")
	if err != nil {
		u.hint = err.Error()
		return
	}
	u.prompt.ed.Load(editor.Draft{Text: text, Parts: d.Parts})
	u.prompt.changed(u)
}

// pasteImage takes an image from the clipboard, by way of the programs that systems have for that.
func (u *ui) pasteImage() {
	dir, err := os.MkdirTemp("", "lathe-image-*")
	if err != nil {
		u.hint = err.Error()
		return
	}
	path := filepath.Join(dir, "clipboard.png")
	u.hint = "looking at the clipboard …"
	go func() {
		ok := saveClipboardImage(path)
		u.post(func() {
			u.hint = ""
			if !ok {
				_ = os.RemoveAll(dir)
				u.hint = "there is no image in the clipboard (or no xclip, wl-paste or osascript to get it)"
				return
			}
			u.prompt.ed.Attach(editor.Image, path)
			u.temps = append(u.temps, dir)
		})
	}()
}

// clipboardLimit is how long a program may take to hand over what is in the clipboard.
const clipboardLimit = 5 * time.Second

func saveClipboardImage(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), clipboardLimit)
	defer cancel()
	for _, c := range [][]string{
		{"wl-paste", "--type", "image/png"},
		{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"},
		{"pngpaste", "-"},
	} {
		if _, err := exec.LookPath(c[0]); err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, c[0], c[1:]...).Output()
		if err == nil && len(out) > 8 && string(out[1:4]) == "PNG" {
			return os.WriteFile(path, out, 0o600) == nil
		}
	}
	if runtime.GOOS == "darwin" {
		script := `set f to open for access POSIX file "` + path + `" with write permission
write (the clipboard as «class PNGf») to f
close access f`
		return exec.CommandContext(ctx, "osascript", "-e", script).Run() == nil
	}
	return false
}

// searchHistory finds a prompt of earlier.
func (u *ui) searchHistory() {
	var sent []entry
	for i := len(u.prompt.history) - 1; i >= 0; i-- {
		d := u.prompt.history[i]
		sent = append(sent, entry{name: strings.Join(strings.Fields(d.Text), " "), value: d})
	}
	p := newPicker("What was sent before", sent, func(e entry) {
		d, _ := e.value.(editor.Draft)
		u.prompt.ed.Load(u.prompt.recall(d))
		u.prompt.changed(u)
	})
	p.context = "HistorySearch"
	here, all := sent, false
	p.other = func(name string, _ *entry) bool {
		switch {
		case name == "ctrl+r":
			p.list.Move(1)
		case name == "ctrl+s" && u.prompt.store != nil:
			if all = !all; all {
				p.title = "What was sent before, in all folders"
				p.set(u.sentEverywhere())
			} else {
				p.title = "What was sent before"
				p.set(here)
			}
		default:
			return false
		}
		return true
	}
	p.hint = "type to search · ctrl+r next · ctrl+s all folders · enter takes · esc"
	u.open(p)
}

// sentEverywhere are the prompts of all folders, the newest first.
func (u *ui) sentEverywhere() []entry {
	list := u.prompt.store.LoadAll()
	out := make([]entry, 0, len(list))
	for _, e := range slices.Backward(list) {
		out = append(out, entry{name: strings.Join(strings.Fields(e.Draft.Text), " "), value: e.Draft})
	}
	return out
}
