import { describe, expect, it } from 'vitest';

import { attestationName, nodeAttestedBy } from './attestation.ts';
import { controllersData, parseControllers } from './controllers.ts';

const KEY = 'A'.repeat(43);
const TOLD = {
  publicKeys: [KEY, 'b'.repeat(43)],
  addresses: ['192.0.2.7:7411', '[2001:db8::7]:7411'],
  times: { isolationTimeoutMs: 60_000, grantMs: 5_500 },
};

describe('what nodes are told of the controllers', () => {
  it('is read as it was written, in its order', () => {
    expect(parseControllers(controllersData(TOLD))).toEqual(TOLD);
  });

  it('has no times where the controllers know of none', () => {
    const { times: _, ...data } = controllersData(TOLD);
    expect(parseControllers(data)).toEqual({ ...TOLD, times: {} });
  });

  it('has times that a newer controller knows, and this daemon does not', () => {
    expect(parseControllers({ ...controllersData(TOLD), times: 'nap_time=1000ms\nreset_time=8000ms' })?.times).toEqual({ resetTimeMs: 8_000 });
  });

  it.each([
    ['a time that is none', { ...controllersData(TOLD), times: 'isolation_timeout=soon' }],
    ['a time that is too short', { ...controllersData(TOLD), times: 'isolation_timeout=29999ms' }],
    ['nothing', undefined],
    ['no address', { 'public-keys': KEY, addresses: '' }],
    ['no key', { addresses: '192.0.2.7:7411' }],
    ['half a key', { 'public-keys': KEY.slice(1), addresses: '192.0.2.7:7411' }],
    ['an address without a port', { 'public-keys': KEY, addresses: '192.0.2.7' }],
    ['more replicas than anybody has', { 'public-keys': KEY, addresses: Array.from({ length: 17 }, (_, index) => `192.0.2.${index}:1`).join('\n') }],
  ])('is not read where it is %s', (_what, data) => {
    expect(parseControllers(data)).toBeUndefined();
  });
});

describe('the Lease of an attestation', () => {
  it('is none of the controllers’, whatever the node is called', () => {
    for (const node of ['controller', 'candidates', 'worker-1']) {
      expect(['nodefence-controller', 'nodefence-candidates']).not.toContain(attestationName(node));
      expect(nodeAttestedBy(attestationName(node))).toBe(node);
    }
    for (const other of ['nodefence-controller', 'nodefence-candidates', 'nodefence-node-']) expect(nodeAttestedBy(other)).toBeUndefined();
  });
});
