// The exhaustive search as a check of one core: prints the first broken law that it meets, and how it came to it, as one line of JSON; `null` for none.
import { CORE, WORLDS } from '../laws/plans.ts';
import { search } from '../laws/search.ts';

function firstFault(): { words: string; trail: readonly string[] } | undefined {
  for (const { plan, begin } of [{ plan: CORE, begin: undefined }, ...WORLDS]) {
    const { violations, endless } = search(plan, 1, { isFirstEnough: true, begin });
    for (const [words, trail] of violations) return { words, trail };
    if (endless[0] !== undefined) return { words: 'no end', trail: endless[0] };
  }
  return undefined;
}

process.stdout.write(`${JSON.stringify(firstFault() ?? null)}\n`);
