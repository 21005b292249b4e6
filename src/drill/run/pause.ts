export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Asks until there is an answer; resolves with it, or with undefined after `deadlineMs`. */
export async function firstAnswer<T>(ask: () => T | undefined | Promise<T | undefined>, deadlineMs: number, everyMs: number): Promise<T | undefined> {
  const untilMs = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() >= untilMs) return answer;
    await pause(everyMs);
  }
}
