package webfetch

import (
	"context"
	"crypto/tls"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed webfetch.md
var description string

const schema = `{"type":"object","properties":{"url":{"type":"string"},"prompt":{"type":"string"},` +
	`"offset":{"type":"integer","description":"character to go on from, in a long page"}},"required":["url"]}`

// CacheFor is how long a page is kept where nothing else is said.
const CacheFor = 15 * time.Minute

const maxText = 100_000 // characters of a page that are looked at in one call

// Deps is what the tool needs of its session.
type Deps struct {
	// Ask answers prompt over the text of a page, by a small model. When it is nil the text itself is the result.
	Ask func(ctx context.Context, prompt, page string) (string, error)
	// AllowLoopback lets addresses of this machine through; for tests.
	AllowLoopback bool
	// Getenv reads the proxy settings (HTTPS_PROXY, HTTP_PROXY, NO_PROXY, in either case); nil is os.Getenv.
	Getenv func(key string) string
	// TLS is the base of the TLS settings, such as further roots; nil is the system's.
	TLS *tls.Config
	// Lookup resolves a host; nil is the system's resolver.
	Lookup    func(ctx context.Context, host string) ([]netip.Addr, error)
	Now       func() time.Time // nil is time.Now
	UserAgent string           // empty is "Lathe"
	Timeout   time.Duration    // for all of a call; 0 is 300 seconds
	CacheFor  time.Duration    // how long a page is kept; 0 is CacheFor, below 0 none is
}

// Tool is the tool WebFetch, with its cache. It may be used by several calls at once.
type Tool struct {
	d     Deps
	cache cache
}

// New returns the tool.
func New(d Deps) *Tool {
	if d.Getenv == nil {
		d.Getenv = os.Getenv
	}
	if d.Lookup == nil {
		d.Lookup = lookup
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.UserAgent == "" {
		d.UserAgent = "Lathe"
	}
	if d.Timeout == 0 {
		d.Timeout = 300 * time.Second
	}
	if d.CacheFor == 0 {
		d.CacheFor = CacheFor
	}
	return &Tool{d: d, cache: cache{life: d.CacheFor}}
}

// Input is the tool's canonical input.
type Input struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt"`
	Offset int    `json:"offset"`
}

// Output is the structured result.
type Output struct {
	Bytes      int    `json:"bytes"`
	Code       int    `json:"code"`
	CodeText   string `json:"codeText"`
	Result     string `json:"result"`
	DurationMs int64  `json:"durationMs"`
	URL        string `json:"url"`
}

// Def is what the model is told.
func (t *Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "WebFetch", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are the common wrong names.
func (t *Tool) Aliases() map[string]string {
	return map[string]string{"uri": "url", "link": "url", "query": "prompt", "question": "prompt"}
}

// Plan checks the URL as far as it can be without the network.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("reading the input of WebFetch: %w", err)
	}
	u, err := parseURL(in.URL, t.d.AllowLoopback)
	if err != nil {
		return tool.Plan{}, err
	}
	if in.Offset < 0 {
		return tool.Plan{}, errors.New("offset must not be negative")
	}
	return tool.Plan{
		Summary:  "fetch " + u.String(),
		Parallel: true,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			return t.run(ctx, &in, u)
		},
	}, nil
}

func (t *Tool) run(ctx context.Context, in *Input, u *url.URL) (tool.Result, error) {
	start := time.Now()
	timed, cancel := context.WithTimeout(ctx, t.d.Timeout)
	defer cancel()
	p, ok := t.cache.get(u.String(), t.d.Now())
	if !ok {
		var err error
		if p, err = t.fetch(timed, u); err != nil {
			if ctx.Err() != nil {
				return tool.Result{}, ctx.Err()
			}
			return tool.Result{}, fmt.Errorf("fetching %s: %w", u, err)
		}
		if p.code == http.StatusOK {
			t.cache.put(p)
		}
	}
	text, failed := t.answer(timed, in, &p)
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	res := tool.TextResult(text)
	res.IsError = failed
	res.Output = Output{
		Bytes: p.size, Code: p.code, CodeText: http.StatusText(p.code), Result: text,
		DurationMs: time.Since(start).Milliseconds(), URL: u.String(),
	}
	return res, nil
}

// answer words the result for a page.
func (t *Tool) answer(ctx context.Context, in *Input, p *page) (text string, failed bool) {
	switch {
	case p.moved != "":
		return fmt.Sprintf("The server redirects (%s) to another host: %s\nCall WebFetch with that URL if it is wanted.",
			p.status, p.moved), false
	case p.code >= 400:
		part, _, _ := slice(p.text, 0, 2000)
		return strings.TrimSpace(fmt.Sprintf("The server answered %s.\n\n%s", p.status, part)), true
	case strings.TrimSpace(p.text) == "":
		return fmt.Sprintf("The page is empty (%s, %d bytes).", p.status, p.size), false
	}
	part, end, total := slice(p.text, in.Offset, maxText)
	if part == "" {
		return fmt.Sprintf("Nothing at offset %d: the page has %s.", in.Offset, tool.Count(total, "character")), true
	}
	var notes []string
	if end < total {
		notes = append(notes, fmt.Sprintf("Looked at characters %d-%d of %d. Go on with offset %d.", in.Offset, end, total, end))
	}
	if p.cut {
		notes = append(notes, fmt.Sprintf("The page was cut off after %d bytes.", p.size))
	}
	text = part
	if t.d.Ask != nil && strings.TrimSpace(in.Prompt) != "" {
		answer, err := t.d.Ask(ctx, in.Prompt, part)
		switch {
		case err != nil:
			notes = append(notes, fmt.Sprintf("The prompt could not be answered (%v); this is the page itself.", err))
		case strings.TrimSpace(answer) != "":
			text = answer
		}
	}
	for _, n := range notes {
		text += "\n\n[" + n + "]"
	}
	return text, false
}

// slice returns up to n characters of text from character offset on, where they end, and how many there are.
func slice(text string, offset, n int) (part string, end, total int) {
	total = utf8.RuneCountInString(text)
	if offset >= total {
		return "", total, total
	}
	end = min(offset+n, total)
	from, to, i := 0, len(text), 0
	for at := range text {
		if i == offset {
			from = at
		}
		if i == end {
			to = at
			break
		}
		i++
	}
	return text[from:to], end, total
}
