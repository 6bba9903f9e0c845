package app

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"lathe/internal/mcp"
	"lathe/internal/perm"
)

// serverModes are the permission modes that a host has pinned to MCP servers, by name. They only tighten: where the session's
// own mode would allow a call by itself, it is asked for ("default"), or the classifier is ("auto").
type serverModes struct {
	mu    sync.RWMutex
	modes map[string]perm.Mode
}

// set pins a mode, or takes it back where mode is nil.
func (r *run) setServerMode(_ context.Context, in struct {
	Name string  `json:"serverName"`
	Mode *string `json:"mode"`
},
) (any, error) {
	if in.Name == "" {
		return nil, fmt.Errorf("set_mcp_permission_mode_override needs a serverName")
	}
	if in.Mode != nil && *in.Mode != string(perm.ModeDefault) && *in.Mode != string(perm.ModeAuto) {
		return nil, fmt.Errorf("mode is %q; it may be default, auto or null", *in.Mode)
	}
	m := &r.serverModes
	m.mu.Lock()
	if in.Mode == nil {
		delete(m.modes, in.Name)
	} else {
		if m.modes == nil {
			m.modes = map[string]perm.Mode{}
		}
		m.modes[in.Name] = perm.Mode(*in.Mode)
	}
	m.mu.Unlock()
	for _, s := range r.serverStates() {
		if s.Name == in.Name {
			return nothing{}, nil
		}
	}
	return map[string]string{"warning": fmt.Sprintf("there is no MCP server named %q now; the mode counts once there is one", in.Name)}, nil
}

// of is the mode for a call of a tool.
func (m *serverModes) of(tool string, mode perm.Mode) perm.Mode {
	if mode != perm.ModeBypass && mode != perm.ModeAuto || !strings.HasPrefix(tool, "mcp__") {
		return mode
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	longest := 0 // as a tool's owner is found: mcp__a__b__c is of the server a__b, where there is one
	for name, pinned := range m.modes {
		switch p := mcp.Prefix(name); {
		case !strings.HasPrefix(tool, p) || len(p) < longest:
		case len(p) > longest, pinned == perm.ModeDefault: // of two names that tools spell alike the stricter mode counts
			longest, mode = len(p), pinned
		}
	}
	return mode
}
