package webfetch

import (
	"sync"
	"time"
)

const cacheSize = 16 << 20 // bytes of text

// page is what was fetched.
type page struct {
	url    string // as it was asked for
	text   string
	size   int // bytes of the body
	code   int
	status string // "200 OK"
	cut    bool   // the body was longer than maxBody
	moved  string // where the server redirected to, another host
	at     time.Time
}

// cache keeps pages for a while; the oldest go first when they grow too large. It is safe for concurrent use.
type cache struct {
	life  time.Duration
	mu    sync.Mutex
	pages []page // oldest first
	size  int
}

func (c *cache) get(url string, now time.Time) (page, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pages) > 0 && now.Sub(c.pages[0].at) >= c.life {
		c.drop()
	}
	for i := len(c.pages) - 1; i >= 0; i-- {
		if c.pages[i].url == url {
			return c.pages[i], true
		}
	}
	return page{}, false
}

func (c *cache) put(p page) {
	if c.life < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages = append(c.pages, p)
	c.size += len(p.text)
	for c.size > cacheSize {
		c.drop()
	}
}

func (c *cache) drop() {
	c.size -= len(c.pages[0].text)
	c.pages[0] = page{}
	c.pages = c.pages[1:]
}
