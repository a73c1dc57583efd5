// Package fair shares what is bounded among those who use it: places in a table, turns in a queue, work per time.
//
// Floor 0, numbers: floors 0 to 6 import it.
//
// Nothing here knows a clock or draws a number: what happens is a function of the calls, so that peers and simulators
// that make the same calls get the same answers. Every operation takes time that grows with the logarithm of the
// number of sources.
//
// A source is what shares are counted by: the neighbor that handed something over, a block of addresses. A share by
// source is worth as much as a source costs. Keys are free, so they are good sources only where each has a record.
package fair
