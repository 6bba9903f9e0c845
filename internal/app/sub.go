package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"syscall"

	"lathe/internal/config"
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

// trustCommand keeps the user's trust in the repository, or in the directory outside one.
func trustCommand(args []string, st Streams) error {
	p, err := findPlace(&options{})
	if err != nil {
		return err
	}
	list := config.NewTrust(p.sys.Dirs.State)
	switch {
	case len(args) == 0:
		if err := list.Add(p.trustKey, p.sys.Now()); err != nil {
			return err
		}
		fmt.Fprintf(st.Out, "Trusted: %s\nIts settings may now grant permissions, set the environment and name helpers.\n", p.trustKey)
		return nil
	case len(args) == 1 && args[0] == "--remove":
		if err := list.Remove(p.trustKey); err != nil {
			return err
		}
		fmt.Fprintf(st.Out, "No longer trusted: %s\n", p.trustKey)
		return nil
	case len(args) == 1 && args[0] == "--list":
		dirs, err := list.List()
		if err != nil {
			return err
		}
		names := make([]string, 0, len(dirs))
		for d := range dirs {
			names = append(names, d)
		}
		sort.Strings(names)
		for _, d := range names {
			fmt.Fprintf(st.Out, "%s  since %s\n", d, dirs[d].Format("2006-01-02"))
		}
		return nil
	}
	return errors.New("usage: lathe trust [--remove | --list]")
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
