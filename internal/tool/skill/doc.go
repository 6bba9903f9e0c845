// Package skill is the tool Skill, by which the model loads the text of a skill into the conversation. In comes a
// name and arguments, out goes the text with its placeholders filled in; its shell lines are run where that is allowed. It is offered only
// where there are skills. Called by pipeline/tools (stage 9).
package skill
