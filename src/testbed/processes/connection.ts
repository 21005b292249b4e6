import type { ApiTransport } from '../../ports/api-transport.ts';
import { HttpsWire } from '../wire/https-wire.ts';
import type { WireEnd } from '../wire/https-wire.ts';

/** The wire from a process of the test bed to its API server. */
export function connect(end: WireEnd): ApiTransport {
  return new HttpsWire(end);
}
