import { describe, expect, it } from 'vitest';

import { AgentError, type Identity } from '../../../src/ports/agents.ts';
import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { Call } from '../call.ts';
import { identityOf, type MachineFacts } from './instance.ts';

const UUID = '42110a1b-2c3d-4e5f-8a9b-0c1d2e3f4a5b';
const SWAPPED = '1b0a1142-3d2c-5f4e-8a9b-0c1d2e3f4a5b';
const OTHER = '99999999-2c3d-4e5f-8a9b-0c1d2e3f4a5b';

function judged(machine: MachineFacts, identity: Partial<Identity> = {}): string {
  const target = { plug: 'x', device: 'cloud', parameters: {}, identity: { node: 'a', ...identity }, beforeSend: () => undefined };
  const call = new Call(new ManualClock(), { ...target, signal: new AbortController().signal, deadlineMs: 1_000 }, 'state');
  try {
    return identityOf(call, { id: 'x', state: 'on', detail: '', machine });
  } catch (error) {
    return error instanceof AgentError ? `${error.kind}: ${error.facts.answered}` : String(error);
  } finally {
    call.release();
  }
}

describe('whose machine an instance is', () => {
  it.each<[string, MachineFacts, Partial<Identity>, RegExp]>([
    ['an id that is never given again', { providerID: 'same' }, {}, /^verified$/u],
    ['a name alone, which another may bear by now', { providerID: 'named' }, {}, /^unverified$/u],
    ['a name with one of its addresses', { providerID: 'named', addresses: ['10.0.0.1', 'FD00::1'] }, { addresses: ['fd00::1'] }, /^verified$/u],
    ['an address alone', { providerID: 'unknown', addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.1'] }, /^unverified$/u],
    ['its UUID', { providerID: 'unknown', uuid: UUID.toUpperCase() }, { systemUUID: UUID }, /^verified$/u],
    ['its UUID in the other byte order', { providerID: 'unknown', uuid: SWAPPED }, { systemUUID: UUID }, /^verified$/u],
    ['nothing that is known', { providerID: 'unknown' }, {}, /^unverified$/u],
    ['another providerID', { providerID: 'other' }, { providerID: 'aws:///z/i-1' }, /^Misconfigured: x is another machine: .*aws:\/\/\/z\/i-1/u],
    ['the same id and another UUID', { providerID: 'same', uuid: OTHER }, { systemUUID: UUID }, /^Misconfigured: .*its UUID is 99999999/u],
    [
      'the same id and other addresses',
      { providerID: 'same', addresses: ['10.0.0.9'] },
      { addresses: ['10.0.0.1'] },
      /^Misconfigured: .*its addresses are 10\.0\.0\.9/u,
    ],
    ['a UUID that names no machine', { providerID: 'named', uuid: '00000000-0000-0000-0000-000000000000' }, { systemUUID: UUID }, /^unverified$/u],
  ])('by %s', (_name, machine, identity, expected) => {
    expect(judged(machine, identity)).toMatch(expected);
  });
});
