package app

import (
	"fmt"
	"strings"
)

// modelDoubt says what is to be doubted of a model's name, "" for nothing. A name that is not known is asked for all the
// same: a server may have models of its own, and the API new ones.
func (r *run) modelDoubt(name string) string {
	if r.model.Model != "" || r.prices.Info(name).Known { // of a recording
		return ""
	}
	near := r.prices.Near(name)
	switch {
	case len(near) > 0:
		return fmt.Sprintf("the model %q is not one that is known here; did you mean %s? It is asked for as it stands", name, strings.Join(near, ", "))
	case r.place.Sys.Getenv("ANTHROPIC_BASE_URL") == "":
		return fmt.Sprintf("the model %q is not one that is known here, so its window and its prices are guessed; /model lists those that are", name)
	}
	return ""
}

// doubtModels tells of the names of models that may be mistaken, before anything is sent.
func (r *run) doubtModels() {
	for _, name := range append([]string{r.modelChoice()}, r.fallbacks()...) {
		if doubt := r.modelDoubt(name); doubt != "" {
			r.place.Notes = append(r.place.Notes, doubt)
		}
	}
}
