package fakeapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options of a server. The zero value is good.
type Options struct {
	Script *Script           // nil: every model call is refused until AddScript
	Vars   map[string]string // placeholders for all scripts; CWD is there by default
	Now    func() time.Time  // the clock of the cache and of records, time.Now by default
	Forget bool              // drop the body of a request that has ended; for long benchmarks
}

// Server is the fake API. It is an http.Handler; Start runs it on a free port. All methods may be called
// concurrently.
type Server struct {
	opts Options
	now  func() time.Time

	mu       sync.Mutex
	sessions map[string]*session
	requests []*Request
	cache    cache
	changed  chan struct{} // closed and renewed whenever a record changes
	release  chan struct{} // closed and renewed by Release
	closed   chan struct{} // closed by Close
	active   int           // handlers that run

	http *http.Server
	addr string
	wg   sync.WaitGroup
}

// New makes a server that does not listen yet. It fails when the script is not good.
func New(opts Options) (*Server, error) {
	s := &Server{
		opts: opts, now: opts.Now, sessions: map[string]*session{},
		changed: make(chan struct{}), release: make(chan struct{}), closed: make(chan struct{}),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if err := s.AddScript("", cmp.Or(opts.Script, &Script{})); err != nil {
		return nil, err
	}
	return s, nil
}

// AddScript sets the script of a key (an API key, or a name for paths that begin with /s/<name>), and the scripts
// inside it; a script that was there starts anew.
func (s *Server) AddScript(key string, script *Script) error {
	if err := script.validate(); err != nil {
		return fmt.Errorf("script %q: %w", key, err)
	}
	return script.each(func(name string, in *Script) error {
		models := Models()
		for _, raw := range in.Models {
			m, err := decodeModel(models, raw)
			if err != nil {
				return err
			}
			models = append([]Model{m}, slices.DeleteFunc(models, func(old Model) bool { return old.ID == m.ID })...)
		}
		vars := map[string]string{}
		if cwd, err := os.Getwd(); err == nil {
			vars["CWD"] = cwd
		}
		maps.Copy(vars, s.opts.Vars)
		maps.Copy(vars, in.Vars)
		s.mu.Lock()
		defer s.mu.Unlock()
		name = cmp.Or(name, key)
		s.sessions[name] = &session{
			key: name, script: in, models: models, vars: vars,
			used: make([]int, len(in.Turns)), handed: map[string]handed{},
		}
		return nil
	})
}

// Start listens on a free port of the loopback and returns the base URL.
func (s *Server) Start() (string, error) { return s.Listen("127.0.0.1:0") }

// Listen serves on the address and returns the base URL.
func (s *Server) Listen(addr string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("fake api: %w", err)
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.addr = l.Addr().String()
	s.wg.Go(func() { _ = s.http.Serve(l) })
	return s.URL(), nil
}

// URL is the base URL, "" before Start.
func (s *Server) URL() string {
	if s.addr == "" {
		return ""
	}
	return "http://" + s.addr
}

// URLFor is the base URL for the script of a name.
func (s *Server) URLFor(name string) string { return s.URL() + "/s/" + name }

// Close ends all connections and waits for the handlers.
func (s *Server) Close() error {
	s.mu.Lock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	s.mu.Unlock()
	if s.http == nil {
		return nil
	}
	err := s.http.Close()
	s.wg.Wait()
	_ = s.waitFor(context.Background(), func() bool { return s.active == 0 })
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("fake api: %w", err)
	}
	return nil
}

// Release lets every stalled answer go on.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.release)
	s.release = make(chan struct{})
}

// Requests returns the records of all requests, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copies()
}

func (s *Server) copies() []Request {
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// Calls returns the records of the model calls of one script.
func (s *Server) Calls(key string) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Key != key || r.Call == 0 })
}

// Violations returns every broken rule of every request, also when a request broke several.
func (s *Server) Violations() []Violation {
	var out []Violation
	for _, r := range s.Requests() {
		out = append(out, r.Violations...)
	}
	return out
}

// Totals sums up the answered model calls of one script.
func (s *Server) Totals(key string) Totals {
	var t Totals
	for _, r := range s.Calls(key) {
		if r.Status == http.StatusOK {
			t.add(&r)
		}
	}
	return t
}

// Wait blocks until cond is true of the records or the context ends. It is checked after every change.
func (s *Server) Wait(ctx context.Context, cond func([]Request) bool) error {
	return s.waitFor(ctx, func() bool { return cond(s.copies()) })
}

// waitFor waits until cond, which is called under the lock, is true.
func (s *Server) waitFor(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		changed, ok := s.changed, cond()
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for requests: %w", ctx.Err())
		}
	}
}

// update changes a record under the lock and wakes those who wait.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// sessionFor finds the script of a request: by the name in its path, by its key, else the default one.
func (s *Server) sessionFor(r *http.Request) (*session, string) {
	path := r.URL.Path
	name := ""
	if rest, ok := strings.CutPrefix(path, "/s/"); ok {
		name, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range []string{name, apiKey(r.Header)} {
		if in, ok := s.sessions[key]; ok && key != "" {
			return in, path
		}
	}
	if name != "" {
		return nil, path
	}
	return s.sessions[""], path
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_fake/") {
		s.control(w, r)
		return
	}
	in, path := s.sessionFor(r)
	rec := &Request{Method: r.Method, Path: path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Time: s.now(), Turn: -1}
	if in != nil {
		rec.Key = in.key
	}
	s.update(func() {
		s.active++
		rec.N = len(s.requests) + 1
		s.requests = append(s.requests, rec)
	})
	x := &exchange{s: s, in: in, w: w, r: r, rec: rec}
	defer x.finish()
	x.serve()
}
