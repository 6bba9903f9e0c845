package app

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/demo"
	"lathe/internal/fakeapi"
)

// UPDATE_DEMO=1 go test -run TestRecordDemo ./internal/app records the demo's session anew from its script, after
// a change of what requests hold.
func TestRecordDemo(t *testing.T) {
	if os.Getenv("UPDATE_DEMO") == "" {
		t.Skip("SKIPPED: records the demo only when UPDATE_DEMO is set")
	}
	target, err := filepath.Abs("../demo/recording.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	script, err := fakeapi.LoadScript("../demo/script.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server, err := fakeapi.New(fakeapi.Options{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	url, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	t.Setenv("ANTHROPIC_BASE_URL", url)
	t.Setenv("ANTHROPIC_API_KEY", "none")

	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Copy(context.Background(), filepath.Join(base, "words")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(base, "words"))
	o := demoOptions(base)
	o.Recording, o.Record = nil, filepath.Join(base, "recording.jsonl")
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	result := headlessly(t, r, os.Stderr)
	r.close()
	if result.IsError || len(server.Violations()) > 0 {
		t.Fatalf("%+v, violations %v", result, server.Violations())
	}
	raw, err := os.ReadFile(o.Record)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, loosened(t, raw), 0o644); err != nil {
		t.Fatal(err)
	}
}

// loosened lets the recording play environment.go test prints other times or words: the calls that follow a run of the
// tests are not compared.
func loosened(t *testing.T, raw []byte) []byte {
	var out bytes.Buffer
	for i, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		switch {
		case i == 0:
			line = append(line[:len(line)-1], `,"ignore":["[0-9.]+s","\\(cached\\)"]}`...)
		case i == 2 || i == 5:
			line = append([]byte(`{"match":"none",`), line[1:]...)
		}
		if !json.Valid(line) {
			t.Fatalf("line %d of the recording is not JSON", i+1)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}
