package main

import "testing"

// A run takes no more than a part of what the browser allows, and little where its owner saves data.
func TestRoom(t *testing.T) {
	for _, test := range []struct {
		quota int64
		saves bool
		want  int64
	}{
		{300 << 30, false, roomMost},
		{300 << 30, true, roomSaving},
		{100 << 20, false, 25 << 20},
		{100 << 20, true, 25 << 20},
		{0, false, roomUnknown},
		{0, true, roomSaving},
		{-1, false, roomUnknown},
	} {
		if got := room(test.quota, test.saves); got != test.want {
			t.Errorf("quota of %d, saving data %t: got %d, want %d", test.quota, test.saves, got, test.want)
		}
	}
}
