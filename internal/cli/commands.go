package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"lathe/internal/fakeapi"
	"lathe/internal/place"
)

// subcommand is a command of its own. usage is what --help prints and what a wrong call is answered with.
type subcommand struct {
	run   func(args []string, st Streams) error
	usage string
}

const devUsage = `usage: lathe dev fake-api SCRIPT [ADDRESS]
Serves a scripted Messages API; the script's format is in docs/fake-api.md`

// subcommands are the words that may stand first on the command line.
func subcommands() map[string]subcommand {
	return map[string]subcommand{
		"acp":         {acpCommand, acpUsage},
		"config":      {configCommand, configUsage},
		"demo":        {demoCommand, demoUsage},
		"dev":         {devCommand, devUsage},
		"doctor":      {doctorCommand, doctorUsage},
		"help":        {helpCommand, "usage: lathe help"},
		"inspect":     {inspectCommand, inspectUsage},
		"mcp":         {mcpCommand, mcpUsage},
		"permissions": {permissionsCommand, permissionsUsage},
		"sessions":    {sessionsCommand, sessionsUsage},
		"trust":       {trustCommand, trustUsage},
	}
}

func helpCommand(_ []string, st Streams) error {
	_, err := fmt.Fprint(st.Out, help((&flags{}).set()))
	return err
}

// devCommand holds what people who build or test with Lathe need.
func devCommand(args []string, st Streams) error {
	if len(args) < 2 || len(args) > 3 || args[0] != "fake-api" {
		return errors.New(devUsage)
	}
	addr := "127.0.0.1:0"
	if len(args) == 3 {
		addr = args[2]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return fakeapi.Serve(ctx, args[1], addr, st.Out)
}

// here is the place that the program was started in, for commands that need no session.
func here() (*place.Place, error) {
	return place.Find(place.Options{})
}
