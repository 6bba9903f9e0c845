package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"lathe/internal/place"
)

// Version of the program; set by the linker for releases.
var Version = "0.1.0"

// findPlace finds the place of a run.
func findPlace(o *options) (*place.Place, error) {
	return place.Find(place.Options{
		Dir: o.dir, Env: o.env, State: o.state, Settings: o.settings, Policy: o.managed, Sources: o.sources, ConfigRoot: o.configRoot,
		Trust: o.trust || o.hostTrusts(), Version: Version,
	})
}

// hostTrusts reports whether a host has named the project's files as sources of settings: that it starts a session with
// them is its own decision, like --trust.
func (o *options) hostTrusts() bool {
	return o.host != nil && (slices.Contains(o.sources, "project") || slices.Contains(o.sources, "local"))
}

// platform is the operating system as the prompt and the permission engine name it.
func platform() string { return runtime.GOOS }

func shellName(getenv func(string) string) string {
	for _, key := range []string{"CLAUDE_CODE_SHELL", "SHELL"} {
		if s := getenv(key); s != "" {
			return filepath.Base(s)
		}
	}
	return "bash"
}

// readText returns the text of a prompt file.
func readText(flag, path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return string(b), nil
}
