import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAULTS } from './names.ts';

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

describe('the table of faults in the README', () => {
  it('names every fault that can be played, and no other', () => {
    const [, table = ''] = /\| `--fault` +\|[^\n]*\n(.*?)\n\n/s.exec(README) ?? [];
    const named = [...table.matchAll(/^\| `([a-z0-9-]+)`/gm)].map(([, name = '']) => name);
    expect(named.sort()).toEqual([...FAULTS].sort());
  });
});
