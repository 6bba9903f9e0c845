package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/config"
)

func TestSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "settings.json")
	set := func(key, value string) error {
		if value == "" {
			return config.Set(file, key, nil)
		}
		return config.Set(file, key, json.RawMessage(value))
	}
	read := func() string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, step := range []struct{ key, value string }{
		{"effortLevel", `"high"`}, {"permissions.defaultMode", `"plan"`}, {"effortLevel", `"low"`}, {"env.FOO", `"1"`},
	} {
		if err := set(step.key, step.value); err != nil {
			t.Fatal(err)
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(read()), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"effortLevel": "low", "permissions": map[string]any{"defaultMode": "plan"}, "env": map[string]any{"FOO": "1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	// Comments and what is not known stay.
	text := "{\n  \"effortLevel\": \"low\",\n  // mine\n  \"other\": [1, 2],\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := set("effortLevel", ""); err != nil {
		t.Fatal(err)
	}
	if err := set("effortLevel", ""); err != nil { // not there: nothing to do
		t.Fatal(err)
	}
	if s := read(); !strings.Contains(s, "// mine") || !strings.Contains(s, `"other"`) || strings.Contains(s, "effortLevel") {
		t.Error(s)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	// What cannot be right changes nothing.
	before := read()
	for key, value := range map[string]string{"nonsense": "1", "": "1", "other.x": "1"} {
		if err := set(key, value); err == nil {
			t.Errorf("%s was saved", key)
		}
	}
	if err := os.WriteFile(file, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := set("effortLevel", `"low"`); err == nil {
		t.Error("saved in a broken file")
	}
	if read() != "{broken" || before == "" {
		t.Error("the broken file was changed")
	}
}
