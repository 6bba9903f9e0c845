package model

import (
	"context"
	"strings"

	"lathe/internal/provider"
)

// aboutMedia reports an error for which images or documents may be the cause: a request that is too large in bytes,
// or one that names them.
func aboutMedia(e *provider.Error) bool {
	if e.Kind == provider.TooLarge {
		return true
	}
	low := strings.ToLower(e.Message)
	names := strings.Contains(low, "image") || strings.Contains(low, "document") || strings.Contains(low, "pdf")
	if e.Kind != provider.Invalid || !names {
		return false
	}
	for _, w := range []string{"too many", "too large", "exceed", "maximum", "at most", "dimension", "could not process"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// dropMedia has images and documents left out, once a pass, and takes up the new request.
func (p *pass) dropMedia(ctx context.Context) (bool, error) {
	if p.noMedia || p.deps.ReduceMedia == nil {
		return false, nil
	}
	p.noMedia = true
	changed, err := p.deps.ReduceMedia(ctx, p.t)
	if err != nil || !changed {
		return false, err
	}
	p.load()
	return true, nil
}
