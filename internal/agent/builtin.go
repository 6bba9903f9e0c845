package agent

import (
	_ "embed"
	"strings"
)

// General is the type that is used where a call names none.
const General = "general-purpose"

//go:embed general.md
var general string

//go:embed explore.md
var explore string

//go:embed plan.md
var plan string

// readers are the tools of agents that change nothing. Bash is among them for looking at history and the like; such
// commands are judged as ever.
func readers() []string {
	return []string{"Read", "Grep", "Glob", "Bash", "WebFetch", "WebSearch", "TodoWrite", "Skill", "ToolSearch"}
}

// builtIn are the definitions that come with the program.
func builtIn(looking bool) []Def {
	out := []Def{{
		Name: General, Scope: BuiltIn, Prompt: strings.TrimSpace(general),
		Description: "Any task of several steps that can be handed over whole: searching, changing code, running commands.",
	}}
	if !looking {
		return out
	}
	return append(out,
		Def{
			Name: "Explore", Scope: BuiltIn, Prompt: strings.TrimSpace(explore), Tools: readers(), NoMemory: true, NoGit: true, Once: true,
			Description: "Looks through code and answers a question about it; changes nothing. Say how thorough: quick, medium or very thorough.",
		},
		Def{
			Name: "Plan", Scope: BuiltIn, Prompt: strings.TrimSpace(plan), Tools: readers(), NoMemory: true, NoGit: true,
			Description: "Works out how a change should be made, step by step, with the files it concerns; changes nothing.",
		},
	)
}
