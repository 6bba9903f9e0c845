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
			text := listing(t)
			key := shortHash(text)
			switch {
			case text == "" && !seen.Any(name):
				return nil, nil
			case lastKey(t.Messages, name, "") == key:
				return nil, nil
			case text == "":
				return []Item{{Key: fresh(seen, name, key), Text: "MCP servers: only the tools of the definitions can be called now."}}, nil
			case seen.Any(name):
				return []Item{{Key: fresh(seen, name, key), Text: "The MCP servers have changed. Now it is so:\n" + text}}, nil
			}
			return []Item{{Key: key, Text: text}}, nil
		},
	}
}
