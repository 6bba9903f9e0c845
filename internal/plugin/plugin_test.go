package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/plugin"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".claude-plugin/plugin.json", `{"name":"tidy","version":"1.2.0","agents":["./more/a.md"],"unknown":1}`)
	write(t, dir, "hooks/hooks.json", `{"description":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/run"}]}]}}`)
	write(t, dir, ".mcp.json", `{"mcpServers":{"db":{"command":"${CLAUDE_PLUGIN_ROOT}/db","args":["${CLAUDE_PLUGIN_DATA}"]}}}`)
	p, err := plugin.Load(dir, "/data", "/project")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "tidy" || p.Version != "1.2.0" || p.Path != dir {
		t.Errorf("%+v", p)
	}
	if p.Commands[0] != filepath.Join(dir, "commands") || p.Agents[0] != filepath.Join(dir, "more", "a.md") || len(p.Skills) != 1 {
		t.Errorf("places: %+v", p)
	}
	if len(p.Hooks) != 1 || !strings.Contains(string(p.Hooks[0].Raw), dir+"/run") || strings.Contains(string(p.Hooks[0].Raw), "description") {
		t.Errorf("hooks: %s", p.Hooks[0].Raw)
	}
	if s := string(p.Servers["db"]); !strings.Contains(s, dir+"/db") || !strings.Contains(s, "/data/tidy") {
		t.Errorf("servers: %s", s)
	}
}

// What is wrong is named; nothing outside the plugin is reached.
func TestLoadRefuses(t *testing.T) {
	for name, manifest := range map[string]string{
		"broken":   `{"name":`,
		"no name":  `{"name":""}`,
		"colon":    `{"name":"a:b"}`,
		"leaves":   `{"name":"x","commands":"../other"}`,
		"absolute": `{"name":"x","agents":["/etc"]}`,
		"type":     `{"name":"x","skills":7}`,
		"gone":     `{"name":"x","hooks":"./none.json"}`,
	} {
		dir := t.TempDir()
		write(t, dir, ".claude-plugin/plugin.json", manifest)
		if _, err := plugin.Load(dir, "", ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := plugin.Load(filepath.Join(t.TempDir(), "none"), "", ""); err == nil {
		t.Error("a directory that is not there: no error")
	}
	dir := t.TempDir()
	if p, err := plugin.Load(dir, "", ""); err != nil || p.Name != filepath.Base(dir) {
		t.Errorf("without a manifest: %+v, %v", p, err)
	}
}
