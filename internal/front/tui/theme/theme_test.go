package theme

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestDepthOf(t *testing.T) {
	for _, c := range []struct {
		env  string
		tty  bool
		want Depth
	}{
		{"TERM=xterm-256color COLORTERM=truecolor", true, True},
		{"TERM=xterm-256color", true, Palette},
		{"TERM=xterm", true, ANSI},
		{"TERM=linux", true, ANSI},
		{"TERM=dumb COLORTERM=truecolor", true, Plain},
		{"TERM=xterm-256color NO_COLOR=1", true, Mono},
		{"TERM=xterm-256color", false, Plain},
		{"TERM=xterm-256color FORCE_COLOR=1", false, Palette},
		{"TERM=screen.xterm-256color COLORTERM=truecolor", true, Palette},
		{"TERM=tmux-256color TMUX=x COLORTERM=truecolor", true, True},
		{"", true, Plain},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := DepthOf(func(k string) string { return env[k] }, c.tty); got != c.want {
			t.Errorf("%q, tty %v: depth %d, want %d", c.env, c.tty, got, c.want)
		}
	}
}

// At every depth a theme uses only what that depth allows.
func TestEveryThemeKeepsToItsDepth(t *testing.T) {
	for _, name := range Names() {
		for d := Plain; d <= True; d++ {
			v := reflect.ValueOf(Named(name, d, true))
			for i := range v.NumField() {
				for _, s := range styles(v.Field(i)) {
					checkStyle(t, fmt.Sprintf("%s at %d: %s", name, d, v.Type().Field(i).Name), s, d)
				}
			}
		}
	}
}

func styles(v reflect.Value) []string {
	switch {
	case v.Type() == reflect.TypeFor[Style]():
		return []string{v.String()}
	case v.Kind() == reflect.Array:
		var out []string
		for i := range v.Len() {
			out = append(out, v.Index(i).String())
		}
		return out
	}
	return nil
}

func checkStyle(t *testing.T, what, s string, d Depth) {
	t.Helper()
	color := strings.Contains(s, "8;5;") || strings.Contains(s, "8;2;")
	for _, p := range strings.Split(s, ";") {
		color = color || len(p) >= 2 && strings.ContainsAny(p[:1], "349") && p != "38" && p != "48"
	}
	switch {
	case d == Plain && s != "",
		d == Mono && color,
		d == ANSI && strings.Contains(s, "8;"),
		d == Palette && strings.Contains(s, "8;2;"):
		t.Errorf("%s is %q", what, s)
	}
}

func TestCustom(t *testing.T) {
	th, warnings, err := Custom([]byte(`{"name":"mine","base":"light","overrides":{"error":"#f00","success":"ansi256(40)","warning":"ansi:yellowBright",
		"diffAdded":"rgb(1, 2, 3)","planMode":"pink","nothing":"#fff"}}`), True, true)
	if err != nil {
		t.Fatal(err)
	}
	if th.Name != "mine" || th.Error != "38;2;255;0;0" || th.Success != "38;5;40" || th.Warning != "93" || th.Added != "48;2;1;2;3" {
		t.Errorf("%+v", th)
	}
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0], "nothing") || !strings.HasPrefix(warnings[1], "planMode") {
		t.Errorf("warnings %q", warnings)
	}
	if _, _, err := Custom([]byte(`[]`), True, true); err == nil {
		t.Error("a list was taken as a theme")
	}
}

func TestDarkBackground(t *testing.T) {
	for v, want := range map[string][2]bool{"15;0": {true, true}, "0;15": {false, true}, "0;default;7": {false, true}, "": {true, false}, "x": {true, false}} {
		dark, known := DarkBackground(func(string) string { return v })
		if dark != want[0] || known != want[1] {
			t.Errorf("%q: dark %v known %v", v, dark, known)
		}
	}
}

func TestStyle(t *testing.T) {
	if got := Style("1").With("31").Paint("x"); got != "\x1b[1;31mx\x1b[m" {
		t.Errorf("%q", got)
	}
	if got := Style("").Paint("x") + Style("1").Paint(""); got != "x" {
		t.Errorf("%q", got)
	}
}
