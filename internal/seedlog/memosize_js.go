package seedlog

// memoDivisor divides the bytes that a checker remembers: a tab gives no memory back, and follows a large swarm by
// its states.
const memoDivisor = 4
