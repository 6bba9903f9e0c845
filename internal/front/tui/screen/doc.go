// Package screen brings lines onto a terminal and changes as little as it can.
//
// Inline prints into the terminal's own scrollback: what is committed is written once, as whole lines that the terminal
// wraps itself, and never touched again; below it stands a small region that is redrawn row by row. Text that was shown
// in the region and is then committed is not written a second time. Full draws on the alternate screen.
//
// Lines are text with SGR sequences and OSC 8 links, already inert otherwise. Nothing here knows what they mean.
package screen
