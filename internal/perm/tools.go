package perm

import "strings"

// family is how the calls of a tool are judged.
type family int

const (
	famOther  family = iota // asks, unless the tool says that it only reads
	famShell                // a shell command
	famRead                 // reads one path, or searches below it
	famWrite                // changes one file
	famWeb                  // fetches a URL
	famSearch               // a web search
	famAgent                // starts a sub-agent, whose own calls are judged in turn
	famSkill
	famFree   // needs no approval: task lists, plans, the control of background work
	famPerson // is a question to the person: always asked
	famMCP
)

// toolInfo is the one place that knows which input field of which tool is a path, a command or a URL.
type toolInfo struct {
	family  family
	primary string // the field that the family is about
	pattern string // for searches: a glob that may climb out of the path
	fields  string // the other fields, which a parameter rule may name
	bare    string // the tool whose bare and path rules also count: Edit for Write, Read for Grep
}

func info(tool string) toolInfo {
	switch tool {
	case "Monitor":
		return toolInfo{family: famShell, primary: "command", bare: "Bash", fields: "timeout_ms description"}
	case "Bash":
		return toolInfo{family: famShell, primary: "command", bare: "Bash", fields: "timeout description run_in_background dangerouslyDisableSandbox"}
	case "Read":
		return toolInfo{family: famRead, primary: "file_path", bare: "Read", fields: "offset limit pages"}
	case "Grep":
		return toolInfo{family: famRead, primary: "path", bare: "Read", pattern: "glob", fields: "pattern glob output_mode -A -B -C -n -i type head_limit multiline"}
	case "Glob":
		return toolInfo{family: famRead, primary: "path", bare: "Read", pattern: "pattern", fields: "pattern"}
	case "LS", "LSP":
		return toolInfo{family: famRead, primary: "path", bare: "Read", fields: "ignore"}
	case "NotebookRead":
		return toolInfo{family: famRead, primary: "notebook_path", bare: "Read"}
	case "Edit", "MultiEdit":
		return toolInfo{family: famWrite, primary: "file_path", bare: "Edit", fields: "old_string new_string replace_all edits"}
	case "Write":
		return toolInfo{family: famWrite, primary: "file_path", bare: "Edit", fields: "content"}
	case "NotebookEdit":
		return toolInfo{family: famWrite, primary: "notebook_path", bare: "Edit", fields: "cell_id new_source cell_type edit_mode"}
	case "WebFetch":
		return toolInfo{family: famWeb, primary: "url", fields: "prompt"}
	case "WebSearch":
		return toolInfo{family: famSearch, fields: "query allowed_domains blocked_domains"}
	case "Agent", "Task":
		return toolInfo{family: famAgent, bare: "Agent", fields: "description prompt subagent_type model run_in_background isolation"}
	case "Skill":
		return toolInfo{family: famSkill, fields: "skill args"}
	case "AskUserQuestion", "ExitPlanMode":
		return toolInfo{family: famPerson}
	case "SendMessage", "TodoWrite", "TaskOutput", "TaskStop", "BashOutput", "KillShell", "TaskCreate", "TaskGet", "TaskList",
		"TaskUpdate", "EnterPlanMode", "ToolSearch", "StructuredOutput", "CronCreate", "CronDelete", "CronList":
		return toolInfo{family: famFree, fields: "task_id block timeout"}
	}
	if strings.HasPrefix(tool, "mcp__") {
		return toolInfo{family: famMCP}
	}
	return toolInfo{}
}

func known(tool string) bool {
	i := info(tool)
	return i.family != famOther || strings.ContainsAny(tool, "_*") || tool == "Cd" || tool == "PowerShell"
}

// meantTool is the tool whose name differs from this one only by the case of letters, "" if there is none.
func meantTool(tool string) string {
	if known(tool) {
		return ""
	}
	for _, name := range []string{"Bash", "Read", "Edit", "Write", "Grep", "Glob", "NotebookEdit", "WebFetch", "WebSearch", "Agent", "Skill"} {
		if strings.EqualFold(name, tool) {
			return name
		}
	}
	return ""
}

// hasField says whether a parameter rule may name the field.
func (i toolInfo) hasField(name string) bool {
	for f := range strings.FieldsSeq(i.fields) {
		if f == name {
			return true
		}
	}
	return false
}

// primaryFields can never be the parameter of a rule: they have rules of their own.
func primaryField(name string) bool {
	switch name {
	case "command", "file_path", "path", "notebook_path", "url":
		return true
	}
	return false
}
