// Package list is the model of a list that is narrowed by typing: pickers. In come items and
// a query; out come the rows of the window around the chosen item, with what matched marked. The order of
// the items stays.
//
//	l := list.New(items)                      // every word of the query must be there
//	l.SetHeight(10)
//	l.SetQuery("mdl")
//	l.Move(1); l.Page(-1); l.First()
//	if it, ok := l.Chosen(); ok { … it.Value … }
//	for _, row := range l.Rows(&th, cols) { … } // "› " before the chosen one
//	l.Position()                              // "3/120"
package list
