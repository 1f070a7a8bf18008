// SPDX-License-Identifier: GPL-2.0-only
// Elements, and texts and numbers as they are shown. Texts come from the traced program: they
// reach the document only as text nodes, and what cannot be seen in them is made visible.

function get(id) {
	return document.getElementById(id);
}

// An element with attributes and children (elements or texts).
function make(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
	e.append(...children);
	return e;
}

const HIDDEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f" +
	"\\u2028-\\u202e\\u2060-\\u206f\\ufeff]", "g");

// As in .tsv: \n, \x1b and so on; what has no looks or moves text as its number.
function visible(text) {
	return text.replace(HIDDEN, (c) => {
		const code = c.codePointAt(0);
		if (code < 0x80) return {9: "\\t", 10: "\\n", 13: "\\r"}[code] || "\\x" + code.toString(16).padStart(2, "0");
		return "<U+" + code.toString(16).toUpperCase().padStart(4, "0") + ">";
	});
}

function nameOrNone(text) {
	return text === "" ? "(no name)" : visible(text);
}

// In an element of its own, so that its direction does not leak.
function named(text) {
	return make("bdi", text === "" ? {class: "none"} : {}, nameOrNone(text));
}

// 1234567 or "1234567" or 1234567.8 -> 1,234,567.8
function grouped(number, decimals) {
	const text = typeof number === "string" ? number : number.toFixed(decimals || 0);
	const [whole, rest] = text.split(".");
	return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest === undefined ? "" : "." + rest);
}

function counted(number, one, many) {
	return grouped(number) + " " + (Number(number) === 1 ? one : many);
}

// Nanoseconds for people.
function duration(ns) {
	const units = [[1e9, " s"], [1e6, " ms"], [1e3, " \u00b5s"]];
	const sign = ns < 0 ? "-" : "";
	ns = Math.abs(ns);
	if (ns >= 120e9) {
		const s = Math.round(ns / 1e9), h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60);
		return sign + (h ? h + " h " : "") + m + " min " + s % 60 + " s";
	}
	for (const [size, unit] of units)
		if (ns >= size) return sign + (ns / size).toFixed(3) + unit;
	return sign + Math.round(ns) + " ns";
}

// Nanoseconds since the Unix epoch, a BigInt, in UTC with all digits.
function moment(ns) {
	const date = new Date(Number(ns / 1000000n));
	if (isNaN(date)) return ns.toString() + " ns";
	const seconds = date.toISOString().slice(0, 19).replace("T", " ");
	return seconds + "." + (ns % 1000000000n).toString().padStart(9, "0") + " UTC";
}
