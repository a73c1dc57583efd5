package envs

// playFirst says that Register takes no first reset and step.
const playFirst = false
