package live

import (
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/httpd"
)

// state is one in which a person may find the page.
type state struct {
	name    string
	reads   string // what the page says in it
	address string // below the origin; "": the front page
	do      string // what the person does then, in JavaScript
	first   bool   // only what is in view at first is pictured: the rest is as in other states
	scene   scene
}

// states are all of the page's.
func states(play *recording) []state {
	with := func(edit func(*peer.Status)) *peer.Status {
		s := play.Status
		edit(&s)
		return &s
	}
	idle := func(name, reads string, reason peer.Reason, why string) state {
		return state{name: name, reads: reads, first: true, scene: scene{phase: "running", ways: play.Ways, node: &play.Node,
			status: with(func(s *peer.Status) { s.State, s.Reason, s.Why = peer.Idle, reason, why })}}
	}
	helping := scene{phase: "running", status: &play.Status, ways: play.Ways, node: &play.Node}
	staged := func(s scene, name string, value any) scene {
		stage := map[string]any{name: value}
		for key, value := range s.stage { //lint:sorted each by itself
			stage[key] = value
		}
		s.stage = stage
		return s
	}
	prefs := func(text string) scene { return staged(helping, "storage", map[string]string{"evoswarm-prefs": text}) }
	battery := map[string]any{"getBattery": map[string]any{"charging": false, "level": 0.2}}
	low := staged(helping, "navigator", battery)
	unplugged := staged(prefs(`{"plugged":true}`), "navigator", map[string]any{"getBattery": map[string]any{"charging": false, "level": 0.9}})
	data := staged(prefs(`{"thrifty":true}`), "navigator", map[string]any{"connection": map[string]any{"saveData": true}})
	inGerman := map[string]string{"evoswarm-language": "de"}
	german := staged(helping, "storage", inGerman)
	goal := 475.0
	info := httpd.RunInfo{Run: "bafyreia", Env: "CartPole-v1", Strategy: "snes", Height: 1234, Return: &goal, Threshold: &goal, State: peer.Training}
	listed := func(run string, edit func(*httpd.RunInfo)) httpd.RunInfo {
		r := info
		r.Run = run
		edit(&r)
		return r
	}
	troubled := httpd.RunList{Version: 1, Build: stageBuild, Advised: "bafyreia", Runs: []httpd.RunInfo{
		info,
		listed("bafyreib", func(r *httpd.RunInfo) { r.State, r.Reason, r.Ended = peer.Solved, peer.PassedTest, true }),
		listed("bafyreic", func(r *httpd.RunInfo) {
			r.State, r.Reason, r.Ended, r.Why = peer.Idle, peer.RunEnded, true, "the run has ended with 5000 evaluations, as it was to"
		}),
		listed("bafyreid", func(r *httpd.RunInfo) {
			r.State, r.Reason, r.Error = peer.Idle, peer.DiskFull, "no space left on device"
		}),
		listed("bafyreie", func(r *httpd.RunInfo) { r.State, r.Reason = peer.Catching, peer.CatchingUp }),
		{Why: "the run does not start; it is tried again each minute", Error: "it is locked"},
	}}
	unreachable := []map[string]string{{"way": "WebSocket", "state": "forbidden"}, {"way": "WebSocket over TLS", "state": "unknown"},
		{"way": "WebTransport", "state": "unknown"}, {"way": "WebRTC-Direct", "state": "unsupported"}, {"way": "a relay", "state": "unknown"}}
	lost := []map[string]string{{"way": "WebSocket", "state": "failed", "why": "the connection was refused"},
		{"way": "WebTransport", "state": "unknown"}, {"way": "WebRTC-Direct", "state": "unknown"}}

	return []state{
		{name: "first second", reads: "40 % of the programs", scene: scene{held: true}},
		{name: "loading", reads: "40 % of the programs", scene: scene{held: true, node: &play.Node}},
		{name: "connecting", reads: "Looking for the swarm", scene: scene{phase: "connecting", node: &play.Node}},
		{name: "hopeless", reads: "for the reasons below", first: true, scene: scene{phase: "connecting", ways: unreachable, node: &play.Node}},
		{name: "helping", reads: "Policy of generation", do: `document.querySelector("details").open = true`, scene: helping},
		{name: "candidate", reads: "Your candidate of generation", first: true, scene: scene{phase: "running", status: &play.Status, ways: play.Ways, moves: true}},
		{name: "German", reads: "Policy der Generation", scene: german},
		{name: "light", reads: "too many to download", first: true, scene: scene{phase: "running", ways: play.Ways,
			status: with(func(s *peer.Status) { s.Light, s.Ahead = true, s.Height+2 })}},
		{name: "catching up", reads: "s left", scene: scene{phase: "running", ways: play.Ways, node: &play.Node, status: with(func(s *peer.Status) {
			s.State, s.Reason, s.Height, s.Behind, s.BehindOf, s.BehindS = peer.Catching, peer.CatchingUp, 12, 48, 60, 9
		})}},
		{name: "solved", reads: "is solved", scene: scene{phase: "running", ways: play.Ways, status: with(func(s *peer.Status) {
			s.State, s.Reason, s.Ended, s.SolvedHeight = peer.Solved, peer.PassedTest, true, s.Height
		})}},
		{name: "solved by others", reads: "It took", first: true, scene: scene{phase: "connecting", ways: unreachable, node: with(func(s *peer.Status) {
			s.State, s.Reason, s.Ended, s.SolvedHeight = peer.Solved, peer.PassedTest, true, s.Height
		})}},
		idle("ended", "The run has ended", peer.RunEnded, "the run has ended with 5000 evaluations, as it was to"),
		idle("testing", "Checking the result", peer.Testing, "checking that the policy of generation 91 passes the test, as the log says"),
		{name: "leader lost", reads: "Waiting for the leader", scene: scene{phase: "running", ways: play.Ways,
			status: with(func(s *peer.Status) { s.State, s.Reason, s.Leader = peer.Idle, peer.NoLeader, "" })}},
		idle("searching", "Looking for the swarm", peer.Searching, "looking for the swarm"),
		idle("part done", "Your computer is helping", peer.PartDone, "has done its part of generation 92 and waits for the others"),
		idle("not trusted", "You can watch this run", peer.NotTrusted, "follows a run whose owner trusts other keys"),
		idle("storage full", "Storage is full", peer.DiskFull, "the disk is full"),
		idle("storage failed", "Storage failed", peer.DiskFailed, "cannot write to the disk"),
		{name: "no run", reads: "training nothing", first: true, scene: scene{phase: "no run"}},
		{name: "training alone", reads: "Training alone", first: true, scene: scene{phase: "alone", ways: lost,
			status: with(func(s *peer.Status) { s.Peers, s.Connected = 0, 0 })}},
		{name: "alone", reads: "No other peer can be reached", first: true, scene: scene{phase: "alone", ways: lost,
			status: with(func(s *peer.Status) { s.State, s.Reason, s.Peers, s.Connected = peer.Idle, peer.Searching, 0, 0 })}},
		{name: "paused", reads: "only follows the run", scene: func() scene {
			s := prefs(`{"paused":true}`)
			s.status = with(func(s *peer.Status) { s.State, s.Reason = peer.Paused, peer.OwnerPause })
			return s
		}()},
		{name: "battery", reads: "spare your battery", first: true, scene: low},
		{name: "unplugged", reads: "Paused on battery", first: true, scene: unplugged},
		{name: "saving data", reads: "Paused to save data", first: true, scene: data},
		{name: "hours", reads: "Paused at this hour", first: true, scene: prefs(`{"hours":[1320,420]}`)},
		{name: "no network", reads: "This computer is offline", first: true, scene: staged(helping, "navigator", map[string]any{"onLine": false})},
		{name: "offline", reads: "The node may be restarting", scene: scene{phase: "connecting", ways: lost, silent: true}},
		{name: "old build", reads: "newer version of this page", scene: scene{phase: "running", status: &play.Status, ways: play.Ways, build: "ba9876543210"}},
		{name: "elsewhere", reads: "already helps in another tab", first: true, scene: staged(scene{node: &play.Node}, "lock", false)},
		{name: "away", reads: "that you were away", first: true, do: `
			const at = Date.now();
			const hide = (hidden) => {
				Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
				document.dispatchEvent(new Event("visibilitychange"));
			};
			hide(true);
			Date.now = () => at + 600_000;
			hide(false)`, scene: helping},
		{name: "unsupported", reads: "This browser cannot help", first: true, scene: staged(scene{}, "without", []string{"TransformStream"})},
		{name: "failed", reads: "Reload the page; your work in the log is safe", first: true, scene: scene{phase: "running", status: &play.Status, crash: "panic: out of order"}},
		{name: "frame", reads: "Yours can be one of them", address: "/?embed", first: true, scene: scene{node: &play.Node}},
		{name: "invitation", reads: "Who opens this link", first: true, do: `document.getElementById("invite").click()`, scene: helping},
		{name: "whole screen", reads: "evaluations from here", address: "/?fullscreen", first: true, scene: helping},
		{name: "runs", reads: "Fewest peers", address: "/runs", scene: scene{}},
		{name: "runs in German", reads: "Wenigste Teilnehmer", address: "/runs", scene: staged(scene{runs: troubled}, "storage", inGerman)},
		{name: "runs in trouble", reads: "The node's disk is full", address: "/runs", scene: scene{runs: troubled}},
		{name: "no list", reads: "The page keeps asking", address: "/runs", scene: scene{silent: true}},
		{name: "watch", reads: "return", address: "/", scene: scene{watch: true}},
		{name: "watch in German", reads: "Schritt", address: "/", scene: staged(scene{watch: true}, "storage", inGerman)},
	}
}
