// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines that compute, talk through channels and share a lock; the garbage collector runs meanwhile.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

func main() {
	results := make(chan int)
	var lock sync.Mutex
	var group sync.WaitGroup
	kept := map[int][]byte{}

	for worker := 0; worker < 8; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			sum := 0
			for i := 0; i < 200000; i++ {
				sum += i % (worker + 1)
			}
			for i := 0; i < 50; i++ {
				lock.Lock()
				kept[worker*50+i] = make([]byte, 10000)
				lock.Unlock()
			}
			results <- sum
		}(worker)
	}
	go func() { group.Wait(); close(results) }()
	total := 0
	for sum := range results {
		total += sum
	}
	runtime.GC()
	fmt.Println(total, len(kept))
}
