import { expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { RefusedWatches } from './refused-watches.ts';
import type { Watched } from './refused-watches.ts';

const SECOND_MS = 1_000;

it('a kind that may not be watched stands in the status with what gives the right, until it is watched; one that is not answered does not', async () => {
  const clock = new ManualClock({ wallMs: 0 });
  const said: Record<string, readonly string[]> = {};
  const refusal = new ApiStatusError(403, 'Forbidden', 'no');
  const watch = (name: string, lastError: Error, synced = false): Watched => ({ name, lister: { synced }, lastError });
  let watches = [
    watch('baremetalhosts.metal3.io', refusal),
    watch('baremetalhosts.metal3.io', refusal),
    watch('nodes', new TransportError('unreachable', 'away')),
    watch('pods', refusal, true),
  ];
  const refused = new RefusedWatches({
    clock,
    watches: () => watches,
    namespace: 'nodefence-system',
    say: (topic, words) => void (said[topic] = words),
  });
  refused.start();
  await clock.advance(29 * SECOND_MS);
  expect(said).toEqual({});
  await clock.advance(2 * SECOND_MS);
  expect(said['watches']).toEqual([
    'baremetalhosts.metal3.io can not be watched, and what is decided from them waits: no (mend it: kubectl apply -k config/machine-remediation, or kubectl apply -k config/metal3-remediation)',
  ]);
  watches = watches.map(({ name, lastError }) => watch(name, lastError ?? refusal, true));
  await clock.advance(30 * SECOND_MS);
  expect(said['watches']).toEqual([]);
  refused.close();
  watches = [watch('nodes', refusal)];
  await clock.advance(60 * SECOND_MS);
  expect(said['watches']).toEqual([]);
});
