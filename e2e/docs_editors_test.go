package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// luaPlugins stands for the plugins, which are not here: each collects what setup gives it for the commands that it would
// start, and puts them into the file of the first argument, a line each.
const luaPlugins = `
local out = assert(io.open(%OUT%, "w"))
local function start(argv) out:write(table.concat(argv, "\t"), "\n") end
package.preload["codecompanion.adapters"] = function()
  return { extend = function(_, adapter) return adapter end }
end
package.preload["codecompanion"] = function()
  return { setup = function(o) start(o.adapters.acp[o.interactions.chat.adapter]().commands.default) end }
end
package.preload["avante"] = function()
  return { setup = function(o)
    local p = o.acp_providers[o.provider]
    local argv = { p.command }
    for _, a in ipairs(p.args) do argv[#argv + 1] = a end
    start(argv)
  end }
end
dofile(%EXAMPLE%)
out:close()
`

// Every example of docs/editors.md names a command that speaks the protocol: the Lua is run, the JSON is read.
func TestEditorExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	var argvs [][]string
	count := map[string]int{}
	for _, m := range regexp.MustCompile("(?ms)^```(lua|json)\n(.*?)^```").FindAllSubmatch(page, -1) {
		kind, text := string(m[1]), m[2]
		count[kind]++
		if kind == "lua" {
			if argv := startedByLua(t, text); argv != nil {
				argvs = append(argvs, argv)
			}
			continue
		}
		var settings struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"agent_servers"`
		}
		if err := json.Unmarshal(text, &settings); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		for _, s := range settings.Servers {
			argvs = append(argvs, append([]string{s.Command}, s.Args...))
		}
	}
	if count["lua"] != 2 || count["json"] != 2 {
		t.Errorf("the page has other examples than this test knows: %v", count)
	}
	for _, argv := range argvs {
		if !slices.Equal(argv, []string{"lathe", "acp"}) {
			t.Errorf("an example starts %q", argv)
		}
	}
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("hello")))
	e := r.acp(t, "")
	if res := e.prompt(e.session(), "hi"); res["stopReason"] != "end_turn" || e.said("agent_message_chunk") != "hello" {
		t.Errorf("what they start answers %v %q", res, e.said("agent_message_chunk"))
	}
	if code := e.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// startedByLua runs an example with the plugins' stand-ins and returns the command that it has them start; nil where no
// interpreter is.
func startedByLua(t *testing.T, example []byte) []string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"` }
	harness := strings.NewReplacer("%OUT%", quote(in("out")), "%EXAMPLE%", quote(in("example.lua"))).Replace(luaPlugins)
	for name, text := range map[string][]byte{"example.lua": example, "harness.lua": []byte(harness)} {
		if err := os.WriteFile(in(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var cmd *exec.Cmd
	for _, c := range [][]string{
		{"nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile " + in("harness.lua"), "-c", "qa!"},
		{"luajit", in("harness.lua")},
		{"lua", in("harness.lua")},
		{"lua5.4", in("harness.lua")},
		{"lua5.1", in("harness.lua")},
	} {
		if path, err := exec.LookPath(c[0]); err == nil {
			cmd = exec.Command(path, c[1:]...)
			break
		}
	}
	if cmd == nil {
		t.Log("SKIPPED: the Lua of docs/editors.md is not run: there is neither nvim nor lua on this machine")
		return nil
	}
	said, err := cmd.CombinedOutput()
	out, _ := os.ReadFile(in("out"))
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		t.Fatalf("%s: %v\n%s\n%s", cmd.Path, err, said, example)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\t")
}
