// Package replay plays and records sessions with a model. A Player is a provider that answers from a file, without
// a network, and checks that each request is the one that the recording expects. A Recorder wraps any provider and
// writes such a file; of a request only its body enters it, never a header or a key.
//
// A recording is JSON lines. The first is the header:
//
//	{"recording":1,"match":"last","vars":{"DIR":"${lathe:DIR}"},"ignore":["[0-9.]+s"]}
//
// match is how requests are compared unless a call says otherwise: "exact" the whole body, "last" the last message
// only (the text or tool results that are new in it), "none" not at all. Cache marks never count. vars names texts
// that stand in the recording for something of the run that plays it, such as its directory: they are replaced in
// what is expected and in what is answered. ignore has patterns whose matches are not compared. Each further line
// is a call, in order:
//
//	{"match":"exact","request":{…},"events":[{…},…],"delay_ms":20}
//
// with "sse" (the raw body of a stream, as a string) or "error" ({"kind","status","message","retry_after_ms"}) in
// the place of events or after them. For "last", the request needs only its messages' last one.
package replay
