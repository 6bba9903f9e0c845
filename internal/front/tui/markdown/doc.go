// Package markdown renders a growing answer. In come pieces of text as they stream; out come logical lines, each exactly
// once when its block can no longer change, and the lines of what is still open. A paragraph's line is one width.Line
// however long it is, so that copied text has no breaks of our making; Hang tells how to indent what wraps.
//
//	r := markdown.New(markdown.Options{Theme: &th, Width: cols, Links: true})
//	for delta := range deltas {
//		print(r.Feed(delta)) // finished: goes to the scrollback, never again
//		live = r.Open()      // at most once a frame
//	}
//	print(r.Close())
//
// Feed costs what the piece costs; Open costs what the open block costs (a paragraph, a table, one line of a code block),
// whatever the length of the answer. Any split of a text gives the same lines. Everything in the text is inert: what would
// act on a terminal is shown, HTML too. A line end inside a paragraph stays one: models mean it.
//
// Blocks (lists, quotes, fences, tables) are found by our own scanner, which never looks back; goldmark parses
// what stands inside a paragraph, a heading or a cell.
package markdown
