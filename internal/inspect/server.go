package inspect

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed web
var files embed.FS

// Server serves a session as a page on this machine. Who has not the secret of its address is told nothing.
type Server struct {
	// Load reads the session; it is called when the page is loaded anew, so that one can watch a session grow. The
	// server closes what it gives.
	Load func() (*Session, error)

	secret string
	hosts  [2]string // with which the page may be asked for

	mu      sync.Mutex
	session *Session
}

// Listen opens a port on the loopback and returns it with the address of the page. port 0 takes any that is free.
func (s *Server) Listen(port int) (net.Listener, string, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, "", fmt.Errorf("open a port for the page: %w", err)
	}
	s.secret = rand.Text()
	_, taken, _ := net.SplitHostPort(ln.Addr().String())
	s.hosts = [2]string{"127.0.0.1:" + taken, "localhost:" + taken}
	return ln, "http://" + s.hosts[0] + "/" + s.secret + "/", nil
}

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if err := s.reload(); err != nil {
		return errors.Join(err, ln.Close())
	}
	defer s.close()
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *Server) reload() error {
	session, err := s.Load()
	if err != nil {
		return err
	}
	s.mu.Lock()
	old := s.session
	s.session = session
	s.mu.Unlock()
	if old != nil {
		return old.Close()
	}
	return nil
}

func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		_ = s.session.Close()
	}
}

// ServeHTTP checks who asks, and answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this page is only read", http.StatusMethodNotAllowed)
		return
	}
	rest, ok := s.admit(r)
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	s.answer(w, rest)
}

// admit reports whether a request comes from the page itself or from one who was given its address, and returns the
// path behind the secret. Other pages that the browser shows can send requests to this port too: they know neither
// the secret nor, by a name of their own that leads here, the right host.
func (s *Server) admit(r *http.Request) (string, bool) {
	if r.Host != s.hosts[0] && r.Host != s.hosts[1] {
		return "", false
	}
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return "", false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return "", false
	}
	secret, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return rest, ok && subtle.ConstantTimeCompare([]byte(secret), []byte(s.secret)) == 1
}

func (s *Server) answer(w http.ResponseWriter, path string) {
	if path == "" {
		path = "index.html"
	}
	kind, arg, _ := strings.Cut(strings.TrimPrefix(path, "api/"), "/")
	switch {
	case !strings.HasPrefix(path, "api/"):
		s.static(w, path)
	case kind == "session":
		if err := s.reload(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		s.mu.Lock()
		list := *s.session
		s.mu.Unlock()
		list.Requests, list.Side, list.Agents = brief(list.Requests), brief(list.Side), slices.Clone(list.Agents)
		for i, a := range list.Agents {
			c := *a
			c.Requests = brief(c.Requests)
			list.Agents[i] = &c
		}
		writeJSON(w, list)
	case kind == "request", kind == "body", kind == "blob":
		s.request(w, kind, arg)
	default:
		http.Error(w, "not found", http.StatusNotFound)
	}
}

// brief leaves out what is only looked at for one request.
func brief(list []*Request) []*Request {
	out := make([]*Request, len(list))
	for i, r := range list {
		c := *r
		c.Stages, c.Calls, c.Tools, c.Diff = nil, nil, nil, nil
		out[i] = &c
	}
	return out
}

func (s *Server) request(w http.ResponseWriter, kind, arg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	label, hash, _ := strings.Cut(arg, "/")
	r := s.session.Find(label)
	switch {
	case r == nil:
		http.Error(w, "there is no such request", http.StatusNotFound)
	case kind == "request":
		writeJSON(w, r)
	case r.trace == nil:
		writeRaw(w, nil)
	case kind == "blob":
		writeRaw(w, r.trace.Blob(hash))
	default:
		body, exact, err := r.Body()
		w.Header().Set("X-Exact", strconv.FormatBool(exact && err == nil))
		writeRaw(w, body)
	}
}

// Body is the body that the last attempt of the request sent; exact reports whether it is so to the byte.
func (r *Request) Body() (body []byte, exact bool, err error) {
	if r.trace == nil {
		return nil, false, fmt.Errorf("request %s was made without a trace, so its body is not known", r.Label)
	}
	return r.trace.Body(r.call)
}

func (s *Server) static(w http.ResponseWriter, path string) {
	types := map[string]string{"index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "draw.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8"}
	b, err := fs.ReadFile(files, "web/"+path)
	if err != nil || types[path] == "" {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", types[path])
	_, _ = w.Write(b)
}

func writeJSON(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeRaw(w, b)
}

func writeRaw(w http.ResponseWriter, b []byte) {
	if b == nil {
		http.Error(w, "this was not kept", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(b)
}
