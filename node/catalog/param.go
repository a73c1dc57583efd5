package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/verb"
)

// BindParams defines the flag that gives an environment parameters; texts gets them by name.
func BindParams(fs *verb.Flags, texts map[string]string, doc string) {
	fs.Func("env-param", "NAME=VALUE", doc, func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE, such as enable_wind=true")
		}
		texts[name] = value
		return nil
	})
}

// Params reads parameters of an environment as users write them, with a hint for what it does not have or take.
func Params(spec *envs.Spec, texts map[string]string) (envs.Params, error) {
	params := envs.Params{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		p, err := spec.Param(name)
		if err == nil {
			params[name], err = p.Parse(texts[name])
		}
		if err != nil {
			return nil, verb.Wrong(err, ParamHint(spec))
		}
	}
	return params, nil
}

// Adjust returns the environment with parameters, as users write them, in place of those that spec has.
func Adjust(spec *envs.Spec, texts map[string]string) (*envs.Spec, error) {
	given, err := Params(spec, texts)
	if err != nil {
		return nil, err
	}
	params := spec.Given()
	if params == nil {
		params = envs.Params{}
	}
	maps.Copy(params, given)
	with, err := spec.With(params)
	if err != nil {
		return nil, verb.Wrong(err, ParamHint(spec))
	}
	return with, nil
}

// mostHinted is how many parameters a hint lists.
const mostHinted = 6

// ParamHint lists the parameters of an environment, or says what does.
func ParamHint(spec *envs.Spec) string {
	switch n := len(spec.Params); {
	case n == 0:
		return "leave out --env-param"
	case n > mostHinted:
		return fmt.Sprintf("evonode env show %s lists its %d parameters", spec.ID, n)
	}
	var all []string
	for i := range spec.Params {
		p := &spec.Params[i]
		all = append(all, fmt.Sprintf("%s (%s, default %s)", p.Name, p.Range(), p.Text(p.Default)))
	}
	return spec.ID + " has the parameters " + strings.Join(all, ", ")
}
