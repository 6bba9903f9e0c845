package attach

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// resourceMark begins the path of a mention that is a resource of an MCP server; no file has such a path.
const resourceMark = "\x00mcp\x00"

// ResourcePath is the path of a mention that means a resource.
func ResourcePath(server, uri string) string { return resourceMark + server + "\x00" + uri }

// Resources attaches the resources of MCP servers that the prompt names with @server:uri.
func Resources(read func(ctx context.Context, server, uri string) ([]msg.Block, error)) Source {
	return Source{
		Name: "mcp_resource", Budget: mentionBytes,
		When: func(t *turn.Turn, _ Seen) bool { return t.Step == 1 && len(t.Mentions) > 0 },
		Collect: func(ctx context.Context, t *turn.Turn, _ Seen) ([]Item, error) {
			var out []Item
			var errs []error
			for _, m := range t.Mentions {
				rest, ok := strings.CutPrefix(m.Path, resourceMark)
				if !ok {
					continue
				}
				server, uri, _ := strings.Cut(rest, "\x00")
				blocks, err := read(ctx, server, uri)
				if err != nil {
					errs = append(errs, fmt.Errorf("@%s: %w", m.Ref, err))
					continue
				}
				key := t.ID + " " + m.Ref
				if len(blocks) == 1 && blocks[0].Type == msg.TypeText {
					out = append(out, Item{Key: key, Text: blocks[0].Text})
					continue
				}
				head := msg.Text("Resource @" + m.Ref)
				out = append(out, Item{Key: key, Blocks: append([]msg.Block{head}, blocks...)})
			}
			return out, errors.Join(errs...)
		},
	}
}
