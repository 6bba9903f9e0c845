package tui

import "lathe/internal/event"

// called answers what the session asks of its host. The terminal is none that offers anything of that kind.
func (u *ui) called(e event.Call) {
	u.op(event.Return{ID: e.ID, Err: "the terminal cannot do " + e.Kind})
}

func (u *ui) uncalled(string) {}
