package websearch

import (
	"fmt"
	"sync"
	"time"
)

// Budget is how many searches a session may make. It is safe for concurrent use.
type Budget struct {
	now     func() time.Time
	max     int
	perHour int // how many come back in an hour, up to max; 0: none

	mu   sync.Mutex
	left float64
	at   time.Time
}

// NewBudget returns a full budget.
func NewBudget(most, perHour int, now func() time.Time) *Budget {
	return &Budget{now: now, max: most, perHour: perHour, left: float64(most), at: now()}
}

// Take takes up to n searches out and returns how many there were.
func (b *Budget) Take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill()
	n = min(n, int(b.left))
	b.left -= float64(n)
	return n
}

// Return gives back what was not used.
func (b *Budget) Return(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+float64(max(n, 0)), float64(b.max))
}

func (b *Budget) refill() {
	now := b.now()
	if since := now.Sub(b.at); since > 0 {
		b.left = min(b.left+since.Hours()*float64(b.perHour), float64(b.max))
	}
	b.at = now
}

// spent says that nothing is left.
func (b *Budget) spent() string {
	text := fmt.Sprintf("No search was made: this session has used up its web searches (%d, CLAUDE_CODE_MAX_WEB_SEARCHES_PER_SESSION).", b.max)
	if b.perHour > 0 {
		text += fmt.Sprintf(" %d more come back each hour.", b.perHour)
	}
	return text + " Go on with what you know, or with WebFetch where you know the address."
}
