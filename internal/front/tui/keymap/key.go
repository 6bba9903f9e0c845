package keymap

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names are the special keys: what may be written, and how they are called when pressed.
var names = map[string]string{
	"escape": "esc", "esc": "esc", "enter": "enter", "return": "enter", "tab": "tab", "space": "space", "backspace": "backspace",
	"delete": "delete", "del": "delete", "insert": "insert", "up": "up", "down": "down", "left": "left", "right": "right",
	"home": "home", "end": "end", "pageup": "pgup", "pgup": "pgup", "pagedown": "pgdown", "pgdown": "pgdown", "pgdn": "pgdown",
	"f1": "f1", "f2": "f2", "f3": "f3", "f4": "f4", "f5": "f5", "f6": "f6", "f7": "f7", "f8": "f8", "f9": "f9", "f10": "f10", "f11": "f11", "f12": "f12",
}

var modifiers = map[string]string{
	"ctrl": "ctrl", "control": "ctrl", "shift": "shift", "alt": "alt", "opt": "alt", "option": "alt", "meta": "alt",
	"cmd": "super", "command": "super", "super": "super", "win": "super",
}

// Canonical brings one key into the form in which it is pressed: "Control+X" becomes "ctrl+x", "shift+k" becomes "K".
func Canonical(key string) (string, error) {
	rest, mods := key, map[string]bool{}
	for {
		i := strings.IndexByte(rest[min(1, len(rest)):], '+') // a leading + is the key itself
		if i < 0 {
			break
		}
		name := strings.ToLower(rest[:i+1])
		mod, ok := modifiers[name]
		if !ok {
			return "", fmt.Errorf("%q: %s is no modifier (ctrl, shift, alt, cmd)", key, name)
		}
		mods[mod] = true
		rest = rest[i+2:]
	}
	base, special := names[strings.ToLower(rest)]
	switch {
	case special:
	case utf8.RuneCountInString(rest) != 1:
		return "", fmt.Errorf("%q: there is no key %q", key, rest)
	case mods["ctrl"] || mods["alt"] || mods["super"]: // with a modifier an upper-case letter means no shift
		base = strings.ToLower(rest)
	default:
		base = rest
		if r, _ := utf8.DecodeRuneInString(rest); mods["shift"] && unicode.IsLetter(r) {
			base, mods["shift"] = strings.ToUpper(rest), false
		}
	}
	var b strings.Builder
	for _, m := range []string{"ctrl", "alt", "shift", "super"} {
		if mods[m] {
			b.WriteString(m + "+")
		}
	}
	return b.String() + base, nil
}

// chord is a sequence of canonical keys.
func chord(s string) ([]string, error) {
	var out []string
	for _, k := range strings.Fields(s) {
		c, err := Canonical(k)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%q is no key", s)
	}
	return out, nil
}

// Show writes keys for people: "ctrl+x ctrl+k" as "Ctrl+X Ctrl+K".
func Show(keys string) string {
	var out []string
	for _, k := range strings.Fields(keys) {
		parts := strings.Split(k, "+")
		if strings.HasSuffix(k, "++") || k == "+" {
			parts = append(strings.Split(strings.TrimSuffix(k, "+"), "+")[:strings.Count(k, "+")-1], "+")
		}
		for i, p := range parts {
			switch {
			case p == "pgup":
				parts[i] = "PageUp"
			case p == "pgdown":
				parts[i] = "PageDown"
			case p == "super":
				parts[i] = "Cmd"
			case len(parts) == 1 && utf8.RuneCountInString(p) == 1:
				if p != strings.ToLower(p) {
					parts[i] = "Shift+" + p
				}
			default:
				parts[i] = strings.ToUpper(p[:1]) + p[1:]
			}
		}
		out = append(out, strings.Join(parts, "+"))
	}
	return strings.Join(out, " ")
}

// reserved keys cannot be bound; Ctrl+M is Enter.
func reserved(key string) string {
	switch key {
	case "ctrl+c":
		return "Ctrl+C always interrupts"
	case "ctrl+d":
		return "Ctrl+D always leaves"
	case "ctrl+m":
		return "terminals send Ctrl+M as Enter"
	case "ctrl+i":
		return "terminals send Ctrl+I as Tab"
	}
	return ""
}

// clashes tells of keys that a terminal program around Lathe may keep for itself.
func clashes(key string) string {
	switch key {
	case "ctrl+b":
		return "tmux takes Ctrl+B unless it is pressed twice"
	case "ctrl+a":
		return "screen takes Ctrl+A"
	case "ctrl+z":
		return "Ctrl+Z suspends"
	case "ctrl+s", "ctrl+q":
		return "some terminals stop and start their output with Ctrl+S and Ctrl+Q"
	}
	return ""
}
