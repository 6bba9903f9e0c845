package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/msg"
)

// Resource is a resource of a server, or a template for the addresses of some.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Name        string `json:"name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Resources lists the resources of one server, or of all that are connected. What one server fails at is told beside
// what the others have.
func (s *Set) Resources(ctx context.Context, name string) ([]Resource, error) {
	list := s.all()
	if name != "" {
		sv := s.find(name)
		if sv == nil {
			return nil, s.unknown(name)
		}
		list = []*server{sv}
	}
	var out []Resource
	var errs []error
	for _, sv := range list {
		if name == "" && sv.status().State != Connected {
			continue
		}
		var found []Resource
		err := sv.use(ctx, func(conn *connection) (err error) {
			found, err = conn.listResources(ctx)
			return err
		})
		out = append(out, found...)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", sv.cfg.Name, err))
		}
	}
	return out, errors.Join(errs...)
}

func (c *connection) listResources(ctx context.Context) (out []Resource, err error) {
	if !c.resources {
		return nil, nil
	}
	err = c.within(ctx, nil, func(ctx context.Context, _ sdk.Meta) error {
		list, err := listed(ctx, c, func(yield func(*sdk.Resource, error) bool) { c.session.Resources(ctx, nil)(yield) })
		for _, r := range list {
			out = append(out, Resource{Server: c.sv.cfg.Name, URI: r.URI, Name: r.Name, Title: r.Title, Description: short(r.Description, 400), MIMEType: r.MIMEType})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	_ = c.within(ctx, nil, func(ctx context.Context, _ sdk.Meta) error { // many servers have no templates and refuse the question
		list, err := listed(ctx, c, func(yield func(*sdk.ResourceTemplate, error) bool) { c.session.ResourceTemplates(ctx, nil)(yield) })
		for _, r := range list {
			out = append(out, Resource{Server: c.sv.cfg.Name, Template: r.URITemplate, Name: r.Name, Title: r.Title, Description: short(r.Description, 400), MIMEType: r.MIMEType})
		}
		return err
	})
	return out, nil
}

// unknown names the servers that there are.
func (s *Set) unknown(name string) error {
	var names []string
	for _, sv := range s.all() {
		names = append(names, sv.cfg.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no MCP server %q, and no other one", name)
	}
	return fmt.Errorf("there is no MCP server %q; there are: %s", name, strings.Join(names, ", "))
}

// ReadResource reads a resource. The blocks are for the model, the contents, in the protocol's form, for programs.
func (s *Set) ReadResource(ctx context.Context, server, uri string) ([]msg.Block, json.RawMessage, error) {
	sv := s.find(server)
	if sv == nil {
		return nil, nil, s.unknown(server)
	}
	var res *sdk.ReadResourceResult
	err := sv.use(ctx, func(conn *connection) error {
		return conn.within(ctx, nil, func(ctx context.Context, meta sdk.Meta) (err error) {
			res, err = conn.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri, Meta: meta})
			return err
		})
	})
	if err != nil {
		return nil, nil, err
	}
	var blocks []msg.Block
	for _, r := range res.Contents {
		if r != nil {
			blocks = append(blocks, s.resource(r, Prefix(server)+"resource")...)
		}
	}
	blocks = s.fit(blocks, 0, Prefix(server)+"resource")
	if len(blocks) == 0 {
		blocks = []msg.Block{msg.Text("(the resource is empty)")}
	}
	raw, err := json.Marshal(res.Contents)
	return blocks, raw, err
}

// Prompts lists the prompts of the connected servers.
func (s *Set) Prompts() []Prompt {
	var out []Prompt
	for _, sv := range s.all() {
		out = append(out, sv.status().Prompts...)
	}
	return out
}

// GetPrompt fills in a prompt. args are in the order of its arguments. The blocks are what it says, to be sent as the
// user's words.
func (s *Set) GetPrompt(ctx context.Context, p Prompt, args []string) ([]msg.Block, error) {
	sv := s.find(p.Server)
	if sv == nil {
		return nil, s.unknown(p.Server)
	}
	if len(args) > len(p.Args) && len(p.Args) > 0 { // the last one takes the rest
		args = append(args[:len(p.Args)-1:len(p.Args)-1], strings.Join(args[len(p.Args)-1:], " "))
	}
	values := map[string]string{}
	for i, a := range p.Args {
		if i < len(args) {
			values[a.Name] = args[i]
		} else if a.Required {
			return nil, fmt.Errorf("the argument %s is missing (%s)", a.Name, or(a.Description, "it is required"))
		}
	}
	var res *sdk.GetPromptResult
	err := sv.use(ctx, func(conn *connection) error {
		return conn.within(ctx, nil, func(ctx context.Context, meta sdk.Meta) (err error) {
			res, err = conn.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Name, Arguments: values, Meta: meta})
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var blocks []msg.Block
	for _, m := range res.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		part := s.block(m.Content, p.FullName)
		if m.Role == "assistant" && len(part) > 0 && part[0].Type == msg.TypeText {
			part[0].Text = "[an answer, as the template has it]\n" + part[0].Text
		}
		blocks = append(blocks, part...)
	}
	if len(blocks) == 0 {
		return nil, errors.New("the prompt is empty")
	}
	return blocks, nil
}
