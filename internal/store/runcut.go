//go:build !js

package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A run that may take so many bytes cuts the older part of its log. What stays is copied next to it while the run
// grows, behind a base: the state from which it can be folded. Then the copy takes the log's place, at one moment.

const (
	// Of what a run may take, the log gets one part in logPart, and it is cut to one in leftPart of that; the
	// branches that lost, and summaries, get one in branchPart each; the file next to the log becomes one in
	// asidePart long before it is tidied. While a log is copied both are there, and so with that file.
	logPart, leftPart     = 2, 4
	branchPart, asidePart = 16, 8
	// copyPiece is how many bytes are copied at a time.
	copyPiece = 1 << 20
)

// cutting is a log that is to replace the run's.
type cutting struct {
	Cut
	base  seedlog.Base
	file  file
	start int64 // where in the new log the generations begin
	from  int64 // what stays begins there in the old log
	done  int64 // what lies before is copied
	end   int64 // where the old log ended when that began
	cuts  int   // how often the end of the old log was replaced before
}

// Bound sets how many bytes the run may take: branches that lost go for it, and the older part of the log. It is called
// before the first Save, after KeepBranches.
func (r *Run) Bound(bytes int64) error {
	r.tidyLeast = max(bytes/asidePart, 1)
	r.sums.mu.Lock()
	r.sums.budget = int(bytes / branchPart)
	r.sums.mu.Unlock()
	r.most = bytes / logPart
	return r.KeepBranches(bytes/branchPart, r.named.tell)
}

// Excess says where to cut the log if it takes too much: at a height up to most of which there is a summary. The
// goroutine of Save calls it.
func (r *Run) Excess(most uint64) (height uint64, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.most == 0 || r.log.size <= r.most || r.err != nil {
		return 0, false
	}
	x := r.log.heights
	end, least := x.end(), int64(0) // where the log ends, and how many bytes go
	for _, h := range r.sums.known() {
		if h > most || h > uint64(x.height()) || h <= uint64(x.below+cutWindow) {
			continue
		}
		goes := x.endOf(int(h)-cutWindow) - x.offsets[0]
		if left := end - x.offsets[0] - goes; left >= r.most/leftPart || !ok {
			height, least, ok = h, goes, true
		}
	}
	return height, ok && least >= r.most/4
}

// Prepare copies what is to stay of the log. It takes long: another goroutine than that of Save calls it, one at a
// time.
func (r *Run) Prepare(c Cut) error {
	s, err := r.beginCut(c)
	if err != nil {
		return err
	}
	defer r.copying.Done()
	path := r.log.path + newSuffix
	if s.file, err = r.log.files.Create(path); err != nil {
		return explain(err, path)
	}
	if err = s.file.Truncate(0); err == nil {
		err = s.begin(r.rules)
	}
	for more := true; more && err == nil; {
		more, err = r.copyPiece(s)
	}
	if err == nil {
		err = s.file.Sync()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.closing {
		err = ErrCut
	}
	if err != nil {
		s.file.Close()
		return explain(err, path)
	}
	r.cutting = s
	return nil
}

// beginCut makes the base of a cut, and says what is to be copied.
func (r *Run) beginCut(c Cut) (*cutting, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cutting != nil { // it was not put in place
		r.cutting.file.Close()
		r.cutting = nil
	}
	x := r.log.heights
	if r.closing || c.Height > uint64(x.height()) || c.Height <= uint64(x.below+cutWindow) {
		return nil, ErrCut
	}
	low := int(c.Height) - cutWindow
	s := &cutting{Cut: c, from: x.endOf(low), end: x.end(), cuts: r.cuts}
	var err error
	s.base, err = c.base(uint64(low), func(height uint64) (seedlog.Link, []byte, bool) {
		return x.read(x.number(int(height)), r.log.file)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s %w", ErrCorrupt, r.log.path, err)
	}
	s.done = s.from
	r.copying.Add(1)
	return s, nil
}

// begin writes the beginning of the new log.
func (s *cutting) begin(rules *seedlog.Rules) error {
	head := seedlog.AppendBase(rules.AppendBeginning(nil), &s.base, s.Data)
	s.Data, s.start = nil, int64(len(head))
	_, err := s.file.WriteAt(head, 0)
	return err
}

// copyPiece copies the next piece; more says that others are left.
func (r *Run) copyPiece(s *cutting) (more bool, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closing || r.cuts != s.cuts {
		return false, ErrCut
	}
	if err := s.copy(r.log.file, min(s.done+copyPiece, s.end)); err != nil {
		return false, err
	}
	return s.done < s.end, nil
}

// copy copies from the old log up to an offset.
func (s *cutting) copy(log file, end int64) error {
	if end == s.done {
		return nil
	}
	b := make([]byte, end-s.done)
	if _, err := log.ReadAt(b, s.done); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(b, s.start+s.done-s.from); err != nil {
		return err
	}
	s.done = end
	return nil
}

// Cut puts what Prepare wrote in place of the log. Branches that leave the chain below go, too. Blocks of the
// older part that need lists stay next to the log. The goroutine of Save calls it. ErrCut harms nothing; other
// errors are those of a failed Save.
func (r *Run) Cut(need []seedlog.Link) error {
	r.mu.Lock()
	s := r.cutting
	r.cutting = nil
	r.mu.Unlock()
	switch {
	case s == nil:
		return ErrCut
	case r.err != nil || s.cuts != r.cuts:
		return errors.Join(ErrCut, s.file.Close())
	}
	if err := r.replaceLog(s, need); err != nil {
		r.err = err
		return err
	}
	r.sums.drop(s.Height)
	return nil
}

// replaceLog puts a new log in place.
func (r *Run) replaceLog(s *cutting, need []seedlog.Link) error {
	err := r.saveNeeded(s, need)
	if err == nil {
		err = s.copy(r.log.file, r.log.heights.end())
	}
	if err == nil {
		err = s.file.Sync()
	}
	if err = errors.Join(err, s.file.Close()); err != nil {
		return explain(err, r.log.path+newSuffix)
	}
	if err := r.log.saved.forget(); err != nil {
		return err
	}
	r.mu.Lock()
	x := r.log.heights.from(int(s.base.Height), s.start)
	if err = r.log.swap(); err == nil {
		r.log.base, r.log.start, r.log.heights = &s.base, s.start, x
		r.log.saved.grow(x, r.log.file)
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	r.named.mu.Lock()
	defer r.named.mu.Unlock()
	if all := slices.DeleteFunc(slices.Clone(r.named.all), func(b Branch) bool { return b.Fork < s.Height }); len(all) < len(r.named.all) {
		r.named.all = all
		return r.named.write()
	}
	return nil
}

// saveNeeded puts blocks next to the log that are needed and in that part of it that goes.
func (r *Run) saveNeeded(s *cutting, need []seedlog.Link) error {
	var blocks []block
	for _, l := range need {
		number, data, ok := r.log.heights.find(l, r.log.file)
		if ok && r.log.heights.offsets[number] < s.from && !r.aside.has(l) {
			blocks = append(blocks, block{l, data})
		}
	}
	return r.putAside(blocks)
}

// dropCut ends a copy under way.
func (r *Run) dropCut() {
	r.mu.Lock()
	r.closing = true
	s := r.cutting
	r.cutting = nil
	r.mu.Unlock()
	r.copying.Wait()
	if s != nil {
		s.file.Close()
	}
}

// Beginning is what the log begins with, the genesis and the base if it lacks what lies below one, and the parent
// of its first entry.
func (r *Run) Beginning() (data []byte, parent seedlog.Link, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if parent = r.rules.Run; r.log.base != nil {
		parent = r.log.base.Link
	}
	data = make([]byte, r.log.start)
	_, err = r.log.file.ReadAt(data, 0)
	return data, parent, explain(err, r.log.path)
}

// below is the height of the parent of the first entry in a log.
func (b *blockFile) below() int {
	if b.base == nil {
		return 0
	}
	return int(b.base.Height)
}

// readBase finds out whether a log begins at a base.
func (b *blockFile) readBase(rules *seedlog.Rules) (err error) {
	b.start = int64(len(b.beginning))
	if b.size <= b.start {
		return nil
	}
	in := bufio.NewReader(io.NewSectionReader(b.file, b.start, b.size-b.start))
	if !seedlog.PeekBase(in) {
		return nil
	}
	sections := seedlog.ResumeSections(in, b.start)
	if b.base, _, err = rules.ReadBase(sections); err == nil {
		b.start = sections.Offset()
	}
	return err
}

// baseData reads what the base of a log holds.
func (b *blockFile) baseData(rules *seedlog.Rules) ([]byte, error) {
	start := int64(len(b.beginning))
	sections := seedlog.ResumeSections(newBuffered(io.NewSectionReader(b.file, start, b.start-start)), start)
	_, data, err := rules.ReadBase(sections)
	return data, err
}
