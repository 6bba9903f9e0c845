package place

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"lathe/internal/config"
	"lathe/internal/price"
	"lathe/internal/sys"
)

// maxMultiplier is what modelPricing may multiply prices by at most.
const maxMultiplier = 10

// Prices is the built-in table of models with what the environment says of aliases and of the window, and with the prices of the
// setting modelPricing. A project's own files set no prices: what a person sees spent must not depend on where they work.
func (p *Place) Prices() *price.Table {
	o := price.Overrides{Aliases: map[string]string{}, Models: map[string]price.Override{}}
	if n, ok := sys.Int(p.Sys.Getenv("CLAUDE_CODE_MAX_CONTEXT_TOKENS")); ok {
		o.Window = int(n)
	}
	for _, alias := range []string{"opus", "sonnet", "haiku", "fable"} {
		o.Aliases[alias] = p.Sys.Getenv("ANTHROPIC_DEFAULT_" + strings.ToUpper(alias) + "_MODEL")
	}
	if p.Settings == nil {
		return price.Default().With(o)
	}
	for _, l := range p.Settings.Layers { // highest first
		raw, ok := l.Keys["modelPricing"]
		if !ok || string(raw) == "null" || l.Scope == config.Project || l.Scope == config.Local {
			continue
		}
		if err := readPricing(raw, &o); err != nil {
			p.Notes = append(p.Notes, fmt.Sprintf("%s:%d: modelPricing %v (ignored)", filepath.ToSlash(l.File), l.Line("/modelPricing"), err))
		}
	}
	return price.Default().With(o)
}

// readPricing adds what one file says to what higher ones have said.
func readPricing(raw json.RawMessage, o *price.Overrides) error {
	var in struct {
		Multiplier *float64                  `json:"multiplier"`
		Overrides  map[string]price.Override `json:"overrides"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return fmt.Errorf(`must be an object such as {"multiplier": 0.8, "overrides": {"MODEL": {"input": 3, "output": 15}}}`)
	}
	if in.Multiplier != nil && (*in.Multiplier <= 0 || *in.Multiplier > maxMultiplier) {
		return fmt.Errorf("has a multiplier of %v, which must be above 0 and at most %d", *in.Multiplier, maxMultiplier)
	}
	for name, m := range in.Overrides {
		for _, v := range []*float64{m.Input, m.Output, m.CacheRead, m.CacheWrite} {
			if v != nil && *v < 0 {
				return fmt.Errorf("has a price below 0 for %s", name)
			}
		}
	}
	if o.Multiplier == 0 && in.Multiplier != nil {
		o.Multiplier = *in.Multiplier
	}
	for name, m := range in.Overrides {
		if _, ok := o.Models[name]; !ok {
			o.Models[name] = m
		}
	}
	return nil
}
