// Package diff compares two texts line by line. In go the old and the new text; out come hunks with three lines of
// context, as structured data for programs (the structuredPatch of edit results) or as a unified diff for people
// and models. It is used by the file tools and by whatever shows a change.
package diff
