// Package complete suggests files and folders for what a person has typed behind an @. In comes a folder, a few letters
// and what else is offered (resources), out goes what fits best; the folder is listed once in the background, and again when that is cheap.
// Called by app for the query file_suggestions.
package complete
