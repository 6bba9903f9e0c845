package proc

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Browse opens an address with the system's own program, never through a shell.
func (g *Group) Browse(ctx context.Context, env []string, address string) error {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return errors.New("it is no web address")
	}
	args := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		args = []string{"open", address}
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	exit, err := g.Run(ctx, Spec{Args: args, Env: env, Timeout: 10 * time.Second})
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("%s failed with exit code %d", args[0], exit.Code)
	}
	return err
}
