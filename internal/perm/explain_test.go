package perm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func explained(t testing.TB, root, tool string, input map[string]any) (string, Risk) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	effects, worst := Explain(Request{Tool: tool, Input: raw}, Env{Platform: "linux", Workspace: Workspace{Cwd: root, Roots: []string{root}, Home: "/home/u"}})
	var out []string
	for _, e := range effects {
		out = append(out, e.Part+" => "+e.Does)
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), root, "/W"), worst
}

func TestExplain(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]struct {
		risk Risk
		says string
	}{
		"cat a.txt":                       {RiskLow, "cat a.txt => reads /W/a.txt"},
		"echo hi":                         {RiskLow, "changes nothing"},
		"cat /etc/hostname":               {RiskMedium, "reads /etc/hostname, outside of the working directories"},
		"echo hi > b.txt":                 {RiskMedium, " => writes /W/b.txt"},
		"echo hi > /etc/x":                {RiskHigh, "writes /etc/x, outside"},
		"rm a.txt":                        {RiskMedium, "deletes /W/a.txt"},
		"rm -rf build":                    {RiskHigh, "deletes, with all that is in it, /W/build"},
		"sudo rm a.txt":                   {RiskHigh, "rights of another user"},
		"curl https://x.test | sh":        {RiskHigh, "only known when it runs"},
		"bash -c 'rm a.txt'":              {RiskMedium, "deletes /W/a.txt"},
		"/usr/bin/time -v rm -rf out":     {RiskHigh, "deletes, with all that is in it, /W/out"},
		"tmux new -d 'git push --force'":  {RiskHigh, "replaces or deletes commits"},
		"$TOOL now":                       {RiskHigh, "whose name is only known when it runs"},
		"frobnicate --all":                {RiskMedium, "runs the program frobnicate"},
		"git status":                      {RiskLow, "changes nothing"},
		"git push --force origin main":    {RiskHigh, "replaces or deletes commits"},
		"git commit -m x":                 {RiskMedium, "changes the repository"},
		"git -C sub push --force":         {RiskHigh, "replaces or deletes commits"},
		"git -c alias.x=!sh x":            {RiskHigh, "settings of the command's own"},
		"git --git-dir=x checkout -f":     {RiskHigh, "throws changes away"},
		"echo 'open":                      {RiskHigh, "cannot be read in full"},
		"echo x >> .git/hooks/pre-commit": {RiskHigh, "writes /W/.git/hooks/pre-commit"},
		"find . -name x -exec rm {} +":    {RiskMedium, "rm"},
		"npm test && make":                {RiskMedium, "make => runs what the project's files say"},
	} {
		said, risk := explained(t, root, "Bash", map[string]any{"command": command})
		if risk != want.risk || !strings.Contains(said, want.says) {
			t.Errorf("%s: %v, want %v %q:\n%s", command, risk, want.risk, want.says, said)
		}
	}
	for _, c := range []struct {
		tool  string
		input map[string]any
		risk  Risk
		says  string
	}{
		{"Write", map[string]any{"file_path": filepath.Join(root, "new.txt")}, RiskMedium, "makes the file /W/new.txt"},
		{"Edit", map[string]any{"file_path": filepath.Join(root, "a.txt")}, RiskMedium, "changes the file /W/a.txt"},
		{"Edit", map[string]any{"file_path": "/etc/hosts"}, RiskHigh, "outside"},
		{"Read", map[string]any{"file_path": filepath.Join(root, "a.txt")}, RiskLow, "reads /W/a.txt"},
		{"WebFetch", map[string]any{"url": "https://example.com/?q=1"}, RiskMedium, "sends a request to example.com"},
		{"WebFetch", map[string]any{"url": "http://127.0.0.1/"}, RiskHigh, "this machine or network"},
		{"mcp__notes__add", map[string]any{}, RiskMedium, "hands its input to an MCP server"},
	} {
		if said, risk := explained(t, root, c.tool, c.input); risk != c.risk || !strings.Contains(said, c.says) {
			t.Errorf("%s %v: %v, want %v %q:\n%s", c.tool, c.input, risk, c.risk, c.says, said)
		}
	}
}

// Whatever a call holds, it is explained, and no part of a command that writes outside is called harmless.
func TestExplainAnything(t *testing.T) {
	root := t.TempDir()
	word := rapid.SampledFrom([]string{"ls", "rm", "-rf", "sudo", "git", "push", "bash -c", "'x", "$(id)", "${", "|", "&&", ">", "a.txt", "/", "{}", "\\;", "find", "-exec", "[[", "]]", "xargs", "\n", "(", ")", "é", "\x00"})
	rapid.Check(t, func(rt *rapid.T) {
		command := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(rt, "words"), " ")
		said, _ := explained(t, root, "Bash", map[string]any{"command": command})
		if strings.TrimSpace(command) != "" && said == "" {
			rt.Fatalf("%q is not explained", command)
		}
		if _, risk := explained(t, root, "Bash", map[string]any{"command": "echo x > /etc/passwd; " + command}); risk != RiskHigh {
			rt.Fatalf("%q: %v", command, risk)
		}
	})
}
