package msg

// Usage is what one API call consumed, in tokens. The size of the prompt is Input + CacheWrite + CacheRead.
type Usage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`

	CacheCreation *CacheCreation `json:"cache_creation,omitempty"`
	ServerTools   *ServerTools   `json:"server_tool_use,omitempty"`
	ServiceTier   string         `json:"service_tier,omitempty"`
	Speed         string         `json:"speed,omitempty"` // SpeedFast where the answer was made in fast mode
}

// SpeedFast is the speed of requests and answers in fast mode.
const SpeedFast = "fast"

// CacheCreation splits CacheWrite by lifetime.
type CacheCreation struct {
	FiveMinutes int `json:"ephemeral_5m_input_tokens"`
	OneHour     int `json:"ephemeral_1h_input_tokens"`
}

// ServerTools counts tools that ran on the provider's side.
type ServerTools struct {
	WebSearch int `json:"web_search_requests"`
	WebFetch  int `json:"web_fetch_requests"`
}

// Prompt is the number of tokens that the model was sent.
func (u Usage) Prompt() int { return u.Input + u.CacheWrite + u.CacheRead }

// Total is the size of the conversation after the answer: prompt and output.
func (u Usage) Total() int { return u.Prompt() + u.Output }

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.CacheWrite += v.CacheWrite
	u.CacheRead += v.CacheRead
	u.Output += v.Output
	if v.CacheCreation != nil {
		c := CacheCreation{}
		if u.CacheCreation != nil {
			c = *u.CacheCreation
		}
		c.FiveMinutes += v.CacheCreation.FiveMinutes
		c.OneHour += v.CacheCreation.OneHour
		u.CacheCreation = &c
	}
	if v.ServerTools != nil {
		s := ServerTools{}
		if u.ServerTools != nil {
			s = *u.ServerTools
		}
		s.WebSearch += v.ServerTools.WebSearch
		s.WebFetch += v.ServerTools.WebFetch
		u.ServerTools = &s
	}
	if v.ServiceTier != "" {
		u.ServiceTier = v.ServiceTier
	}
	if v.Speed != "" {
		u.Speed = v.Speed
	}
	return u
}
