package acp

import (
	"encoding/json"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// event tells the editor of an event.
func (s *session) event(env event.Envelope) {
	if env.Parent != "" { // a sub-agent's: its calls and questions count, its turns are its own
		switch env.Event.(type) {
		case event.Ready, event.TurnStarted, event.TurnDone, event.Discarded:
			return
		}
	}
	switch e := env.Event.(type) {
	case event.Reply:
		s.replied(e)
	case event.Ready:
		s.mu.Lock()
		differs := e.PermissionMode != s.about.Mode || len(e.Commands) != len(s.about.Commands)
		s.mu.Unlock()
		if differs {
			s.changed()
		}
	case event.TurnStarted:
		s.said = false
		s.begun(e.Prompt.ID)
	case event.Stream:
		s.delta(env, e)
	case event.Message:
		s.begun(e.Msg.ID) // a prompt that joined a turn
		s.message(env.Parent, e.Msg, false)
	case event.Discarded:
		s.streamed = map[string]bool{}
		if s.said {
			s.chunk("agent_message_chunk", "\n\n*("+e.Reason+"; the unfinished answer above is void)*\n\n")
		}
	case event.ToolStarted:
		s.started(e)
	case event.ToolProgress:
		s.progress(e)
	case event.Ask:
		s.ask(e)
	case event.Call:
		s.forward(e)
	case event.CallCancelled:
		s.withdraw(e.ID)
	case event.AskWithdrawn:
		s.withdraw(e.ID)
	case event.ModeChanged, event.ModelChanged:
		s.changed()
	case event.Notice:
		s.notice(e.Level, e.Text)
	case event.Retry:
		s.notice("info", e.Line())
	case event.TurnDone:
		s.done(e.Result)
	default: // nothing that an editor has a place for
	}
}

func (s *session) chunk(kind, words string) {
	if words != "" {
		s.update(obj{"sessionUpdate": kind, "content": text(event.Inert(words))})
	}
}

// delta shows text as it comes. What sub-agents say to themselves is not shown; their tool calls are.
func (s *session) delta(env event.Envelope, e event.Stream) {
	switch {
	case e.Text == "" || env.Parent != "":
	case e.Think:
		s.streamed["thinking"] = true
		s.chunk("agent_thought_chunk", e.Text)
	default:
		s.streamed["text"], s.said = true, true
		s.chunk("agent_message_chunk", e.Text)
	}
}

// message shows what a message holds that was not shown while it came. again says that it is being replayed.
func (s *session) message(parent string, m msg.Message, again bool) {
	switch {
	case again && m.Sidechain:
	case m.Kind == msg.KindAssistant && m.APIError == "":
		for _, b := range m.Blocks {
			s.block(parent, b)
		}
		if parent == "" {
			s.streamed = map[string]bool{}
		}
		if parent == "" && !again {
			s.usage(m)
		}
	case m.Kind == msg.KindUser:
		for _, b := range m.Blocks {
			switch {
			case b.Type == msg.TypeToolResult:
				s.result(m, b)
			case again && !m.Meta && parent == "":
				s.user(b)
			}
		}
	case m.Kind == msg.KindSystem && m.Subtype == msg.SubLocalCommand && again:
		typed, answer, _ := strings.Cut(m.Text(), "\n")
		s.chunk("user_message_chunk", typed)
		s.chunk("agent_message_chunk", answer)
	}
}

func (s *session) block(parent string, b msg.Block) {
	switch {
	case b.Type == msg.TypeToolUse:
		s.called(parent, b)
	case parent != "":
	case b.Type == msg.TypeText && !s.streamed["text"]:
		s.said = true
		s.chunk("agent_message_chunk", b.Text)
	case b.Type == msg.TypeThinking && !s.streamed["thinking"]:
		s.chunk("agent_thought_chunk", b.Text)
	}
}

// user shows a part of an earlier prompt.
func (s *session) user(b msg.Block) {
	switch {
	case b.Type == msg.TypeText:
		s.chunk("user_message_chunk", b.Text)
	case b.Type == msg.TypeImage && b.Source != nil && b.Source.Type == "base64":
		s.update(obj{"sessionUpdate": "user_message_chunk", "content": content{Type: "image", Data: b.Source.Data, MimeType: b.Source.MediaType}})
	}
}

// usage tells how full the window is.
func (s *session) usage(m msg.Message) {
	s.mu.Lock()
	window := s.about.Window
	s.mu.Unlock()
	if m.Usage != nil && m.StopReason != "" && window > 0 {
		s.used = m.Usage.Total()
		s.update(obj{"sessionUpdate": "usage_update", "used": s.used, "size": window})
	}
}

// replay shows the conversation so far.
func (s *session) replay() {
	for _, m := range s.history {
		s.message("", m, true)
	}
	s.history = nil
	for _, c := range s.calls { // cut off by the end of an earlier run
		if !c.done {
			s.callUpdate(c, obj{"status": "failed"})
		}
	}
	clear(s.calls)
}

// notice tells what a person should know and the model is not told.
func (s *session) notice(level, words string) {
	words = event.Inert(words)
	switch {
	case s.client.Session.Notices != nil:
		s.update(obj{"sessionUpdate": "notice", "severity": level, "title": words})
	case level == "info" && s.running():
		s.chunk("agent_thought_chunk", words+"\n")
	case level == "info":
		s.srv.o.Warn(words)
	default:
		s.chunk("agent_message_chunk", "\n\n*"+words+"*\n\n")
	}
}

func (s *session) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prompts) > 0
}

// done ends a turn: what the answer's text did not say yet, the cost, a title, and the answer to the prompt.
func (s *session) done(r event.Result) {
	words := ""
	switch _, failed := stopped(r); {
	case failed != nil: // the answer to the prompt says it
	case r.Subtype == event.Success && !s.said:
		words = r.Text
	case r.Subtype != event.Success && !strings.HasPrefix(r.Terminal, "aborted_"):
		words = failureText(r)
	}
	s.chunk("agent_message_chunk", words)
	s.spent(r)
	s.title()
	for id, c := range s.calls {
		if !c.done && c.parent == "" {
			s.callUpdate(c, obj{"status": "failed"})
		}
		if c.done || c.parent == "" {
			delete(s.calls, id)
		}
	}
	s.changed()
	s.finish(&r, nil)
}

func (s *session) spent(r event.Result) {
	s.mu.Lock()
	window := s.about.Window
	s.mu.Unlock()
	if r.Cost > 0 && window > 0 && s.used > 0 {
		s.update(obj{"sessionUpdate": "usage_update", "used": s.used, "size": window, "cost": obj{"amount": r.Cost, "currency": "USD"}})
	}
}

// title names the session by its first prompt.
func (s *session) title() {
	s.mu.Lock()
	words := ""
	if !s.titled && len(s.prompts) > 0 {
		words = s.prompts[0].in.Text
	}
	s.mu.Unlock()
	words = strings.Join(strings.Fields(words), " ")
	if words == "" || strings.HasPrefix(words, "/") {
		return
	}
	s.titled = true
	if r := []rune(words); len(r) > 80 {
		words = string(r[:79]) + "…"
	}
	s.update(obj{"sessionUpdate": "session_info_update", "title": event.InertLine(words), "updatedAt": s.srv.o.Now().UTC().Format(time.RFC3339)})
}

// plan shows the to-do list as the plan.
func (s *session) plan(output json.RawMessage) {
	var out struct {
		New []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"newTodos"`
	}
	if json.Unmarshal(output, &out) != nil || out.New == nil {
		return
	}
	entries := []obj{}
	for _, t := range out.New {
		entries = append(entries, obj{"content": event.Inert(t.Content), "priority": "medium", "status": t.Status})
	}
	s.update(obj{"sessionUpdate": "plan", "entries": entries})
}
