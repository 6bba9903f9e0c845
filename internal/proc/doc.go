// Package proc runs child processes that can be stopped for certain. In goes a Spec (arguments, directory,
// environment, writers), out come the output as it is written and an Exit.
//
// Its rules: every child leads a session of its own, so it reaches no terminal and one signal reaches all that it
// started; stopping is TERM, then KILL; the end of the direct child ends the run, whoever still holds its output;
// and every child belongs to a Group, which kills all of them when the program ends, through a watchdog even when
// the program is killed. Output makes what the children write fit for a model: text only, bounded in memory, the
// whole of it in a file.
//
// It is used by the Bash tool (stage 9 of the pipeline), hooks and everything else that starts programs. Start
// reading at Group.
package proc
