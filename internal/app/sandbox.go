package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lathe/internal/config"
	"lathe/internal/perm"
	"lathe/internal/proc"
	"lathe/internal/sandbox"
	"lathe/internal/tool/bash"
)

// confinement is the sandbox of a run, and what was said about it.
type confinement struct {
	*sandbox.Sandbox
	told sync.Once
}

// openSandbox reads the settings of the sandbox. Where it is required and cannot be had, the run ends here.
func (r *run) openSandbox() error {
	d := r.place.Sys.Dirs
	settings, problems := sandbox.ReadSettings(sandboxLayers(r.place.Settings.Layers), d.Home, platform())
	r.place.Notes = append(r.place.Notes, problems...)
	exe, err := os.Executable()
	if err != nil && settings.Mode != sandbox.Off {
		return fmt.Errorf("the sandbox needs the path of this program: %w", err)
	}
	r.sandbox.Sandbox = sandbox.New(sandbox.Options{
		Input: r.sandboxInput, Settings: settings, Program: exe, CacheDir: sandboxCache(d.Work),
	})
	return r.sandbox.Check()
}

func sandboxLayers(layers []*config.Layer) []sandbox.Layer {
	var out []sandbox.Layer
	for _, l := range layers {
		raw, ok := l.Keys["sandbox"]
		if !ok {
			continue
		}
		name := l.File
		if name == "" {
			name = "--settings"
		}
		out = append(out, sandbox.Layer{
			Raw: raw, Name: name, Anchor: l.Anchor, Trusted: l.Trusted, Managed: l.Scope == config.Managed,
			Repo: l.Scope == config.Project || l.Scope == config.Local,
		})
	}
	return out
}

// sandboxCache is where build caches of this project's sandboxed commands go: apart from the user's own, which
// programs outside the sandbox trust.
func sandboxCache(work string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(work))
	return filepath.Join(dir, "lathe", "sandbox", hex.EncodeToString(sum[:8]))
}

// sandboxInput is what the policy follows from at this moment: what decisions follow from.
func (r *run) sandboxInput() sandbox.Input {
	d := r.place.Sys.Dirs
	in := sandbox.Input{
		Rules: r.book.Load().set, Roots: append([]string{d.Work}, r.dirs...), Repo: r.place.Root, Home: d.Home,
		State: d.State, Config: d.Config, Platform: platform(), Programs: r.root().programs,
	}
	if r.tools != nil {
		in.Roots = r.tools.workspace.Roots()
	}
	if t := r.tree(); t != nil { // what the rules say of the checkout holds for both
		in.Rules, in.Also, in.Look = r.ruleset(), in.Rules, []string{t.Root}
	}
	if r.conv != nil && r.conv.Folder() != "" {
		in.Show = append(in.Show, r.conv.Folder())
	}
	r.mu.Lock()
	if r.tempDir != "" {
		in.Show = append(in.Show, r.tempDir)
	}
	r.mu.Unlock()
	return in
}

// confinedBy is the sandbox of this conversation's commands: in a work tree of its own they may reach other places.
func (r *run) confinedBy() *sandbox.Sandbox {
	if r.tree() == nil || r.sandbox.Sandbox == nil {
		return r.sandbox.Sandbox
	}
	return r.sandbox.With(r.sandboxInput)
}

// sandboxOf is what a decision must know of a call: whether it will run in the sandbox.
func (r *run) sandboxOf(req perm.Request) perm.Sandbox {
	if req.Tool != "Bash" && req.Tool != bash.MonitorName || r.sandbox.Sandbox == nil {
		return perm.Sandbox{}
	}
	command, _, ok := perm.CommandOf(req)
	if !ok {
		return perm.Sandbox{}
	}
	state := r.confinedBy().Rules(command)
	if r.sandbox.Mode() != sandbox.Off {
		r.sandbox.told.Do(func() { r.tellSandbox(r.sandbox.Probe()) })
	}
	return state
}

func (r *run) tellSandbox(st sandbox.Status) {
	if !st.Available() {
		r.warn("the sandbox is on and not available, so commands run without it and are asked for as ever: " + st.Missing)
		return
	}
	if len(st.Weaker) > 0 {
		r.warn("the sandbox (" + st.Backend + ") is a weaker one: " + strings.Join(st.Weaker, "; "))
	}
}

// sandboxText is what the model is told of the sandbox with the Bash tool, "" where there is none.
func (r *run) sandboxText() string {
	if r.sandbox.Mode() == sandbox.Off {
		return ""
	}
	text := "Commands run in a sandbox: only the working directories and $TMPDIR can be written, the network is closed but for allowed hosts, and what a command leaves running ends with it."
	if r.sandbox.Escape() {
		text += " If it stands in the way of what the user wants, call again with dangerouslyDisableSandbox: the user is asked."
	}
	return text
}

// confine wraps a command for the Bash tool.
func (r *run) confine(spec *proc.Spec, command string, leave bool) (bash.SandboxEnd, error) {
	c, err := r.confinedBy().Wrap(spec, command, leave)
	if c == nil || err != nil {
		return nil, err
	}
	return c.End, nil
}

// sandboxState is a line for /status.
func (r *run) sandboxState() string {
	mode := r.sandbox.Mode()
	if mode == sandbox.Off {
		return "off"
	}
	st := r.sandbox.Probe()
	parts := slices.Concat([]string{mode.String()}, st.Weaker)
	if st.Available() {
		parts[0] += ", " + st.Backend
	} else {
		parts = append(parts, "not available: "+st.Missing)
	}
	return strings.Join(parts, "; ")
}
