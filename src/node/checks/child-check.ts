import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CheckFound, CheckName } from '../../ports/node-checks.ts';
import { whyNothing } from './children.ts';
import type { Children } from './children.ts';
import { unknown } from './verdict.ts';

/** Compiled, it has the other extension. */
const CHILD = fileURLToPath(new URL(`./check-child${extname(import.meta.url)}`, import.meta.url));
const SENTENCE_MAX = 1_000;

/** What a check of files finds, in a process of its own. */
export async function checkInChild(
  children: Pick<Children, 'run'>,
  [name, ...parameters]: readonly [CheckName, ...string[]],
  deadlineMs: number,
): Promise<CheckFound> {
  const result = await children.run(`check ${name}`, process.execPath, [CHILD, name, ...parameters], deadlineMs);
  const why = whyNothing('check', result);
  const found = result.kind === 'ended' ? foundIn(result.output) : undefined;
  return found ?? unknown(why ?? 'the check ended without a word');
}

/** Undefined: nothing that a check says. */
function foundIn(output: string): CheckFound | undefined {
  try {
    const found = JSON.parse(output) as CheckFound;
    const isWhole = ['ok', 'problem', 'unknown'].includes(found.health) && typeof found.sentence === 'string';
    return isWhole && found.sentence.length <= SENTENCE_MAX ? found : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
