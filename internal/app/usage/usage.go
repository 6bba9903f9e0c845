package usage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/pipeline/compact"
	"lathe/internal/token"
)

// Kinds of what fills the window.
const (
	usedKind   = "used"
	freeKind   = "free"
	bufferKind = "buffer"
)

// category is one kind of thing in the context window.
type category struct {
	id, name, color string
	kind            string
	mark            rune // its squares in the picture
	tokens          int
}

// Size is what the next request would hold, by kind.
type Size struct {
	model       string
	window      int
	threshold   int // from which on the conversation is compacted; 0: it is not
	categories  []category
	total       int // tokens of what is used
	counted     *msg.Usage
	memory      []Part // instruction files
	mcp         []Part // tools of servers
	tools       []Part // tools of our own
	attachments map[string]int
	calls       map[string]callSize
	assistant   int
	user        int
	skills      int // listed
	commands    int // that can be typed
}

// Part is a named part and its tokens.
type Part struct {
	Name, From string
	Tokens     int
}

// callSize is what the calls of one tool hold.
type callSize struct{ asked, answered int }

// Input is what a request is made of.
type Input struct {
	Model     string
	Window    int // tokens
	Threshold int // from which on the conversation is compacted; 0: it is not
	Counter   token.Counter
	System    []msg.Block
	Defs      []msg.ToolDef
	Server    func(tool string) (name string, ok bool) // of MCP, that a tool is of
	Messages  []msg.Message                            // the conversation
	Memory    []Part                                   // instruction files that count from the start
	Skills    int                                      // that the model is told of
	Commands  int                                      // that can be typed
}

// Measure says how much each kind takes of the window.
func Measure(in Input) *Size {
	c := in.Counter
	u := &Size{
		model: in.Model, window: in.Window, threshold: in.Threshold, memory: in.Memory, skills: in.Skills, commands: in.Commands,
		attachments: map[string]int{}, calls: map[string]callSize{},
	}
	var own, servers int
	for _, d := range in.Defs {
		n := c.Tools([]msg.ToolDef{d})
		if server, ok := in.Server(d.Name); ok {
			u.mcp, servers = append(u.mcp, Part{d.Name, server, n}), servers+n
		} else {
			u.tools, own = append(u.tools, Part{d.Name, "", n}), own+n
		}
	}
	u.measure(c, in.Messages)
	memoryTokens := u.attachments["memory"] + u.attachments["conditional_rule"] + u.attachments["auto_memory"] + u.attachments["relevant_memory"]
	skills := u.attachments["skill_listing"]
	rest := u.assistant + u.user
	for _, n := range u.attachments {
		rest += n
	}
	for _, n := range u.calls {
		rest += n.asked + n.answered
	}
	rest -= memoryTokens + skills
	u.add("system_prompt", "System prompt", "promptBorder", 'S', c.Blocks(in.System))
	u.add("system_tools", "System tools", "inactive", 'T', own)
	u.add("mcp_tools", "MCP tools", "cyan", 'P', servers)
	u.add("memory", "Memory files", "claude", 'M', memoryTokens)
	u.add("skills", "Skills", "warning", 'K', skills)
	u.add("messages", "Messages", "purple", 'C', rest)
	u.fill()
	return u
}

// measure counts what is sent of the conversation: what follows the last compaction, as edits left it.
func (u *Size) measure(c token.Counter, messages []msg.Message) {
	view, _ := compact.Boundary(messages, compact.Settings{Counter: c})
	names := map[string]string{} // tools by call
	for _, m := range compact.Edited(view) {
		if m.Kind == msg.KindAssistant && m.Usage != nil {
			u.counted = m.Usage
		}
		if !m.ForModel() {
			continue
		}
		all := c.Messages([]msg.Message{m})
		if m.Kind == msg.KindAttachment {
			u.attachments[m.Source] += all
			continue
		}
		for _, b := range m.Blocks {
			n := c.Block(b)
			switch b.Type {
			case msg.TypeToolUse:
				names[b.ID] = b.Name
				s := u.calls[b.Name]
				u.calls[b.Name] = callSize{s.asked + n, s.answered}
			case msg.TypeToolResult:
				name := cmp.Or(names[b.ToolUseID], "unknown")
				s := u.calls[name]
				u.calls[name] = callSize{s.asked, s.answered + n}
			default:
				continue
			}
			all -= n
		}
		if m.Kind == msg.KindAssistant {
			u.assistant += max(0, all)
		} else {
			u.user += max(0, all)
		}
	}
}

func (u *Size) add(id, name, color string, mark rune, tokens int) {
	if tokens > 0 {
		u.categories = append(u.categories, category{id, name, color, usedKind, mark, tokens})
		u.total += tokens
	}
}

// fill adds what is free, and what is kept free so that there is room for a compaction.
func (u *Size) fill() {
	buffer := 0
	if u.threshold > 0 && u.threshold < u.window {
		buffer = min(u.window-u.threshold, max(0, u.window-u.total))
	}
	if free := u.window - u.total - buffer; free > 0 {
		u.categories = append(u.categories, category{"free_space", "Free space", "promptBorder", freeKind, '·', free})
	}
	if buffer > 0 {
		u.categories = append(u.categories, category{"autocompact_buffer", "Autocompact buffer", "inactive", bufferKind, 'x', buffer})
	}
}

func (u *Size) percent(tokens int) float64 {
	return 100 * float64(tokens) / float64(max(1, u.window))
}

// gridRows and gridColumns are the size of the picture.
const (
	gridRows    = 10
	gridColumns = 10
)

// squares shares the picture out among the categories. What is used has, together, as many as it fills of the window, one
// at least; they go to its categories in turn, so that one which is too small for a square has none. Each number is the
// index of a category.
func (u *Size) squares() []int {
	const all = gridRows * gridColumns
	if len(u.categories) == 0 {
		return nil
	}
	sum, used := max(1, u.window, u.total), 0
	for _, c := range u.categories {
		if c.kind == usedKind {
			used += c.tokens
		}
	}
	filled := 0
	if used > 0 {
		filled = max(1, (used*all+sum/2)/sum)
	}
	var out []int
	before := 0
	for i, c := range u.categories {
		n := (c.tokens*all + sum/2) / sum
		if c.kind == usedKind {
			before += c.tokens
			n = (before*filled+used/2)/max(1, used) - len(out)
		}
		out = append(out, slices.Repeat([]int{i}, max(0, min(n, all-len(out))))...)
	}
	for len(out) < all {
		out = append(out, u.roomiest())
	}
	return out
}

// roomiest is the free space, else the last category.
func (u *Size) roomiest() int {
	for i, c := range u.categories {
		if c.kind == freeKind {
			return i
		}
	}
	return len(u.categories) - 1
}

// Payload is the documented answer to get_context_usage.
func (u *Size) Payload() map[string]any {
	categories := []map[string]any{}
	for _, c := range u.categories {
		categories = append(categories, map[string]any{"id": c.id, "name": c.name, "tokens": c.tokens, "color": c.color, "kind": c.kind})
	}
	grid := [][]map[string]any{}
	for i, at := range u.squares() {
		if i%gridColumns == 0 {
			grid = append(grid, nil)
		}
		c := u.categories[at]
		row := len(grid) - 1
		square := u.percent(c.tokens) * gridRows * gridColumns / 100
		grid[row] = append(grid[row], map[string]any{
			"color": c.color, "isFilled": c.kind != freeKind, "categoryName": c.name, "tokens": c.tokens,
			"percentage": round1(u.percent(c.tokens)), "squareFullness": min(1, square),
		})
	}
	out := map[string]any{
		"categories": categories, "totalTokens": u.total, "maxTokens": u.window, "rawMaxTokens": u.window,
		"percentage": int(u.percent(u.total) + 0.5), "gridRows": grid, "model": u.model, "isAutoCompactEnabled": u.threshold > 0,
		"memoryFiles": objects(u.memory, func(s Part) map[string]any {
			return map[string]any{"path": s.Name, "type": s.From, "tokens": s.Tokens}
		}),
		"mcpTools": objects(u.mcp, func(s Part) map[string]any {
			return map[string]any{"name": s.Name, "serverName": s.From, "tokens": s.Tokens, "isLoaded": true}
		}),
		"systemTools":      objects(u.tools, func(s Part) map[string]any { return map[string]any{"name": s.Name, "tokens": s.Tokens} }),
		"agents":           []any{},
		"skills":           map[string]any{"totalSkills": u.commands, "includedSkills": u.skills, "tokens": u.attachments["skill_listing"], "skillFrontmatter": []any{}},
		"slashCommands":    map[string]any{"totalCommands": u.commands, "includedCommands": u.commands, "tokens": 0},
		"messageBreakdown": u.breakdown(), "apiUsage": nil,
	}
	if u.threshold > 0 {
		out["autoCompactThreshold"] = u.threshold
	}
	if n := u.counted; n != nil {
		out["apiUsage"] = map[string]any{
			"input_tokens": n.Input, "output_tokens": n.Output,
			"cache_creation_input_tokens": n.CacheWrite, "cache_read_input_tokens": n.CacheRead,
		}
	}
	return out
}

func round1(v float64) float64 { return float64(int(v*10+0.5)) / 10 }

func objects[T any](in []T, f func(T) map[string]any) []map[string]any {
	out := make([]map[string]any, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}

// breakdown is what the conversation itself consists of.
func (u *Size) breakdown() map[string]any {
	var asked, answered, attached int
	byTool, byKind := []map[string]any{}, []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(u.calls)) {
		s := u.calls[name]
		asked, answered = asked+s.asked, answered+s.answered
		byTool = append(byTool, map[string]any{"name": name, "callTokens": s.asked, "resultTokens": s.answered})
	}
	for _, name := range slices.Sorted(maps.Keys(u.attachments)) {
		attached += u.attachments[name]
		byKind = append(byKind, map[string]any{"name": name, "tokens": u.attachments[name]})
	}
	return map[string]any{
		"toolCallTokens": asked, "toolResultTokens": answered, "attachmentTokens": attached,
		"assistantMessageTokens": u.assistant, "userMessageTokens": u.user,
		"redirectedContextTokens": 0, "unattributedTokens": 0,
		"toolCallsByType": byTool, "attachmentsByType": byKind,
	}
}

// Text draws the picture with a letter for each kind, beside the legend, so that it reads without colour too.
func (u *Size) Text(all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s tokens (%.1f %%), estimated\n\n", u.model, event.Thousands(u.total), event.Thousands(u.window), u.percent(u.total))
	squares := u.squares()
	for row := 0; row*gridColumns < len(squares) || row < len(u.categories); row++ {
		line := strings.Repeat(" ", 2*gridColumns)
		if from := row * gridColumns; from < len(squares) {
			line = ""
			for _, at := range squares[from:min(from+gridColumns, len(squares))] {
				line += string(u.categories[at].mark) + " "
			}
		}
		if row < len(u.categories) {
			c := u.categories[row]
			line += fmt.Sprintf("  %c %-18s %7s %5.1f %%", c.mark, c.name, event.Thousands(c.tokens), u.percent(c.tokens))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	u.tables(&b, all)
	if n := u.counted; n != nil {
		fmt.Fprintf(&b, "\nThe last request had %s tokens as the provider counts, its answer %s.\n", event.Thousands(n.Input+n.CacheRead+n.CacheWrite), event.Thousands(n.Output))
	}
	return b.String()
}

// tables lists the parts by source, the largest first; all of them where that is asked for.
func (u *Size) tables(b *strings.Builder, all bool) {
	var sources []Part
	for name, n := range u.attachments {
		sources = append(sources, Part{"context: " + name, "", n})
	}
	for name, n := range u.calls {
		sources = append(sources, Part{"calls of " + name, "", n.asked}, Part{"results of " + name, "", n.answered})
	}
	sources = append(sources, Part{"your messages", "", u.user}, Part{"answers", "", u.assistant})
	u.table(b, "By source", sources, all)
	u.table(b, "Memory files", u.memory, all)
	u.table(b, "MCP tools", u.mcp, all)
	if all {
		u.table(b, "Tools", u.tools, all)
	}
}

const tableRows = 12

func (u *Size) table(b *strings.Builder, title string, rows []Part, all bool) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(s Part) bool { return s.Tokens == 0 })
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(x, y Part) int {
		return cmp.Or(cmp.Compare(y.Tokens, x.Tokens), strings.Compare(x.Name, y.Name))
	})
	fmt.Fprintf(b, "\n%s\n", title)
	for i, s := range rows {
		if i == tableRows && !all {
			fmt.Fprintf(b, "           and %d more (/context all)\n", len(rows)-i)
			break
		}
		fmt.Fprintf(b, "  %7s  %s\n", event.Thousands(s.Tokens), s.Name)
	}
}
