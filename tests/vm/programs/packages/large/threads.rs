// SPDX-License-Identifier: GPL-2.0-or-later
// Threads, channels, and a panic that a join reports.
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::new(Mutex::new(0u64));
    for part in 0..4u64 {
        let sender = sender.clone();
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let sum: u64 = (part * 10000..(part + 1) * 10000).sum();
            *shared.lock().unwrap() += 1;
            sender.send(sum).unwrap();
        });
    }
    drop(sender);
    let total: u64 = receiver.iter().sum();
    let failed = thread::spawn(|| std::panic::resume_unwind(Box::new(1))).join().is_err();
    println!("{} {} {}", total, *shared.lock().unwrap(), failed);
}
