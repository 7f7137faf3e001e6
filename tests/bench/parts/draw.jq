# SPDX-License-Identifier: GPL-2.0-or-later
# Draws a bench's kept file as SVG: `include "draw"; draw(picture)`. `picture` is an array of charts, made of the
# file by parts/BENCH/picture.jq: {title, unit, groups: [{name, bars: [{name, value}]}]}. The goals follow them.

def escaped: gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub(">"; "&gt;");
def rounded: . * 10 | round / 10;
def shown: if . >= 1000 or . == floor then round else (. * 1000 | round / 1000) end | tostring;
def text($x; $y; $how): "<text x=\"\($x | rounded)\" y=\"\($y | rounded)\"\($how)>\(escaped)</text>";
def bar($x; $y; $width; $colour):
	"<rect x=\"\($x | rounded)\" y=\"\($y | rounded)\" width=\"\($width | rounded)\" height=\"11\" fill=\"\($colour)\"/>";

# Texts end where bars begin.
def begin: 520;
def room: 300;
def row: 15;
def colours: ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee"];

# Bars of one colour are of one opponent, and lengths are logarithms, because paths differ by thousands.
def chart($y): . as $chart
	| ([.groups[].bars[].value | select(. != null and . > 0)]) as $values
	| ($values | min / 2 | log) as $least
	| (($values | max | log) - $least) as $decades
	| ([.groups[].bars[].name] | unique) as $names
	| {at: ($y + 2 * row), lines: [.title + ", " + .unit + ", logarithmic" | text(10; $y + row; " font-weight=\"bold\"")]}
	| reduce $chart.groups[] as $group (.;
		.at as $at
		| .lines += [$group.name | text(10; $at + 10; "")] + [$group.bars | to_entries[]
			| ($at + .key * row) as $here
			| (if .value.value == null then 0 else ([.value.value | log, $least] | max - $least) / $decades * room end) as $width
			| (.value.name as $name | $names | index($name)) as $colour
			| (.value.name | text(begin - 8; $here + 10; " text-anchor=\"end\"")),
			  bar(begin; $here; $width; colours[$colour % 5]),
			  (.value.value | if . == null then "not measured" else shown end | text(begin + $width + 5; $here + 10; ""))]
		| .at += ($group.bars | length) * row + 5);

# A goal's line is in the middle; a bar that is twice as long as its goal, or longer, ends at the edge.
def goals($y): .result.goals as $goals
	| {at: ($y + 2 * row), lines: ["goals: each at its line, blue where it holds" | text(10; $y + row; " font-weight=\"bold\"")]}
	| .at as $top
	| reduce $goals[] as $goal (.;
		(if $goal.value == null then 0 elif $goal.goal == 0 then (if $goal.value == 0 then 0 else 2 end)
			else [$goal.value / $goal.goal, 2] | min | if . < 0 then 0 else . end end) as $by
		| .at as $here
		| .lines += [($goal.name | text(begin - 8; $here + 10; " text-anchor=\"end\"")),
			bar(begin; $here; $by * room / 2; if $goal.holds then colours[0] else colours[1] end),
			("\($goal.value // $goal.why // "not measured")  (\(if $goal.op == "<=" then "at most" else "at least" end) \($goal.goal))"
				| text(begin + room + 5; $here + 10; ""))]
		| .at += row)
	| .lines += ["<line x1=\"\(begin + room / 2)\" x2=\"\(begin + room / 2)\" y1=\"\($top)\" y2=\"\(.at)\" stroke=\"black\"/>"];

def draw(picture): . as $file
	# Figures that could not be computed leave the goals.
	| (if .result then [try picture[] catch empty] else [] end) as $charts
	| {at: 30, lines: ["\(.bench): \(.tree), \(.date[:10]), \(.host.cpu)" | text(10; 18; " font-weight=\"bold\"")]}
	| reduce ($charts[], null) as $chart (.;
		.at as $at
		| (if $chart then $chart | try chart($at)
				catch {at: ($at + row), lines: ["\($chart.title): not measured" | text(10; $at + row; "")]}
			elif $file.result then $file | goals($at)
			else {at: ($at + row), lines: [$file.failed | text(10; $at + 10; "")]} end) as $more
		| {at: ($more.at + 10), lines: (.lines + $more.lines)})
	| "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"\(.at)\" font-family=\"sans-serif\" font-size=\"11\">",
	  "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>", .lines[], "</svg>";
