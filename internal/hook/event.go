package hook

import "time"

// Event is the documented name of a moment at which hooks run.
type Event string

// The events that this program fires, and those that change how an answer is read.
const (
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	Setup              Event = "Setup"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest"
	PermissionDenied   Event = "PermissionDenied"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	PostToolBatch      Event = "PostToolBatch"
	Stop               Event = "Stop"
	SubagentStart      Event = "SubagentStart"
	Elicitation        Event = "Elicitation"
	ElicitationResult  Event = "ElicitationResult"
	SubagentStop       Event = "SubagentStop"
	StopFailure        Event = "StopFailure"
	Notification       Event = "Notification"
	InstructionsLoaded Event = "InstructionsLoaded"
	CwdChanged         Event = "CwdChanged"
	FileChanged        Event = "FileChanged"
	PreCompact         Event = "PreCompact"
	PostCompact        Event = "PostCompact"
	ConfigChange       Event = "ConfigChange"

	UserPromptExpansion  Event = "UserPromptExpansion"
	PreSkillShellCommand Event = "PreSkillShellCommand"
	MessageDisplay       Event = "MessageDisplay"
	PreModelSwitch       Event = "PreModelSwitch"
	PostModelSwitch      Event = "PostModelSwitch"
	DirectoryAdded       Event = "DirectoryAdded"
	TaskCreated          Event = "TaskCreated"
	TaskCompleted        Event = "TaskCompleted"
	WorktreeCreate       Event = "WorktreeCreate"
	WorktreeRemove       Event = "WorktreeRemove"
)

// effect is what exit code 2 means at an event.
type effect int

const (
	ignored effect = iota // nothing
	blocks                // what is about to happen does not
	toModel               // standard error is told to the model
	toUser                // standard error is shown to the person
)

// Kinds of handlers, as bits.
const (
	kindCommand = 1 << iota
	kindHTTP
	kindTool // mcp_tool
	kindPrompt
	kindAgent
	kindCallback // of the host

	programs = kindCommand | kindHTTP | kindTool
	all      = programs | kindPrompt | kindAgent
)

// eventInfo is the row of an event in the documented tables.
type eventInfo struct {
	kinds   int // handlers that it allows
	exit2   effect
	match   bool          // it has something to match; else the matcher is ignored
	narrow  bool          // its plain matchers have no blanks, commas or hyphens
	cond    bool          // the field "if" is understood
	plain   bool          // plain standard output becomes context
	firm    bool          // onFailure has no effect
	timeout time.Duration // instead of the handler's default; 0: that
}

// infoOf returns an event's row; ok is false for a name that is not documented.
func infoOf(e Event) (eventInfo, bool) {
	switch e {
	case PreToolUse:
		return eventInfo{kinds: all, exit2: blocks, match: true, cond: true}, true
	case PermissionRequest, PermissionDenied:
		return eventInfo{kinds: all, match: true, cond: true}, true
	case PostToolUse, PostToolUseFailure:
		return eventInfo{kinds: all, exit2: toModel, match: true, cond: true}, true
	case PostToolBatch, TaskCreated:
		return eventInfo{kinds: all, exit2: blocks}, true
	case Stop, TaskCompleted, "TeammateIdle":
		return eventInfo{kinds: all, exit2: blocks, firm: true}, true
	case SubagentStop:
		return eventInfo{kinds: all, exit2: blocks, match: true, firm: true}, true
	case UserPromptSubmit:
		return eventInfo{kinds: all, exit2: blocks, plain: true, timeout: 30 * time.Second}, true
	case UserPromptExpansion, PreSkillShellCommand:
		return eventInfo{kinds: all, exit2: blocks, match: true, plain: e == UserPromptExpansion}, true
	case SessionStart:
		return eventInfo{kinds: kindCommand | kindTool, exit2: toUser, match: true, plain: true}, true
	case Setup:
		return eventInfo{kinds: kindCommand | kindTool, match: true}, true
	case SessionEnd, PostCompact:
		return eventInfo{kinds: programs, exit2: toUser, match: true}, true
	case PostModelSwitch:
		return eventInfo{kinds: programs, exit2: toUser, match: true, plain: true}, true
	case SubagentStart:
		return eventInfo{kinds: programs, exit2: toUser, match: true}, true
	case CwdChanged:
		return eventInfo{kinds: programs, exit2: toUser}, true
	case FileChanged:
		return eventInfo{kinds: programs, exit2: toUser, match: true, narrow: true}, true
	case ConfigChange, PreCompact, Elicitation, ElicitationResult:
		return eventInfo{kinds: programs, exit2: blocks, match: true}, true
	case PreModelSwitch:
		return eventInfo{kinds: programs, exit2: blocks, match: true, timeout: 30 * time.Second}, true
	case WorktreeCreate:
		return eventInfo{kinds: programs, exit2: blocks}, true
	case WorktreeRemove:
		return eventInfo{kinds: programs}, true
	case MessageDisplay:
		return eventInfo{kinds: programs, timeout: 10 * time.Second}, true
	case StopFailure:
		return eventInfo{kinds: programs, match: true, narrow: true}, true
	case Notification, InstructionsLoaded, DirectoryAdded:
		return eventInfo{kinds: programs, match: true}, true
	}
	return eventInfo{}, false
}
