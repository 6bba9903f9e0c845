package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"lathe/internal/fakeapi"
)

type subcommand func(args []string, st Streams) error

// subcommands are the words that may stand first on the command line.
func subcommands() map[string]subcommand {
	return map[string]subcommand{
		"config":      configCommand,
		"demo":        demoCommand,
		"dev":         devCommand,
		"help":        helpCommand,
		"permissions": permissionsCommand,
		"trust":       trustCommand,
	}
}

func helpCommand(_ []string, st Streams) error {
	_, err := fmt.Fprint(st.Out, help((&options{}).set()))
	return err
}

// devCommand holds what people who build or test with Lathe need.
func devCommand(args []string, st Streams) error {
	if len(args) < 2 || len(args) > 3 || args[0] != "fake-api" {
		return errors.New("usage: lathe dev fake-api SCRIPT [ADDRESS]\nServes a scripted Messages API; the script's format is in docs/fake-api.md")
	}
	addr := "127.0.0.1:0"
	if len(args) == 3 {
		addr = args[2]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return fakeapi.Serve(ctx, args[1], addr, st.Out)
}
