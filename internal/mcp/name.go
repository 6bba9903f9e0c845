package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is how long a tool's name may be for the Messages API.
const maxName = 128

// normalize makes a name fit for the name of a tool.
func normalize(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// Prefix begins the names of a server's tools and prompts.
func Prefix(server string) string { return "mcp__" + normalize(server) + "__" }

// ambiguous reports a server's name that makes its tools look like those of another one, also to rules: mcp__a means
// mcp__a__b__c too.
func ambiguous(server string) bool {
	n := normalize(server)
	return strings.Contains(n, "__") || strings.HasSuffix(n, "_")
}

// FullName is the name by which the model knows a tool. One that is too long ends in a hash of the whole.
func FullName(server, tool string) string {
	name := Prefix(server) + normalize(tool)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}

// IsFullName reports whether a name is that of some server's tool.
func IsFullName(name string) bool { return strings.HasPrefix(name, "mcp__") }
