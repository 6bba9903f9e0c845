package load

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"lathe/internal/inspect"
	"lathe/internal/price"
	"lathe/internal/session"
)

// Page serves the inspector of a session from within its run.
type Page struct {
	mu      sync.Mutex
	address string
	of      string // path of the session that it shows
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

// Open begins to serve the session in a file, and returns the address; again it returns the same one.
func (p *Page) Open(path string, prices *price.Table) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil && p.of == path {
		return p.address, nil
	}
	p.end()
	meta := session.Meta{Path: path, ID: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	srv := &inspect.Server{Load: func() (*inspect.Session, error) { return Session(meta, prices) }}
	if s, err := srv.Load(); err != nil {
		return "", err
	} else if err := s.Close(); err != nil {
		return "", err
	}
	ln, address, err := srv.Listen(0)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.wg.Go(func() { _ = srv.Serve(ctx, ln) })
	p.address, p.of, p.stop = address, path, stop
	return address, nil
}

// end stops serving. The caller holds the lock.
func (p *Page) end() {
	if p.stop != nil {
		p.stop()
		p.wg.Wait()
		p.stop = nil
	}
}

// Close stops serving.
func (p *Page) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}
