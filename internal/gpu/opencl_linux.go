//go:build (amd64 || arm64) && !nogpu

package gpu

import (
	"fmt"
	"runtime"
	"unsafe"
)

// openclDriver is the computer's OpenCL: one library behind which all vendors' drivers are.
type openclDriver struct{ functions openclFunctions }

// openclFunctions are OpenCL's functions, as in cl.h.
type openclFunctions struct {
	getPlatformIDs          func(n uint32, platforms *uintptr, count *uint32) int32
	getPlatformInfo         func(platform uintptr, what uint32, size uintptr, value unsafe.Pointer, used *uintptr) int32
	getDeviceIDs            func(platform uintptr, kind uint64, n uint32, devices *uintptr, count *uint32) int32
	getDeviceInfo           func(device uintptr, what uint32, size uintptr, value unsafe.Pointer, used *uintptr) int32
	createContext           func(properties *uintptr, n uint32, devices *uintptr, notify, user uintptr, err *int32) uintptr
	releaseContext          func(context uintptr) int32
	createCommandQueue      func(context, device uintptr, properties uint64, err *int32) uintptr
	releaseCommandQueue     func(queue uintptr) int32
	createProgramWithSource func(context uintptr, n uint32, texts **byte, sizes *uintptr, err *int32) uintptr
	createProgramWithBinary func(context uintptr, n uint32, devices, sizes *uintptr, binaries **byte, status, err *int32) uintptr
	buildProgram            func(program uintptr, n uint32, devices *uintptr, options *byte, notify, user uintptr) int32
	getProgramInfo          func(program uintptr, what uint32, size uintptr, value unsafe.Pointer, used *uintptr) int32
	getProgramBuildInfo     func(program, device uintptr, what uint32, size uintptr, value unsafe.Pointer, used *uintptr) int32
	releaseProgram          func(program uintptr) int32
	createKernel            func(program uintptr, name *byte, err *int32) uintptr
	setKernelArg            func(kernel uintptr, index uint32, size uintptr, value unsafe.Pointer) int32
	getKernelWorkGroupInfo  func(kernel, device uintptr, what uint32, size uintptr, value unsafe.Pointer, used *uintptr) int32
	releaseKernel           func(kernel uintptr) int32
	createBuffer            func(context uintptr, flags uint64, size, host uintptr, err *int32) uintptr
	releaseMemObject        func(mem uintptr) int32
	enqueueWriteBuffer      func(queue, mem uintptr, wait uint32, at, size uintptr, data unsafe.Pointer, n uint32, after, event uintptr) int32
	enqueueReadBuffer       func(queue, mem uintptr, wait uint32, at, size uintptr, data unsafe.Pointer, n uint32, after, event uintptr) int32
	enqueueNDRangeKernel    func(queue, kernel uintptr, dims uint32, offset, global, local *uintptr, n uint32, after, event uintptr) int32
	finish                  func(queue uintptr) int32
}

// table names the functions.
func (f *openclFunctions) table() map[string]any {
	return map[string]any{
		"clGetPlatformIDs": &f.getPlatformIDs, "clGetPlatformInfo": &f.getPlatformInfo,
		"clGetDeviceIDs": &f.getDeviceIDs, "clGetDeviceInfo": &f.getDeviceInfo,
		"clCreateContext": &f.createContext, "clReleaseContext": &f.releaseContext,
		"clCreateCommandQueue": &f.createCommandQueue, "clReleaseCommandQueue": &f.releaseCommandQueue,
		"clCreateProgramWithSource": &f.createProgramWithSource, "clCreateProgramWithBinary": &f.createProgramWithBinary,
		"clBuildProgram": &f.buildProgram, "clGetProgramInfo": &f.getProgramInfo,
		"clGetProgramBuildInfo": &f.getProgramBuildInfo, "clReleaseProgram": &f.releaseProgram,
		"clCreateKernel": &f.createKernel, "clSetKernelArg": &f.setKernelArg,
		"clGetKernelWorkGroupInfo": &f.getKernelWorkGroupInfo, "clReleaseKernel": &f.releaseKernel,
		"clCreateBuffer": &f.createBuffer, "clReleaseMemObject": &f.releaseMemObject,
		"clEnqueueWriteBuffer": &f.enqueueWriteBuffer, "clEnqueueReadBuffer": &f.enqueueReadBuffer,
		"clEnqueueNDRangeKernel": &f.enqueueNDRangeKernel, "clFinish": &f.finish,
	}
}

// Numbers of cl.h.
const (
	clDeviceAll = 0xFFFFFFFF
	clDeviceCPU = 1 << 1

	clPlatformName        = 0x0902
	clDeviceType          = 0x1000
	clDeviceUnits         = 0x1002
	clDeviceAddressBits   = 0x100D
	clDeviceLargest       = 0x1010
	clDeviceSingle        = 0x101B
	clDeviceMemory        = 0x101F
	clDeviceLocal         = 0x1023
	clDeviceLittleEndian  = 0x1026
	clDeviceAvailable     = 0x1027
	clDeviceCompiler      = 0x1028
	clDeviceName          = 0x102B
	clDeviceVendor        = 0x102C
	clDriverVersion       = 0x102D
	clDeviceVersion       = 0x102F
	clDeviceDouble        = 0x1032
	clProgramBinarySizes  = 0x1165
	clProgramBinaries     = 0x1166
	clProgramBuildLog     = 0x1183
	clKernelWorkGroupSize = 0x11B0

	clDenormals = 1 << 0
	clInfNaN    = 1 << 1
	clNearest   = 1 << 2
	clDivide    = 1 << 7
)

var errNoPlatform = fmt.Errorf("%w: OpenCL is on this computer, but no driver of a device; the CPU's cores compute", ErrNoDriver)

// devices implements driver.
func (d *openclDriver) devices() ([]Info, error) {
	lib, err := openLibrary("OpenCL", "libOpenCL.so.1", "libOpenCL.so")
	if err != nil {
		return nil, err
	}
	if err := lib.bind(d.functions.table()); err != nil {
		return nil, err
	}
	var platforms [maxPlatforms]uintptr
	var count uint32
	// Without a driver the library gives an error of its own, -1001.
	if code := d.functions.getPlatformIDs(maxPlatforms, &platforms[0], &count); code != 0 {
		return nil, errNoPlatform
	}
	var found []Info
	for _, platform := range platforms[:min(count, maxPlatforms)] {
		found = append(found, d.on(platform)...)
	}
	if len(found) == 0 {
		return nil, errNoPlatform
	}
	return found, nil
}

// on lists the devices of a platform.
func (d *openclDriver) on(platform uintptr) (found []Info) {
	f := &d.functions
	name := make([]byte, maxText)
	f.getPlatformInfo(platform, clPlatformName, maxText, unsafe.Pointer(&name[0]), nil)
	var devices [maxDevices]uintptr
	var count uint32
	if code := f.getDeviceIDs(platform, clDeviceAll, maxDevices, &devices[0], &count); code != 0 {
		return nil
	}
	for _, device := range devices[:min(count, maxDevices)] {
		found = append(found, d.describe(device, text(name)))
	}
	return found
}

// describe asks a device what it is and whether it is fit.
func (d *openclDriver) describe(device uintptr, platform string) Info {
	f := &d.functions
	word := func(what uint32) uint64 {
		var x uint64 // longer than what most answers take; little-endian
		f.getDeviceInfo(device, what, 8, unsafe.Pointer(&x), nil)
		return x
	}
	line := func(what uint32) string {
		b := make([]byte, 4096) // a longer text is an error, and none
		if f.getDeviceInfo(device, what, uintptr(len(b)), unsafe.Pointer(&b[0]), nil) != 0 {
			return "?"
		}
		return text(b)
	}
	info := Info{
		Name: line(clDeviceName), Kind: OpenCL, Vendor: line(clDeviceVendor),
		Driver: platform + " " + line(clDriverVersion),
		Memory: bounded(word(clDeviceMemory)), Largest: bounded(word(clDeviceLargest)), Units: int(min(word(clDeviceUnits), 1<<20)),
		Local: int(min(word(clDeviceLocal), 1<<30)),
		CPU:   word(clDeviceType)&clDeviceCPU != 0,
	}
	info.Err = openclFit(line(clDeviceVersion), word)
	info.open = func() (session, error) { return openOpenCL(f, device, info) }
	return info
}

// bounded is a size that a driver gives.
func bounded(size uint64) int64 { return int64(min(size, 1<<50)) }

// openclFit says why a device cannot compute the bits of a run, as far as the device knows itself.
func openclFit(version string, word func(uint32) uint64) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "OpenCL %d.%d", &major, &minor); err != nil || major*10+minor < 12 {
		return fmt.Errorf("%w: it offers %s, and OpenCL 1.2 is needed; the CPU's cores compute", ErrOld, version)
	}
	need := func(have, want uint64, what string) error {
		if have&want == want {
			return nil
		}
		return fmt.Errorf("%w: it has no %s, without which it would compute other bits; the CPU's cores compute", ErrUnfit, what)
	}
	single, double := word(clDeviceSingle), word(clDeviceDouble)
	for _, err := range []error{
		need(word(clDeviceAvailable), 1, "connection at present"),
		need(word(clDeviceCompiler), 1, "compiler"),
		need(word(clDeviceLittleEndian), 1, "little-endian memory"),
		need(word(clDeviceAddressBits), 64, "addresses of 64 bits"),
		need(double, clNearest, "float64"),
		need(double, clDenormals|clInfNaN, "float64 with denormal numbers and NaN"),
		need(single, clDenormals|clInfNaN|clNearest, "float32 with denormal numbers and NaN"),
		need(single, clDivide, "correctly rounded division and square root of float32"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// openclSession is an OpenCL device in use.
type openclSession struct {
	f                      *openclFunctions
	device, context, queue uintptr
	key                    string // names device and driver in the cache

	program uintptr
	kernels map[string]openclKernel
}

type openclKernel struct {
	handle uintptr
	group  int // the largest
}

func openOpenCL(f *openclFunctions, device uintptr, info Info) (session, error) {
	s := &openclSession{f: f, device: device, key: info.Name + "\n" + info.Vendor + "\n" + info.Driver}
	var code int32
	if s.context = f.createContext(nil, 1, &device, 0, 0, &code); code != 0 {
		return nil, openclError("creating a context", code)
	}
	if s.queue = f.createCommandQueue(s.context, device, 0, &code); code != 0 {
		s.close()
		return nil, openclError("creating a queue", code)
	}
	return s, nil
}

// openclOptions forbid what changes bits. The source itself forbids contraction.
const openclOptions = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -w"

// build implements session: from the cache if it has the program.
func (s *openclSession) build(p program) error {
	s.drop()
	entry := cacheEntry(s.key, openclOptions, p.source)
	if binary := entry.load(); binary != nil && s.fromBinary(binary) && s.bind(p) == nil {
		return nil
	}
	s.drop()
	if err := s.fromSource(p); err != nil {
		return err
	}
	if err := s.bind(p); err != nil {
		return err
	}
	entry.save(s.binary())
	return nil
}

func (s *openclSession) fromSource(p program) error {
	source := append([]byte(p.source), 0)
	first, size := &source[0], uintptr(len(p.source))
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(first)
	var code int32
	if s.program = s.f.createProgramWithSource(s.context, 1, &first, &size, &code); code != 0 {
		return openclError("taking program "+p.name, code)
	}
	if code := s.compile(); code != 0 {
		log := make([]byte, 1<<20)
		s.f.getProgramBuildInfo(s.program, s.device, clProgramBuildLog, uintptr(len(log)), unsafe.Pointer(&log[0]), nil)
		return fmt.Errorf("%w: %s: code %d: %s", ErrProgram, p.name, code, firstLines(log))
	}
	return nil
}

// compile builds the program for the device.
func (s *openclSession) compile() (code int32) {
	options := append([]byte(openclOptions), 0)
	device := s.device
	return s.f.buildProgram(s.program, 1, &device, &options[0], 0, 0)
}

// fromBinary reports whether the driver takes what it compiled before.
func (s *openclSession) fromBinary(binary []byte) bool {
	first, size, device := &binary[0], uintptr(len(binary)), s.device
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(first)
	var status, code int32
	s.program = s.f.createProgramWithBinary(s.context, 1, &device, &size, &first, &status, &code)
	return code == 0 && status == 0 && s.compile() == 0
}

// binary returns the compiled program, or nil.
func (s *openclSession) binary() []byte {
	var size uintptr
	if s.f.getProgramInfo(s.program, clProgramBinarySizes, unsafe.Sizeof(size), unsafe.Pointer(&size), nil) != 0 || size == 0 || size > maxBinary {
		return nil
	}
	binary := make([]byte, size)
	first := &binary[0]
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(first)
	if s.f.getProgramInfo(s.program, clProgramBinaries, unsafe.Sizeof(first), unsafe.Pointer(&first), nil) != 0 {
		return nil
	}
	return binary
}

// bind finds the kernels of p.
func (s *openclSession) bind(p program) error {
	s.kernels = map[string]openclKernel{}
	for _, name := range p.kernels {
		c := append([]byte(name), 0)
		var code int32
		k := openclKernel{handle: s.f.createKernel(s.program, &c[0], &code)}
		if code != 0 {
			return fmt.Errorf("%w: %s has no kernel %s (code %d)", ErrProgram, p.name, name, code)
		}
		var group uint64
		s.f.getKernelWorkGroupInfo(k.handle, s.device, clKernelWorkGroupSize, 8, unsafe.Pointer(&group), nil)
		k.group = int(max(min(group, 1<<16), 1))
		s.kernels[name] = k
	}
	return nil
}

// drop releases the program.
func (s *openclSession) drop() {
	for _, k := range s.kernels { //lint:sorted all of them
		s.f.releaseKernel(k.handle)
	}
	s.kernels = nil
	if s.program != 0 {
		s.f.releaseProgram(s.program)
		s.program = 0
	}
}

// alloc implements session.
func (s *openclSession) alloc(n int) (buffer, error) {
	const readWrite = 1
	var code int32
	mem := s.f.createBuffer(s.context, readWrite, uintptr(max(n, 1)), 0, &code)
	if code != 0 {
		return 0, openclError(fmt.Sprintf("reserving %d bytes", n), code)
	}
	return buffer(mem), nil
}

// free implements session.
func (s *openclSession) free(b buffer) { s.f.releaseMemObject(uintptr(b)) }

// write implements session.
func (s *openclSession) write(b buffer, at int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	code := s.f.enqueueWriteBuffer(s.queue, uintptr(b), 1, uintptr(at), uintptr(len(data)), unsafe.Pointer(&data[0]), 0, 0, 0)
	return openclError("copying to the device", code)
}

// read implements session.
func (s *openclSession) read(b buffer, at int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	code := s.f.enqueueReadBuffer(s.queue, uintptr(b), 1, uintptr(at), uintptr(len(data)), unsafe.Pointer(&data[0]), 0, 0, 0)
	return openclError("copying from the device", code)
}

// group implements session.
func (s *openclSession) group(kernel string) int { return s.kernels[kernel].group }

// run implements session.
func (s *openclSession) run(kernel string, items, group int, args ...any) error {
	k, ok := s.kernels[kernel]
	if !ok {
		panic("gpu: no kernel " + kernel)
	}
	for i, a := range args {
		p, size := argument(a)
		if code := s.f.setKernelArg(k.handle, uint32(i), size, p); code != 0 {
			return openclError(fmt.Sprintf("setting argument %d of %s", i, kernel), code)
		}
	}
	local := uintptr(min(group, k.group))
	global := (uintptr(items) + local - 1) / local * local
	if code := s.f.enqueueNDRangeKernel(s.queue, k.handle, 1, nil, &global, &local, 0, 0, 0); code != 0 {
		return openclError("starting "+kernel, code)
	}
	return openclError("running "+kernel, s.f.finish(s.queue))
}

// close implements session.
func (s *openclSession) close() {
	s.drop()
	if s.queue != 0 {
		s.f.releaseCommandQueue(s.queue)
	}
	s.f.releaseContext(s.context)
}

// openclError is the error of a code of OpenCL; nil for 0.
func openclError(doing string, code int32) error {
	switch code {
	case 0:
		return nil
	case -4, -5, -6, -61: // no memory object, no resources, no memory of the computer, too large a buffer
		return fmt.Errorf("%w: %s (OpenCL's code %d)", ErrMemory, doing, code)
	}
	return fmt.Errorf("%w: %s (OpenCL's code %d)", ErrLost, doing, code)
}
