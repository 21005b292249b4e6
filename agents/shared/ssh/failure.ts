import type { AgentError } from '../../../src/ports/agents.ts';
import type { Call, CallTarget } from '../call.ts';

/**
 * No usable answer. `untrusted`: the host is not the one that the configuration trusts. `misconfigured`: a parameter
 * cannot be used. `refused`: it denied the login or a command.
 * `unreachable`: everything else, as far as the call is not over.
 */
export class SshFailure extends Error {
  override readonly name = 'SshFailure';
  readonly kind: 'untrusted' | 'misconfigured' | 'refused' | 'unreachable';
  constructor(kind: SshFailure['kind'], message: string) {
    super(message);
    this.kind = kind;
  }

  /** As the contract names it. */
  typed(call: Call<CallTarget>): AgentError {
    if (this.kind === 'untrusted')
      return call.error('Misconfigured', `not trusted: ${this.message}: mend known_hosts or host_key_fingerprint, or find out whose key that is`);
    if (this.kind === 'misconfigured') return call.error('Misconfigured', this.message);
    return call.error(this.kind === 'refused' ? 'Refused' : 'Unreachable', this.message);
  }
}
