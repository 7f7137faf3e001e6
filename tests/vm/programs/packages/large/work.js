// SPDX-License-Identifier: GPL-2.0-or-later
// Worker threads, the thread pool (files, compression, hashes) and a child process.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

if (!isMainThread) {
	let sum = 0;
	for (let i = 0; i < 100000; i++)
		sum += i % workerData;
	parentPort.postMessage(sum);
} else {
	const crypto = require('crypto'), zlib = require('zlib'), { execFile } = require('child_process');
	const worker = n => new Promise(done => new Worker(__filename, { workerData: n }).on('message', done));
	Promise.all([
		worker(3), worker(7),
		new Promise(done => crypto.pbkdf2('a', 'b', 100, 16, 'sha256', (e, key) => done(key.toString('hex')))),
		new Promise(done => zlib.gzip('x'.repeat(5000), (e, data) => done(data.length))),
		new Promise(done => execFile('echo', ['child'], (e, out) => done(out.trim()))),
	]).then(all => console.log(all.join(' ')));
}
