package film

import (
	"fmt"
	"image/color"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
)

// The themes are those of the page: every color of web/src/page.css, in light and in dark.
func TestThemesAreThePages(t *testing.T) {
	css, err := os.ReadFile("../../web/src/page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("page.css has no dark colors")
	}
	for _, c := range []struct {
		name  string
		theme *Theme
		css   string
	}{{"light", Light, light}, {"dark", Dark, dark}} {
		vars := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(c.css, -1) {
			vars[m[1]] = m[2]
		}
		want := map[string]color.RGBA{"card": c.theme.Paper, "line": c.theme.Rule, "muted": c.theme.Ink}
		for _, role := range envs.Roles() {
			want["scene-"+string(role)] = c.theme.Roles[role]
		}
		for name, rgb := range want {
			if got := fmt.Sprintf("#%02x%02x%02x", rgb.R, rgb.G, rgb.B); got != vars[name] || rgb.A != 255 {
				t.Errorf("%s: %s is %s, --%s of the page %q", c.name, name, got, name, vars[name])
			}
		}
		if len(c.theme.Roles) != len(envs.Roles()) {
			t.Errorf("%s: %d roles have a color, want %d", c.name, len(c.theme.Roles), len(envs.Roles()))
		}
	}
}

// The page knows every role.
func TestRolesOfThePage(t *testing.T) {
	for _, name := range []string{"types/compute.d.ts", "scene.ts"} {
		source, err := os.ReadFile("../../web/src/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range envs.Roles() {
			if !strings.Contains(string(source), fmt.Sprintf("%q", role)) {
				t.Errorf("%s does not know %q", name, role)
			}
		}
	}
}

// The palette has the colors themselves, so only smooth edges are changed, and those by little.
func TestPalette(t *testing.T) {
	for _, theme := range []*Theme{Light, Dark} {
		p := newPalette(theme)
		if n := len(p.colors); n > 256 || n < 200 {
			t.Errorf("%d colors", n)
		}
		if _, _, _, a := p.colors[leftOut].RGBA(); a != 0 {
			t.Error("no color for pixels that are left out")
		}
		all := []color.RGBA{theme.Paper, theme.Rule, theme.Ink}
		for _, c := range theme.Roles {
			all = append(all, c)
		}
		for _, c := range all {
			if got := p.colors[p.index(c)]; got != color.Color(c) {
				t.Errorf("%v becomes %v", c, got)
			}
			for i := range 256 { // an edge of c against the paper
				mix := func(a, b uint8) uint8 { return uint8((int(a)*(255-i) + int(b)*i) / 255) }
				edge := color.RGBA{mix(theme.Paper.R, c.R), mix(theme.Paper.G, c.G), mix(theme.Paper.B, c.B), 255}
				near := p.colors[p.index(edge)].(color.RGBA)
				if d := max(gap(edge.R, near.R), gap(edge.G, near.G), gap(edge.B, near.B)); d > 10 {
					t.Errorf("%v becomes %v, %d off", edge, near, d)
				}
			}
		}
	}
}

func gap(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// Colors are reduced alike before and after the memory of known ones is full.
func TestPaletteForgets(t *testing.T) {
	p, q := newPalette(Light), newPalette(Light)
	for i := range maxKnown + 5000 {
		c := opaque(uint32(i * 2654435761 >> 4 & 0xffffff))
		got := p.index(c)
		if i > maxKnown {
			if want := q.index(c); got != want {
				t.Fatalf("%v becomes %d, want %d", c, got, want)
			}
		}
		if len(p.known) > maxKnown {
			t.Fatalf("%d colors are remembered", len(p.known))
		}
	}
}
