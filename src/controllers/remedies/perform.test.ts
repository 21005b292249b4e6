import { describe, expect, it } from 'vitest';
import { aThreshold } from '../../domain/remedy/testing/thresholds.ts';
import type { RemedyPosition, RemedyRun } from '../../domain/remedy/position.ts';
import { Performer } from './perform.ts';
import type { PerformDependencies } from './perform.ts';
import { Stages } from './stages.ts';

/** Whether it counts right when its bytes leave. */
async function begun(of: RemedyRun['of']): Promise<string | undefined> {
  const stages = new Stages();
  let seen: string | undefined;
  const kind = {
    begin: (_context: unknown, mayBegin: () => void) => {
      mayBegin();
      seen = stages.all.get('a')?.kind;
      return Promise.resolve();
    },
  };
  const quiet = (): void => undefined;
  const given = { stages, runs: { of: () => kind }, clock: { monotonicMs: () => 7 }, log: { info: quiet } } as unknown as PerformDependencies;
  const threshold = aThreshold();
  const run: RemedyRun = { id: 'e-1-1-1', remedy: 'first', kind: 'podTemplate', of };
  const position = { threshold: threshold.id, episode: 'e', phase: 'starting', run } as unknown as RemedyPosition;
  const use = threshold.remedies[0];
  const found = { node: { metadata: { name: 'a' } }, contexts: new Map([[run.id, { run, position, use, threshold }]]) } as never;
  const action = { kind: 'act', threshold: threshold.id, action: { kind: 'begin', run, use } } as never;
  await new Performer(given).perform(action, found, {} as never, { demand: quiet } as never);
  return seen;
}

describe('what is carried out', () => {
  it('counts a remedy in the turn in which it begins', async () => {
    expect(await begun(1)).toBe('begun');
  });

  it('counts no recovery: it takes nothing from anybody', async () => {
    expect(await begun('recovery')).toBeUndefined();
  });
});
