package agent

// RecordKind is the state record of a sub-agent's transcript that says how it was started, so that messages go on with it.
const RecordKind = "agent"

// Record is what of it everybody may know.
type Record struct {
	Type       string `json:"type"`
	Name       string `json:"name,omitempty"`
	Task       string `json:"task,omitempty"`
	Model      string `json:"model,omitempty"`
	Effort     string `json:"effort,omitempty"`
	Background bool   `json:"background,omitempty"` // began there, with the tools that are left for that
	Call       string `json:"call,omitempty"`       // the tool use that began it
	Parent     string `json:"parent,omitempty"`     // the sub-agent that made that call; "": the session itself
	Quiet      bool   `json:"quiet,omitempty"`      // of a hook: it takes no messages
}
