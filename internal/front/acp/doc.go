// Package acp is the front end for editors: it speaks the agent's side of the Agent Client Protocol, version 1, over
// standard input and output. In come JSON-RPC messages of an editor; out go the events of sessions as session/update
// notifications, permission questions and file requests. It holds no logic of the agent: sessions come from an Agent,
// each is an event.Conn, and several run side by side.
//
// Start at server.go (methods), then session.go (one conversation), update.go (what becomes of an event).
//
// The protocol: https://agentclientprotocol.com/protocol/v1/overview. Called by internal/cli for lathe acp.
package acp
