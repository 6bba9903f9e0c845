package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"lathe/internal/pipeline/model"
	"lathe/internal/provider"
	"lathe/internal/trace"
)

// traceDir is where the trace of the session in the file path is kept: beside it.
func traceDir(path string) string {
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "trace")
}

// openTrace begins a trace where one is asked for: by the flag, the environment, or the setting "trace".
func (r *run) openTrace() error {
	wanted := isOn(r.place.Sys.Getenv("LATHE_TRACE")) || r.place.Settings.Granted("trace", false)
	if !r.o.traceOn && !wanted {
		return nil
	}
	path := r.conv.log.Path()
	if path == "" {
		if r.o.traceOn {
			return fmt.Errorf("--trace needs a session that is kept")
		}
		return nil // what shall leave nothing leaves no trace either
	}
	f, err := trace.Open(traceDir(path))
	if err != nil {
		return fmt.Errorf("open the trace: %w", err)
	}
	f.Clean = r.place.Redact.JSON
	r.trace.Store(f)
	return nil
}

// described lets the provider say what it sends, where it is one that can.
func (r *run) described(d *model.Deps) {
	if h, ok := r.model.provider.(interface {
		Headers(req *provider.Request) map[string]string
		Sum(req *provider.Request) (hash string, bytes int)
	}); ok {
		d.Headers, d.Sum = h.Headers, h.Sum
	}
}
