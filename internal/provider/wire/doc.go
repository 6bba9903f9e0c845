// Package wire is the Messages API format: a provider.Request goes in and its body comes out, an event or a whole
// answer goes in and provider.Chunks come out. It does no input or output of its own. The anthropic provider
// speaks it over HTTP, the replay provider reads and writes it in recordings.
package wire
