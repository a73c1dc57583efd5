// Package train has the verb train: a run on this computer alone, with its log and its learning curve.
package train
