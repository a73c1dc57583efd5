module github.com/multiformats/go-multicodec

go 1.26.0
