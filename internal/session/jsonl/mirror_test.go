package jsonl_test

import (
	"bytes"
	"os"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/session/jsonl"
)

// What is told of writes, joined, is the file.
func TestMirror(t *testing.T) {
	var told bytes.Buffer
	path := ""
	s := jsonl.Store{StateDir: t.TempDir(), Mirror: func(p string, lines []byte) { path = p; told.Write(lines) }}
	log, err := s.Create(jsonl.Start{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Keep("title", "before"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := log.Append(msg.Message{ID: id, Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("x\ny")}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Keep("cost", 1); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	if path != log.Path() || !bytes.Equal(b, told.Bytes()) {
		t.Errorf("told of %s:\n%s\nwritten to %s:\n%s", path, told.Bytes(), log.Path(), b)
	}
}
