module github.com/pgryw/pgryw/cmd/pgryw

go 1.25.0

require github.com/pgryw/pgryw v0.0.0-00010101000000-000000000000

replace github.com/pgryw/pgryw => ../../
