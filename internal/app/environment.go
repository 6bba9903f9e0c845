package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

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
