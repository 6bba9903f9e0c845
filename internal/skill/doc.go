// Package skill finds skills: directories with a SKILL.md, of the user and of the project. In come the places to
// look, out go names and descriptions (which are data, whoever wrote them), a listing within a budget, and the text
// of a skill that is invoked. Called by pipeline/attach for the listing and by tool/skill for the text.
package skill
