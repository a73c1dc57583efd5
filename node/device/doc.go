// Package device shows what a computer can compute on: its cores, and devices such as GPUs.
package device
