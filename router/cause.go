package router

// Cause is what made a statement its class.
type Cause uint8
