package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the oldest PostgreSQL that says on each connection whether it
// is a standby.
const oldestMajor = 14

// image is what Docker says of one of its images.
type image struct {
	ID       string   `json:"Id"`
	RepoTags []string // "postgres:17-alpine"; none for a layer of a build
	Config   struct {
		Env    []string // "PG_MAJOR=17"
		Labels map[string]string
	}
}

// findImage returns the best image with a PostgreSQL server that Docker has at
// hand.
//
// Errors: absent if there is no Docker, or no such image.
func findImage(ctx context.Context) (image, error) {
	if _, err := docker(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		return image{}, absent{err.Error()}
	}
	ids, err := docker(ctx, "image", "ls", "--quiet", "--no-trunc")
	if err != nil {
		return image{}, err
	}
	if ids == "" {
		return image{}, absent{"Docker has no image"}
	}
	unique := slices.Compact(slices.Sorted(strings.FieldsSeq(ids)))
	described, err := docker(ctx, append([]string{"image", "inspect"}, unique...)...)
	if err != nil {
		return image{}, err
	}
	var images []image
	if err := json.Unmarshal([]byte(described), &images); err != nil {
		return image{}, fmt.Errorf("docker image inspect: %w", err)
	}
	best, ok := bestImage(images)
	if !ok {
		return image{}, absent{fmt.Sprintf("Docker has no image of PostgreSQL %d or later", oldestMajor)}
	}
	return best, nil
}

// bestImage returns the image of the newest PostgreSQL, of several the one whose
// name sorts first.
func bestImage(images []image) (best image, ok bool) {
	servers := slices.DeleteFunc(slices.Clone(images), func(i image) bool { return !i.isServer() })
	if len(servers) == 0 {
		return image{}, false
	}
	return slices.MinFunc(servers, func(a, b image) int {
		return cmp.Or(-cmp.Compare(a.major(), b.major()), strings.Compare(a.name(), b.name()))
	}), true
}

// isServer says whether the image holds a PostgreSQL server. The official
// images, and all made from them, say so in PG_MAJOR; others by their name or
// title, which must be PostgreSQL's own: "postgres-exporter" is none.
func (i image) isServer() bool {
	if major := i.major(); major != 0 {
		return major >= oldestMajor
	}
	title := i.Config.Labels["org.opencontainers.image.title"]
	if strings.EqualFold(title, "postgres") || strings.EqualFold(title, "postgresql") {
		return true
	}
	return slices.ContainsFunc(i.RepoTags, func(tag string) bool {
		return path.Base(repository(tag)) == "postgres"
	})
}

// major returns the major version of PostgreSQL that the image says it holds, or
// zero.
func (i image) major() int {
	for _, variable := range i.Config.Env {
		if value, ok := strings.CutPrefix(variable, "PG_MAJOR="); ok {
			major, _ := strconv.Atoi(value) // zero for "devel"
			return major
		}
	}
	return 0
}

// name returns what a person calls the image.
func (i image) name() string {
	if len(i.RepoTags) == 0 {
		return i.ID
	}
	return slices.Min(i.RepoTags)
}

// repository returns an image's name without its tag.
func repository(name string) string {
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		return name[:colon]
	}
	return name
}
