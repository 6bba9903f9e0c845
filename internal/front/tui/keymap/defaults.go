package keymap

import "strings"

// Binding is keys that do something in a context.
type Binding struct {
	Context string
	Keys    string // canonical, a chord's separated by blanks
	Action  string
}

// defaults are "action key, key" by context, after the documented table. An action without keys can be bound.
const defaults = `
Global
app:interrupt ctrl+c
app:exit ctrl+d
app:redraw
app:toggleTodos ctrl+t
app:toggleTranscript ctrl+o
app:toggleBrief
history:search ctrl+r
history:previous up
history:next down
Chat
chat:cancel esc
chat:clearInput ctrl+l
chat:clearScreen super+k
chat:killAgents ctrl+x ctrl+k
chat:cycleMode shift+tab
chat:modelPicker alt+p
chat:fastMode alt+o
chat:thinkingToggle alt+t
chat:submit enter
chat:sendNow ctrl+enter, ctrl+x ctrl+s
chat:newline ctrl+j
chat:undo ctrl+_, ctrl+shift+-
chat:externalEditor ctrl+g, ctrl+x ctrl+e
chat:stash ctrl+s
chat:imagePaste ctrl+v, alt+v
Autocomplete
autocomplete:accept tab
autocomplete:dismiss esc
autocomplete:previous up
autocomplete:next down
Confirmation
confirm:yes y, enter
confirm:no n, esc
confirm:previous up
confirm:next down
confirm:nextField tab
confirm:previousField
confirm:toggle space
confirm:cycleMode shift+tab
confirm:toggleExplanation ctrl+e
permission:toggleDebug
Transcript
transcript:toggleShowAll ctrl+e
transcript:exit q, ctrl+c, esc
HistorySearch
historySearch:next ctrl+r
historySearch:accept esc, tab
historySearch:cancel ctrl+c
historySearch:execute enter
historySearch:cycleScope ctrl+s
Task
task:background ctrl+b, ctrl+x ctrl+b
ThemePicker
theme:toggleSyntaxHighlighting ctrl+t
theme:editCustom
Help
help:dismiss esc
Tabs
tabs:next tab, right
tabs:previous shift+tab, left
Attachments
attachments:next right
attachments:previous left
attachments:remove backspace, delete
attachments:exit down, esc
Footer
footer:next right
footer:previous left
footer:up up, ctrl+p
footer:down down, ctrl+n
footer:openSelected enter
footer:clearSelection esc
footer:dismiss backspace, delete
footer:close x
MessageSelector
messageSelector:up up, k, ctrl+p
messageSelector:down down, j, ctrl+n
messageSelector:top ctrl+up, shift+up, alt+up, K
messageSelector:bottom ctrl+down, shift+down, alt+down, J
messageSelector:select enter
DiffDialog
diff:dismiss esc
diff:previousSource left
diff:nextSource right
diff:previousFile up, k
diff:nextFile down, j
diff:viewDetails enter
diff:back
ModelPicker
modelPicker:decreaseEffort left
modelPicker:increaseEffort right
modelPicker:thisSessionOnly s
Select
select:next down, j, ctrl+n
select:previous up, k, ctrl+p
select:accept enter
select:cancel esc
select:pageUp pgup
select:pageDown pgdown
select:first home
select:last end
Plugin
plugin:toggle space
plugin:install i
plugin:favorite f
Settings
settings:search /
settings:retry r
select:accept enter, space
confirm:no esc
Scroll
scroll:pageUp pgup
scroll:pageDown pgdown
scroll:top ctrl+home
scroll:bottom ctrl+end
scroll:lineUp
scroll:lineDown
scroll:halfPageUp
scroll:halfPageDown
scroll:fullPageUp
scroll:fullPageDown
selection:copy ctrl+shift+c, super+c
selection:clear
selection:extendLeft shift+left
selection:extendRight shift+right
selection:extendUp shift+up
selection:extendDown shift+down
selection:extendLineStart shift+home
selection:extendLineEnd shift+end
`

// readDefaults also returns the actions of each context.
func readDefaults() ([]Binding, map[string]map[string]bool) {
	var out []Binding
	actions := map[string]map[string]bool{}
	context := ""
	for line := range strings.Lines(strings.TrimSpace(defaults)) {
		line = strings.TrimSpace(line)
		action, keys, _ := strings.Cut(line, " ")
		if !strings.Contains(action, ":") {
			context = line
			actions[context] = map[string]bool{}
			continue
		}
		actions[context][action] = true
		for k := range strings.SplitSeq(keys, ", ") {
			if k != "" {
				out = append(out, Binding{context, k, action})
			}
		}
	}
	return out, actions
}
