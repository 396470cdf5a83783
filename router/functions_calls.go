package router

// Call is the call of a function in a text, or what looks like one.
type Call struct {
	Schema string // empty if the text names none
	Name   string // empty if it is none that is looked up
	// Effect is what the call does: reads, server, volatile, unknown, opaque,
	// writes, setting or acts.
	Effect string
}

// Functions returns the calls that Classify sees in a text, in their order.
func Functions(sql string, env *Env) []Call {
	var calls []Call
	c := classifier{scanner: scanner{text: sql}, calls: func(call Call) { calls = append(calls, call) }}
	c.know(env)
	var s Statement
	c.classify(&s)
	return calls
}

// String returns the effect as one lower-case word.
func (e effect) String() string {
	switch e {
	case effectAbsent, effectUnknown:
		return "unknown"
	case effectNone:
		return "reads"
	case effectServer:
		return "server"
	case effectVolatile:
		return "volatile"
	case effectOpaque:
		return "opaque"
	case effectWrites:
		return "writes"
	case effectSetting:
		return "setting"
	}
	return "acts"
}
