package app

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"lathe/internal/complete"
	"lathe/internal/event"
)

// suggester completes the files of @ mentions. It lists nothing before it is asked.
type suggester struct {
	mu    sync.Mutex
	index *complete.Index
	stop  context.CancelFunc // ends the user's own command that runs for an older query; nil: there was none
}

func (s *suggester) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index.Close()
}

// suggestQuery is the payload of the query "file_suggestions".
type suggestQuery struct {
	Query string `json:"query"`
	Limit int    `json:"limit"` // 0: 20
	Wait  bool   `json:"wait"`  // for a moment, for what is still being listed
}

// suggestMost bounds what one answer holds.
const suggestMost = 200

func (r *run) suggestFiles(ctx context.Context, q suggestQuery) (any, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 20
	}
	limit = min(limit, suggestMost)
	if dir, name, ok := r.elsewhere(q.Query); ok {
		return complete.Answer{Suggestions: r.listed(dir, name, q.Query, limit)}, nil
	}
	r.suggest.mu.Lock()
	if r.suggest.index == nil {
		root := r.tools.workspace.Start()
		r.suggest.index = complete.New(complete.Options{
			Root: root, Git: r.place.Settings.Bool("respectGitignore", true), Now: r.place.Sys.Now,
			Hide: func(path string) bool { return r.readDenied(filepath.Join(root, filepath.FromSlash(path))) },
		})
	}
	index := r.suggest.index
	r.suggest.mu.Unlock()
	if list, own := r.ownSuggestions(ctx, q.Query, limit); own {
		return complete.Answer{Suggestions: list, Total: len(list)}, nil
	}
	others, building := r.suggestResources(ctx, q.Wait)
	others = append(others, r.suggestAgents()...)
	a := index.Suggest(ctx, q.Query, limit, others)
	a.Building = a.Building || building
	return a, nil
}

// suggestResources are the resources of the MCP servers that are connected, in the form in which a prompt names them.
func (r *run) suggestResources(ctx context.Context, wait bool) (out []complete.Suggestion, building bool) {
	if r.servers == nil {
		return nil, false
	}
	list, building := r.servers.set.Offers(ctx, wait)
	for _, res := range list {
		ref, kind, note := res.Server+":"+res.URI, "resource", cmp.Or(res.Title, res.Name, res.Description)
		if res.URI == "" { // up to where the person goes on
			fixed, open, _ := strings.Cut(res.Template, "{")
			ref, kind, note = res.Server+":"+fixed, "template", "{"+open+" "+note
		}
		if _, ok := r.resolveResource(ref); !ok || event.Inert(ref) != ref || strings.ContainsAny(ref, "\"\n") || r.servers.closed(res.Server) != nil {
			continue // no prompt could name it, or a rule forbids it
		}
		out = append(out, complete.Suggestion{Path: ref, Kind: kind, Note: note})
	}
	return out, building
}

// suggestAgents are the sub-agents that a prompt can name.
func (r *run) suggestAgents() []complete.Suggestion {
	var out []complete.Suggestion
	for _, d := range r.agents() {
		if ref := "agent-" + d.Name; event.InertLine(ref) == ref && !strings.ContainsAny(ref, "\" ") {
			out = append(out, complete.Suggestion{Path: ref, Kind: "agent", Note: event.OneLine(d.Description, 120)})
		}
	}
	return out
}

// elsewhere reports whether a path leads out of the working directory, and which folder its names are in.
func (r *run) elsewhere(query string) (dir, name string, ok bool) {
	switch {
	case strings.HasPrefix(query, "~/"):
		dir = filepath.Join(r.place.Sys.Dirs.Home, query[2:])
	case strings.HasPrefix(query, "../"):
		dir = filepath.Join(r.tools.workspace.Start(), query)
	case filepath.IsAbs(query):
		dir = query
	default:
		return "", "", false
	}
	if strings.HasSuffix(query, "/") {
		return dir, "", true
	}
	return filepath.Dir(dir), filepath.Base(dir), true
}

// listed are the names in a folder that begin with what was typed.
func (r *run) listed(dir, name, query string, limit int) []complete.Suggestion {
	out := []complete.Suggestion{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	head := query[:strings.LastIndexByte(query, '/')+1]
	for _, e := range entries {
		if !strings.HasPrefix(strings.ToLower(e.Name()), strings.ToLower(name)) || strings.HasPrefix(e.Name(), ".") && name == "" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if r.readDenied(path) {
			continue
		}
		info, err := os.Stat(path)
		s := complete.Suggestion{Path: head + e.Name(), Dir: err == nil && info.IsDir()}
		if s.Dir {
			s.Path += "/"
		}
		out = append(out, s)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Dir && !out[j].Dir })
	return out[:min(len(out), limit)]
}
