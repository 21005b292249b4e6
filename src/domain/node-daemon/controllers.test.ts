import { describe, expect, it } from 'vitest';

import { attestationName, nodeAttestedBy } from './attestation.ts';
import { controllersData, parseControllers } from './controllers.ts';

const KEY = 'A'.repeat(43);
const TOLD = { publicKeys: [KEY, 'b'.repeat(43)], addresses: ['192.0.2.7:7411', '[2001:db8::7]:7411'] };

describe('what nodes are told of the controllers', () => {
  it('is read as it was written, in its order', () => {
    expect(parseControllers(controllersData(TOLD))).toEqual(TOLD);
  });

  it.each([
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
