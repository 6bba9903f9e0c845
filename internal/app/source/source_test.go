package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/app/source"
	"lathe/internal/config"
	"lathe/internal/place"
	"lathe/internal/proc"
	"lathe/internal/provider"
)

// here is a place with an environment and settings of its own.
func here(t *testing.T, env map[string]string, settings string) *place.Place {
	t.Helper()
	base := t.TempDir()
	all := map[string]string{"HOME": base, "LATHE_HOME": filepath.Join(base, "state"), "CLAUDE_CONFIG_DIR": filepath.Join(base, "config")}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"} {
		all[name] = ""
	}
	for k, v := range env {
		all[k] = v
	}
	p, err := place.Find(place.Options{Dir: base, Env: all, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The token wins over the key, both over the helper of the settings, and a recording over all of them.
func TestWhichCredential(t *testing.T) {
	recording := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(recording, []byte("{\"recording\":1,\"model\":\"claude-test\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, token := map[string]string{"ANTHROPIC_API_KEY": "k"}, map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"}
	const helper = `{"apiKeyHelper":"echo k"}`
	for name, c := range map[string]struct {
		env      map[string]string
		settings string
		o        source.Options
		want     string
	}{
		"token":     {token, helper, source.Options{}, "ANTHROPIC_AUTH_TOKEN"},
		"key":       {key, helper, source.Options{}, "ANTHROPIC_API_KEY"},
		"helper":    {nil, helper, source.Options{}, "apiKeyHelper"},
		"recording": {token, helper, source.Options{Replay: recording}, "none"},
		"local":     {nil, "", source.Options{Local: true}, "none"},
	} {
		var procs proc.Group
		s, err := source.Open(c.o, here(t, c.env, c.settings), &procs)
		if err != nil || s.Key != c.want {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		procs.Close()
	}
}

// Without a credential a session does not begin, and what to do is said; a local command does without until a model is called.
func TestNoCredential(t *testing.T) {
	var procs proc.Group
	defer procs.Close()
	p := here(t, nil, "")
	if _, err := source.Open(source.Options{}, p, &procs); !errors.Is(err, source.ErrNoKey) || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("%v", err)
	}
	s, err := source.Open(source.Options{Local: true}, p, &procs)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Provider.Stream(t.Context(), &provider.Request{}) {
		var refused *provider.Error
		if !errors.As(err, &refused) || refused.Kind != provider.Auth || !refused.NoRetry {
			t.Errorf("a call of a model: %v", err)
		}
	}
}

// A helper of a trusted project's settings is run as long as the program that it names is the one that was trusted.
func TestProjectsKeyHelper(t *testing.T) {
	base := t.TempDir()
	work := filepath.Join(base, "work")
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(work, "key.sh"), "echo good >> ran; echo key-one\n")
	write(filepath.Join(work, ".claude/settings.json"), `{"apiKeyHelper":"sh key.sh"}`)
	env := map[string]string{"LATHE_HOME": filepath.Join(base, "state"), "CLAUDE_CONFIG_DIR": filepath.Join(base, "config")}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"} {
		env[name] = ""
	}
	open := func() *place.Place {
		t.Helper()
		p, err := place.Find(place.Options{Dir: work, Env: env})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := open()
	if err := p.Approve(config.NewTrust(p.Sys.Dirs.State)); err != nil {
		t.Fatal(err)
	}
	var procs proc.Group
	defer procs.Close()
	s, err := source.Open(source.Options{}, open(), &procs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(work, "key.sh"), "echo bad >> ran; echo key-two\n")
	if _, err := s.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "lathe trust") {
		t.Errorf("%v", err)
	}
	if ran, err := os.ReadFile(filepath.Join(work, "ran")); err != nil || string(ran) != "good\n" {
		t.Errorf("%v %q", err, ran)
	}
}
