// Package todo is the tool TodoWrite and the session's to-do list that it writes. In comes a whole new list, out
// goes the old and the new one. The list is kept nowhere else than in the conversation: Restore finds it there.
// Called by pipeline/tools (stage 9); pipeline/attach reads the list.
package todo
