import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { QUIRKS, quirkOf } from './quirks.ts';
import { resetType } from './reset.ts';
import { retryAfterMs } from './retry-after.ts';

function fixture(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${path}`, import.meta.url), 'utf8'));
}

describe('a vendor', () => {
  it.each([
    ['dell/system.json', 'Dell'],
    ['lenovo/system.json', 'Lenovo'],
    ['dmtf/system.json', undefined],
  ])('is known by its own capture (%s)', (path, vendor) => {
    expect(quirkOf(fixture(path))?.vendor).toBe(vendor);
  });

  it.each([
    [{ Manufacturer: 'HPE' }, 'HPE'],
    [{ Oem: { Hpe: {} } }, 'HPE'],
    [{ Manufacturer: 'Cray Inc.', Model: 'EX235a' }, 'HPE Cray'],
    [{ Manufacturer: 'HPE', Model: 'EX235a' }, 'HPE Cray'],
    [{ Manufacturer: 'Supermicro' }, 'Supermicro'],
    [{ Vendor: 'Supermicro', '@odata.id': '/redfish/v1/' }, 'Supermicro'],
    [{ Manufacturer: 'Cisco Systems Inc' }, 'Cisco'],
    [{ Manufacturer: 'FUJITSU' }, 'Fujitsu'],
    [{ '@odata.id': '/redfish/v1/Systems/system' }, 'OpenBMC'],
    [{ Manufacturer: 'Sushy Emulator' }, 'sushy-tools'],
    [{ Manufacturer: 'Shop of Phper' }, undefined],
    [{}, undefined],
    [null, undefined],
    [{ Manufacturer: 7, Oem: [] }, undefined],
  ])('is %o: %s', (resource, vendor) => {
    expect(quirkOf(resource)?.vendor).toBe(vendor);
  });

  it('is named once, and gives no word that asks, toggles or restarts', () => {
    expect(new Set(QUIRKS.map(({ vendor }) => vendor)).size).toBe(QUIRKS.length);
    const words = QUIRKS.flatMap(({ resetTypes }) => Object.values(resetTypes ?? {}).flat());
    expect(words).toEqual(['Off']);
  });

  it('whose Chassis is known to show On for ever says what is known, and where from', () => {
    const known = QUIRKS.flatMap(({ vendor, chassisPower }) => (chassisPower === undefined ? [] : [{ vendor, ...chassisPower }]));
    expect(known.map(({ vendor }) => vendor)).toEqual(['HPE', 'OpenBMC', 'sushy-tools']);
    for (const { known: words, source } of known) expect([words.length, source.length].every((length) => length > 20)).toBe(true);
  });

  it('of Cray may say Off where it lists no ForceOff; nobody else may', () => {
    const cray = quirkOf({ Model: 'EX235a' });
    expect(resetType(['On', 'ForceOff', 'Off'], 'off', cray)).toBe('ForceOff');
    expect(resetType(['On', 'Off'], 'off', cray)).toBe('Off');
    expect(resetType(['On', 'Off'], 'off')).toBeUndefined();
    expect(resetType(['On', 'GracefulShutdown'], 'off', cray)).toBeUndefined();
    expect(resetType(undefined, 'off', cray)).toBe('ForceOff');
    expect(resetType(['On', 'ForceOff'], 'nmi', cray)).toBeUndefined();
    expect(resetType(['On', 'ForceOff', 'Nmi'], 'nmi')).toBe('Nmi');
  });
});

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7_000],
    ['-1', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of %j is %j ms', (header, waitMs) => {
    expect(retryAfterMs(header, new ManualClock())).toBe(waitMs);
  });

  it('may be a date, and one that is over is now', () => {
    const clock = new ManualClock();
    const inMs = (offsetMs: number): string => new Date(Math.ceil(clock.wallMs() / 1_000) * 1_000 + offsetMs).toUTCString();
    const waitMs = retryAfterMs(inMs(5_000), clock) ?? -1;
    expect(waitMs).toBeGreaterThanOrEqual(5_000);
    expect(waitMs).toBeLessThanOrEqual(6_000);
    expect(retryAfterMs(inMs(-60_000), clock)).toBe(0);
  });
});
