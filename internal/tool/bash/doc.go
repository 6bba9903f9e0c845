// Package bash holds the tool Bash and the control of its background runs, TaskOutput and TaskStop. In comes a
// shell command, out come its output and how it ended. Each command is a shell of its own, without a terminal;
// only the working directory carries over. Stage 9 of the pipeline calls the tools; stage 3 and the front end
// watch the background runs through Tasks. Start reading at New and, for what happens to a command, at run.go.
package bash
