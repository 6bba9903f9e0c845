// Package width measures and breaks text by terminal cells. In come strings, plain or with our own SGR and OSC 8
// sequences; out come cells, cuts and rows that never split a grapheme cluster. Widths are those of the library that
// the screen draws with, so both agree on CJK, emoji, joiners and variation selectors.
//
//	width.Of("文字")                        // 4
//	width.Cut("a long name", 6, "…")        // "a lon…"
//	width.Fit(width.Inert(name), 12)        // exactly 12 cells
//	l := width.Line{Text: "• " + styled, Hang: "  "}
//	for _, row := range l.Rows(80) { … }    // full screen: we wrap
//	fmt.Println(l.Filled(80))               // inline: the terminal wraps, so that a copy has no breaks
//
// Everything here works on one line: line ends count as characters without width.
package width
