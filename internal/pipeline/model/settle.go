package model

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// settle does what the stop reason of a whole answer asks for. It reports whether the provider must be called
// again; otherwise the turn's Reply is set.
func (p *pass) settle(ctx context.Context) (again bool, err error) {
	a := p.cur
	switch a.asm.stop {
	case "refusal":
		if err := p.withdraw(a, "the model refused"); err != nil {
			return false, err
		}
		return false, &ended{category: "invalid_request", terminal: "model_error", text: refusal(a), reason: a.asm.stop}
	case "model_context_window_exceeded":
		return p.overflown(ctx)
	case "pause_turn":
		if p.paused++; p.paused <= pauses && a.calls == 0 && len(a.broken) == 0 && len(a.blocks) > 0 {
			p.extend(a.blocks, nil)
			p.t.Note("the server paused its turn: sent on")
			return true, nil
		}
	case "max_tokens":
		return p.wasCut()
	}
	if len(a.broken) > 0 {
		return p.mendCalls()
	}
	p.reply(a.asm.stop)
	return false, nil
}

// reply sets the turn's Reply. An answer with calls to run is one that asks for tools, whatever it says.
func (p *pass) reply(stop string) {
	a := p.cur
	for _, b := range p.blocks {
		if b.Type == msg.TypeToolUse {
			stop = "tool_use"
		}
	}
	whole := a.message(p.blocks, false)
	whole.StopReason, whole.Partial = stop, false
	if n := len(a.kept); n > 0 {
		whole.ID, whole.Parent, whole.Time = a.kept[n-1].ID, a.kept[n-1].Parent, a.kept[n-1].Time
	}
	p.t.Reply = &turn.Reply{APIID: a.asm.meta.ID, Message: whole, StopReason: stop, Usage: a.asm.usage}
}

// extend makes the request go on after what was answered: a copy, since the turn's own request is not ours.
func (p *pass) extend(answered, user []msg.Block) {
	ms := append([]provider.Message(nil), p.req.Messages...)
	add := func(role msg.Role, blocks []msg.Block) {
		if len(blocks) == 0 {
			return
		}
		if n := len(ms); n > 0 && ms[n-1].Role == role {
			ms[n-1].Content = append(append([]msg.Block(nil), ms[n-1].Content...), blocks...)
			return
		}
		ms = append(ms, provider.Message{Role: role, Content: blocks})
	}
	add(msg.RoleAssistant, answered)
	add(msg.RoleUser, user)
	p.req.Messages = ms
}

const (
	goOnText = "The output limit cut your answer off. Go on exactly where it stopped, without repeating anything and without a remark on the cut."
	cutText  = "The output limit cut this call off before its input was complete, so it did not run and changed nothing. %d characters of the input had come. " +
		"Do the work in smaller steps: several calls with less in each, for example writing a first part of the file and adding the rest with further edits."
	brokenText = "The input of this call is not a JSON object, so it did not run and changed nothing. Make the call again with valid input."
)

// wasCut handles an answer that the output limit cut. Text goes on where it stopped; a cut call is answered with
// an error and asked for in smaller steps. Whole calls beside it run first.
func (p *pass) wasCut() (bool, error) {
	a := p.cur
	if same := p.sameCut(); same != "" {
		if err := p.answerBroken(cutText); err != nil {
			return false, err
		}
		return false, &ended{
			category: "max_output_tokens", terminal: "model_error",
			text: fmt.Sprintf("API Error: the output limit of %d tokens cut the same %s call twice; nothing of it ran. Ask for the work in smaller pieces, or raise CLAUDE_CODE_MAX_OUTPUT_TOKENS.", p.req.MaxTokens, same),
		}
	}
	raised := p.raise()
	if a.calls > 0 {
		if err := p.answerBroken(cutText); err != nil {
			return false, err
		}
		p.reply(a.asm.stop)
		return false, nil
	}
	if p.cuts++; p.cuts > continuations {
		if err := p.answerBroken(cutText); err != nil {
			return false, err
		}
		if err := p.notice("warning", fmt.Sprintf("The answer is still cut by the output limit after %d continuations; it ends here.", continuations)); err != nil {
			return false, err
		}
		p.reply(a.asm.stop)
		return false, nil
	}
	p.t.Note("the output limit cut the answer: continuation %d, limit %d", p.cuts, raised)
	return true, p.goOnAfterCut()
}

// goOnAfterCut asks for the rest of a cut answer.
func (p *pass) goOnAfterCut() error {
	a := p.cur
	if len(a.broken) > 0 {
		return p.answerBroken(cutText)
	}
	for _, b := range a.blocks {
		if !b.IsThinking() {
			m := msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text(goOnText)}}
			p.extend(a.blocks, m.Blocks)
			return p.t.Append(m)
		}
	}
	// Nothing but thinking came: there is nothing to go on from, only more room to give.
	p.blocks = p.blocks[:len(p.blocks)-len(a.blocks)]
	return p.withdraw(a, "the output limit cut it while thinking")
}

// raise lifts the output limit for the calls that follow, within what the model can do.
func (p *pass) raise() int {
	limit := p.conf.RaiseTo
	if p.deps.MaxOutput != nil {
		if n := p.deps.MaxOutput(p.req.Model); n > 0 {
			limit = min(limit, n)
		}
	}
	if limit > p.req.MaxTokens && !p.refused {
		p.lower, p.req.MaxTokens = p.req.MaxTokens, limit
	}
	return p.req.MaxTokens
}

// cutCall is a call that the output limit cut, and the turn in which it did.
type cutCall struct{ turn, name, raw string }

// sameCut returns the name of the call that was cut now if the same one was cut before in this turn.
func (p *pass) sameCut() string {
	a := p.cur
	if len(a.broken) == 0 {
		return ""
	}
	last := a.broken[len(a.broken)-1]
	now := cutCall{turn: p.t.ID, name: last.name, raw: last.raw}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.stage.cut
	p.stage.cut = now
	if before.turn != now.turn || before.name != now.name || (before.raw == "") != (now.raw == "") {
		return ""
	}
	// With a higher limit the same call gets further before it is cut.
	if strings.HasPrefix(now.raw, before.raw) || strings.HasPrefix(before.raw, now.raw) {
		return now.name
	}
	return ""
}

// answerBroken answers the calls that cannot run, in the conversation and in the request.
func (p *pass) answerBroken(text string) error {
	a := p.cur
	if len(a.broken) == 0 {
		return nil
	}
	m := msg.Message{Kind: msg.KindUser, SourceAssistant: a.broken[len(a.broken)-1].kept}
	for _, b := range a.broken {
		said := text
		if text == cutText {
			said = fmt.Sprintf(cutText, len(b.raw))
		}
		m.Blocks = append(m.Blocks, msg.ToolResult(b.id, true, msg.Text(said)))
	}
	var answered []msg.Block
	for _, k := range a.kept {
		answered = append(answered, k.Blocks...)
	}
	p.extend(answered, m.Blocks)
	return p.t.Append(m)
}

// mendCalls answers calls whose input is not JSON. When no other call is there to run, the model is asked again.
func (p *pass) mendCalls() (bool, error) {
	a := p.cur
	if err := p.answerBroken(brokenText); err != nil {
		return false, err
	}
	if a.calls > 0 {
		p.reply(a.asm.stop)
		return false, nil
	}
	if p.bad++; p.bad > continuations {
		return false, &ended{
			category: "unknown", terminal: "malformed_tool_use_exhausted",
			text: fmt.Sprintf("API Error: the model made a %s call with unusable input %d times in a row.", a.broken[0].name, p.bad),
		}
	}
	return true, nil
}

// overflown handles an answer that ran into the end of the context window. Where the conversation can be made
// smaller it is asked for again, else what came of it stays.
func (p *pass) overflown(ctx context.Context) (bool, error) {
	a := p.cur
	full := &ended{
		category: "invalid_request", terminal: "prompt_too_long",
		text: "Prompt is too long: the context window is full, and the answer was cut there. Start a new session, or resume this one with a model that has a larger window.",
	}
	if !p.shrunk && p.deps.Reduce != nil && (p.deps.Reducible == nil || p.deps.Reducible(p.t)) {
		p.blocks = p.blocks[:len(p.blocks)-len(a.blocks)]
		if err := p.withdraw(a, "the context window was full"); err != nil {
			return false, err
		}
		done, err := p.shrink(ctx, 0)
		if err == nil && !done {
			err = full
		}
		return done, err
	}
	if err := p.answerBroken(cutText); err != nil {
		return false, err
	}
	if a.calls > 0 {
		p.reply(a.asm.stop)
		return false, nil
	}
	return false, full
}

// roomFor reads how many output tokens fit from the API's "… exceed context limit: 190000 + 20000 > 200000"; 0
// when the message is another.
func roomFor(message string) int {
	_, rest, ok := strings.Cut(message, "exceed context limit: ")
	if !ok {
		return 0
	}
	var n [3]int
	for i, f := range strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' }) {
		if i == len(n) {
			break
		}
		n[i], _ = strconv.Atoi(f)
	}
	const margin = 1000
	return max(0, n[2]-n[0]-margin)
}

// promptOf reads how many tokens a prompt has from the API's "… too long: 210000 tokens > 200000 maximum"; 0 when the
// message is another.
func promptOf(message string) int {
	m := promptTokens.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // 0 for what is too large
	return n
}

var promptTokens = regexp.MustCompile(`(\d+) tokens > \d+`)
