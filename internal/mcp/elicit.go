package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Elicitation is what a server wants to know of the person: a form, or a visit to an address.
type Elicitation struct {
	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode,omitempty"` // form or url
	URL     string          `json:"url,omitempty"`
	ID      string          `json:"elicitation_id,omitempty"`
	Schema  json.RawMessage `json:"requested_schema,omitempty"`
}

// Elicited is the answer. Action is accept, decline or cancel.
type Elicited struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// elicit answers a server. When nobody answers, that is a no.
func (c *connection) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	p := req.Params
	e := Elicitation{Server: c.sv.cfg.Name, Message: p.Message, Mode: or(p.Mode, "form"), URL: p.URL, ID: p.ElicitationID}
	if p.RequestedSchema != nil {
		e.Schema, _ = json.Marshal(p.RequestedSchema)
	}
	got, err := c.sv.set.deps.Elicit(ctx, e)
	if err != nil {
		if ctx.Err() != nil {
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	switch got.Action {
	case "accept":
		return &sdk.ElicitResult{Action: got.Action, Content: got.Content}, nil
	case "cancel":
		return &sdk.ElicitResult{Action: got.Action}, nil
	}
	return &sdk.ElicitResult{Action: "decline"}, nil
}

// errNotVisited says that the person did not open an address that the server wanted visited.
var errNotVisited = errors.New("the server wants the user to visit an address first, and that was declined")

// visit deals with a call that the server refuses until the person has visited an address. done says that err was
// such a refusal; without an error the call may be made once more.
func (c *connection) visit(ctx context.Context, err error) (done bool, _ error) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != sdk.CodeURLElicitationRequired || c.sv.set.deps.Elicit == nil {
		return false, nil
	}
	var data struct {
		Elicitations []struct {
			Mode    string `json:"mode"`
			Message string `json:"message"`
			URL     string `json:"url"`
			ID      string `json:"elicitationId"`
		} `json:"elicitations"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil || len(data.Elicitations) == 0 {
		return false, nil
	}
	for _, e := range data.Elicitations {
		got, err := c.sv.set.deps.Elicit(ctx, Elicitation{Server: c.sv.cfg.Name, Message: e.Message, Mode: "url", URL: e.URL, ID: e.ID})
		if err != nil || got.Action != "accept" {
			return true, errNotVisited
		}
	}
	return true, nil
}
