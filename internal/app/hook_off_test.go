package app

import (
	"encoding/json"
	"testing"

	"lathe/internal/config"
)

// Callbacks of a host stay unless the organisation itself switches all hooks off.
func TestHostHooksOff(t *testing.T) {
	layer := func(scope config.Scope, value string) *config.Settings {
		return &config.Settings{Layers: []*config.Layer{{Scope: scope, Trusted: true, Keys: map[string]json.RawMessage{"disableAllHooks": json.RawMessage(value)}}}}
	}
	hooks := json.RawMessage(`{"Stop":[{"hookCallbackIds":["hook_0"]}]}`)
	for _, c := range []struct {
		s    *config.Settings
		want bool
	}{
		{&config.Settings{}, true},
		{layer(config.User, "true"), true},
		{layer(config.Managed, "false"), true},
		{layer(config.Managed, "true"), false},
	} {
		got, note := hostHooks(c.s, hooks)
		if (len(got) > 0) != c.want || (note == "") != c.want {
			t.Errorf("%+v: %s, %q", c.s.Layers, got, note)
		}
	}
	if _, note := hostHooks(layer(config.Managed, "true"), json.RawMessage("{}")); note != "" {
		t.Errorf("a host without hooks is told: %s", note)
	}
}
