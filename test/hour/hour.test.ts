import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectlMinor } from '../installation/cluster.ts';
import { actsOf, lasting } from './page.ts';
import { played, REPLAYED } from './play.ts';
import type { Played } from './play.ts';
import { Site } from './site.ts';

const pageOf = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'docs', name), 'utf8');
const START_MS = 240_000;

describe('the acts of a page', () => {
  it('are its commands with what they said, its files, and what happens unseen', () => {
    const page = '# x\n\n```yaml\n# a.yaml\nkind: A\n```\n\n<!-- hour: panic a -->\n\n```console\n$ one  # 1.5 s\nsaid\n\nmore\n$ two\n```\n';
    expect(actsOf(page)).toEqual([
      { kind: 'file', name: 'a.yaml', text: '# a.yaml\nkind: A\n' },
      { kind: 'event', words: ['panic', 'a'] },
      { kind: 'command', command: 'one', said: 'said\n\nmore', line: 10 },
      { kind: 'command', command: 'two', said: '', line: 14 },
    ]);
  });

  it('are compared without what passes, and with everything else', () => {
    expect(lasting('since 03:34:00Z (28s ago)  x')).toBe(lasting('since 04:11:59Z (1m2s ago) x'));
    expect(lasting('3 nodes, 0 errors')).not.toBe(lasting('3 nodes, 1 error'));
    expect(lasting('isolated')).not.toBe(lasting('fenced'));
  });
});

describe.each([
  ['first-hour.md', 30],
  ['upgrade-transcript.md', 6],
])('docs/%s', (name, least) => {
  const page = pageOf(name);

  it('shows no folder of the machine on which it was played', () => {
    expect(page).not.toMatch(/\/(?:tmp|root|home|work)\//u);
  });

  it('was played to its end: every command has its wall time', () => {
    const commands = page.split('\n').filter((line) => line.startsWith('$ '));
    expect(commands.length).toBeGreaterThan(least);
    expect(commands.filter((line) => !/ {2}# [\d.]+ s$/u.test(line))).toEqual([]);
  });
});

describe.runIf(kubectlMinor() >= 30)('docs/first-hour.md, replayed on the embedded API server until the controller starts', () => {
  const site = new Site('embedded');
  const all = actsOf(pageOf('first-hour.md'));
  const acts = all.slice(
    0,
    all.findIndex((act) => act.kind === 'event' && act.words[0] === REPLAYED),
  );
  let answers: Played['answers'] = [];
  beforeAll(async () => {
    await site.start();
    ({ answers } = await played(site, acts));
  }, START_MS);
  afterAll(() => site.stop(), 60_000);

  it.each(acts.flatMap((act) => (act.kind === 'command' ? [act.command] : [])).map((command, place) => [place, command] as const))(
    '%i: %s says what stands there',
    (place) => {
      const { act, answer } = answers[place] ?? expect.fail('it was not played');
      expect(lasting(answer.said)).toBe(lasting(act.said));
    },
  );

  it('an earlier commit beside it has the program of that commit, in a terminal of its own too', async () => {
    await site.happen(['checkout', 'before', 'HEAD']);
    site.write('before/src/main.ts', "console.log('the earlier one');\n");
    expect(await site.run('cd before && nodefence help')).toMatchObject({ said: 'the earlier one\n' });
    expect(await site.begin('older', 'cd before && nodefence controller', 'the earlier one')).toMatchObject({ said: 'the earlier one\n' });
    await site.end('older');
    expect(await site.run('nodefence help')).toMatchObject({ said: expect.stringContaining('run the fence controller') as string });
  });
});
