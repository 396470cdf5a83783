module github.com/pgryw/pgryw/e2e

go 1.25.0

replace github.com/pgryw/pgryw => ../
