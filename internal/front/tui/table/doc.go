// Package table fits tables to the screen. In come cells; out come lines of at most the given width, with cells wrapped in
// their columns, or on narrow screens one "header: cell" a line. Markdown's tables and the lists of commands use it.
//
//	for _, l := range table.Fit(&th, table.Table{Head: []string{"tool", "tokens"}, Rows: rows, Aligns: []byte("lr")}, cols) { … }
package table
