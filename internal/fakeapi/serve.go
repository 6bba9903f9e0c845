package fakeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Serve loads the script file, listens on the address and serves until the context ends. The first line on out is
// "listening on <base URL>"; at the end every violation is one line, and their number decides the error.
func Serve(ctx context.Context, script, addr string, out io.Writer) error {
	sc, err := LoadScript(script)
	if err != nil {
		return err
	}
	s, err := New(Options{Script: sc})
	if err != nil {
		return err
	}
	url, err := s.Listen(addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "listening on %s\n", url); err != nil {
		_ = s.Close()
		return fmt.Errorf("fake api: %w", err)
	}
	<-ctx.Done()
	if err := s.Close(); err != nil {
		return err
	}
	bad := s.Violations()
	for _, v := range bad {
		_, _ = fmt.Fprintf(out, "violation in request %d (%s): %s\n", v.Request, v.Rule, v)
	}
	if len(bad) > 0 {
		return fmt.Errorf("fake api: %d violations", len(bad))
	}
	return nil
}

// control answers the paths under /_fake, by which a test in another process looks into the server:
// GET requests, bodies, violations, totals; POST release.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	var v any
	key := r.URL.Query().Get("key")
	switch r.Method + " " + r.URL.Path {
	case "GET /_fake/requests":
		v = s.Requests()
	case "GET /_fake/bodies":
		bodies := []json.RawMessage{}
		for _, c := range s.Calls(key) {
			if json.Valid(c.Body) {
				bodies = append(bodies, c.Body)
			}
		}
		v = bodies
	case "GET /_fake/violations":
		v = append([]Violation{}, s.Violations()...)
	case "GET /_fake/totals":
		t := s.Totals(key)
		v = struct {
			Totals
			HitRatio float64 `json:"hit_ratio"`
		}{t, t.HitRatio()}
	case "POST /_fake/release":
		s.Release()
		v = true
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(encode(v), '\n'))
}
