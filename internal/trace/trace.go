package trace

import "time"

// Ref names a piece of content (a message, block, tool definition or system block) by its hash.
type Ref struct {
	ID     string `json:"id,omitempty"`
	Kind   string `json:"kind"`
	Hash   string `json:"hash"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens,omitempty"` // estimated
}

// View is what the turn looked like at one moment.
type View struct {
	Fields map[string]any   `json:"fields,omitempty"`
	Items  map[string][]Ref `json:"items,omitempty"`
}

// Note is one decision of a stage with its reason, such as "kept 3 of 41 results: over budget".
type Note struct {
	Text string         `json:"text"`
	Data map[string]any `json:"data,omitempty"`
}

// Record is one run of one stage.
type Record struct {
	Session string        `json:"session"`
	Turn    string        `json:"turn"`
	Stage   string        `json:"stage"`
	Parent  string        `json:"parent,omitempty"` // of a sub-record: model/http, tools/<id>
	Step    int           `json:"step"`             // model calls so far
	Start   time.Time     `json:"start"`
	Dur     time.Duration `json:"dur_ns"`
	Before  View          `json:"before"`
	After   View          `json:"after"`
	Notes   []Note        `json:"notes,omitempty"`
	Err     string        `json:"err,omitempty"`
}

// Recorder keeps records. It is safe for concurrent use and never fails the turn: what cannot be written is
// counted and said at the end.
type Recorder interface {
	// Blob stores content once and returns its hash.
	Blob(b []byte) (hash string)
	Record(r Record)
}
