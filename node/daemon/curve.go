package daemon

import (
	"encoding/json"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// savedCurve is the learning curve of an earlier start; nil if there is none that can be read. The caller
// holds the lock.
func (n *Node) savedCurve(run seedlog.Link) []peer.Point {
	var points []peer.Point
	if json.Unmarshal(n.data.Curve(run), &points) != nil {
		return nil
	}
	return points
}

// saveCurve saves the learning curve for the next start, if it changed.
func (l *lane) saveCurve() {
	n, p := l.node, l.working()
	if p == nil {
		return
	}
	points := p.Curve()
	n.mu.Lock()
	defer n.mu.Unlock()
	var last peer.Point
	if len(points) > 0 {
		last = points[len(points)-1]
	}
	if last == l.lastPoint {
		return
	}
	text, err := json.Marshal(points)
	if err == nil {
		var run seedlog.Link
		if run, err = seedlog.ParseLink(p.Status().Run); err == nil {
			err = n.data.SaveCurve(run, text)
		}
	}
	if err != nil {
		n.cfg.Logger.Warn("cannot save the learning curve", "error", err)
		return
	}
	l.lastPoint = last
}
