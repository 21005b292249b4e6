import { TransportError } from '../../ports/api-transport.ts';

/** Codes of a certificate that does not match what we trust. */
const CERTIFICATE_CODES = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH)/;

/** One of both ends does not trust the other, or what it was shown has expired: what stands in files may be newer. */
export function isOfTrust(error: Error): boolean {
  const code = codeOf(error);
  return CERTIFICATE_CODES.test(code) || code.startsWith('ERR_SSL');
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** What Node says about a broken connection, as a typed error with the address and a remedy. */
export function transportFailure(what: string, address: string, error: Error): TransportError {
  if (error instanceof TransportError) {
    return error;
  }
  const code = codeOf(error);
  // Node recommends a flag of its own, which is none of ours.
  const message = error.message.replace(/; if the root CA is installed locally, try running Node\.js with --use-system-ca\.?$/, '');
  const failure = `${what}: ${address}: ${message || code}`;
  if (CERTIFICATE_CODES.test(code)) {
    return new TransportError('unreachable', `${failure} (${code}); is certificate-authority of the kubeconfig the one that signed this server?`);
  }
  if (code.startsWith('HPE_')) {
    return new TransportError('garbled', `${failure} (${code}); is this really a Kubernetes API server?`);
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return new TransportError('unreachable', `${failure}; does the server speak TLS at this address?`);
  }
  return new TransportError('unreachable', code === '' || failure.includes(code) ? failure : `${failure} (${code})`);
}
