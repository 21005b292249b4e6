import type { AgentError } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';

/** No usable response. `isSent`: the request left, so whether the device acted on it is not known. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  readonly kind: 'unreachable' | 'untrusted' | 'forbidden' | 'ended' | 'oversize';
  readonly isSent: boolean;
  /** A kept connection that the device had closed meanwhile: a GET may be asked again. */
  readonly isStale: boolean;
  constructor(kind: ExchangeError['kind'], message: string, isSent: boolean, isStale: boolean) {
    super(message);
    this.kind = kind;
    this.isSent = isSent;
    this.isStale = isStale;
  }

  /** As the contract names it. */
  typed(call: Call): AgentError {
    if (this.kind === 'ended') return call.endedError();
    if (this.kind === 'forbidden') return call.error('Misconfigured', this.message);
    if (this.kind === 'untrusted') {
      return call.error(
        'Misconfigured',
        `${this.message}: give the right ca or ssl_fingerprint (nodefence probe ADDRESS --show-fingerprint shows what it has), or mend the certificate of the device`,
      );
    }
    return call.error('Unreachable', this.message);
  }
}
