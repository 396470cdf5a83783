// Package e2e tests the driver from the outside, with the tools of its users.
package e2e
