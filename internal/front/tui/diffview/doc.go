// Package diffview shows an edit. In come the old and the new text, or a patch's hunks; out come lines with numbers, signs,
// highlighted code and emphasis on the words that changed, in one column or, from SideBySide cells on, in two. Hunks can
// be accepted one by one: Apply makes the text that results.
//
//	d := diffview.Of(oldText, newText)             // or diffview.FromPatch(hunks)
//	page := d.Render(diffview.View{Theme: &th, Width: cols, Path: "main.go", Accept: accept, Selected: 1})
//	for i, l := range page.Lines { … }             // page.HunkAt[1] is where hunk 1 begins
//	result := d.Apply(accept)                      // accept[i] false keeps the old text of hunk i
//
// Texts are kept byte for byte, line ends included; what is shown is inert.
package diffview
