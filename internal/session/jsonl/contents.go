package jsonl

import "lathe/internal/msg"

// Contents gives access to the content of each message in a session file by the message's id, whatever branch it is
// on. What others append meanwhile is not seen.
func Contents(path string) (func(id string) []msg.Block, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	t := newTree(f.lines)
	return func(id string) []msg.Block {
		i, ok := t.index[id]
		if !ok || id == "" {
			return nil
		}
		if m := decodeMessage(&t.recs[i]); m != nil {
			return m.Blocks
		}
		return nil
	}, nil
}
