// Package sandbox confines the programs that shell commands start, with what the operating system offers. In go
// the permission rules, the workspace and the settings' sandbox block; out comes a Policy (pure data), and a
// command line that enforces it.
//
// On Linux bubblewrap makes a view of the files and namespaces of their own for processes and network; inside it,
// or alone where namespaces are refused, Landlock and a seccomp filter confine what remains. The network is closed
// but for a proxy of ours outside, which decides by host. On macOS it is sandbox-exec. Elsewhere there is none.
//
// The Bash tool (stage 9 of the pipeline) gets each command wrapped by Sandbox.Wrap. Start reading at policy.go,
// then sandbox.go; what runs inside is in helper_linux.go.
package sandbox
