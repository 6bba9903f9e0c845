// Package input is stage 2 of the pipeline: a submission becomes messages. In comes event.Prompt (typed text,
// content blocks, image paths); out go the user message on the conversation, the prompt's @ mentions for the
// attach stage, and the turn's overrides. A local command (/help, /cost, …) is answered here and ends the turn
// without a model call; an unknown command is an error and never reaches the model.
package input
