// Package provider is the one interface to a model: a Request goes in, a stream of Chunks comes out. The rest
// of the program does not know which provider answers. Implementations are subfolders (anthropic, replay); they
// map wire formats and errors and never retry: retry, watchdog and fall-back are in pipeline/model.
package provider
