package tui

import (
	"testing"

	"lathe/internal/front/tui/screen"
)

func TestReflow(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want screen.Reflow
	}{
		{map[string]string{"TERM": "xterm-256color"}, screen.MayReflow},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, screen.Reflows},
		{map[string]string{"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, screen.Cuts},
		{map[string]string{"TERM": "screen-256color"}, screen.Cuts},
		{map[string]string{"TERM": "screen-256color", "TMUX": "/tmp/tmux,1,0"}, screen.Reflows},
		{map[string]string{"TERM": "alacritty"}, screen.Reflows},
		{map[string]string{"TERM": "linux"}, screen.Cuts},
	} {
		if got := reflow(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}
