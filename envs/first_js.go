package envs

// playFirst says that Register makes no instance.
const playFirst = false
