import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(`${ROOT}test/traps/README.md`, 'utf8');
const TRAPS = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`: '))
  .map((line) => line.replace(/^\| | *\|$/g, '').split(' | '))
  .map(([trap = '', held = '']) => ({ trap: trap.trim(), held: held.trim().split('<br>') }));

describe('the traps that others fell into', () => {
  it.each(TRAPS)('$trap: what holds us back is there', ({ held }) => {
    for (const reference of held) {
      const [, path = '', words = ''] = /^`([^`]+)`: (.+)$/.exec(reference) ?? [];
      expect(readFileSync(ROOT + path, 'utf8'), `${path} no longer has: ${words}`).toContain(words);
    }
  });

  it('are all on the page', () => {
    expect(TRAPS.length).toBeGreaterThanOrEqual(19);
  });
});
