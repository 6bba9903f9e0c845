package compact

import (
	"fmt"

	"lathe/internal/msg"
)

// snipHead is how many tokens of the beginning stay when the middle is cut.
const snipHead = 4000

// Snip cuts old messages out of the middle until the view fits the target. The first messages and the newest ones
// stay; so do rules, pins, and what waits for an answer.
func Snip(view []msg.Message, s Settings) ([]msg.Message, Report) {
	return report(view, findSnip(view, s), s)
}

func findSnip(view []msg.Message, s Settings) Edit {
	total := s.tokens(view)
	over := total + s.Overhead - s.Target
	if s.Target <= 0 || over <= 0 {
		return Edit{}
	}
	a, stands := study(view, s), standing(view)
	from, head := 0, 0
	for i := range view { // the end of the head
		n := s.tokens(view[i : i+1])
		if head+n > snipHead && i > 0 {
			break
		}
		if head += n; a.safe[i+1] {
			from = i + 1
		}
	}
	waits := unanswered(view)
	cut, gone, to := Cut{}, 0, -1
	var keep []string
	for i := from; i < len(view); i++ {
		m := view[i]
		if i >= waits && typed(m) || protected(m, s) || stands[i] {
			keep = append(keep, m.ID)
		} else {
			gone += s.tokens(view[i : i+1])
		}
		if a.safe[i+1] && i+1 < len(view) {
			to, cut.Keep = i, keep[:len(keep):len(keep)]
			if gone >= over {
				break
			}
		}
	}
	if to < from || gone < minSaving {
		return Edit{}
	}
	cut.From, cut.To = view[from].ID, view[to].ID
	cut.Text = fmt.Sprintf("[%d earlier messages of this conversation were cut out here because the context was full. "+
		"Read files again and run commands again where you need what they held.]", to-from+1-len(cut.Keep))
	return Edit{Step: "snip", Cut: []Cut{cut}, Thinking: a.thinkingAfter(to)}
}
