/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses constructors before main, iostream, exceptions and thread_local. */
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

struct shape {
	virtual ~shape() = default;
};

struct circle : shape {
};

static std::map<std::string, int> made_before_main{ { "one", 1 }, { "two", 2 } };
static thread_local std::string of_this_thread = "tls";
static int destroyed;

struct guard {
	~guard()
	{
		destroyed++;
	}
};

static void throw_from(int depth)
{
	guard here;

	if (depth == 0)
		throw std::out_of_range("from the depth");
	throw_from(depth - 1);
}

int main()
{
	shape plain;

	try {
		throw_from(10);
	} catch (const std::logic_error &error) {
		std::cout << error.what() << ", " << destroyed << " destroyed\n";
	}
	try {
		dynamic_cast<circle &>(plain);
	} catch (const std::bad_cast &) {
		std::cout << "bad cast\n";
	}
	try {
		std::vector<char> all(1UL << 45);
	} catch (const std::bad_alloc &) {
		std::cout << "bad alloc\n";
	}
	for (std::string word; std::cin >> word;)
		std::cout << word << " " << made_before_main[word] << std::endl;
	std::ostringstream number;
	number << std::hex << 255 << " " << of_this_thread;
	std::cout << number.str() << "\n";
	return 0;
}
