package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// The items of a to-do list fire TaskCreated and TaskCompleted, with one id each; a hook that refuses one keeps the list as
// it was, and the model is told why.
func TestTaskHooks(t *testing.T) {
	t.Parallel()
	list := func(status ...string) fakeapi.Block {
		todos := []map[string]string{}
		for i, s := range status {
			todos = append(todos, map[string]string{"content": []string{"read it", "change it", "FORBIDDEN"}[i], "status": s})
		}
		return fakeapi.Call("TodoWrite", map[string]any{"todos": todos})
	}
	r := newRig(t, fakeapi.Sequence(
		answer(list("in_progress", "pending")), answer(list("completed", "in_progress")), answer(list("completed", "in_progress", "pending")),
		answer(list("completed", "completed")), fakeapi.Text("done"),
	))
	hook := func(command string) string {
		return `[{"hooks":[{"type":"command","command":` + jsonText(command) + `}]}]`
	}
	log := `in=$(cat); echo "$in" >> tasks.jsonl; `
	settings := `{"hooks":{"TaskCreated":` + hook(log+`case "$in" in *FORBIDDEN*) echo not that >&2; exit 2;; esac`) + `,"TaskCompleted":` + hook(log) + `}}`
	r.must("-p", "go", "--settings", settings)
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(r.read(r.dir+"/tasks.jsonl")), "\n") {
		var in map[string]any
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		got = append(got, in["hook_event_name"].(string)+" "+in["task_id"].(string)+" "+in["task_subject"].(string))
	}
	want := []string{"TaskCreated 1 read it", "TaskCreated 2 change it", "TaskCompleted 1 read it", "TaskCreated 3 FORBIDDEN", "TaskCompleted 2 change it"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
	if body := string(r.last().Body); !strings.Contains(body, "not that") || strings.Contains(r.api.Requests()[3].LastToolResult(), "saved") {
		t.Errorf("the refused list: %s", r.api.Requests()[3].LastToolResult())
	}
	r.legal()
}

// FileChanged fires for files that its matcher names, where the session works, and for those of watchPaths, while nothing
// runs too.
func TestFileChangedHook(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("ready"), fakeapi.Text("bye")))
	r.file("far/one.cfg", "1")
	settings := `{"hooks":{` +
		`"SessionStart":[{"hooks":[{"type":"command","command":` + jsonText(`printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","watchPaths":["%s/far/one.cfg"]}}' "$PWD"`) + `}]}],` +
		`"FileChanged":[{"matcher":".envrc|one.cfg","hooks":[{"type":"command","command":` + jsonText(`n=$(cat | tr ',' '\n' | grep -c '"add"'); mkdir -p "told-$n"`) + `}]}]}}`
	h := r.host(t, "--settings", settings)
	h.user("go")
	h.typed("result")
	r.file(".envrc", "export A=1")
	r.appears("told-1") // added
	if err := os.WriteFile(r.dir+"/far/one.cfg", []byte("longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.appears("told-0") // changed
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}

func jsonText(s string) string { b, _ := json.Marshal(s); return string(b) }
