package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ManagedDirs are where an administrator's settings are; each may hold managed-settings.json and, below
// managed-settings.d, more files, joined in the order of their names.
func ManagedDirs() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/Library/Application Support/Lathe", "/Library/Application Support/ClaudeCode"}
	case "windows":
		return []string{`C:\Program Files\Lathe`, `C:\Program Files\ClaudeCode`}
	}
	return []string{"/etc/lathe", "/etc/claude-code"}
}

// managedFiles lists the files of the first directory that has any, the one that wins first.
func managedFiles(dirs []string) []string {
	for _, dir := range dirs {
		var files []string
		more, _ := filepath.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))
		slices.Sort(more)
		slices.Reverse(more) // a later name wins
		for _, f := range append(more, filepath.Join(dir, "managed-settings.json")) {
			if _, err := os.Stat(f); err == nil && !strings.HasPrefix(filepath.Base(f), ".") {
				files = append(files, f)
			}
		}
		if len(files) > 0 {
			return files
		}
	}
	return nil
}

// managed loads the administrator's settings. A file that cannot be read is an error: a policy that does not hold
// because of a typing error would be worse than a program that does not start.
func (s *Settings) managed(p Places) error {
	if p.Policy != "" {
		l, err := ParseLayer(Managed, "", p.Work, []byte(p.Policy))
		if err == nil {
			err = l.guards()
		}
		if err != nil {
			return fmt.Errorf("--managed-settings: %w", err)
		}
		l.Trusted = true
		s.Layers = append(s.Layers, l)
	}
	for _, file := range managedFiles(p.Managed) {
		l, err := ReadLayer(Managed, file, filepath.Dir(file))
		if err != nil {
			return err
		}
		if l != nil {
			s.Layers = append(s.Layers, l)
		}
	}
	return nil
}
