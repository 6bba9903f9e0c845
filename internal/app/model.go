package app

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/pipeline/model"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/sys"
	"lathe/internal/turn"
)

// chooseModel applies the documented order: what a recording was made with, flag, ANTHROPIC_MODEL, what a resumed
// session used last, settings, ANTHROPIC_DEFAULT_MODEL, the default. It remembers whether that is a pair of models, which
// follows the permission mode from here on.
func (r *run) chooseModel() string {
	if r.agent != nil {
		return r.agent.model
	}
	name, mode := r.modelChoice(), r.o.Mode
	if r.session != nil {
		mode = r.session.Mode()
	}
	r.takePair(name)
	return r.resolveFor(name, mode)
}

// modelChoice is the name by which the model was chosen.
func (r *run) modelChoice() string {
	getenv := r.place.Sys.Getenv
	name := first(r.model.Model, r.o.Model, getenv("ANTHROPIC_MODEL"))
	if name == "" && r.main != nil {
		name = r.main.Model
	}
	if name == "" {
		name = r.lastModel()
	}
	return first(name, r.place.Settings.String("model", "", true), getenv("ANTHROPIC_DEFAULT_MODEL"), "default")
}

// defaultModel is the name of the model of a session for which none was asked for.
func (r *run) defaultModel() string {
	getenv := r.place.Sys.Getenv
	return first(r.model.Model, getenv("ANTHROPIC_MODEL"), r.place.Settings.String("model", "", true), getenv("ANTHROPIC_DEFAULT_MODEL"), "default")
}

// modelKind is the state record of the model that a session was changed to.
const modelKind = "model"

// lastModel is the model that a resumed session used last, "" when it is not known.
func (r *run) lastModel() string {
	if !r.conv.Resumed || r.conv.State.Frozen == nil {
		return ""
	}
	name := ""
	_ = json.Unmarshal(r.conv.State.Kept[modelKind], &name)
	return first(name, r.conv.State.Frozen.Model)
}

// keepModel remembers a change of model for later runs of the session.
func (r *run) keepModel(name string) {
	if err := r.conv.Log.Keep(modelKind, name); err != nil {
		r.warn("remember the model: " + err.Error())
	}
}

// forgetModel is for a turn that ended because the API does not know the model: later runs of the session begin with the one
// that answered last, or with the one of the settings.
func (r *run) forgetModel(t *turn.Turn) {
	all := t.Messages
	if n := len(all); n == 0 || all[n-1].APIError != "model_not_found" {
		return
	}
	name := r.defaultModel()
	for _, m := range slices.Backward(all) {
		if m.Kind == msg.KindAssistant && m.APIError == "" && m.Model != "" {
			name = m.Model
			break
		}
	}
	r.keepModel(name)
}

// resolve1m turns an alias into a model id and keeps the suffix that asks for the long window: the table knows by
// it what the model can do, and it is taken off when a request is built.
func (r *run) resolve1m(name string) string {
	const long = "[1m]"
	id := r.prices.Resolve(name)
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(name)), long) {
		id += long
	}
	return id
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func (r *run) fallbacks() []string {
	names := r.o.Fallback
	if len(names) == 0 {
		names = r.place.Settings.Strings("fallbackModel", true)
	}
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && len(out) < 3 {
			out = append(out, r.resolve1m(n))
		}
	}
	return out
}

func (r *run) effort() string {
	return first(r.place.Sys.Getenv("CLAUDE_CODE_EFFORT_LEVEL"), r.o.Effort, r.place.Settings.String("effortLevel", "", false))
}

// turnEffort is the effort that turns begin with.
func (r *run) turnEffort() string {
	switch {
	case r.agent != nil:
		return r.agent.effort
	case r.main != nil && r.o.Effort == "":
		return first(r.main.Effort, r.effort())
	}
	return r.effort()
}

func (r *run) maxTurns() int {
	if r.o.MaxTurns == 0 {
		return max(0, r.number("CLAUDE_CODE_MAX_TURNS"))
	}
	return r.o.MaxTurns
}

func (r *run) noCache() bool { return sys.IsOn(r.place.Sys.Getenv("DISABLE_PROMPT_CACHING")) }

// cacheLife is the lifetime of the prompt cache that the user wants; 0: the planner chooses it by price. A server that is
// not the API itself may not know the longer one, so it gets the shorter one unless the user says otherwise.
func (r *run) cacheLife() time.Duration {
	getenv := r.place.Sys.Getenv
	set := first(getenv("CLAUDE_CODE_PROMPT_CACHE_TTL"), r.place.Settings.String("promptCacheTtl", "", false))
	switch {
	case sys.IsOn(getenv("FORCE_PROMPT_CACHING_5M")), set == "5m":
		return 5 * time.Minute
	case set == "1h", set == "" && sys.IsOn(getenv("ENABLE_PROMPT_CACHING_1H")):
		return time.Hour
	case getenv("ANTHROPIC_BASE_URL") != "":
		return 5 * time.Minute
	}
	return 0
}

// number reads a whole number from the environment; 0 when it is not set or not a number.
func (r *run) number(key string) int {
	n, _ := sys.Int(r.place.Sys.Getenv(key))
	return int(n)
}

func (r *run) requestConfig() normalize.Config {
	c := normalize.Config{
		MaxTokens: r.number("CLAUDE_CODE_MAX_OUTPUT_TOKENS"), NoCache: r.noCache(),
		NoAdaptive:   sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING")),
		Display:      r.o.Display,
		NoInterleave: sys.IsOn(r.place.Sys.Getenv("DISABLE_INTERLEAVED_THINKING")),
	}
	budget := -1
	if r.o.ThinkingBudget != nil {
		budget = *r.o.ThinkingBudget
	}
	if budget < 0 && r.place.Sys.Getenv("MAX_THINKING_TOKENS") != "" {
		budget = r.number("MAX_THINKING_TOKENS")
	}
	switch {
	case sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_THINKING")):
		c.Thinking = normalize.ThinkOmit
	case r.o.NoThinking || budget == 0 || !r.place.Settings.Bool("alwaysThinkingEnabled", true):
		c.Thinking = normalize.ThinkOff
	case budget > 0:
		c.Budget = budget
	}
	return c
}

func (r *run) retryConfig() model.Config {
	c := model.Config{
		StreamOnly: sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK")),
		Idle:       r.millis("CLAUDE_STREAM_IDLE_TIMEOUT_MS"), NoStream: r.millis("API_TIMEOUT_MS"),
		OverloadedBase: r.millis("CLAUDE_CODE_OVERLOADED_RETRY_BASE_DELAY_MS"), OverloadedMax: r.millis("CLAUDE_CODE_OVERLOADED_RETRY_MAX_DELAY_MS"),
		Base: r.millis("LATHE_RETRY_BASE_DELAY_MS"),
	}
	if v := r.place.Sys.Getenv("CLAUDE_CODE_MAX_RETRIES"); v != "" {
		if c.MaxRetries = r.number("CLAUDE_CODE_MAX_RETRIES"); c.MaxRetries <= 0 {
			c.MaxRetries = -1
		}
	}
	return c
}

func (r *run) millis(key string) time.Duration {
	return time.Duration(r.number(key)) * time.Millisecond
}

// stopCap is how often in a row Stop hooks may make a turn go on; 0 is the usual number.
func (r *run) stopCap() int {
	n, _ := strconv.Atoi(r.place.Sys.Getenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"))
	return max(0, n)
}
