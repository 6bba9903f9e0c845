package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe/internal/place"
	"lathe/internal/proc"
	"lathe/internal/provider"
	"lathe/internal/provider/anthropic"
	"lathe/internal/provider/replay"
	"lathe/internal/sys"
)

// How long a key helper may run, and for how long its key is used without asking again.
const (
	helperLimit = 60 * time.Second
	helperTTL   = 5 * time.Minute
)

// demoDelay stands between the events of the demo's answers, so that they can be watched.
const demoDelay = 15 * time.Millisecond

// ErrNoKey tells a new user what to do.
var ErrNoKey = errors.New(`no API key is set, so no model can be called. Do one of these:
  export ANTHROPIC_API_KEY=…
    use the Anthropic API (ANTHROPIC_AUTH_TOKEN=…: with a bearer token)
  export ANTHROPIC_BASE_URL=http://127.0.0.1:11434 ANTHROPIC_AUTH_TOKEN=local ANTHROPIC_MODEL=<name>
    use a server that speaks /v1/messages (Ollama, llama.cpp, a gateway), and a model that it has
  "apiKeyHelper": "command" in settings.json
    print a key when one is needed
  lathe demo
    see it work without a key`)

// Options say where the answers come from.
type Options struct {
	Replay, Record string   // recordings: answers from one, writes one
	Recording      []byte   // the same as Replay, of the demo
	Betas          []string // extra features of the API
	Local          bool     // no model may be needed: that there is no key is said when one is called
}

// Source is the provider of a session and where its credential comes from.
type Source struct {
	Provider provider.Provider
	Key      string // where it comes from
	Model    string // that a recording was made with
	Refresh  func(ctx context.Context) (bool, error)
	Close    func() error // ends a recording
}

// noModel stands where no key is set and none is needed.
type noModel struct{}

// Stream says what to do, should a model be called all the same.
func (noModel) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		yield(provider.Chunk{}, &provider.Error{Kind: provider.Auth, NoRetry: true, Message: ErrNoKey.Error(), Err: ErrNoKey})
	}
}

// Open builds the provider: a recording, or the Messages API at whatever address the environment names.
func Open(o Options, p *place.Place, procs *proc.Group) (*Source, error) {
	m := &Source{Key: "none", Close: func() error { return nil }}
	if o.Replay != "" || o.Recording != nil {
		player, err := openRecording(o, p)
		if err != nil {
			return nil, err
		}
		m.Provider, m.Key, m.Model = player, "none", player.Model()
	} else if err := m.anthropic(o, p, procs); err != nil {
		return nil, err
	}
	if o.Record == "" {
		return m, nil
	}
	rec, err := replay.Create(o.Record, m.Provider, replay.RecordOptions{
		Vars: replayVars(p), Clean: p.Redact.String, CleanJSON: p.Redact.JSON,
	})
	if err != nil {
		return nil, err
	}
	m.Provider, m.Close = rec, rec.Close
	return m, nil
}

func openRecording(o Options, p *place.Place) (*replay.Player, error) {
	if o.Recording != nil {
		return replay.New(bytes.NewReader(o.Recording), "demo", replay.Options{Vars: replayVars(p), Delay: demoDelay, Clean: p.Redact.JSON})
	}
	return replay.Open(o.Replay, replay.Options{Vars: replayVars(p), Clean: p.Redact.JSON})
}

// replayVars are the parts of a recording that differ from run to run.
func replayVars(p *place.Place) map[string]string {
	return map[string]string{"DIR": p.Sys.Dirs.Work, "HOME": p.Sys.Dirs.Home, "DATE": p.Sys.Now().Format("2006-01-02")}
}

func (m *Source) anthropic(o Options, p *place.Place, procs *proc.Group) error {
	getenv := p.Sys.Getenv
	client, err := anthropic.NewClient(getenv)
	if err != nil {
		return err
	}
	opt := anthropic.Options{
		BaseURL: getenv("ANTHROPIC_BASE_URL"), Client: client, Version: getenv("LATHE_API_VERSION"),
		Headers: customHeaders(getenv("ANTHROPIC_CUSTOM_HEADERS")), UserAgent: "lathe/" + sys.Version,
	}
	opt.Betas = append(opt.Betas, sys.List(getenv("ANTHROPIC_BETAS"))...)
	opt.Betas = append(opt.Betas, o.Betas...)
	helper := p.Settings.String("apiKeyHelper", "", true)
	switch {
	case getenv("ANTHROPIC_AUTH_TOKEN") != "":
		opt.AuthToken, m.Key = getenv("ANTHROPIC_AUTH_TOKEN"), "ANTHROPIC_AUTH_TOKEN"
	case getenv("ANTHROPIC_API_KEY") != "":
		opt.APIKey, m.Key = getenv("ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY"
	case helper != "":
		opt.KeyHelper, m.Key = keyHelper(helper, p, procs), "apiKeyHelper"
	default:
		if !o.Local {
			return ErrNoKey
		}
		m.Provider = noModel{} // a local command calls none
		return nil
	}
	c, err := anthropic.New(opt)
	if err != nil {
		return err
	}
	m.Provider = c
	if c.CanRefresh() {
		m.Refresh = c.Refresh
	}
	return nil
}

// keyHelper runs the user's command, which prints a key, and keeps the key for a while.
func keyHelper(command string, p *place.Place, procs *proc.Group) func(ctx context.Context, force bool) (string, error) {
	var mu sync.Mutex
	var key string
	var at time.Time
	ofProject := p.FromProject("apiKeyHelper")
	ttl := helperTTL
	if ms, err := strconv.Atoi(p.Sys.Getenv("CLAUDE_CODE_API_KEY_HELPER_TTL_MS")); err == nil && ms >= 0 {
		ttl = time.Duration(ms) * time.Millisecond
	}
	return func(ctx context.Context, force bool) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if key != "" && !force && time.Since(at) < ttl {
			return key, nil
		}
		if ofProject && !p.RunsAsApproved(command, nil, p.Sys.Dirs.Work) {
			return "", errors.New("apiKeyHelper was not run: a program of the project that it names is not the one that you trusted (lathe trust shows and approves what it is now)")
		}
		fresh, err := runHelper(ctx, command, p, procs)
		if err != nil {
			return "", err
		}
		key, at = fresh, time.Now()
		p.Redact.Add("apiKeyHelper", key)
		return key, nil
	}
}

// runHelper runs the command as a child of ours, which dies with the program and takes along what it started.
func runHelper(ctx context.Context, command string, p *place.Place, procs *proc.Group) (string, error) {
	args := []string{"/bin/sh", "-c", command}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/c", command}
	}
	out, said := proc.NewOutput(proc.OutputOptions{}), proc.NewOutput(proc.OutputOptions{})
	exit, err := procs.Run(ctx, proc.Spec{
		Args: args, Dir: p.Sys.Dirs.Work, Env: proc.Env(p.Sys.Environ()), Out: out, Err: said,
		Timeout: helperLimit, MaxOutput: 1 << 20,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("apiKeyHelper: %w", err)
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case exit.TimedOut:
		return "", fmt.Errorf("apiKeyHelper printed no key in %s", helperLimit)
	case exit.Code != 0:
		return "", fmt.Errorf("apiKeyHelper: exit code %d: %s", exit.Code, strings.TrimSpace(said.Excerpt(2000).Head))
	}
	key := strings.TrimSpace(out.Excerpt(64 << 10).Head)
	if key == "" {
		return "", errors.New("apiKeyHelper printed no key")
	}
	return key, nil
}

// customHeaders reads "Name: Value" lines.
func customHeaders(text string) http.Header {
	out := http.Header{}
	for _, line := range strings.Split(text, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "" {
			out.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return out
}
