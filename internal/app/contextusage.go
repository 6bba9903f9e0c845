package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/pipeline/compact"
	"lathe/internal/token"
	"lathe/internal/turn"
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

// usage is what the next request would hold, by kind.
type contextSize struct {
	model       string
	window      int
	threshold   int // from which on the conversation is compacted; 0: it is not
	categories  []category
	total       int // tokens of what is used
	counted     *msg.Usage
	memory      []sized // instruction files
	mcp         []sized // tools of servers
	tools       []sized // tools of our own
	attachments map[string]int
	calls       map[string]callSize
	assistant   int
	user        int
	skills      int // listed
	commands    int // that can be typed
}

// sized is a named part and its tokens.
type sized struct {
	name, from string
	tokens     int
}

// callSize is what the calls of one tool hold.
type callSize struct{ asked, answered int }

// contextUsage measures what is sent of a conversation.
func (r *run) contextUsage(ctx context.Context, messages []msg.Message) *contextSize {
	model := r.session.Model()
	info := r.prices.Info(model)
	c := token.Counter{New: info.NewTokenizer}
	u := &contextSize{model: model, window: info.Window, attachments: map[string]int{}, calls: map[string]callSize{}}
	if cfg := r.compactConfig(); cfg.Auto {
		u.threshold = cfg.Threshold(info.Window)
	}
	system, defs := r.sentFirst(ctx)
	var own, servers int
	for _, d := range defs {
		n := c.Tools([]msg.ToolDef{d})
		if server, ok := serverOf(d.Name); ok {
			u.mcp, servers = append(u.mcp, sized{d.Name, server, n}), servers+n
		} else {
			u.tools, own = append(u.tools, sized{d.Name, "", n}), own+n
		}
	}
	u.measure(c, messages)
	u.memory = r.memorySizes(c)
	u.skills, u.commands = r.countSkills()
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
	u.add("system_prompt", "System prompt", "promptBorder", 'S', c.Blocks(system))
	u.add("system_tools", "System tools", "inactive", 'T', own)
	u.add("mcp_tools", "MCP tools", "cyan", 'P', servers)
	u.add("memory", "Memory files", "claude", 'M', memoryTokens)
	u.add("skills", "Skills", "warning", 'K', skills)
	u.add("messages", "Messages", "purple", 'C', rest)
	u.fill()
	return u
}

// sentFirst is what stands at the head of every request: as it is frozen, or as the first request will have it.
func (r *run) sentFirst(ctx context.Context) ([]msg.Block, []msg.ToolDef) {
	if f := r.session.Frozen(); f != nil {
		return f.System, f.Tools
	}
	d, err := r.promptDeps()
	if err != nil {
		return nil, r.tools.registry.Defs()
	}
	f := d.Build(ctx)
	return f.System, f.Tools
}

// serverOf is the MCP server of a tool.
func serverOf(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", false
	}
	server, _, ok := strings.Cut(rest, "__")
	return server, ok
}

// measure counts what is sent of the conversation: what follows the last compaction, as edits left it.
func (u *contextSize) measure(c token.Counter, messages []msg.Message) {
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

func (u *contextSize) add(id, name, color string, mark rune, tokens int) {
	if tokens > 0 {
		u.categories = append(u.categories, category{id, name, color, usedKind, mark, tokens})
		u.total += tokens
	}
}

// fill adds what is free, and what is kept free so that there is room for a compaction.
func (u *contextSize) fill() {
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

func (u *contextSize) percent(tokens int) float64 {
	return 100 * float64(tokens) / float64(max(1, u.window))
}

// memorySizes are the instruction files that count from the start.
func (r *run) memorySizes(c token.Counter) []sized {
	var out []sized
	for _, f := range r.instructionFiles() {
		out = append(out, sized{f.Path, f.Scope, c.Text(f.Text)})
	}
	return out
}

// instructionFiles are those that count from the start.
func (r *run) instructionFiles() []memory.File {
	if !r.instructions() {
		return nil
	}
	return r.loader().AtStart()
}

// countSkills says how many skills the model is told of, and how many commands of files can be typed.
func (r *run) countSkills() (listed, typed int) {
	for _, s := range r.skills() {
		if !s.UserOnly {
			listed++
		}
		typed++
	}
	return listed, typed
}

// gridRows and gridColumns are the size of the picture.
const (
	gridRows    = 10
	gridColumns = 10
)

// squares shares the picture out among the categories. What is used has, together, as many as it fills of the window, one
// at least; they go to its categories in turn, so that one which is too small for a square has none. Each number is the
// index of a category.
func (u *contextSize) squares() []int {
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
func (u *contextSize) roomiest() int {
	for i, c := range u.categories {
		if c.kind == freeKind {
			return i
		}
	}
	return len(u.categories) - 1
}

// payload is the documented answer to get_context_usage.
func (u *contextSize) payload() map[string]any {
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
		"memoryFiles": objects(u.memory, func(s sized) map[string]any {
			return map[string]any{"path": s.name, "type": s.from, "tokens": s.tokens}
		}),
		"mcpTools": objects(u.mcp, func(s sized) map[string]any {
			return map[string]any{"name": s.name, "serverName": s.from, "tokens": s.tokens, "isLoaded": true}
		}),
		"systemTools":      objects(u.tools, func(s sized) map[string]any { return map[string]any{"name": s.name, "tokens": s.tokens} }),
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
func (u *contextSize) breakdown() map[string]any {
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

// cmdContext shows what the next request would hold: a picture, and a table by source.
func (r *run) cmdContext(ctx context.Context, t *turn.Turn, args string) (string, error) {
	return r.contextUsage(ctx, t.Messages).text(strings.TrimSpace(args) == "all"), nil
}

// text draws the picture with a letter for each kind, beside the legend, so that it reads without colour too.
func (u *contextSize) text(all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s tokens (%.1f %%), estimated\n\n", u.model, thousands(u.total), thousands(u.window), u.percent(u.total))
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
			line += fmt.Sprintf("  %c %-18s %7s %5.1f %%", c.mark, c.name, thousands(c.tokens), u.percent(c.tokens))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	u.tables(&b, all)
	if n := u.counted; n != nil {
		fmt.Fprintf(&b, "\nThe last request had %s tokens as the provider counts, its answer %s.\n", thousands(n.Input+n.CacheRead+n.CacheWrite), thousands(n.Output))
	}
	return b.String()
}

// tables lists the parts by source, the largest first; all of them where that is asked for.
func (u *contextSize) tables(b *strings.Builder, all bool) {
	var sources []sized
	for name, n := range u.attachments {
		sources = append(sources, sized{"context: " + name, "", n})
	}
	for name, n := range u.calls {
		sources = append(sources, sized{"calls of " + name, "", n.asked}, sized{"results of " + name, "", n.answered})
	}
	sources = append(sources, sized{"your messages", "", u.user}, sized{"answers", "", u.assistant})
	u.table(b, "By source", sources, all)
	u.table(b, "Memory files", u.memory, all)
	u.table(b, "MCP tools", u.mcp, all)
	if all {
		u.table(b, "Tools", u.tools, all)
	}
}

const tableRows = 12

func (u *contextSize) table(b *strings.Builder, title string, rows []sized, all bool) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(s sized) bool { return s.tokens == 0 })
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(x, y sized) int {
		return cmp.Or(cmp.Compare(y.tokens, x.tokens), strings.Compare(x.name, y.name))
	})
	fmt.Fprintf(b, "\n%s\n", title)
	for i, s := range rows {
		if i == tableRows && !all {
			fmt.Fprintf(b, "           and %d more (/context all)\n", len(rows)-i)
			break
		}
		fmt.Fprintf(b, "  %7s  %s\n", thousands(s.tokens), s.name)
	}
}

// thousands shortens a number of tokens: 950, 12.3k, 1.0M.
func thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
