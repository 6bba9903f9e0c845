package app

import (
	"strings"
	"testing"
)

func TestCheckSetting(t *testing.T) {
	for _, pair := range []string{"theme=dark", "theme=custom:mine", "theme=", "editorMode=vim", "model=anything", "permissions.defaultMode=auto", "showTurnDuration=true"} {
		key, text, _ := strings.Cut(pair, "=")
		if err := checkSetting(key, settingValue(text)); err != nil {
			t.Errorf("%s: %v", pair, err)
		}
	}
	for pair, want := range map[string]string{
		"theme=purple": "dark-daltonized", "editorMode=emacs": "normal, vim", "showTurnDuration=maybe": "false, true", "theme=1": "light",
	} {
		key, text, _ := strings.Cut(pair, "=")
		if err := checkSetting(key, settingValue(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pair, err)
		}
	}
}
