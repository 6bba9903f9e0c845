package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/pipeline/attach"
	"lathe/internal/session"
	"lathe/internal/style"
	"lathe/internal/turn"
)

// styleKind is the state record of the output style that the system prompt was made with.
const styleKind = "output_style"

// outputStyle is the style in force, as it was found for what is set.
type outputStyle struct {
	mu     sync.Mutex
	known  bool
	asked  string // the setting that it was found for
	now    style.Style
	frozen string // the name of the one in the system prompt; "" for none
}

// styled reports whether styles count: a prompt that the user, a host or an agent has written is taken as it is.
func (r *run) styled() bool {
	o := r.o
	return r.agent == nil && r.main == nil && !o.Bare && o.Recording == nil && o.System == nil && o.SystemFile == "" && o.Override == ""
}

// styles are the output styles of this moment. A project's count when it is trusted.
func (r *run) styles() []style.Style {
	if r.o.Bare || r.o.Recording != nil {
		return style.Find(style.Places{})
	}
	d := r.place.Sys.Dirs
	p := style.Places{Managed: config.ManagedDirs(), Work: r.place.Project, Root: r.place.ProjectRoot, Project: r.place.Wants("project") && r.place.Trusted}
	if r.place.Wants("user") {
		p.Config, p.State = d.Config, d.State
	}
	for _, l := range r.pluginsNow().list {
		p.Plugins = append(p.Plugins, style.Plugin{Name: l.Name, Paths: l.Styles})
	}
	return style.Find(p)
}

// style is the output style in force. Files are looked for only when one is set, or a plugin may demand one.
func (r *run) style() style.Style {
	if !r.styled() {
		return style.Style{Name: style.Default}
	}
	r.changing.Lock()
	asked := r.latest.String("outputStyle", "", false)
	r.changing.Unlock()
	s := &r.outputStyle
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known && s.asked == asked {
		return s.now
	}
	s.known, s.asked, s.now = true, asked, style.Style{Name: style.Default}
	none := asked == "" || strings.EqualFold(asked, style.Default)
	if none && !r.pluginStyles() {
		return s.now
	}
	all := r.styles()
	if forced, ok := style.Forced(all); ok {
		s.now = forced
	} else if found, ok := style.Get(all, asked); ok {
		s.now = found
	} else if !none {
		r.warn(fmt.Sprintf("outputStyle: there is no style %q, so answers look as usual (there are: %s)", asked, strings.Join(styleNames(all), ", ")))
	}
	return s.now
}

// pluginStyles reports whether a plugin has styles.
func (r *run) pluginStyles() bool {
	for _, p := range r.pluginsNow().list {
		for _, path := range p.Styles {
			if _, err := os.Stat(path); err == nil {
				return true
			}
		}
	}
	return false
}

// styleNames lists the names for front ends, that of none first.
func styleNames(all []style.Style) []string {
	out := []string{style.Default}
	for _, s := range all {
		out = append(out, s.Name)
	}
	return out
}

// reloadStyles has the files looked at again.
func (r *run) reloadStyles() []string {
	r.outputStyle.mu.Lock()
	r.outputStyle.known = false
	r.outputStyle.mu.Unlock()
	return styleNames(r.styles())
}

// freeze keeps what the prompt stage built, and by which style.
func (r *run) freeze(name string) func(session.Frozen) error {
	return func(f session.Frozen) error {
		if name == style.Default {
			name = ""
		}
		s := &r.outputStyle
		s.mu.Lock()
		changed := s.frozen != name
		s.frozen = name
		s.mu.Unlock()
		if changed {
			if err := r.conv.Log.Keep(styleKind, name); err != nil {
				return err
			}
		}
		return r.session.Freeze(f)
	}
}

// takeUpStyle brings back which style the system prompt was made with.
func (r *run) takeUpStyle() {
	s := &r.outputStyle
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = ""
	_ = json.Unmarshal(r.conv.State.Kept[styleKind], &s.frozen)
}

// styleSource tells the model of a style that was chosen later.
func (r *run) styleSource() attach.Source {
	made := func() string {
		r.outputStyle.mu.Lock()
		defer r.outputStyle.mu.Unlock()
		return first(r.outputStyle.frozen, style.Default)
	}
	return attach.Style(made, func() (string, string) { s := r.style(); return s.Name, s.Text }, style.Default)
}

// cmdOutputStyle lists the styles, or chooses one for this project.
func (r *run) cmdOutputStyle(_ context.Context, _ *turn.Turn, args string) (string, error) {
	all := r.styles()
	now := r.style().Name
	if args == "" {
		var b strings.Builder
		for _, s := range append([]style.Style{{Name: style.Default, Description: "answers as usual"}}, all...) {
			mark := " "
			if s.Name == now {
				mark = "*"
			}
			fmt.Fprintf(&b, "%s %-20s %s\n", mark, s.Name, event.OneLine(s.Description, 100))
		}
		b.WriteString("\n/output-style NAME chooses one for this project.")
		return b.String(), nil
	}
	name := style.Default
	if !strings.EqualFold(args, name) {
		found, ok := style.Get(all, args)
		if !ok {
			return "", fmt.Errorf("there is no output style %q; there are %s", args, strings.Join(styleNames(all), ", "))
		}
		name = found.Name
	}
	if !r.styled() {
		return "", errors.New("this session has a system prompt of its own, to which no output style is added")
	}
	file, err := r.saveStyle(name)
	if err != nil {
		return "", err
	}
	if now = r.style().Name; now != name {
		return fmt.Sprintf("Saved in %s, but %s counts: a plugin, the command line or the organisation says so.", file, now), nil
	}
	return fmt.Sprintf("Output style %s, from the next prompt on. Saved in %s.", name, file), nil
}

// screenStyle is the row of the style in a terminal's list of settings.
func (r *run) screenStyle(set config.Value) screenSetting {
	s := screenSetting{Key: "outputStyle", Does: "how answers look, in this project", Now: string(event.Encode(style.Default)), Scope: string(set.Scope)}
	for _, name := range styleNames(r.styles()) {
		s.Values = append(s.Values, string(event.Encode(name)))
	}
	if len(set.Value) > 0 {
		s.Now = compactJSON(set.Value)
	}
	return s
}

// saveStyle writes the style into the project's settings that are the person's own.
func (r *run) saveStyle(name string) (file string, err error) {
	if file, err = r.settingsFile(event.SaveLocal); err != nil {
		return "", err
	}
	return file, r.saveSetting(file, "outputStyle", event.Encode(name))
}

// saveSetting writes a setting of one's own that grants nothing. It counts at once.
func (r *run) saveSetting(file, key string, value json.RawMessage) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.save(func() error {
		return r.private(file, func() error { return config.Set(file, key, value) })
	})
}

// saveStyleValue is saveStyle for a value of a list.
func (r *run) saveStyleValue(value json.RawMessage) error {
	var name string
	if err := json.Unmarshal(value, &name); err != nil {
		return fmt.Errorf("outputStyle must be a text: %w", err)
	}
	_, err := r.saveStyle(name)
	return err
}
