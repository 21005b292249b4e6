import { describe, expect, it } from 'vitest';
import { transportFailure } from './transport-failure.ts';

describe('a broken connection in words', () => {
  it('does not recommend a flag that this program has not', () => {
    const words = 'self-signed certificate in certificate chain; if the root CA is installed locally, try running Node.js with --use-system-ca';
    const { message } = transportFailure('GET /version', 'api:6443', Object.assign(new Error(words), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }));
    expect(message).toBe(
      'GET /version: api:6443: self-signed certificate in certificate chain (SELF_SIGNED_CERT_IN_CHAIN); is certificate-authority of the kubeconfig the one that signed this server?',
    );
  });
});
