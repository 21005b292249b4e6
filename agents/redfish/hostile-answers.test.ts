import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Implications } from '../../src/domain/testing/implications.ts';
import { advertised } from './action.ts';
import { checkIdentity } from './identity.ts';
import { powerState } from './resource-view.ts';
import { RESET_ACTION, resetType } from './reset.ts';
import { deviceMessage, isObject, linkPath, plain } from './words.ts';

/** JSON in which the names that the agent looks for turn up in the wrong places with the wrong types. */
const hostile = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(null, true, 0, -1, 1e308, '', 'On', 'Off', 'off', 'ForceOff', '/redfish/v1', 'http://[', '\u0000', '__proto__'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        'Actions',
        '#ComputerSystem.Reset',
        'target',
        'ResetType@Redfish.AllowableValues',
        '@Redfish.ActionInfo',
        '@odata.id',
        'error',
        '@Message.ExtendedInfo',
        'Message',
        'MessageId',
        'message',
        'code',
        'PowerState',
        'UUID',
        '__proto__',
      ),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;

/** A system that offers a reset at whatever place. */
const resetting = hostile.map((target) => ({
  Actions: { '#ComputerSystem.Reset': { target, 'ResetType@Redfish.AllowableValues': ['On', 'ForceOff'] } },
}));

describe('whatever a device answers', () => {
  it('is off only by the exact token', () => {
    const offs = fc.oneof(hostile, fc.string(), fc.constant('Off'));
    fc.assert(
      fc.property(offs, (token) => {
        expect(powerState(token) === 'off').toBe(token === 'Off');
      }),
    );
  });

  it('never crashes what reads it', () => {
    fc.assert(
      fc.property(hostile, (body) => {
        expect(deviceMessage(body, ['secret']).length).toBeLessThanOrEqual(300);
        expect(checkIdentity(body, '38947555-7742-3448-3784-823347823834').kind).not.toBe('verified');
      }),
      { numRuns: 2_000 },
    );
  });

  it('makes no other action of a reset than an off, at a path on the same device', () => {
    const laws = new Implications('has an action');
    fc.assert(
      fc.property(fc.oneof(hostile.filter(isObject), resetting), (body) => {
        const action = advertised(body, RESET_ACTION, 'ResetType');
        expect(['ForceOff', undefined]).toContain(resetType(action?.allowed, 'off'));
        laws.where('has an action', action, ({ target }) => expect(target).toMatch(/^\//));
      }),
      { numRuns: 2_000 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('leads to a path on the same device or nowhere', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.webUrl(), fc.string()), (link) => {
        expect(linkPath(link) ?? '/').toMatch(/^\//);
      }),
    );
    for (const elsewhere of ['mailto:@evil.example/', 'data:x', 'javascript:@evil.example']) expect(linkPath(elsewhere)).toBeUndefined();
    expect(linkPath('//evil.example/redfish/v1/Systems/1')).toBe('/redfish/v1/Systems/1');
    expect(linkPath({ '@odata.id': 'https://evil.example:8443/x?y=1#z' })).toBe('/x?y=1');
  });

  it('is shown without its secrets and without control characters', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const shown = plain(`${before}hunter2hunter2${after}`, ['hunter2hunter2']);
        expect(shown).not.toContain('hunter2hunter2');
        expect(shown).toMatch(/^[^\p{C}]*$/u);
      }),
    );
  });
});
