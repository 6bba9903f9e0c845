package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/git"
	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/tool/bash"
	"lathe/internal/turn"
)

// diffMost is how much of a difference is shown, in bytes.
const diffMost = 200 << 10

// cmdDiff shows what the work tree has that is not committed, and which files this session changed.
func (r *run) cmdDiff(ctx context.Context, t *turn.Turn, _ string) (string, error) {
	d, err := r.changes(ctx, t.Messages)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if len(d.Session) > 0 {
		b.WriteString("Changed by this session:\n")
		for _, p := range d.Session {
			fmt.Fprintf(&b, "  %s\n", p)
		}
		b.WriteByte('\n')
	}
	switch {
	case r.place.Root == "":
		b.WriteString("This is no git repository, so there is nothing to compare with.\n")
	case len(d.Files) == 0:
		b.WriteString("Nothing differs from the last commit.\n")
	default:
		b.WriteString("Not committed:\n")
		for _, f := range d.Files {
			fmt.Fprintf(&b, "  %-12s %s\n", linesOf(f), f.Path)
		}
		if d.Diff != "" {
			b.WriteString("\n" + d.Diff + "\n")
		}
	}
	return b.String(), nil
}

func linesOf(f git.Changed) string {
	switch {
	case f.New:
		return "new"
	case f.Added < 0:
		return "binary"
	}
	return fmt.Sprintf("+%d -%d", f.Added, f.Removed)
}

// worktree is the answer to the query "diff".
type worktree struct {
	Session []string      `json:"session"` // files that this session changed, relative where they are in the workspace
	Files   []git.Changed `json:"files"`   // that differ from the last commit
	Diff    string        `json:"diff"`
}

func (r *run) changes(ctx context.Context, messages []msg.Message) (worktree, error) {
	out := worktree{Session: r.changedBy(messages), Files: []git.Changed{}}
	if r.place.Root == "" {
		return out, nil
	}
	files, diff, err := git.Changes(ctx, r.place.Root, diffMost)
	if err != nil {
		return out, fmt.Errorf("ask git for the changes: %w", err)
	}
	out.Files, out.Diff = append(out.Files, files...), r.place.Redact.String(diff)
	return out, nil
}

// changedBy lists the files that calls of the editing tools changed.
func (r *run) changedBy(messages []msg.Message) []string {
	failed := map[string]bool{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult && b.IsError {
				failed[b.ToolUseID] = true
			}
		}
	}
	out := []string{}
	for _, m := range messages {
		for _, b := range m.ToolUses() {
			path := editedPath(b)
			if path == "" || failed[b.ID] {
				continue
			}
			if rel := r.tools.workspace.Rel(r.tools.workspace.Abs(path)); !slices.Contains(out, rel) {
				out = append(out, rel)
			}
		}
	}
	slices.Sort(out)
	return out
}

// editedPath is the file that a call of an editing tool names, "" for any other call.
func editedPath(b msg.Block) string {
	var in struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	if !slices.Contains([]string{"Edit", "Write", "NotebookEdit"}, b.Name) || json.Unmarshal(b.Input, &in) != nil {
		return ""
	}
	return first(in.File, in.Notebook)
}

func (r *run) cmdTodos(context.Context, *turn.Turn, string) (string, error) {
	return or(todoText(r.tools.todos), "The to-do list is empty."), nil
}

// taskTail is how much of a task's output is shown, in bytes.
const taskTail = 20 << 10

// cmdTasks lists what runs in the background, or shows the end of one task's output.
func (r *run) cmdTasks(_ context.Context, _ *turn.Turn, args string) (string, error) {
	if args != "" {
		return r.taskOutput(args)
	}
	var b strings.Builder
	for _, t := range slices.Concat(r.tools.tasks.Snapshot(), r.work.snapshot()) {
		fmt.Fprintf(&b, "%-8s %-9s %8s  %s\n", t.ID, t.State, event.Bytes(t.Size), event.OneLine(first(t.Description, t.Command), 80))
	}
	if b.Len() > 0 {
		b.WriteString("/tasks ID shows the output of one.\n")
	}
	return or(b.String(), "Nothing runs in the background."), nil
}

// taskOutput shows a task. What the model has seen of it stays as it is.
func (r *run) taskOutput(id string) (string, error) {
	tasks := slices.Concat(r.tools.tasks.Snapshot(), r.work.snapshot())
	i := slices.IndexFunc(tasks, func(t bash.Task) bool { return t.ID == id })
	if i < 0 {
		return "", fmt.Errorf("there is no background task %q", id)
	}
	t := tasks[i]
	text := fmt.Sprintf("%s  %s\n%s\n", t.ID, t.State, t.Command)
	if t.OutputFile == "" {
		return text, nil
	}
	tail, size, err := tailOf(t.OutputFile, taskTail)
	if err != nil {
		return "", fmt.Errorf("read the output of %s: %w", id, err)
	}
	if size > int64(len(tail)) {
		text += fmt.Sprintf("\n[the last %s of %s; all of it is in %s]", event.Bytes(int64(len(tail))), event.Bytes(size), t.OutputFile)
	}
	return text + "\n" + r.place.Redact.String(strings.ToValidUTF8(string(tail), "\ufffd")), nil
}

func tailOf(path string, most int64) ([]byte, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if _, err := f.Seek(max(0, info.Size()-most), io.SeekStart); err != nil {
		return nil, 0, err
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	return b, info.Size(), err
}

// cmdCopy returns the text of the last answer, or of the one N back.
func (r *run) cmdCopy(_ context.Context, t *turn.Turn, args string) (string, error) {
	n := 1
	if args != "" {
		if _, err := fmt.Sscan(args, &n); err != nil || n < 1 {
			return "", fmt.Errorf("%q is no number of an answer: 1 is the last one", args)
		}
	}
	return answerText(t.Messages, n)
}

// answerText is the text of the nth last answer: of the last message of the model before each prompt, whose blocks may be
// several records.
func answerText(messages []msg.Message, n int) (string, error) {
	var answers []string
	last := ""
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.Kind != msg.KindAssistant || m.Sidechain || m.APIError != "" {
			continue
		}
		text := strings.TrimSpace(m.Text())
		if text == "" {
			continue
		}
		if m.APIID != "" && m.APIID == last {
			answers[len(answers)-1] = text + "\n\n" + answers[len(answers)-1]
			continue
		}
		if last = m.APIID; len(answers) == n {
			break
		}
		answers = append(answers, text)
	}
	if len(answers) < n {
		return "", fmt.Errorf("there is no such answer: this session has %s with text", count(len(answers), "answer"))
	}
	return answers[n-1], nil
}

// cmdExport writes the conversation as Markdown: into a new file, or as the command's result.
func (r *run) cmdExport(_ context.Context, t *turn.Turn, args string) (string, error) {
	text, err := r.exportText(t)
	if err != nil || args == "" {
		return text, err
	}
	path := r.tools.workspace.Abs(args)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s is there already; choose another name", path)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return "Written: " + path, nil
}

// exportText is the whole conversation as people read it.
func (r *run) exportText(t *turn.Turn) (string, error) {
	_, all, err := r.history(t)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Conversation %s\n\n%s, %s\n", r.conv.Log.ID(), r.place.Sys.Dirs.Work, r.place.Sys.Now().Format("2006-01-02 15:04"))
	model := false
	for _, m := range all {
		switch typed, _ := msg.Typed(m.Text()); {
		case m.Meta || m.Sidechain:
		case m.Kind == msg.KindAssistant:
			if !model && (strings.TrimSpace(m.Text()) != "" || len(m.ToolUses()) > 0) {
				b.WriteString("\n## Assistant\n") // once for all that it says and does until the next prompt
				model = true
			}
		case m.Kind == msg.KindSummary, m.Kind == msg.KindUser && strings.TrimSpace(typed) != "":
			model = false
		}
		exportMessage(&b, m)
	}
	return b.String(), nil
}

func exportMessage(b *strings.Builder, m msg.Message) {
	switch {
	case m.Kind == msg.KindSummary:
		fmt.Fprintf(b, "\n## Summary of what came before\n\n%s\n", strings.TrimSpace(m.Text()))
	case m.Meta || m.Sidechain:
	case m.Kind == msg.KindUser:
		text, _ := msg.Typed(m.Text())
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(b, "\n## User\n\n%s\n", text)
		}
		for _, r := range m.Blocks {
			if r.Type == msg.TypeToolResult {
				fenceResult(b, r)
			}
		}
	case m.Kind == msg.KindAssistant:
		if text := strings.TrimSpace(m.Text()); text != "" {
			fmt.Fprintf(b, "\n%s\n", text)
		}
		for _, c := range m.ToolUses() {
			fmt.Fprintf(b, "\n**%s** `%s`\n", c.Name, event.OneLine(strings.ReplaceAll(string(c.Input), "`", "'"), 300))
		}
	}
}

// exportResult is how much of a result is written, in characters.
const exportResult = 4000

func fenceResult(b *strings.Builder, r msg.Block) {
	text := strings.TrimSpace(msg.JoinText(r.Content))
	if text == "" {
		return
	}
	if c := []rune(text); len(c) > exportResult {
		text = string(c[:exportResult]) + "\n[…]"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n%s\n%s\n%s\n", fence, event.Inert(text), fence)
}

// cmdAddDir makes a directory a working directory of the session.
func (r *run) cmdAddDir(_ context.Context, t *turn.Turn, args string) (string, error) {
	if args == "" {
		return "", errors.New("a directory is missing: /add-dir PATH")
	}
	path := args
	if rest, ok := strings.CutPrefix(args, "~/"); ok {
		path = filepath.Join(r.place.Sys.Dirs.Home, rest)
	}
	dir, err := place.RealDir(r.place.Sys.Dirs.Work, path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no directory %s", args)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", args, err)
	}
	if slices.Contains(r.tools.workspace.Roots(), dir) {
		return dir + " is a working directory already.", nil
	}
	r.tools.workspace.AddRoot(dir)
	r.tellRoots()
	r.custom.addDir(dir)
	if h := r.hooks; h != nil {
		h.observe(directoryAdded(dir))
	}
	note := msg.Message{
		Kind: msg.KindAttachment, Source: "directory_added", Key: dir, Meta: true,
		Blocks: []msg.Block{msg.Context("directory_added", dir+" is a working directory of this session too, from now on.")},
	}
	if err := t.Append(note); err != nil {
		return "", err
	}
	return dir + " is a working directory of this session now.", nil
}
