package entries_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/app/entries"
	"lathe/internal/mcp"
	"lathe/internal/place"
)

// Entries of all scopes count where the place says so; what does not count is told.
func TestRead(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, state := filepath.Join(base, "work"), filepath.Join(base, "state")
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(work, ".mcp.json"), `{"mcpServers":{"shared":{"command":"shared"},"off":{"command":"off"}}}`)
	env := map[string]string{"HOME": base, "LATHE_HOME": state, "CLAUDE_CONFIG_DIR": filepath.Join(base, "config"), "TOOL": "mine"}
	open := func(o place.Options) *place.Place {
		t.Helper()
		o.Dir, o.Env = work, env
		p, err := place.Find(o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := open(place.Options{}).ServerStore().Put(mcp.User, "", "own", []byte(`{"command":"${TOOL}"}`)); err != nil {
		t.Fatal(err)
	}
	const flag = `{"mcpServers":{"flag":{"command":"f"}}}`
	for name, c := range map[string]struct {
		at   place.Options
		in   entries.In
		want string
		note string
	}{
		"an untrusted project": {place.Options{}, entries.In{}, "own=mine", "this project is not trusted"},
		"a trusted one":        {place.Options{Trust: true}, entries.In{}, "off=off own=mine shared=shared", ""},
		"switched off":         {place.Options{Trust: true, Settings: `{"disabledMcpjsonServers":["off"]}`}, entries.In{}, "own=mine shared=shared", ""},
		"a policy of nothing":  {place.Options{Trust: true, Settings: `{"allowedMcpServers":null,"deniedMcpServers":null}`}, entries.In{}, "off=off own=mine shared=shared", ""},
		"refused by a policy":  {place.Options{Trust: true, Settings: `{"deniedMcpServers":[{"serverName":"shared"}]}`}, entries.In{}, "off=off own=mine", "it is skipped"},
		"no source of settings": {
			place.Options{Trust: true, Sources: []string{}}, entries.In{Flag: []string{flag}}, "flag=f", "",
		},
		"only what is named": {place.Options{Trust: true}, entries.In{Flag: []string{flag}, Hosted: []string{"host"}, Only: true}, "flag=f host=", ""},
		"the later flag":     {place.Options{}, entries.In{Flag: []string{flag, `{"mcpServers":{"flag":{"command":"g"}}}`}, Only: true}, "flag=g", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(c.at)
			c.in.Place, c.in.Plugins = p, func(func([]mcp.Problem)) []mcp.Config { return nil }
			configs, skipped, err := entries.Read(c.in)
			if err != nil || len(skipped) > 0 {
				t.Fatalf("%v, %v", skipped, err)
			}
			var got []string
			for _, s := range configs {
				got = append(got, s.Name+"="+s.Command)
			}
			slices.Sort(got)
			notes := strings.Join(p.Notes, "\n")
			if strings.Join(got, " ") != c.want || !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("%v, want %s; notes %q", got, c.want, notes)
			}
		})
	}
	in := entries.In{Place: open(place.Options{}), Flag: []string{filepath.Join(base, "none.json")}}
	if _, _, err := entries.Read(in); err == nil || !strings.Contains(err.Error(), "--mcp-config") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A project is known by the directory that one works in and by the top of its repository, each once.
func TestKeys(t *testing.T) {
	at := func(work, root string) string {
		p := &place.Place{Root: root}
		p.Sys.Dirs.Work = work
		return strings.Join(entries.Keys(p), " ")
	}
	for _, c := range [][3]string{{"/a/b", "", "/a/b"}, {"/a/b", "/a/b", "/a/b"}, {"/a/b", "/a", "/a/b /a"}} {
		if got := at(c[0], c[1]); got != c[2] {
			t.Errorf("in %s of %s: %q", c[0], c[1], got)
		}
	}
}
