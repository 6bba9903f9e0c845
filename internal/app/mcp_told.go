package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/pipeline/attach"
	"lathe/internal/tool/mcptool"
	"lathe/internal/turn"
)

const (
	briefChars   = 100 // of a tool's description in the list of those that are loaded on demand
	listingTools = 400 // listed by name
)

// changed notes that a server's state or lists have changed.
func (s *servers) changed(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news == nil {
		s.news = map[string]bool{}
	}
	s.news[name] = true
}

// fresh returns what a person should know of the servers and was not told.
func (s *servers) fresh() []string {
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.news))
	s.news = nil
	s.mu.Unlock()
	var out []string
	for _, name := range names {
		st, ok := s.set.Server(name)
		if !ok {
			continue
		}
		text := ""
		if st.State == mcp.Failed || st.State == mcp.NeedsAuth {
			text = fmt.Sprintf("MCP server %s is not connected: %s", name, st.Error)
		}
		s.mu.Lock()
		before := s.told[name]
		if s.told == nil {
			s.told = map[string]string{}
		}
		s.told[name] = text
		s.mu.Unlock()
		out = append(out, s.redefined(st)...)
		switch {
		case text != "" && text != before:
			out = append(out, text)
		case text == "" && before != "":
			out = append(out, fmt.Sprintf("MCP server %s is connected again", name))
		}
	}
	return out
}

// serverSource attaches what the model should know of the servers beside the definitions.
func (r *run) serverSource() attach.Source {
	return attach.Servers(func(t *turn.Turn) string {
		for _, text := range r.servers.fresh() {
			_ = t.Emit(event.Notice{Level: "warning", Text: text})
		}
		return r.servers.listing()
	})
}

// listing is that text. Its order is fixed, so that it is attached again only when something changed.
func (s *servers) listing() string {
	var b strings.Builder
	if list := s.deferred(); len(list) > 0 {
		how := "They are not among the definitions; call one by its name, with an input that fits its description."
		if s.toldNow()(mcptool.CallName) {
			how = fmt.Sprintf("Find their schemas with %s and call them with %s.", mcptool.SearchName, mcptool.CallName)
		}
		fmt.Fprintf(&b, "Further tools of MCP servers can be called. %s There are:\n", how)
		for i, t := range list {
			if i == listingTools {
				fmt.Fprintf(&b, "… and %d more, which %s finds\n", len(list)-i, mcptool.SearchName)
				break
			}
			fmt.Fprintf(&b, "- %s", t.FullName)
			if about := event.OneLine(t.Description, briefChars); about != "" {
				fmt.Fprintf(&b, ": %s", about)
			}
			b.WriteString("\n")
		}
	}
	if gone := s.gone(); len(gone) > 0 {
		fmt.Fprintf(&b, "Tools of the definitions that cannot be called now, because their servers are away: %s\n", strings.Join(gone, ", "))
	}
	if list := s.outdated(); len(list) > 0 {
		fmt.Fprintf(&b, "Servers have changed what they say of these tools; their definitions here stay what they were: %s\n", strings.Join(list, ", "))
	}
	for _, st := range s.set.Status() {
		if text := strings.TrimSpace(st.Instructions); text != "" {
			fmt.Fprintf(&b, "Instructions of the MCP server %s:\n%s\n", st.Name, shorten(text, 4096))
		}
	}
	return b.String()
}

// gone lists the tools of the definitions that are not there any more.
func (s *servers) gone() []string {
	live := map[string]bool{}
	for _, t := range s.tools() {
		live[t.FullName] = true
	}
	names := s.r.tools.registry.Names()
	if f := s.r.session.Frozen(); f != nil {
		names = nil
		for _, d := range f.Tools {
			names = append(names, d.Name)
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return !mcp.IsFullName(n) || live[n] })
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// serverStates is what front ends are told at the start of a turn.
func (r *run) serverStates() []event.Server {
	if r.servers == nil {
		return nil
	}
	var out []event.Server
	for _, st := range r.servers.set.Status() {
		out = append(out, event.Server{Name: st.Name, Status: string(st.State), Source: sourceOf(st.Scope)})
	}
	return out
}

// sourceOf names a scope in the documented words.
func sourceOf(s mcp.Scope) string {
	if s == mcp.Flag {
		return "dynamic"
	}
	return string(s)
}

// serverOf is the server that a tool belongs to, as hooks and hosts are told of it; nil for other tools.
func (r *run) serverOf(tool string) *event.Server {
	if !mcp.IsFullName(tool) {
		return nil
	}
	for _, s := range r.serverStates() {
		if strings.HasPrefix(tool, mcp.Prefix(s.Name)) {
			return &s
		}
	}
	return nil
}
