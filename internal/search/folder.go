package search

// kind is what a folder's entry is.
type kind uint8

const (
	kindOther kind = iota // a pipe, socket or device: never opened
	kindFile
	kindDir
	kindLink
)

// entry is one name in a folder.
type entry struct {
	name string
	kind kind
}
