package seedlog

// frugality divides what a checker remembers: a tab gives no memory back, and follows a large swarm by its states.
const frugality = 4
