/** Resolves with the first answer that is not undefined; a scenario that never gets there fails with what was awaited and what stood instead. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>, withinMs = 20_000, otherwise?: () => Promise<string>): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) {
      const stands = otherwise === undefined ? '' : `; instead: ${await otherwise()}`;
      throw new Error(`not within ${withinMs} ms: ${what}${stands}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
