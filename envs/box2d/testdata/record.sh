#!/bin/sh
# Records what the C++ engine computes in the scenes of record.cpp: ./record.sh > scenes.txt
#
# The source is the one inside the PyPI package box2d-py 2.3.8; its folder Box2D is file for file that of Box2D 2.3.2 and of
# pybox2d's repository at release 2.3.10 (for which there is no source package). It is built for plain x86-64, without
# fused multiply-add; glibc's own choice of a sinf with it is switched off too.
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-/tmp/box2d-record}
mkdir -p "$work"
cd "$work"
if [ ! -d src ]; then
	python3 -m venv v
	v/bin/pip -q install setuptools==80.9.0 swig==4.3.1 >&2
	PATH=$work/v/bin:$PATH v/bin/pip -q download --no-binary :all: --no-deps --no-build-isolation box2d-py==2.3.8 >&2
	tar xf box2d-py-2.3.8.tar.gz
	mkdir src
	cp -r box2d-py-2.3.8/Box2D src/
	# Without it an assertion needs Python.
	sed -i 's/^#define USE_EXCEPTIONS/\/\/&/' src/Box2D/Common/b2Settings.h
fi
if [ ! -f libbox2d.a ]; then
	for f in $(find src/Box2D -name '*.cpp'); do
		g++ -O2 -ffp-contract=off -w -Isrc -c "$f" -o "$(basename "$f" .cpp).o"
	done
	ar rcs libbox2d.a b2*.o
fi
g++ -O2 -ffp-contract=off -w -Isrc "$here/record.cpp" libbox2d.a -o record
GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 ./record "$@"
