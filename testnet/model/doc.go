// Package model searches all that can happen to three coordinators within bounds: every order of messages, every loss,
// every crash, and what faulty peers may send.
//
// The coordinators are the real ones. A state is three of them with their disks and the messages between them; it is
// copied before each action and compared by a digest, both by reflection, so that nothing of a coordinator has to be
// named here. A failure is a list of actions, cut down to those that matter.
//
//	go test ./testnet/model -run TestModel -model.deep
package model
