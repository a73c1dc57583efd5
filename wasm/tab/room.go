package main

// What a run may take in a browser, in bytes. Beyond that its oldest entries go, in runs where peers may drop them.
const (
	// roomMost is what a run takes at most: two to five hours of the fastest run of CartPole-v1 alone.
	roomMost = 512 << 20
	// roomUnknown is for browsers that do not say what they let a site store.
	roomUnknown = 256 << 20
	// roomSaving is for people who asked their browser to save data.
	roomSaving = 64 << 20
	// roomInMemory is for browsers that store nothing, so that all of it is in memory.
	roomInMemory = 64 << 20
	// roomPart is of what the browser lets the site store: other runs, and what databases leave behind, need room, too.
	roomPart = 4
)

// room is what a run may take, by what the browser lets this site store (0: it does not say) and whether its owner
// asked it to save data.
func room(quota int64, savesData bool) int64 {
	most := int64(roomMost)
	switch {
	case savesData:
		most = roomSaving
	case quota <= 0:
		most = roomUnknown
	}
	if quota > 0 {
		most = min(most, quota/roomPart)
	}
	return most
}
