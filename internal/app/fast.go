package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"lathe/internal/config"
	"lathe/internal/price"
	"lathe/internal/sys"
	"lathe/internal/turn"
)

// Fast mode: the same model answers more quickly, for more money. It is a wish of the person at the main conversation;
// sub-agents and calls on the side are made at the standard speed.

// The states of fast mode, as output and hosts name them.
const (
	fastOn       = "on"
	fastOff      = "off"
	fastCooldown = "cooldown" // the standard speed for a while: the limit of fast mode was reached
)

// fastRest is how long the standard speed is kept to after a limit that does not say for how long.
const fastRest = 10 * time.Minute

type fastMode struct {
	begun bool // the setting was taken up: the conversations of a run share what was chosen since
	mu    sync.Mutex
	on    bool
	until time.Time // of the rest
}

// beginFast takes the person's setting up, unless they want to be asked in each session.
func (r *run) beginFast() {
	if r.fast.begun {
		return
	}
	st := r.place.Settings
	r.fast.begun = true
	r.fast.on = r.fastRefused(r.session.Model()) == nil && st.Granted("fastMode", false) && !st.Bool("fastModePerSessionOptIn", false)
}

// fastNow reports whether requests ask for fast mode, of models that have it.
func (r *run) fastNow() bool {
	r.fast.mu.Lock()
	defer r.fast.mu.Unlock()
	return r.fast.on && !r.place.Sys.Now().Before(r.fast.until)
}

// fastState is what a model does of what the person wants.
func (r *run) fastState(model string) string {
	r.fast.mu.Lock()
	on := r.fast.on
	r.fast.mu.Unlock()
	switch {
	case !on || r.fastRefused(model) != nil:
		return fastOff
	case !r.fastNow():
		return fastCooldown
	}
	return fastOn
}

// fastRefused says why a model cannot be asked in fast mode.
func (r *run) fastRefused(model string) error {
	info := r.prices.Info(model)
	switch {
	case sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_FAST_MODE")):
		return errors.New("fast mode is switched off by CLAUDE_CODE_DISABLE_FAST_MODE")
	case info.Quick():
		return nil
	}
	var have []string
	for _, id := range r.prices.Models() {
		if r.prices.Info(id).Quick() {
			have = append(have, id)
		}
	}
	why := info.ID + " has no fast mode"
	if info.Fast != nil {
		why = fmt.Sprintf("fast mode of %s ended on %s", info.ID, info.Fast.Ended)
	}
	return fmt.Errorf("%s; /model changes to one that has it: %s", why, strings.Join(have, ", "))
}

// setFast switches fast mode for this session.
func (r *run) setFast(on bool) error {
	if err := r.fastRefused(r.session.Model()); on && err != nil {
		return err
	}
	r.fast.mu.Lock()
	r.fast.on, r.fast.until = on, time.Time{}
	r.fast.mu.Unlock()
	return nil
}

// keepFast makes what the person at the terminal chose what later sessions begin with. It reports whether it did: those
// who want to be asked in each session are.
func (r *run) keepFast(on bool) (bool, error) {
	if r.o.Entry != EntryTerminal || r.place.Settings.Bool("fastModePerSessionOptIn", false) {
		return false, nil
	}
	value := json.RawMessage("false")
	if on {
		value = json.RawMessage("true")
	}
	return true, config.Set(r.userSettings(), "fastMode", value)
}

// leaveFast ends fast mode with the change to a model that has none.
func (r *run) leaveFast(model string) {
	if r.fastRefused(model) == nil {
		return
	}
	r.fast.mu.Lock()
	r.fast.on = false
	r.fast.mu.Unlock()
}

// slowDown is told by the model stage that a request in fast mode was refused: for a while, because of a limit, or because
// the API does not take such requests, which ends it for this session.
func (r *run) slowDown(_ *turn.Turn, limit bool, after time.Duration) {
	if after <= 0 {
		after = fastRest
	}
	r.fast.mu.Lock()
	defer r.fast.mu.Unlock()
	r.fast.on, r.fast.until = r.fast.on && limit, r.place.Sys.Now().Add(after)
}

// rateText says what a model costs in or out of fast mode.
func rateText(info price.Info, fast bool) string {
	rates := info.Price
	if fast && info.Fast != nil {
		rates = info.Fast.Price
	}
	if !info.Priced {
		return "price unknown"
	}
	return fmt.Sprintf("$%g in, $%g out per million tokens", rates.Input, rates.Output)
}

// cmdFast shows or switches fast mode.
func (r *run) cmdFast(_ context.Context, _ *turn.Turn, args string) (string, error) {
	model := r.session.Model()
	info := r.prices.Info(model)
	switch state := r.fastState(model); args {
	case "status":
		if err := r.fastRefused(model); err != nil {
			return "Fast mode: off. " + sentence(err.Error()), nil
		}
		text := "Fast mode: " + state
		if state == fastCooldown {
			text = "Fast mode: on, but its limit was reached: the standard speed for now"
		}
		return fmt.Sprintf("%s (%s: %s; in fast mode %s).", text, info.ID, rateText(info, false), rateText(info, true)), nil
	case "on", "off":
		return r.switchFast(args == fastOn)
	case "":
		return r.switchFast(state == fastOff)
	}
	return "", fmt.Errorf("/fast takes on, off or status, not %q", args)
}

// switchFast switches fast mode as the person asks for it, and says what that means.
func (r *run) switchFast(on bool) (string, error) {
	model := r.session.Model()
	was := r.fastState(model)
	warning := r.keeper.Warning(r.place.Sys.Now(), model, on)
	if was == map[bool]string{true: fastOn, false: fastOff}[on] {
		warning = ""
	}
	if err := r.setFast(on); err != nil {
		return "", err
	}
	kept, err := r.keepFast(on)
	if err != nil {
		return "", fmt.Errorf("fast mode is switched for this session, but the choice could not be kept: %w", err)
	}
	info, where := r.prices.Info(model), "for this session"
	if kept {
		where = "from now on, in later sessions too"
	}
	if !on {
		return withWarning("Fast mode is off "+where+": "+rateText(info, false)+".", warning), nil
	}
	return withWarning(fmt.Sprintf("Fast mode is on %s: %s answers more quickly, for %s (else %s).", where, info.ID, rateText(info, true), rateText(info, false)), warning), nil
}

// sentence begins with a capital letter and ends with a stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// fastQueries are asked by the screen: what its list of two shows, and the choice.
func (r *run) fastQueries() map[string]answer {
	return map[string]answer{
		"fast_mode": on(func(context.Context, nothing) (any, error) {
			model := r.session.Model()
			info := r.prices.Info(model)
			out := map[string]any{"state": r.fastState(model), "model": info.ID}
			if err := r.fastRefused(model); err != nil {
				out["refused"] = err.Error()
				return out, nil
			}
			pair := func(r price.Rates) string { return fmt.Sprintf("$%g/$%g per million tokens", r.Input, r.Output) } // short: it stands in a list
			out["fast"], out["standard"] = pair(info.Fast.Price), pair(info.Price)
			return out, nil
		}),
		"set_fast": on(func(_ context.Context, in struct {
			Fast bool `json:"fast"`
		},
		) (any, error) {
			text, err := r.switchFast(in.Fast)
			return map[string]string{"text": text}, err
		}),
	}
}
