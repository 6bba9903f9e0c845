// Package source finds where the model's answers come from: the Messages API, at the address and with the credential that
// environment and settings name, or a recording.
//
// In: a place and Options. Out: a provider, and what is said of its credential. Called when a session is assembled, and when
// an editor asks whether there is a credential.
package source
