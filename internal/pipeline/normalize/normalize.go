package normalize

import (
	"fmt"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
)

// Texts that stand where a history has a hole. They are part of what is sent again on every later call, so they
// never vary with time, place or count.
const (
	fillerContinue  = "Continue from where you left off."
	fillerStart     = "[The beginning of this conversation is missing.]"
	noText          = "[No text in this answer.]"
	failedText      = "[The call failed.]"
	noOutput        = "(no output)"
	lostResult      = "[Interrupted: no result of this call was recorded. It may have run in part or in full; check the state before repeating it.]"
	goneImage       = "[An image that stood here was removed: the request holds too many or too much.]"
	goneDocument    = "[A document that stood here was removed: the request holds too many or too much.]"
	badImage        = "[An image that stood here cannot be sent: %s.]"
	badDocument     = "[A document that stood here cannot be sent: %s.]"
	unknownTool     = "unknown_tool"
	invalidInputKey = "invalid_input"
)

// Rules say what the request is for.
type Rules struct {
	Model  price.Info
	Tools  []string // names of the tools defined in the request; with none, tool calls are sent as text
	Limits Limits   // zero fields: what the model takes

	DropThinking bool // no thinking is sent at all
	// Foreign reports messages of another provider; thinking is dropped up to the last of them. nil: there are none.
	Foreign func(m msg.Message) bool
	// Flatten sends tool calls as text and drops thinking and media: the last resort for a history that cannot
	// be repaired, and the only form without tools.
	Flatten bool

	System, Static   int // number of system blocks, and of those before the boundary
	NoCache, OneHour bool

	memo *memo // what was found out in earlier passes; nil: nothing
}

// memo keeps what is costly to find out about content that never changes, by where it lies in memory.
type memo struct {
	sources map[*msg.Source]verdict
	objects map[*byte]bool // whether raw JSON is an object
}

func newMemo() *memo {
	return &memo{sources: map[*msg.Source]verdict{}, objects: map[*byte]bool{}}
}

// object reports whether raw is one JSON object.
func (m *memo) object(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	ok, known := m.objects[&raw[0]]
	if !known {
		ok = isObject(raw)
		m.objects[&raw[0]] = ok
	}
	return ok
}

// Limits bound media.
type Limits struct {
	Media      int // images and documents in a request
	MediaBytes int // of one, as base64
	TotalBytes int // of the whole request
}

// Change is one repair: the number of the rule in the pipeline's list, and what was done to which message.
type Change struct {
	Rule    int
	Message string // id; empty when it is about the request
	Text    string
}

func (c Change) String() string {
	if c.Message == "" {
		return fmt.Sprintf("rule %d: %s", c.Rule, c.Text)
	}
	return fmt.Sprintf("rule %d: %s (message %s)", c.Rule, c.Text, c.Message)
}

// group becomes one API message.
type group struct {
	role  msg.Role
	items []item
	front int // items of user context at the front
	apiID string
	pause bool // ends in a pause of a server tool loop, so the next answer continues it
}

// item is a block and the message that it came from.
type item struct {
	msg.Block
	from string
}

// builder carries one run of Normalize.
type builder struct {
	Rules
	changes []Change
	groups  []*group
	used    map[string]bool   // ids of tool calls so far
	server  map[string]*group // ids of the provider's own calls, and the answer that they stand in
	tools   map[string]bool
	cut     int // thinking is dropped before this index of the view
}

// Normalize turns the view into messages that the API accepts, says where to mark the prompt cache, and what it
// had to repair. It changes nothing of the view, and shares blocks with it.
func Normalize(view []msg.Message, r Rules) ([]provider.Message, []provider.Breakpoint, []Change) {
	b := &builder{Rules: r, used: map[string]bool{}, server: map[string]*group{}, tools: map[string]bool{}}
	b.Limits = b.Limits.withDefaults(r.Model)
	if b.memo == nil {
		b.memo = newMemo()
	}
	for _, name := range r.Tools {
		b.tools[name] = true
	}
	if b.Flatten {
		b.DropThinking = true
	}
	b.collect(view)
	b.pair()
	b.fill()
	b.limitMedia()
	b.close()
	out := make([]provider.Message, len(b.groups))
	for i, g := range b.groups {
		content := make([]msg.Block, len(g.items))
		for j, it := range g.items {
			content[j] = it.Block
		}
		out[i] = provider.Message{Role: g.role, Content: content}
	}
	return out, marks(out, r), b.changes
}

func (b *builder) note(rule int, from, format string, args ...any) {
	b.changes = append(b.changes, Change{Rule: rule, Message: from, Text: fmt.Sprintf(format, args...)})
}

// asText reports whether tool calls are sent as text.
func (b *builder) asText() bool { return b.Flatten || len(b.tools) == 0 }

// fill sees to it that roles alternate, the first message is a user's, and the last one too unless it is an
// answer that the API itself paused. Two different answers in a row mean that the later request was sent without
// a prompt, or that the prompt is lost; the filler is the same in both cases.
func (b *builder) fill() {
	out := make([]*group, 0, len(b.groups)+2)
	for _, g := range b.groups {
		if g.role == msg.RoleAssistant {
			if len(out) == 0 {
				out = append(out, filler(fillerStart))
				b.note(3, "", "began with an answer: put a user message before it")
			} else if out[len(out)-1].role == msg.RoleAssistant {
				out = append(out, filler(fillerContinue))
				b.note(3, "", "two answers in a row: put a user message between them")
			}
		}
		if g.role == msg.RoleUser && len(g.items) == 0 {
			if len(out) == 0 {
				continue
			}
			g = filler(fillerContinue)
		}
		out = append(out, g)
	}
	switch last := len(out) - 1; {
	case last < 0:
		out = append(out, filler(fillerStart))
		b.note(6, "", "there is nothing to send")
	case out[last].role == msg.RoleAssistant && !out[last].pause:
		out = append(out, filler(fillerContinue))
		b.note(3, "", "ended with an answer: put a user message after it")
	}
	b.groups = out
}

func filler(text string) *group {
	return &group{role: msg.RoleUser, items: []item{{Block: msg.Text(text)}}}
}

// close gives an answer that holds nothing but thinking a text: the API takes no message that ends in thinking,
// and none that is empty.
func (b *builder) close() {
	for _, g := range b.groups {
		if g.role != msg.RoleAssistant {
			continue
		}
		if n := len(g.items); n == 0 || g.items[n-1].IsThinking() {
			g.items = append(g.items, item{Block: msg.Text(noText)})
		}
	}
}
