import { expect, it } from 'vitest';
import type { Lease } from '../ports/objects.ts';
import { ElectorHarness, held } from './testing/elector-harness.ts';

it('a candidate counts a renewal that a watch showed from then on, and what is older or of another Lease not at all', async () => {
  const harness = new ElectorHarness();
  const { clock, server } = harness;
  server.set(held('t1'));
  const elector = harness.build('a');
  await clock.advance(500);
  server.set(held('t2'));
  const { metadata, spec } = server.lease as Lease;
  elector.saw({ metadata, spec });
  await clock.advance(10_000);
  elector.saw({ metadata: { ...metadata, uid: 'another' }, spec: held('t3') });
  elector.saw({ metadata: { ...metadata, resourceVersion: '1' }, spec: held('t1') });
  await clock.advance(4_999);
  expect(elector.isLeading).toBe(false);
  await clock.advance(1);
  expect(elector.isLeading).toBe(true);
});
