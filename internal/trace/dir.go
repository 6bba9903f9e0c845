package trace

import (
	"path/filepath"
	"strings"
)

// Dir is where the trace of the session in the file path is kept: beside it.
func Dir(path string) string {
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "trace")
}
