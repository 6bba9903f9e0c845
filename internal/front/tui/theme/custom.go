package theme

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Custom makes a theme from the text of a theme file: {"name": "…", "base": "dark", "overrides": {"error": "#ff5555"}}.
// Overrides with an unknown token or colour are left out and told of in warnings; err says that the file is no JSON
// object of that form at all.
func Custom(file []byte, depth Depth, dark bool) (t Theme, warnings []string, err error) {
	var f struct {
		Name      string            `json:"name"`
		Base      string            `json:"base"`
		Overrides map[string]string `json:"overrides"`
	}
	if err := json.Unmarshal(file, &f); err != nil {
		return Theme{}, nil, fmt.Errorf("theme file: %w", err)
	}
	c, name := base(f.Base, dark)
	if f.Name != "" {
		name = f.Name
	}
	for token, value := range f.Overrides {
		v, ok := parse(value)
		if !ok {
			warnings = append(warnings, fmt.Sprintf("%s: %q is no colour (take #rrggbb, rgb(r,g,b), ansi256(n) or ansi:name)", token, value))
			continue
		}
		targets := c.token(token)
		if len(targets) == 0 {
			warnings = append(warnings, token+": Lathe has no such colour")
		}
		for _, p := range targets {
			*p = v
		}
	}
	slices.Sort(warnings)
	return c.build(name, depth), warnings, nil
}

// token maps the documented names of overrides to our colours.
func (c *colors) token(name string) []*color {
	switch name {
	case "claude":
		return []*color{&c.accent, &c.prompt}
	case "inactive":
		return []*color{&c.muted}
	case "subtle":
		return []*color{&c.faint, &c.border}
	case "suggestion":
		return []*color{&c.accent}
	case "permission":
		return []*color{&c.permission}
	case "success":
		return []*color{&c.success}
	case "error":
		return []*color{&c.failure}
	case "warning":
		return []*color{&c.warning}
	case "promptBorder":
		return []*color{&c.border, &c.prompt}
	case "planMode":
		return []*color{&c.plan}
	case "autoAccept":
		return []*color{&c.accept}
	case "bashBorder":
		return []*color{&c.shell}
	case "fastMode":
		return []*color{&c.fast}
	case "diffAdded":
		return []*color{&c.added}
	case "diffRemoved":
		return []*color{&c.removed}
	case "diffAddedWord":
		return []*color{&c.addedWord}
	case "diffRemovedWord":
		return []*color{&c.removedWord}
	case "selectionBg":
		return []*color{&c.selection}
	}
	return nil
}
