package main

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/node/sweep"
)

func TestMeanCurve(t *testing.T) {
	mean := meanCurve(sweep.Curves{1: {{Steps: 10, Return: 0}, {Steps: 30, Return: 20}}, 2: {{Steps: 20, Return: 100}, {Steps: 40, Return: 300}}})
	want := []sweep.Point{{Steps: 20, Return: 55}, {Steps: 30, Return: 110}, {Steps: 40, Return: 160}}
	if !slices.Equal(mean, want) {
		t.Errorf("got %v, want %v", mean, want)
	}
	for s, want := range map[reached]string{
		{ret: 55, trpo: 40}:   "0.5",
		{ret: 56, trpo: 40}:   "0.75",
		{ret: 161, trpo: 400}: "not by 0.1 (160)",
	} {
		if got := ratio(mean, s); got != want {
			t.Errorf("%v: got %s, want %s", s, got, want)
		}
	}
}
