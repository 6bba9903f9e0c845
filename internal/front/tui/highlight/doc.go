// Package highlight finds keywords, strings, comments and numbers in code, one line at a time, so that code can be shown
// while it streams in. In comes a line; out come spans of it by kind. A Scanner carries what goes on in the next line
// (a comment, a string, a here-document).
//
//	sc := highlight.New("go")            // a name, an alias or a file's extension; unknown ones give plain text
//	for _, line := range lines {
//		fmt.Println(highlight.Paint(&th, line, sc.Line(line)))
//	}
//
// It is a table of words and delimiters by language and no parser: docs/adr has why. Nothing is built before it is used.
package highlight
