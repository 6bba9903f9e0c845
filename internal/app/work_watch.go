package app

import (
	"fmt"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/pipeline/attach"
	"lathe/internal/tool"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
)

const (
	watchAlone = 10 * time.Minute // how long a watch lasts at most in a run of one prompt
	watchLines = 4 << 10          // bytes of a watch that are told at once
	watchTurns = 50               // turns that one watch may ask for: each costs a call of the model
)

// monitorTool is the tool Monitor: in the terminal, and where it is named. A sub-agent has none, since nothing wakes it.
func (r *run) monitorTool(d bash.Deps) []tool.Tool {
	if r.agent != nil || !r.backgroundOn() || r.o.Entry != EntryTerminal && !r.named(bash.MonitorName) {
		return nil
	}
	most := time.Duration(0)
	if r.o.Host == nil && !r.o.Asks {
		most = watchAlone
	}
	return []tool.Tool{bash.NewMonitor(d, most)}
}

// watched is how much of a watch the model has been told. work.mu guards it.
type watched struct {
	id      string
	told    int64            // how far
	offered map[string]int64 // by key: how far that tells
	asking  bool             // a turn was asked for with lines that are not told yet
	turns   int              // how many were
}

// said wakes the session for new lines of a watch.
func (w *work) said(t bash.Task) {
	w.mu.Lock()
	over := w.told.lines[endKey(t)] != nil && w.told.lines[endKey(t)].turns >= watchTurns
	w.mu.Unlock()
	if over {
		_, _ = w.r.tools.tasks.Stop(t.ID, false) // it has ended: all the better
		return
	}
	w.r.session.Wake()
}

// lines are those of a watch that the model has not been told of. The caller holds the lock.
func (w *work) lines(t bash.Task, wake bool) (attach.Item, bool) {
	if !t.Watch || t.Owner != "" {
		return attach.Item{}, false
	}
	if w.told.lines == nil {
		w.told.lines = map[string]*watched{}
	}
	s := w.told.lines[endKey(t)]
	if s == nil {
		s = &watched{id: t.ID, offered: map[string]int64{}}
		w.told.lines[endKey(t)] = s
	}
	if wake && (s.asking || t.Asked) {
		return attach.Item{}, false
	}
	text, next, skipped := w.r.tools.tasks.Lines(t.ID, s.told, watchLines)
	if strings.TrimSpace(text) == "" {
		return attach.Item{}, false
	}
	text, _ = toolagent.Neutral(text)
	head := fmt.Sprintf("Watch %s (%s) printed:", t.ID, first(t.Description, event.OneLine(t.Command, 80)))
	if skipped > 0 {
		head += fmt.Sprintf(" [%d bytes left out before this; all of it is in %s]", skipped, t.OutputFile)
	}
	key := fmt.Sprintf("%s lines %d", strings.TrimSuffix(endKey(t), " ended"), next)
	s.offered[key] = next
	return attach.Item{Key: key, Text: head + "\n" + text}, true
}

// spoke notes that a turn is asked for with these. The caller holds the lock.
func (w *work) spoke(keys []string) {
	for _, s := range w.told.lines {
		for _, k := range keys {
			if _, mine := s.offered[k]; mine {
				s.asking = true
				s.turns++
			}
		}
	}
}

// heardLines notes that the model was told the lines of a key. The caller holds the lock.
func (w *work) heardLines(key string) {
	for _, s := range w.told.lines {
		if upto, mine := s.offered[key]; mine {
			s.told, s.asking, s.offered = max(s.told, upto), false, map[string]int64{}
		}
	}
}

// watchNews tells how a watch has ended.
func watchNews(t bash.Task) string {
	how := fmt.Sprintf("%s, exit code %d", t.State, t.ExitCode)
	switch {
	case t.Late:
		how = "its time was over; watch again if there is more to come"
	case t.State == bash.Stopped && !t.Asked:
		how = fmt.Sprintf("it was stopped; one that prints more than %d times should print only what matters", watchTurns)
	case t.State == bash.Stopped:
		how = "it was stopped"
	}
	return fmt.Sprintf("Watch %s (%s) ended: %s", t.ID, first(t.Description, event.OneLine(t.Command, 80)), how)
}
