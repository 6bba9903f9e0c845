package jsonl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"lathe/internal/msg"
	"lathe/internal/session/jsonl"
)

func TestHolds(t *testing.T) {
	s := jsonl.Store{StateDir: filepath.Join(t.TempDir(), "a [folder]")}
	log, err := s.Create(jsonl.Start{Dir: "/some/where"})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	text := func(kind msg.Kind, meta bool, text string) msg.Message {
		return msg.Message{ID: text, Kind: kind, Meta: meta, Blocks: []msg.Block{msg.Text(text)}}
	}
	if err := log.Append(
		text(msg.KindUser, false, "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>the \"Ärger\"</command-args>"),
		text(msg.KindUser, true, "only for the model"),
		text(msg.KindAssistant, false, "It was a <race> in the cache.\nNow it is gone."),
	); err != nil {
		t.Fatal(err)
	}
	for want, where := range map[string]string{
		"RACE":               "It was a <race> in the cache. Now it is gone.",
		"<race>":             "It was a <race> in the cache. Now it is gone.",
		`"ärger"`:            `/fix the "Ärger"`,
		"cache.\nnow":        "It was a <race> in the cache. Now it is gone.",
		"only for the model": "",
		"command-name":       "",
		"nothing like it":    "",
		"":                   "",
	} {
		got, ok := jsonl.Holds(log.Path(), want)
		if got != where || ok != (where != "") {
			t.Errorf("Holds(%q) = %q, %v", want, got, ok)
		}
	}
	if err := log.Append(text(msg.KindAssistant, false, "needle "+strings.Repeat("日", 100))); err != nil {
		t.Fatal(err)
	}
	if got, ok := jsonl.Holds(log.Path(), "needle"); !ok || !utf8.ValidString(got) {
		t.Errorf("a character was cut: %q", got)
	}
	data, err := os.ReadFile(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(log.Path()), "agent-x.jsonl"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.ListAll()
	if err != nil || len(all) != 1 || all[0].Prompt != `/fix the "Ärger"` {
		t.Errorf("%+v, %v", all, err)
	}
	if _, ok := jsonl.Holds("/no/such/file", "x"); ok {
		t.Error("found in no file")
	}
}
