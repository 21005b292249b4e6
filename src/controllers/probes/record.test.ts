import { describe, expect, it } from 'vitest';
import { method } from '../../domain/testing/model.ts';
import { firstExpiry, withEntry } from './record.ts';

describe('the report of a node with several plugs', () => {
  const entry = (plug: string, path: 'working' | 'broken') => ({
    agent: 'pdu',
    device: 'pdu-1',
    plug,
    methods: ['off'],
    path,
    since: '2027-01-01T00:00:00Z',
  });
  const paths = ['1', '2'].map((plug) => ({ method: method('off', 'pdu', 'off', { device: 'pdu-1', plug }) }));

  it('is not well while one of them cannot be used', () => {
    const first = withEntry({}, { ...entry('1', 'broken'), message: 'no answer' }, paths, '2027-01-01T00:00:00Z');
    const both = withEntry(first, entry('2', 'working'), paths, '2027-01-01T00:00:01Z');
    expect(both.conditions).toMatchObject([{ type: 'FencePathsWorking', status: 'False', message: 'pdu pdu-1 plug 1: no answer' }]);
    expect(withEntry(both, entry('1', 'working'), paths, '2027-01-01T00:00:02Z').conditions).toMatchObject([{ status: 'True' }]);
  });
});

describe('a certificate and a credential', () => {
  const [early, late] = ['2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z'];

  it('end with the first of both', () => {
    const told = { latencyMs: 1 };
    expect(firstExpiry({ ...told, certificateExpiresAt: late, credentialExpiresAt: early })).toBe(Date.parse(early));
    expect(firstExpiry({ ...told, certificateExpiresAt: early, credentialExpiresAt: late })).toBe(Date.parse(early));
    expect(firstExpiry({ ...told, certificateExpiresAt: late, credentialExpiresAt: 'soon' })).toBe(Date.parse(late));
    expect(firstExpiry(told)).toBeUndefined();
  });
});
