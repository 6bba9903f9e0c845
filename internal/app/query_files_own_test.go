package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lathe/internal/place"
)

// The user's own command answers for what is typed now; one that still runs for what was typed before is ended.
func TestOwnSuggestions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the command is one of a Unix shell")
	}
	command, _ := json.Marshal(`if grep -q '"one"'; then echo > began; while [ ! -e go ]; do sleep 0.01; done; echo late; exit; fi; echo found/; echo b.go`)
	r := testRun(t, Options{Options: place.Options{Settings: `{"fileSuggestion":{"type":"command","command":` + string(command) + `}}`}})
	slow := make(chan bool, 1)
	go func() {
		_, own := r.ownSuggestions(t.Context(), "one", 20)
		slow <- own
	}()
	for began := filepath.Join(r.place.Sys.Dirs.Work, "began"); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(began); err == nil {
			break
		}
	}
	list, own := r.ownSuggestions(t.Context(), "two", 20)
	if !own || len(list) != 2 || list[0].Path != "found/" || !list[0].Dir || list[1].Path != "b.go" || list[1].Dir {
		t.Errorf("%v %+v", own, list)
	}
	if err := os.WriteFile(filepath.Join(r.place.Sys.Dirs.Work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if <-slow {
		t.Error("a command that was ended has an answer")
	}
	if list, _ := r.ownSuggestions(t.Context(), "two", 1); len(list) != 1 || strings.Contains(list[0].Path, "b.go") {
		t.Errorf("%+v", list)
	}
}
