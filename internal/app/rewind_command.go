package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/event"
	"lathe/internal/pipeline/input"
	"lathe/internal/turn"
)

func (r *run) rewindCommand() input.Command {
	return input.Command{
		Name: "rewind", Aliases: []string{"checkpoint", "undo"}, Args: "[list | N] [files|conversation|both] [preview] [force]",
		Help: "go back to before a prompt: the conversation, the files, or both", Run: r.cmdRewind,
	}
}

// cmdRewind lists the prompts, the last one as number 1, or goes back to before one.
func (r *run) cmdRewind(ctx context.Context, t *turn.Turn, args string) (string, error) {
	list, err := r.points(t)
	if err != nil {
		return "", err
	}
	words := strings.Fields(args)
	if len(words) == 0 || words[0] == "list" {
		return r.rewindList(list), nil
	}
	in := rewindRequest{What: backBoth}
	if r.checkpoints.Load() == nil {
		in.What = backConversation
	}
	if in.Prompt, err = pickPoint(list, words[0]); err != nil {
		return "", err
	}
	if i := slices.IndexFunc(list, func(p point) bool { return p.ID == in.Prompt && p.RewindTo != "" }); i >= 0 {
		in.What = backFiles
	}
	for _, w := range words[1:] {
		switch w {
		case backFiles, backConversation, backBoth:
			in.What = w
		case "force":
			in.Force = true
		case "preview":
			in.DryRun = true
		default:
			return "", fmt.Errorf("%q is not one of files, conversation, both, preview, force", w)
		}
	}
	out, err := r.rewind(ctx, t, in)
	if err != nil {
		return "", err
	}
	return r.rewindText(in, out), nil
}

// pickPoint finds what a person named: a number of the list, an id, or "undo" for the last rewind of files.
func pickPoint(list []point, word string) (string, error) {
	if word == "undo" {
		for _, p := range slices.Backward(list) {
			if p.RewindTo != "" {
				return p.ID, nil
			}
		}
		return "", errors.New("no files were put back in this session, so there is nothing to undo")
	}
	for _, p := range list {
		if p.ID == word {
			return p.ID, nil
		}
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		return "", fmt.Errorf("%q is no number of a prompt; /rewind lists them", word)
	}
	i := 0
	for _, p := range slices.Backward(list) {
		if p.RewindTo != "" {
			continue
		}
		if i++; i == n {
			return p.ID, nil
		}
	}
	return "", fmt.Errorf("there is no prompt number %d; /rewind lists them", n)
}

func (r *run) rewindList(list []point) string {
	var b strings.Builder
	n := 0
	for _, p := range list {
		if p.RewindTo == "" {
			n++
		}
	}
	if n == 0 {
		return "There is no prompt to go back to yet."
	}
	for _, p := range list {
		when := p.Time.Local().Format("15:04:05")
		if p.RewindTo != "" {
			fmt.Fprintf(&b, "   -  %s  [files were put back; %s; /rewind undo takes the last of these back]\n", when, count(len(p.Files), "file"))
			continue
		}
		what := "no files changed"
		switch {
		case !p.HasFiles:
			what = "files not kept"
		case len(p.Files) > 0:
			what = fmt.Sprintf("%s, +%d -%d lines", count(len(p.Files), "file"), p.Insertions, p.Deletions)
		}
		fmt.Fprintf(&b, "%4d  %s  %s  (%s)\n", n, when, event.OneLine(p.Text, 60), what)
		n--
	}
	b.WriteString("/rewind N goes back to before prompt N: conversation and files. Add files or conversation for one of them, preview to look first.")
	if r.checkpoints.Load() == nil {
		b.WriteString("\nOnly the conversation can go back: " + errNoCheckpoints.Error() + ".")
	}
	return b.String()
}

// rewindText says what was done, or would be.
func (r *run) rewindText(in rewindRequest, out rewound) string {
	var b strings.Builder
	would := map[bool]string{true: "Would put back", false: "Put back"}[in.DryRun]
	if in.What != backFiles {
		gone := map[bool]string{true: "would be left out", false: "are left out; the transcript keeps them"}[in.DryRun]
		if out.LeftOut == 1 && !in.DryRun {
			gone = "is left out; the transcript keeps it"
		}
		fmt.Fprintf(&b, "Conversation: back to before %q; %s %s.\n", event.OneLine(out.Prompt, 60), count(out.LeftOut, "message"), gone)
	}
	if in.What == backConversation {
		return strings.TrimRight(b.String(), "\n")
	}
	if !out.CanRewind {
		return b.String() + "Error: " + out.Error
	}
	fmt.Fprintf(&b, "%s %s (+%d -%d lines).\n", would, count(len(out.FilesChanged), "file"), out.Insertions, out.Deletions)
	for _, f := range out.FilesChanged {
		fmt.Fprintf(&b, "  %s\n", event.InertLine(r.tools.workspace.Rel(f)))
	}
	left := func(title string, list []leftOut) {
		if len(list) == 0 {
			return
		}
		b.WriteString(title + "\n")
		for _, l := range list {
			fmt.Fprintf(&b, "  %s: %s\n", event.InertLine(r.tools.workspace.Rel(l.Path)), event.InertLine(l.Why))
		}
	}
	left("Left alone (add force to put them back all the same):", out.Conflicts)
	left("Left alone:", out.Skipped)
	left("Cannot be put back:", slices.Concat(out.Lost, out.Failed))
	left("Commands may have changed more than is known here:", out.Unwatched)
	if out.Undo != "" {
		b.WriteString("/rewind undo takes this back.")
	}
	return strings.TrimRight(b.String(), "\n")
}

// rewindOnce puts files back and asks no model.
func (r *run) rewindOnce(ctx context.Context, prompt string) (text string, ok bool, err error) {
	if !r.conv.Resumed {
		return "", false, errors.New("--rewind-files needs the session: add --resume ID or --continue")
	}
	in := rewindRequest{Prompt: prompt, What: backFiles}
	out, err := r.rewind(ctx, nil, in)
	if err != nil {
		return "", false, err
	}
	return r.rewindText(in, out), out.CanRewind, nil
}
