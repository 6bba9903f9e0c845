package compact

import (
	"fmt"
	"time"

	"lathe/internal/msg"
	"lathe/internal/price"
)

// The lifetimes of the prompt cache, from the API's documentation.
const (
	shortLife = 5 * time.Minute
	longLife  = time.Hour
)

// margin is how many times over the longer lifetime must pay: pauses to come are a guess, and after a pause that let the
// cache expire the steps cost nothing, which is worth something too.
const margin = 2.5

// hour reports whether what the coming turn writes to the prompt cache should live for an hour instead of five
// minutes, and why (not). The longer life costs more for each token that is written; it pays when a pause before the
// next turn would let what is sent again expire. How likely such a pause is, the pauses of this session tell; what would
// be sent again is the view as the steps would leave it. It depends on the conversation alone, so that every process
// chooses alike.
func (v sight) hour(steps []Step, r price.Rates) (bool, string) {
	dearer, again := r.Write1h-r.Write5m, r.Write5m-r.Read
	if dearer <= 0 || again <= 0 {
		return false, "the model has one price for both lifetimes"
	}
	pauses, long := pauses(v.whole)
	if pauses == 0 {
		return false, "no pause is known yet"
	}
	chance := (float64(long) + 0.5) / float64(pauses+1)
	left := v.view
	for _, s := range steps {
		if s.Name == "collapse" {
			left, _ = s.Apply(left, v.set)
		}
	}
	kept := float64(v.set.Counter.Messages(left) + v.set.Overhead)
	added := float64(v.set.Counter.Messages(v.whole)) / float64(pauses+1) // by each turn
	gain, cost := chance*kept*again/million, added*dearer/million
	text := fmt.Sprintf("%d of %d pauses were longer than five minutes and shorter than an hour: $%.4f expected against $%.4f", long, pauses, gain, cost)
	return gain > cost*margin, text
}

// pauses counts the times between an answered turn and the next prompt, and those of them in which the short life ends
// and the long one does not.
func pauses(messages []msg.Message) (all, long int) {
	var answered time.Time
	for _, m := range messages {
		switch {
		case m.Kind == msg.KindAssistant:
			answered = m.Time
		case typed(m) && !answered.IsZero() && !m.Time.IsZero():
			all++
			if gap := m.Time.Sub(answered); gap >= shortLife && gap < longLife {
				long++
			}
			answered = time.Time{}
		}
	}
	return all, long
}

// lived is the lifetime of what was written last, by the provider's count.
func lived(view []msg.Message) time.Duration {
	for i := len(view) - 1; i >= 0; i-- {
		if u := view[i].Usage; u != nil && u.CacheCreation != nil && u.CacheCreation.FiveMinutes+u.CacheCreation.OneHour > 0 {
			if u.CacheCreation.OneHour > 0 {
				return longLife
			}
			return shortLife
		}
	}
	return shortLife
}
