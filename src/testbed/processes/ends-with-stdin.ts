// Loaded with --import into a program that does not read stdin itself: it ends with the drill that started it, even when that was killed.
process.stdin.on('error', () => process.exit(1));
process.stdin.on('close', () => process.exit(1));
process.stdin.resume();
