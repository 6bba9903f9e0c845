// Package anthropic calls the Messages API over HTTP: a provider.Request goes in, the chunks of the answer come
// out as they arrive. It is written on net/http directly, which keeps start-up short and memory small, and lets
// pings and comment lines through, which the idle watchdog of pipeline/model lives on. It never retries.
// Package app makes the client, stage 7 (pipeline/model) calls it through the interface of package provider.
package anthropic
