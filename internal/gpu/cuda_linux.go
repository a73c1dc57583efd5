//go:build (amd64 || arm64) && !nogpu

package gpu

import (
	"fmt"
	"runtime"
	"unsafe"
)

// cudaDriver is NVIDIA's driver, by its own interface: it compiles PTX, so no toolkit is needed.
type cudaDriver struct{ functions cudaFunctions }

// cudaFunctions are the driver's functions, as in cuda.h. Those with a suffix are the versions for 64-bit addresses.
type cudaFunctions struct {
	start              func(flags uint32) int32
	driverVersion      func(version *int32) int32
	deviceCount        func(count *int32) int32
	device             func(device *int32, number int32) int32
	deviceName         func(name *byte, size int32, device int32) int32
	deviceMemory       func(size *uintptr, device int32) int32
	deviceAttribute    func(value *int32, what int32, device int32) int32
	contextRetain      func(context *uintptr, device int32) int32
	contextRelease     func(device int32) int32
	contextSet         func(context uintptr) int32
	contextSynchronize func() int32
	moduleLoad         func(module *uintptr, image unsafe.Pointer, n uint32, options *int32, values *uintptr) int32
	moduleUnload       func(module uintptr) int32
	moduleFunction     func(function *uintptr, module uintptr, name *byte) int32
	functionAttribute  func(value *int32, what int32, function uintptr) int32
	functionSet        func(function uintptr, what, value int32) int32
	memAlloc           func(address *uintptr, size uintptr) int32
	memFree            func(address uintptr) int32
	copyToDevice       func(address uintptr, data unsafe.Pointer, size uintptr) int32
	copyFromDevice     func(data unsafe.Pointer, address, size uintptr) int32
	launch             func(function uintptr, gridX, gridY, gridZ, blockX, blockY, blockZ, shared uint32, stream uintptr, params *unsafe.Pointer, extra uintptr) int32
}

// table names the functions.
func (f *cudaFunctions) table() map[string]any {
	return map[string]any{
		"cuInit": &f.start, "cuDriverGetVersion": &f.driverVersion,
		"cuDeviceGetCount": &f.deviceCount, "cuDeviceGet": &f.device, "cuDeviceGetName": &f.deviceName,
		"cuDeviceTotalMem_v2": &f.deviceMemory, "cuDeviceGetAttribute": &f.deviceAttribute,
		"cuDevicePrimaryCtxRetain": &f.contextRetain, "cuDevicePrimaryCtxRelease": &f.contextRelease,
		"cuCtxSetCurrent": &f.contextSet, "cuCtxSynchronize": &f.contextSynchronize,
		"cuModuleLoadDataEx": &f.moduleLoad, "cuModuleUnload": &f.moduleUnload, "cuModuleGetFunction": &f.moduleFunction,
		"cuFuncGetAttribute": &f.functionAttribute, "cuFuncSetAttribute": &f.functionSet,
		"cuMemAlloc_v2": &f.memAlloc, "cuMemFree_v2": &f.memFree,
		"cuMemcpyHtoD_v2": &f.copyToDevice, "cuMemcpyDtoH_v2": &f.copyFromDevice,
		"cuLaunchKernel": &f.launch,
	}
}

// Numbers of cuda.h.
const (
	cudaUnits         = 16
	cudaMajor         = 75
	cudaMinor         = 76
	cudaGroupMax      = 0  // of a function
	cudaLocalMax      = 97 // of a group
	cudaLocalAll      = 81 // of a processor
	cudaLocalAllowed  = 8  // of a function
	cudaLocalShare    = 9  // of a function, in percent of what local memory and first cache are together
	cudaRegisters     = 0
	cudaErrorLog      = 5
	cudaErrorLogSize  = 6
	cudaMinVersion    = 10000 // of the driver: 10.0, which knows PTX 6.3
	cudaMinCapability = 70    // what the committed PTX is made for
)

// devices implements driver.
func (d *cudaDriver) devices() ([]Info, error) {
	lib, err := openLibrary("CUDA", "libcuda.so.1", "libcuda.so")
	if err != nil {
		return nil, err
	}
	f := &d.functions
	if err := lib.bind(f.table()); err != nil {
		return nil, err
	}
	if code := f.start(0); code != 0 {
		return nil, fmt.Errorf("%w: NVIDIA's driver does not start (CUDA's code %d); the CPU's cores compute", ErrNoDriver, code)
	}
	var version, count int32
	if code := f.driverVersion(&version); code != 0 || version < cudaMinVersion {
		return nil, fmt.Errorf("%w: NVIDIA's driver is for CUDA %d.%d, and 10.0 is needed; the CPU's cores compute", ErrOld, version/1000, version%1000/10)
	}
	if code := f.deviceCount(&count); code != 0 || count <= 0 {
		return nil, fmt.Errorf("%w: NVIDIA's driver has no device; the CPU's cores compute", ErrNoDriver)
	}
	var found []Info
	for number := range min(count, maxDevices) {
		found = append(found, d.describe(number, version))
	}
	return found, nil
}

// describe asks a device what it is and whether it is fit.
func (d *cudaDriver) describe(number, version int32) Info {
	f := &d.functions
	info := Info{Name: "?", Kind: CUDA, Vendor: "NVIDIA", Driver: fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)}
	var device int32
	if code := f.device(&device, number); code != 0 {
		info.Err = cudaError("finding the device", code)
		return info
	}
	attribute := func(what int32) (value int32) {
		f.deviceAttribute(&value, what, device)
		return value
	}
	name := make([]byte, maxText)
	f.deviceName(&name[0], maxText, device)
	var memory uintptr
	f.deviceMemory(&memory, device)
	info.Name, info.Units = text(name), int(max(min(attribute(cudaUnits), 1<<20), 0))
	info.Memory = int64(min(uint64(memory), 1<<50))
	info.Largest, info.Local = info.Memory, int(max(min(attribute(cudaLocalMax), 1<<20), 0))
	if major, minor := attribute(cudaMajor), attribute(cudaMinor); major*10+minor < cudaMinCapability {
		info.Err = fmt.Errorf("%w: its compute capability is %d.%d, and 7.0 is needed; the CPU's cores compute", ErrUnfit, major, minor)
	}
	info.open = func() (session, error) { return openCUDA(f, device, info.Local, int(attribute(cudaLocalAll))) }
	return info
}

// cudaSession is a CUDA device in use.
type cudaSession struct {
	f         *cudaFunctions
	device    int32
	local     int32 // memory that a group may have [bytes]
	all       int   // that the groups of a processor may have
	context   uintptr
	module    uintptr
	functions map[string]*cudaFunction
}

type cudaFunction struct {
	handle uintptr
	group  int // the largest
	share  int // what its groups are to have of a processor's memory [percent]
}

// cudaGroups are the groups for which a processor should have local memory at a time; what is left is its first cache.
const cudaGroups = 16

func openCUDA(f *cudaFunctions, device int32, local, all int) (session, error) {
	s := &cudaSession{f: f, device: device, local: int32(local), all: max(all, 1)}
	if code := f.contextRetain(&s.context, device); code != 0 {
		return nil, cudaError("opening the device", code)
	}
	return s, nil
}

// in runs do with the device's context, which belongs to a thread.
func (s *cudaSession) in(doing string, do func() int32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := s.f.contextSet(s.context); code != 0 {
		return cudaError(doing, code)
	}
	return cudaError(doing, do())
}

// build implements session. The driver has a cache of its own.
func (s *cudaSession) build(p program) error {
	s.drop()
	image, log := append([]byte(p.ptx()), 0), make([]byte, maxLog)
	options, values := []int32{cudaErrorLog, cudaErrorLogSize}, []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	if p.registers > 0 {
		options, values = append(options, cudaRegisters), append(values, uintptr(p.registers))
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&log[0])
	err := s.in("taking program "+p.name, func() int32 {
		return s.f.moduleLoad(&s.module, unsafe.Pointer(&image[0]), uint32(len(options)), &options[0], &values[0])
	})
	if err != nil {
		s.module = 0
		return fmt.Errorf("%w: %w: %s", ErrProgram, err, firstLines(log))
	}
	s.functions = map[string]*cudaFunction{}
	for _, name := range p.kernels {
		c := append([]byte(name), 0)
		function := new(cudaFunction)
		var group int32
		err := s.in("finding kernel "+name, func() int32 {
			if code := s.f.moduleFunction(&function.handle, s.module, &c[0]); code != 0 {
				return code
			}
			if code := s.f.functionSet(function.handle, cudaLocalAllowed, s.local); code != 0 {
				return code
			}
			return s.f.functionAttribute(&group, cudaGroupMax, function.handle)
		})
		if err != nil {
			return fmt.Errorf("%w: %w", ErrProgram, err)
		}
		function.group = int(max(min(group, 1024), 1))
		s.functions[name] = function
	}
	return nil
}

// drop unloads the program.
func (s *cudaSession) drop() {
	s.functions = nil
	if s.module != 0 {
		s.in("unloading a program", func() int32 { return s.f.moduleUnload(s.module) })
		s.module = 0
	}
}

// alloc implements session.
func (s *cudaSession) alloc(n int) (buffer, error) {
	var address uintptr
	err := s.in(fmt.Sprintf("reserving %d bytes", n), func() int32 { return s.f.memAlloc(&address, uintptr(max(n, 1))) })
	return buffer(address), err
}

// free implements session.
func (s *cudaSession) free(b buffer) {
	s.in("freeing memory", func() int32 { return s.f.memFree(uintptr(b)) })
}

// write implements session.
func (s *cudaSession) write(b buffer, at int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return s.in("copying to the device", func() int32 {
		return s.f.copyToDevice(uintptr(b)+uintptr(at), unsafe.Pointer(&data[0]), uintptr(len(data)))
	})
}

// read implements session.
func (s *cudaSession) read(b buffer, at int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return s.in("copying from the device", func() int32 {
		return s.f.copyFromDevice(unsafe.Pointer(&data[0]), uintptr(b)+uintptr(at), uintptr(len(data)))
	})
}

// group implements session.
func (s *cudaSession) group(kernel string) int { return s.functions[kernel].group }

// run implements session.
func (s *cudaSession) run(kernel string, items, group int, args ...any) error {
	k, ok := s.functions[kernel]
	if !ok {
		panic("gpu: no kernel " + kernel)
	}
	var params []unsafe.Pointer
	var pins runtime.Pinner
	defer pins.Unpin()
	shared := 0
	for _, a := range args {
		if size, ok := a.(local); ok {
			shared += int(size)
			continue
		}
		at, _ := argument(a)
		pins.Pin(at)
		params = append(params, at)
	}
	block := min(group, k.group)
	grid := (items + block - 1) / block
	share := min(100, (100*cudaGroups*shared+s.all-1)/s.all)
	return s.in("running "+kernel, func() int32 {
		if share != k.share {
			if code := s.f.functionSet(k.handle, cudaLocalShare, int32(share)); code != 0 {
				return code
			}
			k.share = share
		}
		if code := s.f.launch(k.handle, uint32(grid), 1, 1, uint32(block), 1, 1, uint32(shared), 0, unsafe.SliceData(params), 0); code != 0 {
			return code
		}
		return s.f.contextSynchronize()
	})
}

// close implements session.
func (s *cudaSession) close() {
	s.drop()
	s.f.contextRelease(s.device)
}

// cudaError is the error of a code of CUDA; nil for 0.
func cudaError(doing string, code int32) error {
	switch code {
	case 0:
		return nil
	case 2: // out of memory
		return fmt.Errorf("%w: %s (CUDA's code %d)", ErrMemory, doing, code)
	}
	return fmt.Errorf("%w: %s (CUDA's code %d)", ErrLost, doing, code)
}
