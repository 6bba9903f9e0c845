package agent_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/agent"
	"lathe/internal/fakeapi"
)

var update = flag.Bool("update", false, "write the recordings of the examples anew")

// The recordings of the examples are made here, with -update, against a scripted API.
func TestRecordings(t *testing.T) {
	if !*update {
		t.Skip("SKIPPED: writes testdata; run with -update when the examples change")
	}
	read := calls(fakeapi.Call("Read", map[string]any{"file_path": "greeting.txt"}))
	for name, c := range map[string]struct {
		prompt  string
		answers []fakeapi.Answer
		options agent.Options
	}{
		"hello":   {"What is in greeting.txt?", []fakeapi.Answer{read, fakeapi.Text(`It says "hello".`)}, agent.Options{}},
		"more":    {"In capitals, please.", []fakeapi.Answer{fakeapi.Text("HELLO")}, agent.Options{}},
		"remove":  {"Remove greeting.txt.", []fakeapi.Answer{calls(bash("rm greeting.txt")), fakeapi.Text("I may not remove it.")}, agent.Options{}},
		"list":    {"Which files are there?", []fakeapi.Answer{calls(bash("ls")), fakeapi.Text("Only greeting.txt.")}, agent.Options{Allow: []string{"Bash"}}},
		"weather": {"Do I need an umbrella in Oslo?", []fakeapi.Answer{calls(fakeapi.Call("weather", map[string]any{"city": "Oslo"})), fakeapi.Text("Yes: rain in Oslo.")}, agent.Options{}},
	} {
		b := newBench(t, c.answers...)
		if err := os.WriteFile(filepath.Join(b.dir, "greeting.txt"), []byte("hello\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".jsonl")
		_ = os.Remove(file)
		c.options.Record = file
		s := b.open(c.options)
		if _, err := s.Run(context.Background(), c.prompt); err != nil {
			t.Fatal(err)
		}
		s.Close()
		// The examples show what is told of a call in their own words, so requests are not compared.
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(withoutRequests(t, string(raw))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withoutRequests keeps what is answered.
func withoutRequests(t *testing.T, recording string) string {
	t.Helper()
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(recording), "\n") {
		if i == 0 {
			out.WriteString(`{"recording":1,"match":"none"}` + "\n")
			continue
		}
		at := strings.Index(line, `"events":`)
		if at < 0 {
			t.Fatalf("a call without events: %s", line)
		}
		out.WriteString("{" + line[at:] + "\n")
	}
	return out.String()
}
