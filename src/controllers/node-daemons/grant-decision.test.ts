import { describe, expect, it } from 'vitest';

import { decideGrant } from './grant-decision.ts';
import type { GrantInputs } from './grant-decision.ts';

const SOUND: GrantInputs = {
  mayGrant: true,
  knowsEndings: true,
  bootID: 'boot-1',
  attestedBootID: 'boot-1',
  isSealedByAttestedKey: true,
  isEnded: false,
};

describe('the answer to a heartbeat', () => {
  it.each<[string, Partial<GrantInputs>, ReturnType<typeof decideGrant>]>([
    ['from the leader', {}, 'grant'],
    ['from whoever does not lead', { mayGrant: false }, 'silence'],
    ['before all endings have been read', { knowsEndings: false }, 'silence'],
    ['for a boot that nobody attests', { attestedBootID: undefined }, 'silence'],
    ['for another boot than the attested one', { bootID: 'boot-0' }, 'silence'],
    ['of a node that says no boot', { bootID: undefined, attestedBootID: undefined }, 'silence'],
    ['under another key than the attested one', { isSealedByAttestedKey: false }, 'silence'],
    ['for a boot whose grants were ended', { isEnded: true }, 'refusal'],
    ['for an ended boot, though not all endings are known', { isEnded: true, knowsEndings: false }, 'refusal'],
    ['for an ended boot, by whoever does not lead', { isEnded: true, mayGrant: false }, 'silence'],
    ['for an ended boot, under another key', { isEnded: true, isSealedByAttestedKey: false }, 'silence'],
  ])('%s', (_, inputs, answer) => {
    expect(decideGrant({ ...SOUND, ...inputs })).toBe(answer);
  });
});
