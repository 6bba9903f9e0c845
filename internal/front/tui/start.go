package tui

import (
	"errors"
	"fmt"
	"strconv"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
	"lathe/internal/msg"
)

// start builds a session in the background; the one that runs is ended first.
func (u *ui) start(req Start) {
	old := u.session
	u.session, u.starting, u.failed = nil, true, ""
	req.Notice = func(level, text string) { u.post(func() { u.notice(level, text) }) }
	req.Trust = func(t Trust) TrustAnswer {
		answer := make(chan TrustAnswer, 1)
		u.post(func() { u.open(newTrustDialog(u, t, answer)) })
		select {
		case a := <-answer:
			return a
		case <-u.ctx.Done():
			return TrustQuit
		}
	}
	go func() {
		if old != nil {
			_ = old.Conn.Send(u.ctx, event.Close{})
			old.Close()
		}
		s, err := u.o.Start(u.ctx, req)
		u.post(func() { u.started(s, err) })
	}()
}

// started takes the session, or says why there is none.
func (u *ui) started(s *Session, err error) {
	u.starting = false
	var noKey NoKey
	switch {
	case errors.As(err, &noKey):
		u.failed = "no key"
		u.open(newNoKeyDialog(u, noKey.Text))
		return
	case errors.Is(err, ErrQuit):
		u.quit = true
		return
	case err != nil && u.never:
		u.quit, u.outcome.Code, u.outcome.Err = true, 1, err
		return
	case err != nil:
		u.failed = err.Error()
		u.notice("error", err.Error())
		u.outcome.Code = 1
		u.hint = "ctrl+c twice to leave"
		return
	}
	u.session, u.never = s, false
	u.modeAsked, u.modeNext = "", "" // what the session before was asked for
	u.inners, u.innerAsked = nil, false
	u.settings(s.Settings)
	u.status.model, u.status.mode = s.Model, s.Mode
	u.earlier(s.Messages)
	if s.Resumed && cutOff(s.Messages) {
		u.notice("warning", "The last turn did not come to its end: Lathe was ended meanwhile. What there is of it stands above; say how to go on.")
	}
	u.prompt.load(u)
	go u.pump(s)
	u.refresh()
	u.loadCommands()
	held := u.queue // typed while the session was not ready
	u.queue = nil
	begin := func() { // before what was typed meanwhile
		if text := joined(s.First, u.o.Prompt); text != "" || len(u.o.Images) > 0 {
			u.send(event.Prompt{Text: text, Images: u.o.Images})
			u.o.Prompt, u.o.Images = "", nil
		}
	}
	if !u.o.Pick {
		begin()
	}
	u.queue = append(u.queue, held...)
	for _, f := range u.later {
		f()
	}
	u.later = nil
	for _, q := range held {
		u.op(q.prompt)
	}
	if u.o.Pick {
		u.o.Pick = false
		u.pickFirst()
	}
}

// pickFirst lets the person choose the session to go on with, as the command line asked. What it says to begin with goes
// to that session; where none is chosen it stands in the input.
func (u *ui) pickFirst() {
	u.pickSession(func(id string) {
		u.send(event.Prompt{Text: "/resume " + id})
		if u.o.Fork {
			u.send(event.Prompt{Text: "/fork"})
		}
		if u.o.Prompt != "" || len(u.o.Images) > 0 {
			u.send(event.Prompt{Text: u.o.Prompt, Images: u.o.Images})
		}
		u.o.Prompt, u.o.Images = "", nil
	}, func() {
		if u.o.Prompt != "" && u.prompt.ed.Empty() {
			u.prompt.ed.Load(editor.Draft{Text: u.o.Prompt})
			u.prompt.changed(u)
		}
		u.o.Prompt, u.o.Images = "", nil
	})
}

// resumedShown is how many messages of a resumed conversation are printed; the transcript has all.
const resumedShown = 40

// earlier takes the messages of a conversation that goes on.
func (u *ui) earlier(list []msg.Message) {
	old := max(0, len(list)-resumedShown)
	answered := map[string]bool{}
	for _, m := range list {
		for _, b := range m.Blocks {
			answered[b.ToolUseID] = true
		}
	}
	show := func(m msg.Message) {
		u.message(m, "")
		for _, b := range m.Blocks { // the program ended while they ran
			if m.Kind == msg.KindAssistant && b.Type == msg.TypeToolUse && !answered[b.ID] && u.tool(b.ID) == nil {
				u.add(item{kind: kindTool, id: b.ID, name: b.Name, summary: summaryOf(b.Name, b.Input), input: b.Input, isError: true, text: cutCall})
			}
		}
	}
	u.silent = true
	for _, m := range list[:old] {
		show(m)
	}
	u.silent = false
	if old > 0 {
		u.print(width.Line{}, width.Line{Text: u.th.Faint.Paint(fmt.Sprintf("… %s · ctrl+o shows all", count(old, "earlier message")))})
	}
	for _, m := range list[old:] {
		show(m)
	}
}

// cutCall stands below a call that has no result.
const cutCall = "cut off: Lathe ended while it ran; what it had done by then stays done"

// cutOff reports whether a conversation ends in the middle of a turn.
func cutOff(list []msg.Message) bool {
	if len(list) == 0 {
		return false
	}
	switch m := list[len(list)-1]; m.Kind {
	case msg.KindAssistant:
		return !m.Aborted && m.APIError == "" && (m.Partial || m.StopReason == "" || m.StopReason == "tool_use")
	case msg.KindUser:
		_, shell := shellItem(m.Text())
		return !shell && !m.Meta && !msg.IsInterruptNote(m)
	}
	return false
}

// ErrQuit is returned by Start when the person wants to leave.
var ErrQuit = errors.New("quit")

// settings takes those of the settings that concern the screen.
func (u *ui) settings(s Settings) {
	if s.CustomTheme != nil {
		t, warnings, err := theme.Custom(s.CustomTheme, u.depth, u.dark)
		if err != nil {
			warnings = append(warnings, err.Error())
		} else {
			u.th = t
		}
		for _, w := range warnings {
			u.notice("warning", w)
		}
	}
	u.themeName = first(s.Theme, "auto")
	if s.Theme != "" && s.CustomTheme == nil {
		u.th = theme.Named(s.Theme, u.depth, u.dark)
	}
	u.bindings(s.Keybindings)
	u.setVim(s.Vim)
	if s.Fullscreen && u.full == nil {
		u.toFull()
	}
}

// pump hands the session's events to the loop. A loop that is busy holds the session up.
func (u *ui) pump(s *Session) {
	for env, err := range s.Conn.Events(u.ctx) {
		if err != nil {
			if u.ctx.Err() == nil {
				u.post(func() { u.notice("error", err.Error()) })
			}
			return
		}
		if !u.inbox.put(u.ctx, env) {
			return
		}
	}
}

// op sends an op to the session.
func (u *ui) op(op event.Op) {
	if u.session == nil {
		return
	}
	if err := u.session.Conn.Send(u.ctx, op); err != nil {
		u.notice("error", err.Error())
	}
}

// query asks the session, and has then run with the answer.
func (u *ui) query(kind string, payload any, then func(event.Reply)) {
	if u.session == nil {
		if u.starting {
			u.later = append(u.later, func() { u.query(kind, payload, then) })
		}
		return
	}
	u.nextID++
	id := "tui-" + strconv.Itoa(u.nextID)
	u.replies[id] = then
	u.op(event.Query{ID: id, Kind: kind, Payload: event.Encode(payload)})
}

// joined puts a prompt behind another one; either may be empty.
func joined(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}
