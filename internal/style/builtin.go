package style

import _ "embed" // the texts

//go:embed proactive.md
var proactive string

//go:embed concise.md
var concise string

//go:embed explanatory.md
var explanatory string

//go:embed learning.md
var learning string

// builtIn are the styles that come with the program.
func builtIn() []Style {
	var out []Style
	for _, b := range []struct{ name, text string }{
		{"Proactive", proactive}, {"Concise", concise}, {"Explanatory", explanatory}, {"Learning", learning},
	} {
		if s, ok := Parse(b.text, b.name); ok {
			out = append(out, s)
		}
	}
	return out
}
