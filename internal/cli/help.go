package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

const helpHead = `Lathe: an open coding agent for the terminal

  lathe                       talk with it in the terminal: docs/terminal.md
  lathe -p "prompt"           do the work and print the answer
  cat log | lathe -p "why?"   what is piped in is added to the prompt
  lathe -c -p "and now …"     go on with the newest session of this directory
  lathe demo                  watch it fix a failing test: no key, no network
  lathe trust                 let this directory's settings grant and run things
  lathe permissions check 'Bash(git push)'
                              what would happen to this call, and why (also: list, test)
  lathe config                every setting, where it stands and whether it counts
  lathe doctor                check what a session rests on: key, settings, programs
  lathe sessions              the sessions of this directory; with a text, those in which it was said
  lathe mcp                   add, list, remove and sign in to MCP servers
  lathe acp                   be the agent of an editor: docs/editors.md
  lathe inspect               what each request of a session was made of, what it cost, where the cache broke
  lathe dev fake-api FILE     serve a scripted Messages API, for tests

Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a local server. Exit codes: 0 done, 1 failed, 130 interrupted,
141 reader gone, 143 terminated. More: README.md and docs/.

Flags:
`

func help(flags *pflag.FlagSet) string {
	return helpHead + strings.TrimRight(flags.FlagUsages(), "\n") + "\n"
}
