// Prints rows of evonode bench --json as Markdown: node testnet/bench/table.mjs FILE..., one file per run; it
// prints medians. Rows that every kernel has share a line.
import { readFileSync } from "node:fs";

const runs = process.argv.slice(2).map((file) => readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line)));
const median = (values) => values.sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
const rows = runs[0].map(({ name, unit }) => {
	const all = runs.map((run) => run.find((row) => row.name === name)).filter(Boolean);
	const ratio = all[0].ratio === null ? null : median(all.map((row) => row.ratio));
	return { name, unit, value: median(all.map((row) => row.value)), ratio };
});

// The kernels of this computer are those that multiply and add in registers.
const peak = " multiply-add in registers";
const kernels = rows.filter((row) => row.name.endsWith(peak)).map((row) => row.name.slice(0, -peak.length));
const cell = (row) => (row ? `${Number(row.value.toPrecision(3))}${row.ratio === null ? "" : ` (${row.ratio.toFixed(2)})`}` : "");
const line = (cells) => console.log(`| ${cells.join(" | ")} |`);

const byKernel = new Map(); // name without its kernel: kernel: row
const others = [];
for (const row of rows) {
	const kernel = kernels.find((k) => row.name.startsWith(`${k} `));
	if (!kernel) {
		others.push(row);
		continue;
	}
	const name = row.name.slice(kernel.length + 1);
	byKernel.set(name, { ...byKernel.get(name), unit: row.unit, [kernel]: row });
}
if (byKernel.size) {
	line(["value (part of its limit)", "unit", ...kernels]);
	line(["---", "---", ...kernels.map(() => "---")]);
	for (const [name, of] of byKernel) line([name, of.unit, ...kernels.map((k) => cell(of[k]))]);
	console.log();
}
if (others.length) {
	line(["with the fastest kernel", "unit", "value (part of its limit)"]);
	line(["---", "---", "---"]);
	for (const row of others) line([row.name, row.unit, cell(row)]);
}
