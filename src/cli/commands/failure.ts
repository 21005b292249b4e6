import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import { FENCER_ROLE, OPERATOR_ROLE } from '../../manifests/operator-access.ts';
import { PRESERVER_ROLE } from '../../manifests/preservation-access.ts';
import { harmless } from './terminal/text.ts';

/** What a command's exit code says. */
export const EXIT = { done: 0, failed: 1, usage: 2, held: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure in words for the person at the terminal: what, where, what to do. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One paragraph for whatever went wrong, and the exit code. */
export function failureOf(error: unknown, server: string | undefined): { words: string; exitCode: ExitCode } {
  if (error instanceof CommandFailure) return { words: error.message, exitCode: error.exitCode };
  return { words: messageOf(error, server === undefined ? '' : ` (API server ${server})`), exitCode: EXIT.failed };
}

function messageOf(error: unknown, at: string): string {
  if (error instanceof ApiStatusError) {
    const message = harmless(error.message);
    if (error.status === 401)
      return `the API server does not accept your credentials${at}: log in again, or name another --context. It said: ${message}`;
    if (error.status === 403) return forbidden(message, at);
    if (error.status === 404 && message.includes('nodefence'))
      return `this cluster does not know nodefence's objects${at}: install the definitions with kubectl apply -k config/crd. It said: ${message}`;
    return `${message}${at}`;
  }
  if (error instanceof TransportError)
    return `no answer${at}: ${harmless(error.message)}. Check the address in the kubeconfig, the network and --context`;
  return harmless(error instanceof Error ? error.message : String(error));
}

/** What an administrator has to run, for a right in one namespace. */
export function roleBindingFor(namespace: string, role = OPERATOR_ROLE): string {
  return `kubectl -n ${namespace} create rolebinding NAME --role=${role} --user=YOU`;
}

function forbidden(message: string, at: string): string {
  const { verb, resource, namespace } =
    /cannot (?<verb>\w+) resource "(?<resource>[^"]+)".*?(?:in the namespace "(?<namespace>[^"]+)")?$/u.exec(message)?.groups ?? {};
  const missing =
    verb === undefined ? 'a right' : `the right to ${verb} ${resource ?? ''}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
  // Of what people do, only preserving patches these.
  const isPreserving = verb === 'patch' && /^(?:nodes|machines)(?:\/|$)/u.test(resource ?? '');
  const isAcknowledging = verb === 'create' && resource === 'nodefenceacknowledgements';
  const role = isPreserving ? PRESERVER_ROLE : isAcknowledging ? FENCER_ROLE : OPERATOR_ROLE;
  const binding =
    namespace === undefined || isPreserving
      ? `kubectl create clusterrolebinding NAME --clusterrole=${role} --user=YOU`
      : roleBindingFor(namespace, role);
  return `you lack ${missing}${at}. Ask an administrator to bind ${role} to you: ${binding}. The server said: ${message}`;
}
