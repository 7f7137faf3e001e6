// SPDX-License-Identifier: GPL-2.0-or-later
// Threads, futures and an exception that crosses a thread.
#include <future>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

int main()
{
	std::vector<std::future<long>> parts;
	long sum = 0;

	for (int part = 0; part < 3; part++)
		parts.push_back(std::async(std::launch::async, [part] {
			std::vector<long> numbers(10000);
			std::iota(numbers.begin(), numbers.end(), part * 10000L);
			return std::accumulate(numbers.begin(), numbers.end(), 0L);
		}));
	for (auto &part : parts)
		sum += part.get();
	auto thrown =
		std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); });
	try {
		thrown.get();
	} catch (const std::exception &error) {
		std::cout << sum << " " << error.what() << "\n";
	}
	return 0;
}
