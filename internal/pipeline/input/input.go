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
	// Commands are the slash commands of this moment. None: they are switched off, and a leading slash is text.
	Commands func() []Command
	// Unknown says that a command that nobody knows is text for the model, as hosts expect; else it is an error.
	Unknown bool
	// Image reads an image file and returns it as a block within the API's limits.
	Image func(path string) (msg.Block, error)
	// Resolve makes a mentioned path absolute and reports whether there is such a file or directory.
	Resolve func(path string) (abs string, ok bool)
	// Resume takes up what an earlier turn left for later, before the prompt is kept, and reports whether there was
	// anything. Nil: there is nothing.
	Resume func(ctx context.Context, t *turn.Turn) (bool, error)
	// Submit is asked before a prompt is kept. A block keeps it out of the conversation. Nil: nobody is asked.
	Submit func(ctx context.Context, t *turn.Turn) turn.Hooked
}

// Command is a slash command: one that runs here, without a model call, or one that stands for a prompt.
type Command struct {
	Name    string
	Aliases []string
	Args    string // hint, such as "[model]"
	Help    string // one line
	Group   string // heading in the list of commands
	Source  string // builtin, user, project, …
	// Screen says that only a terminal's screen can do what it is for; elsewhere it says so.
	Screen bool
	// Silent keeps what it says out of the transcript.
	Silent bool
	// Run does it, and returns what to tell the person.
	Run func(ctx context.Context, t *turn.Turn, args string) (string, error)
	// Expand returns the prompt that it stands for. Then Run is nil.
	Expand func(ctx context.Context, t *turn.Turn, args string) (Expanded, error)
}

// Expanded is the prompt that a command stands for, and what counts for its turn.
type Expanded struct {
	Text          string
	Blocks        []msg.Block // instead of Text: what somebody else has composed; mentions in it mean nothing
	Model, Effort string      // empty: as they are
	Answer        string      // what to tell the person, where it is done already and no model is asked
	// Resolve takes the place of the stage's for the mentions of the text; nil: it does not.
	Resolve func(path string) (abs string, ok bool)
	// Hooked is what the hooks made of it.
	Hooked turn.Hooked
}

// New returns the stage.
func New(d Deps) func(context.Context, *turn.Turn) error {
	return func(ctx context.Context, t *turn.Turn) error {
		in := t.Input
		if name, args, ok := SplitCommand(in.Text); ok && !in.Literal && in.Typed >= 0 && d.Commands != nil {
			if all := d.Commands(); len(all) > 0 {
				c, known := find(all, name)
				switch {
				case known && c.Expand != nil:
					return d.expand(ctx, t, c, args)
				case known:
					return run(ctx, t, c, name, args)
				case !d.Unknown:
					return failure(unknown(name, all))
				}
			}
		}
		resumed, err := d.resume(ctx, t)
		if err != nil || resumed && in.Empty() {
			return err
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
			ms = append(ms, ultra())
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

func ultra() msg.Message {
	return msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text(ultraText)}}
}

// resume takes up what an earlier turn left for later. A prompt that comes too early for it is not kept.
func (d Deps) resume(ctx context.Context, t *turn.Turn) (bool, error) {
	if d.Resume == nil || t.Input.NoQuery || t.Input.Origin != "" {
		return false, nil
	}
	resumed, err := d.Resume(ctx, t)
	var stop *turn.Stop
	if errors.As(err, &stop) && stop.Deferred != nil && !t.Input.Empty() {
		_ = t.Emit(event.Notice{Level: "warning", Text: "the prompt was not taken up, since the call of " + stop.Deferred.Name + " before it is not decided on: send it again then"})
	}
	return resumed, err
}

// submit asks whether the prompt may go on, and keeps it with what was added to it.
func (d Deps) submit(ctx context.Context, t *turn.Turn, prompt []msg.Message) error {
	h := d.Submit(ctx, t)
	if h.Blocked() {
		return d.blocked(t, h)
	}
	if err := t.Append(append(prompt, h.Messages...)...); err != nil {
		return err
	}
	if h.Stop != nil {
		return h.Stop
	}
	return nil
}

// blocked ends the turn of a prompt that a hook keeps out of the conversation.
func (d Deps) blocked(t *turn.Turn, h turn.Hooked) error {
	t.Note("the prompt was blocked: %s", h.Decision.Reason)
	return errors.Join(t.Append(h.Messages...), turn.StoppedByHook(h.Decision.Reason))
}

// Joins reports whether a prompt can enter a running turn as it is: it is no command, names no file, and asks for
// nothing that a turn must begin with.
func (d Deps) Joins(p event.Prompt) bool {
	if p.Empty() || p.Origin != "" || p.NoQuery {
		return false
	}
	if p.Literal {
		return true
	}
	if name, _, ok := SplitCommand(p.Text); ok && p.Typed >= 0 && d.Commands != nil {
		all := d.Commands()
		if _, known := find(all, name); known || len(all) > 0 && !d.Unknown {
			return false
		}
	}
	own := ownWords(p)
	for _, ref := range Mentions(own) {
		if _, ok := d.Resolve(parseRange(ref).Path); ok || strings.HasPrefix(ref, "agent-") || strings.HasSuffix(ref, " (agent)") {
			return false // a file, a resource, a sub-agent
		}
	}
	return !hasKeyword(own, "ultrathink")
}

// ownWords is what the user wrote of a prompt; the rest was passed on.
func ownWords(p event.Prompt) string {
	if p.Typed < 0 {
		return ""
	}
	if p.Typed > 0 && p.Typed < len(p.Text) {
		return p.Text[:p.Typed]
	}
	return p.Text
}

// Blocks is what a prompt says to the model, with its images.
func (d Deps) Blocks(p event.Prompt) ([]msg.Block, error) {
	var out []msg.Block
	for _, path := range p.Images {
		img, err := d.Image(path)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", path, err)
		}
		out = append(out, img)
	}
	out = append(out, p.Blocks...)
	if strings.TrimSpace(p.Text) != "" {
		out = append(out, msg.Text(p.Text))
	}
	if len(out) == 0 {
		return nil, errors.New("the prompt is empty")
	}
	return out, nil
}

// message builds the user message.
func (d Deps) message(t *turn.Turn, in event.Prompt) (msg.Message, error) {
	m := msg.Message{ID: in.ID, Kind: msg.KindUser, Meta: in.Origin != ""}
	var err error
	if m.Blocks, err = d.Blocks(in); err != nil {
		return m, failure(err)
	}
	if !in.Literal {
		own := ownWords(in)
		t.Ultra = hasKeyword(own, "ultrathink")
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

// run runs a local command. Its output is kept as a system message, which the model never sees.
func run(ctx context.Context, t *turn.Turn, c Command, name, args string) error {
	t.Done = true
	text, err := c.Run(ctx, t, args)
	if err != nil {
		return failed(ctx, fmt.Errorf("/%s: %w", c.Name, err))
	}
	t.Text = text
	if c.Silent {
		return nil
	}
	return t.Append(msg.Message{
		Kind: msg.KindSystem, Subtype: msg.SubLocalCommand, Level: "info",
		Blocks: []msg.Block{msg.Text("/" + strings.TrimSpace(name+" "+args) + "\n" + text)},
	})
}

// expand puts the prompt that a command stands for into the conversation: a message that says what was typed, in the
// form that readers of transcripts know, and one with the command's text.
func (d Deps) expand(ctx context.Context, t *turn.Turn, c Command, args string) error {
	if _, err := d.resume(ctx, t); err != nil {
		return err
	}
	var h turn.Hooked
	if d.Submit != nil { // before the command runs anything
		if h = d.Submit(ctx, t); h.Blocked() {
			return d.blocked(t, h)
		}
	}
	e, err := c.Expand(ctx, t, args)
	if err != nil {
		return failed(ctx, fmt.Errorf("/%s: %w", c.Name, err))
	}
	if e.Hooked.Blocked() {
		t.Note("the command was blocked: %s", e.Hooked.Decision.Reason)
		return errors.Join(t.Append(e.Hooked.Messages...), turn.StoppedByHook(e.Hooked.Decision.Reason))
	}
	in := t.Input
	in.Literal = true // mentions are looked for in the whole text
	typed, err := d.message(t, in)
	if err != nil {
		return err
	}
	t.Done, t.Text = in.NoQuery || e.Answer != "", e.Answer
	typed.Blocks[len(typed.Blocks)-1] = msg.Text(Typed(c.Name, args)) // the text stands last
	text := msg.Message{Kind: msg.KindUser, Meta: true, Source: msg.SourceCommand, Blocks: []msg.Block{msg.Text(e.Text)}}
	if e.Blocks != nil {
		text.Blocks = e.Blocks
	}
	if e.Resolve != nil {
		d.Resolve = e.Resolve
	}
	d.mentions(t, &text, withoutPiped(e.Text, t.Input))
	t.Ultra = hasKeyword(args, "ultrathink")
	if e.Model != "" {
		t.Model = e.Model
		t.Note("model %s for this turn", e.Model)
	}
	if e.Effort != "" {
		t.Effort = e.Effort
	}
	ms := []msg.Message{typed, text}
	if t.Ultra {
		ms = append(ms, ultra())
	}
	if err := t.Append(append(append(ms, e.Hooked.Messages...), h.Messages...)...); err != nil {
		return err
	}
	for _, stop := range []*turn.Stop{e.Hooked.Stop, h.Stop} {
		if stop != nil {
			return stop
		}
	}
	return nil
}

// withoutPiped leaves out of a text what was not typed, but passed on to the command.
func withoutPiped(text string, in event.Prompt) string {
	if in.Typed <= 0 || in.Typed >= len(in.Text) {
		return text
	}
	return strings.ReplaceAll(text, strings.TrimSpace(in.Text[in.Typed:]), " ")
}

// failed is failure for what an interrupt may have ended, which is no fault of the input.
func failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return failure(err)
}

// failure ends the turn with an error of the user's input.
func failure(err error) error {
	return &turn.Stop{Subtype: event.ErrDuring, Terminal: "turn_setup_failed", Errors: []string{err.Error()}, Err: err}
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
