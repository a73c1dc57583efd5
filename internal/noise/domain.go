package noise

// Domains separate the uses of a seed: they are word 2 of Philox's counter, so no two of them ever share a
// block. Their numbers are part of the bit contract and never change; new ones are added at the end.
const (
	DomainPerturb  uint32 = 0 // perturbations eps of theta: FillNormal
	DomainInit     uint32 = 1 // initial theta
	DomainEpisode  uint32 = 2 // what an environment draws in an episode
	DomainStrategy uint32 = 3 // what a strategy draws of a perturbation's seed: its group or parent
	DomainAction   uint32 = 4 // what is drawn for the actions of an episode: action noise, or a random policy's actions
	DomainRandom   uint32 = 5 // the seeds of a random policy's episodes
)
