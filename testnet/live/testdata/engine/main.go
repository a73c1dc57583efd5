// Command engine prints what plays the episodes of an environment in this program, and why it is not C.
package main

import (
	"fmt"
	"os"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

func main() {
	engine, err := worlds.UseFastest(os.Args[1])
	fmt.Println(engine)
	if err != nil {
		fmt.Println(err)
	}
}
