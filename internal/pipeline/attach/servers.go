package attach

import (
	"context"

	"lathe/internal/turn"
)

// Servers attaches what the model should know of MCP servers beside the tool definitions, which are frozen: tools that
// are loaded on demand, tools that came or went, the servers' instructions. listing returns that, "" when there is
// nothing; it is quick. What changed is told at the next pass.
func Servers(listing func(t *turn.Turn) string) Source {
	const name = "mcp"
	return Source{
		Name: name, Budget: 64 << 10,
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			return news(t, seen, name, listing(t), "", "The MCP servers have changed. Now it is so:\n",
				"MCP servers: only the tools of the definitions can be called now."), nil
		},
	}
}

// news tells of a list when it is another than the one that the model was told of last. first and changed stand before it;
// gone is said in its place when it has become empty.
func news(t *turn.Turn, seen Seen, name, list, first, changed, gone string) []Item {
	key := shortHash(list)
	switch told := seen.Any(name); {
	case list == "" && !told, lastKey(t.Messages, name, "") == key:
		return nil
	case list == "":
		return []Item{{Key: fresh(seen, name, key), Text: gone}}
	case told:
		return []Item{{Key: fresh(seen, name, key), Text: changed + list}}
	}
	return []Item{{Key: key, Text: first + list}}
}
