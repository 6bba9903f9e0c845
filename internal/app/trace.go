package app

import (
	"fmt"

	"lathe/internal/pipeline/model"
	"lathe/internal/provider"
	"lathe/internal/sys"
	"lathe/internal/trace"
)

// openTrace begins a trace where one is asked for: by the flag, the environment, or the setting "trace".
func (r *run) openTrace() error {
	wanted := sys.IsOn(r.place.Sys.Getenv("LATHE_TRACE")) || r.place.Settings.Granted("trace", false)
	if !r.o.Trace && !wanted {
		return nil
	}
	path := r.conv.Log.Path()
	if path == "" {
		if r.o.Trace {
			return fmt.Errorf("--trace needs a session that is kept")
		}
		return nil // what shall leave nothing leaves no trace either
	}
	f, err := trace.Open(trace.Dir(path))
	if err != nil {
		return fmt.Errorf("open the trace: %w", err)
	}
	f.Clean = r.place.Redact.JSON
	r.trace.Store(f)
	return nil
}

// described lets the provider say what it sends, where it is one that can.
func (r *run) described(d *model.Deps) {
	if h, ok := r.model.Provider.(interface {
		Headers(req *provider.Request) map[string]string
		Sum(req *provider.Request) (hash string, bytes int)
	}); ok {
		d.Headers, d.Sum = h.Headers, h.Sum
	}
}
