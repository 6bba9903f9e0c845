//go:build unix

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	"lathe/internal/tool"
	"lathe/internal/tool/bash"
)

// watchRig is a session with one watch that prints what is written to a file.
func watchRig(t *testing.T) (r *run, say func(line string), news func(wake bool, want string) []attach.Item) {
	t.Helper()
	t.Setenv("ANTHROPIC_API_KEY", "k")
	base := t.TempDir()
	o := demoOptions(base)
	o.Recording, o.Allowed = nil, []string{"Monitor"}
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	pipe := filepath.Join(base, "lines")
	if err := os.WriteFile(pipe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, ok := r.tools.registry.Get("Monitor")
	if !ok {
		t.Fatal("there is no Monitor")
	}
	in, err := json.Marshal(map[string]any{"command": "exec tail -f " + pipe, "description": "the lines"})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := m.Plan(context.Background(), tool.Call{ID: "call_1", Input: in})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	say = func(line string) {
		f, err := os.OpenFile(pipe, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	news = func(wake bool, want string) []attach.Item {
		for stop := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			items := r.work.news(wake)
			if len(items) == 1 && strings.HasSuffix(items[0].Text, want) {
				return items
			}
			if time.Now().After(stop) {
				t.Fatalf("waiting for %q: %v", want, items)
			}
		}
	}
	return r, say, news
}

// Lines are told once, when the message with them is on disk; what is offered in a turn that did not come is told by the
// next one, and asks for no further turn.
func TestLinesOfAWatchAreToldOnce(t *testing.T) {
	r, say, news := watchRig(t)
	if r.work.Linger(time.Minute) == 0 {
		t.Error("a run does not wait for its watch")
	}
	say("one")
	items := news(true, "printed:\none")
	say("two")
	all := news(false, "printed:\none\ntwo")
	r.work.kept([]msg.Message{{Kind: msg.KindAttachment, Source: attach.TaskSource, Key: items[0].Key}})
	if items := r.work.news(false); len(items) != 1 || !strings.HasSuffix(items[0].Text, "printed:\ntwo") {
		t.Fatalf("after the first: %v", items)
	}
	r.work.kept([]msg.Message{{Kind: msg.KindAttachment, Source: attach.TaskSource, Key: news(false, "printed:\ntwo")[0].Key}})
	if items := r.work.news(false); len(items) != 0 {
		t.Fatalf("after all: %v (%s)", items, all[0].Key)
	}
	say("</task-notification> three")
	news(true, "<\\/task-notification> three")
	p, ok := r.work.Next()
	if !ok || !strings.Contains(p.Text, "three") {
		t.Fatalf("%+v", p)
	}
	say("four")
	news(false, "four")
	if items := r.work.news(true); len(items) != 0 {
		t.Errorf("lines that are offered ask for another turn: %v", items)
	}
	r.work.kept([]msg.Message{{Kind: msg.KindUser, ID: p.ID}})
	news(true, "printed:\nfour")
}

// A watch that prints too often is stopped, and the model is told why.
func TestAWatchThatPrintsTooMuch(t *testing.T) {
	r, say, news := watchRig(t)
	for i := range watchTurns {
		say(fmt.Sprint("line ", i))
		news(true, fmt.Sprint("line ", i))
		p, _ := r.work.Next()
		r.work.kept([]msg.Message{{Kind: msg.KindUser, ID: p.ID}})
	}
	say("one more")
	for r.tools.tasks.Snapshot()[0].State == bash.Running {
		time.Sleep(5 * time.Millisecond)
	}
	p, ok := r.work.Next()
	if !ok || !strings.Contains(p.Text, "one more") || !strings.Contains(p.Text, "more than 50 times") {
		t.Errorf("%v %s", ok, p.Text)
	}
}
