package bash

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"lathe/internal/proc"
)

// The scripts below are all that a shell is started with. They take the command from descriptor 3, so that its
// text is in no argument list (pkill -f would find its own shell) and may be of any size, and eval it, so that
// whatever is wrong with it ends there. The braces make the shell parse the rest of the script before: an
// unfinished command can confuse bash's parser beyond the eval. The directory goes out on a high copy of
// descriptor 4: by a trap when the command ends the shell (exit, set -e), after the eval when the command set an
// EXIT trap of its own. After exec, or exit below such a trap, nobody writes it, and the directory stays as it was.
const (
	bashScript = `IFS= read -r -d '' -u 3 __lathe_c; exec 3<&- 199>&4 4>&-
trap '{ builtin pwd -P >&199; } 2>/dev/null' EXIT
if [ -r "${CLAUDE_ENV_FILE-}" ]; then . "$CLAUDE_ENV_FILE"; fi
{ eval "$__lathe_c
"
{ __lathe_s=$?; builtin pwd -P >&199; set +x; } 2>/dev/null
exit $__lathe_s; }`

	zshScript = `IFS= read -r -d '' -u 3 __lathe_c; exec 3<&- 9>&4 4>&-
trap '{ builtin pwd -P >&9; } 2>/dev/null' EXIT
if [ -r "${CLAUDE_ENV_FILE-}" ]; then . "$CLAUDE_ENV_FILE"; fi
{ eval "$__lathe_c
"
{ __lathe_s=$?; builtin pwd -P >&9; set +x; } 2>/dev/null
exit $__lathe_s; }`

	shScript = `__lathe_c=$(cat <&3); exec 3<&- 9>&4 4>&-
trap '{ command pwd -P >&9; } 2>/dev/null' EXIT
if [ -r "${CLAUDE_ENV_FILE-}" ]; then . "$CLAUDE_ENV_FILE"; fi
{ eval "$__lathe_c
"
{ __lathe_s=$?; command pwd -P >&9; set +x; } 2>/dev/null
exit $__lathe_s; }`
)

// spec says how to run a command in dir, without profile and rc files.
func (b *bash) spec(command, dir string) (proc.Spec, error) {
	path, err := findShell(b.Sys.Getenv)
	if err != nil {
		return proc.Spec{}, err
	}
	s := proc.Spec{Dir: dir, Env: proc.Env(b.Sys.Environ(), "PWD="+dir)}
	if runtime.GOOS == "windows" { // no further descriptors there: the directory does not carry over
		s.Args = []string{path, "--noprofile", "--norc", "-c", command}
		return s, nil
	}
	s.Script, s.Report = []byte(command), true
	switch shellName(path) {
	case "bash":
		s.Args = []string{path, "--noprofile", "--norc", "-c", bashScript}
	case "zsh":
		s.Args = []string{path, "-f", "-c", zshScript}
	default:
		s.Args = []string{path, "-c", shScript}
	}
	return s, nil
}

// findShell takes the user's bash or zsh, else the system's bash, else sh.
func findShell(getenv func(string) string) (string, error) {
	for _, key := range []string{"CLAUDE_CODE_SHELL", "SHELL", "CLAUDE_CODE_GIT_BASH_PATH"} {
		path := getenv(key)
		if name := shellName(path); name != "bash" && name != "zsh" {
			continue
		}
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	for _, name := range []string{"bash", "sh"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("no shell found: install bash, or set CLAUDE_CODE_SHELL to the path of a bash or zsh")
}

func shellName(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
}
