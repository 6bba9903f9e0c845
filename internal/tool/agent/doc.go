// Package agent is the tools Agent and SendMessage: one hands a task to a sub-agent and gives back its report, the other
// tells one that was started something more. In comes a call's input; out go the type, model and prompt to run (Request)
// or the words to deliver (Message), which package app carries out in a conversation of the sub-agent's own.
package agent
