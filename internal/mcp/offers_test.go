package mcp

import "testing"

// Only servers that are connected and have resources are asked for them.
func TestOffersOfServersWithoutResources(t *testing.T) {
	s := &Set{servers: map[string]*server{}}
	plain := &connection{}
	for name, c := range map[string]*connection{"gone": nil, "plain": plain} {
		sv := &server{set: s, cfg: Config{Name: name}, conn: c}
		if s.servers[name] = sv; c != nil {
			c.sv = sv
			c.offers.list, c.offers.fresh = []Resource{{}}, true // so that asking would start nothing
		}
	}
	if out, building := s.Offers(t.Context(), false); len(out) != 0 || building {
		t.Errorf("%v, %v", out, building)
	}
	plain.resources = true
	if out, building := s.Offers(t.Context(), false); len(out) != 1 || !building {
		t.Errorf("with resources: %v, %v", out, building)
	}
}
