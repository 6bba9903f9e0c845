package input

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Deps is what the stage needs.
type Deps struct {
	Commands []Command
	// Image reads an image file and returns it as a block within the API's limits.
	Image func(path string) (msg.Block, error)
	// Resolve makes a mentioned path absolute and reports whether there is such a file or directory.
	Resolve func(path string) (abs string, ok bool)
	// Submit is asked before a prompt is kept. A block keeps it out of the conversation. Nil: nobody is asked.
	Submit func(ctx context.Context, t *turn.Turn) turn.Hooked
}

// Command is a slash command that runs here, without a model call.
type Command struct {
	Name    string
	Aliases []string
	Args    string // hint, such as "[model]"
	Help    string // one line
	Run     func(ctx context.Context, t *turn.Turn, args string) (string, error)
}

// New returns the stage.
func New(d Deps) func(context.Context, *turn.Turn) error {
	return func(ctx context.Context, t *turn.Turn) error {
		in := t.Input
		if !in.Literal && len(d.Commands) > 0 { // none: they are switched off, and a leading slash is text
			if name, args, ok := SplitCommand(in.Text); ok {
				return d.command(ctx, t, name, args)
			}
		}
		m, err := d.message(t, in)
		if err != nil {
			return err
		}
		if in.NoQuery {
			t.Done = true
		}
		ms := []msg.Message{m}
		if t.Ultra {
			ms = append(ms, msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text(ultraText)}})
		}
		if d.Submit == nil || in.Origin != "" {
			return t.Append(ms...)
		}
		return d.submit(ctx, t, ms)
	}
}

// ultraText is what the keyword ultrathink adds to its prompt. It asks the model; the effort that is sent stays as it
// is, and with it the prompt cache.
const ultraText = "The user asks for the deepest thinking on this prompt: before you answer or act, work the problem through from several sides, question your first idea, and check the result."

// submit asks whether the prompt may go on, and keeps it with what was added to it.
func (d Deps) submit(ctx context.Context, t *turn.Turn, prompt []msg.Message) error {
	h := d.Submit(ctx, t)
	if h.Blocked() {
		t.Note("the prompt was blocked: %s", h.Decision.Reason)
		return errors.Join(t.Append(h.Messages...), turn.StoppedByHook(h.Decision.Reason))
	}
	if err := t.Append(append(prompt, h.Messages...)...); err != nil {
		return err
	}
	if h.Stop != nil {
		return h.Stop
	}
	return nil
}

// message builds the user message.
func (d Deps) message(t *turn.Turn, in event.Prompt) (msg.Message, error) {
	m := msg.Message{ID: in.ID, Kind: msg.KindUser, Meta: in.Origin != ""}
	for _, path := range in.Images {
		img, err := d.Image(path)
		if err != nil {
			return m, failure(fmt.Errorf("image %s: %w", path, err))
		}
		m.Blocks = append(m.Blocks, img)
	}
	m.Blocks = append(m.Blocks, in.Blocks...)
	if strings.TrimSpace(in.Text) != "" {
		m.Blocks = append(m.Blocks, msg.Text(in.Text))
	}
	if len(m.Blocks) == 0 {
		return m, failure(errors.New("the prompt is empty"))
	}
	if !in.Literal {
		own := in.Text
		if in.Typed > 0 && in.Typed < len(own) {
			own = own[:in.Typed]
		}
		t.Ultra = HasKeyword(own, "ultrathink")
		d.mentions(t, &m, own)
	}
	return m, nil
}

// mentions finds the files that the text names. Images become blocks of the message; the rest is attached.
func (d Deps) mentions(t *turn.Turn, m *msg.Message, text string) {
	for _, ref := range Mentions(text) {
		mention := parseRange(ref)
		abs, ok := d.Resolve(mention.Path)
		if !ok {
			continue // an e-mail address, a decorator, a typing error: plain text
		}
		mention.Path = abs
		if isImageName(abs) {
			img, err := d.Image(abs)
			if err == nil {
				m.Blocks = append([]msg.Block{img}, m.Blocks...)
				continue
			}
			t.Note("mentioned image %s: %v", ref, err)
		}
		t.Mentions = append(t.Mentions, mention)
	}
}

// command runs a slash command. Its output is kept as a system message, which the model never sees.
func (d Deps) command(ctx context.Context, t *turn.Turn, name, args string) error {
	c, ok := find(d.Commands, name)
	if !ok {
		return failure(unknown(name, d.Commands))
	}
	t.Done = true
	text, err := c.Run(ctx, t, args)
	if err != nil {
		return failure(fmt.Errorf("/%s: %w", c.Name, err))
	}
	t.Text = text
	return t.Append(msg.Message{
		Kind: msg.KindSystem, Subtype: msg.SubLocalCommand, Level: "info",
		Blocks: []msg.Block{msg.Text("/" + strings.TrimSpace(name+" "+args) + "\n" + text)},
	})
}

// failure ends the turn with an error of the user's input.
func failure(err error) error {
	return &turn.Stop{Subtype: event.ErrDuring, Terminal: "input_error", Errors: []string{err.Error()}, Err: err}
}

func find(cmds []Command, name string) (Command, bool) {
	for _, c := range cmds {
		if c.Name == name {
			return c, true
		}
		for _, a := range c.Aliases {
			if a == name {
				return c, true
			}
		}
	}
	return Command{}, false
}
