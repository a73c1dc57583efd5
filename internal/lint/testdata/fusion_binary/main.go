// Command fusion_binary hides a fused instruction from whoever reads its source.
package main

func axpy(a, x, y float32) float32

func main() { println(axpy(1, 2, 3)) }
