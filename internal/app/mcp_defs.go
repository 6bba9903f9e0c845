package app

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/mcp"
)

// knownServers remembers what the project's servers said of themselves when it was trusted.
func (r *run) knownServers() *mcp.Known {
	return mcp.NewKnown(r.place.Sys.Dirs.State, r.place.TrustKey)
}

// agreeHow tells how to agree to what a server says now.
func agreeHow(server string) string {
	return fmt.Sprintf("it is not offered until you agree: /mcp accept %s, or lathe trust", event.InertLine(server))
}

// withheldText tells of what a project's server has changed since the project was trusted, "" when it has not.
func withheldText(st mcp.Status) string {
	if len(st.Withheld) == 0 {
		return ""
	}
	return fmt.Sprintf("MCP server %s says something else than when you trusted this project, of: %s; %s",
		event.InertLine(st.Name), event.InertLine(strings.Join(st.Withheld, ", ")), agreeHow(st.Name))
}

// acceptServer takes a project's server at its word as it is now.
func (r *run) acceptServer(ctx context.Context, name string) (string, error) {
	st, ok := r.servers.set.Server(name)
	switch {
	case !ok:
		return "", fmt.Errorf("there is no MCP server %q", name)
	case st.Unproven:
		if err := r.servers.set.Accept(ctx, st.Name); err != nil {
			return "", err
		}
		return "Accepted what " + event.InertLine(st.Name) + " starts.", nil
	case len(st.Withheld) == 0:
		return event.InertLine(st.Name) + " has changed nothing that was trusted.", nil
	}
	if err := r.servers.set.Accept(ctx, st.Name); err != nil {
		return "", err
	}
	return fmt.Sprintf("Accepted what %s says of: %s", event.InertLine(st.Name), event.InertLine(strings.Join(st.Withheld, ", "))), nil
}

// redefined is what a person should know of changed definitions of a server's tools: those that are withheld, and those
// that changed while the session goes on.
func (s *servers) redefined(st mcp.Status) (out []string) {
	key := st.Name + " definitions"
	text := withheldText(st)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != s.told[key] {
		s.told[key] = text
		if text != "" {
			out = append(out, text)
		}
	}
	if s.said == nil {
		s.said = map[string]string{}
	}
	var changed []string
	for _, t := range st.Tools {
		now := t.Description + "\x00" + string(t.Schema)
		if before, ok := s.said[t.FullName]; ok && before != now {
			changed = append(changed, t.FullName)
		}
		s.said[t.FullName] = now
	}
	if len(changed) > 0 {
		out = append(out, fmt.Sprintf("MCP server %s has changed the definitions of: %s", event.InertLine(st.Name), event.InertLine(strings.Join(changed, ", "))))
	}
	return out
}

// outdated lists the tools whose definitions are sent as they were, while their servers say something else by now.
func (s *servers) outdated() []string {
	f := s.r.session.Frozen()
	if f == nil {
		return nil
	}
	live := map[string]mcp.Tool{}
	for _, t := range s.tools() {
		live[t.FullName] = t
	}
	var out []string
	for _, d := range f.Tools {
		if t, ok := live[d.Name]; ok && (t.Description != d.Description || !sameJSON(t.Schema, d.InputSchema)) {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return out
}

// sameJSON reports whether two values are the same however they are written: what was kept with a session may be
// spelled in another way.
func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
