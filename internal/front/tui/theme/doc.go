// Package theme gives the colours of the terminal interface. In come the terminal's environment and the user's choice;
// out comes a Theme whose styles are plain SGR parameters. It holds no state and prints nothing.
//
//	depth := theme.DepthOf(os.Getenv, isTerminal)
//	th := theme.Named("auto", depth, darkBackground)
//	line := th.Error.Paint("it failed") + " " + th.Muted.Paint("try again")
//	head := th.Heading.With(th.Link).Paint("both at once")
//
// A theme of the user's own ({"name", "base", "overrides"}) is read by Custom. Text must be made inert (event.Inert)
// before it is painted.
package theme
