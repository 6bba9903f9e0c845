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

// Where an administrator's file of servers is there, it names all that may be, beside those in the host's own process; what it
// says is never passed over.
func TestManagedServers(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	admin, work := filepath.Join(base, "admin"), filepath.Join(base, "work")
	for _, dir := range []string{admin, work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(work, ".mcp.json"), `{"mcpServers":{"shared":{"command":"s"}}}`)
	flag := []string{`{"mcpServers":{"flag":{"command":"f"}}}`}
	read := func() (names, notes string, err error) {
		p, err := place.Find(place.Options{Dir: work, Trust: true, Env: map[string]string{"HOME": base, "LATHE_HOME": filepath.Join(base, "state")}})
		if err != nil {
			t.Fatal(err)
		}
		p.Places.Managed = []string{filepath.Join(base, "none"), admin}
		configs, _, err := entries.Read(entries.In{
			Place: p, Flag: flag, Hosted: []string{"host"},
			Plugins: func(func([]mcp.Problem)) []mcp.Config {
				return []mcp.Config{{Name: "plugin", Command: "p", Type: mcp.Stdio}}
			},
		})
		var list []string
		for _, c := range configs {
			list = append(list, c.Name)
		}
		slices.Sort(list)
		return strings.Join(list, " "), strings.Join(p.Notes, "\n"), err
	}
	if names, _, err := read(); err != nil || names != "flag host plugin shared" {
		t.Errorf("without the file: %q, %v", names, err)
	}
	write(filepath.Join(admin, "managed-mcp.json"), `{"mcpServers":{"given":{"command":"g"}}}`)
	if names, notes, err := read(); err != nil || names != "given host" || !strings.Contains(notes, "names all that may be") {
		t.Errorf("with it: %q, %q, %v", names, notes, err)
	}
	with := flag
	flag = nil
	if _, notes, err := read(); err != nil || notes != "" {
		t.Errorf("nothing was named, and it says %q, %v", notes, err)
	}
	flag = with
	write(filepath.Join(admin, "managed-mcp.json"), `{"mcpServers":`)
	if names, _, err := read(); err == nil {
		t.Errorf("broken: %q", names)
	}
}
