package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// harmless are the settings that a new repository may keep: none names a program or another file.
var harmless = map[string]string{
	"core":   "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf",
	"remote": "url fetch",
	"branch": "remote merge rebase",
	"user":   "name email",
	"init":   "defaultbranch",
}

var settingLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*([^\\"]*)$`)
})

var sectionLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[([a-z]+)(?: "([A-Za-z0-9._/-]+)")?\]$`)
})

// tame leaves a repository that a command made without hooks, and with settings that run nothing. note says what
// was taken away, if anything was.
func tame(dir string) (note string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Sprintf("The command made %s, and it could not be looked into (%v): look at it before you use git here.", dir, err)
	}
	defer func() { _ = root.Close() }()
	var taken []string
	for _, name := range []string{"commondir", "config.worktree", "modules", "worktrees"} {
		if _, err := root.Lstat(name); err == nil && root.RemoveAll(name) == nil {
			taken = append(taken, name)
		}
	}
	if hooks, err := os.ReadDir(filepath.Join(dir, "hooks")); err == nil {
		for _, h := range hooks {
			if !strings.HasSuffix(h.Name(), ".sample") || !h.Type().IsRegular() {
				taken = append(taken, "hooks")
				break
			}
		}
	}
	_ = root.RemoveAll("hooks") // the examples too: a hook is one rename away from them
	before, err := root.ReadFile("config")
	if after := tameSettings(string(before)); err != nil || after != string(before) {
		_ = root.RemoveAll("config")
		if err := root.WriteFile("config", []byte(after), 0o644); err != nil {
			return fmt.Sprintf("The command made %s, and its settings could not be checked (%v): look at it before you use git here.", dir, err)
		}
		if before != nil {
			taken = append(taken, "settings that are not plain")
		}
	}
	if len(taken) == 0 {
		return ""
	}
	return fmt.Sprintf("The sandbox made the new repository %s harmless; taken away: %s.", dir, strings.Join(taken, ", "))
}

// tameSettings keeps the harmless lines of a git configuration.
func tameSettings(text string) string {
	var out strings.Builder
	keys := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "[") {
			keys = ""
			if m := sectionLine().FindStringSubmatch(bare); m != nil {
				keys = harmless[m[1]]
			}
			if keys != "" {
				out.WriteString(line)
			}
			continue
		}
		m := settingLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || keys == "" || strings.Contains(m[2], "::") || strings.HasPrefix(m[2], "-") {
			continue
		}
		for key := range strings.FieldsSeq(keys) {
			if key == strings.ToLower(m[1]) {
				out.WriteString(line)
			}
		}
	}
	return out.String()
}
