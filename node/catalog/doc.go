// Package catalog shows what there is to train with: environments and strategies.
package catalog
