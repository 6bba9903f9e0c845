package mcp

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// caught makes an error of what the SDK stumbles over: a server may have null wherever something should be.
func caught(method string, f func() (sdk.Result, error)) (res sdk.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("what the server says cannot be understood (%s: %v)", method, p)}
		}
	}()
	return f()
}

// survive answers nonsense that a server asks or tells with an error. Null in the place of parameters does not reach the SDK,
// which may hold a lock when it stumbles.
func survive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if p := reflect.ValueOf(req.GetParams()); !plain(method) && (!p.IsValid() || p.Kind() == reflect.Pointer && p.IsNil()) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: method + " has no parameters"}
		}
		return caught(method, func() (sdk.Result, error) { return next(ctx, method, req) })
	}
}

// plain reports whether a method needs no parameters.
func plain(method string) bool {
	return method == "ping" || method == "roots/list" || strings.HasSuffix(method, "/list_changed")
}
