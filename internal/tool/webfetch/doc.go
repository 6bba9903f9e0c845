// Package webfetch is the tool WebFetch: one page of the web as Markdown, or a small model's answer about it. In
// comes a URL, out comes text. It reaches public addresses only: a host is resolved once, internal ranges are
// refused, the checked address is the one that is dialled, and a redirect to another host is reported, not followed.
// Called by pipeline/tools (stage 9), after permission for the host was given.
package webfetch
