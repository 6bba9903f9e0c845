package event

// About is the answer to the query "describe": what may be chosen in a session, and what is.
type About struct {
	Mode     string    `json:"mode"`
	Modes    []Choice  `json:"modes"`
	Model    string    `json:"model"` // an id of Models
	Models   []Choice  `json:"models"`
	Effort   string    `json:"effort"`
	Efforts  []Choice  `json:"efforts"` // of the model; none: it has no such setting
	Thinking bool      `json:"thinking"`
	CanThink bool      `json:"canThink"`
	Commands []Command `json:"commands"`
	Window   int       `json:"window"` // tokens
	Used     int       `json:"used"`   // tokens of the conversation, estimated
}

// Choice is a value with its name.
type Choice struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Command is a slash command.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Hint        string `json:"hint,omitempty"`
}
