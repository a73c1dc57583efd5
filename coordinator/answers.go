package coordinator

// slowestAnswers is for how many times Timing.Pull an answer may be on its way and count.
const slowestAnswers = 4

// answers is how long answers with many entries are on their way here, in quarters of a tick. Where that is longer than
// the time after which another peer is asked, all who have these entries would be asked for them one after the other,
// and all would send them: what is slow would become slower. A few entries are asked of others soon: they cost little,
// and messages get lost.
type answers struct{ quarters Tick }

// usual is how long such answers take, in ticks.
func (a answers) usual() Tick { return a.quarters / 4 }

// note counts an answer with so many new entries that took so long. What is usual rises by a quarter and falls at once,
// so one peer that answers late makes nobody wait long. Where it took very long a question was lost, or an answer to
// it.
func (a *answers) note(fresh int, took, pull Tick) {
	switch {
	case fresh <= lag:
		a.quarters /= 2
	case took <= a.usual():
		a.quarters = 4 * took
	case took <= slowestAnswers*pull:
		a.quarters += took - a.usual()
	}
}
