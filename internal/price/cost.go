package price

import "lathe/internal/msg"

const million = 1_000_000

// Cost is the list price of one model call in USD. Cache writes without a split count as five-minute ones.
func (t *Table) Cost(model string, u msg.Usage) float64 {
	r := t.rates(t.Info(model), u.Prompt(), u.Speed == msg.SpeedFast)
	short, hour := cacheWrites(u)
	usd := tokens(u.Input, r.Input) + tokens(u.CacheRead, r.Read) + tokens(u.Output, r.Output) +
		tokens(short, r.Write5m) + tokens(hour, r.Write1h)
	if u.ServerTools != nil {
		usd += float64(u.ServerTools.WebSearch) * t.WebSearch / 1000
	}
	return usd * t.multiply
}

// cacheWrites splits the cache writes of a call by lifetime: five minutes, one hour.
func cacheWrites(u msg.Usage) (short, hour int) {
	if u.CacheCreation != nil {
		hour = min(max(u.CacheCreation.OneHour, 0), u.CacheWrite)
	}
	return u.CacheWrite - hour, hour
}

// Call describes a call about to be made, in estimated tokens.
type Call struct {
	Cached int  // of the prompt, expected to be read from the cache
	Fresh  int  // of the prompt, new
	Output int  // allowance for the answer
	Write  bool // the new part is written to the cache
	Hour   bool // with a lifetime of one hour
	Fast   bool // in fast mode

	Searches int // of the web, by the provider
}

// Estimate is the price of a call about to be made.
func (t *Table) Estimate(model string, c Call) float64 {
	r := t.rates(t.Info(model), c.Cached+c.Fresh, c.Fast)
	fresh := r.Input
	switch {
	case c.Write && c.Hour:
		fresh = r.Write1h
	case c.Write:
		fresh = r.Write5m
	}
	usd := tokens(c.Cached, r.Read) + tokens(c.Fresh, fresh) + tokens(c.Output, r.Output)
	return (usd + float64(c.Searches)*t.WebSearch/1000) * t.multiply
}

// rates picks the band by the length of the prompt; it applies to every token of the call.
func (t *Table) rates(m Info, prompt int, fast bool) Rates {
	if fast && m.Fast != nil {
		return m.Fast.Price
	}
	if m.Above != nil && prompt > m.Above.Prompt {
		return m.Above.Price
	}
	return m.Price
}

func tokens(n int, perMillion float64) float64 { return float64(n) * perMillion / million }
