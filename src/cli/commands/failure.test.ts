import { describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import { CommandFailure, EXIT, failureOf } from './failure.ts';

const AT = '10.0.0.1:6443';

function words(error: unknown): string {
  return failureOf(error, AT).words;
}

describe('what a person is told when a command fails', () => {
  it('names the missing right of a 403 and the binding that gives it, for the cluster', () => {
    const message = 'list nodes: nodes is forbidden: User "olga" cannot list resource "nodes" in API group "" at the cluster scope';
    expect(words(new ApiStatusError(403, 'Forbidden', message))).toBe(
      `you lack the right to list nodes (API server ${AT}). Ask an administrator to bind nodefence-operator to you: kubectl create clusterrolebinding NAME --clusterrole=nodefence-operator --user=YOU. The server said: ${message}`,
    );
  });

  it('names the role of those who preserve where a Node or a Machine is patched', () => {
    const message =
      'patch machines/m1: machines "m1" is forbidden: User "olga" cannot patch resource "machines/status" in API group "machine.sapcloud.io" in the namespace "shoot"';
    expect(words(new ApiStatusError(403, 'Forbidden', message))).toContain(
      'kubectl create clusterrolebinding NAME --clusterrole=nodefence-preserver --user=YOU',
    );
  });

  it('and for a namespace', () => {
    const message =
      'list configmaps: configmaps is forbidden: User "olga" cannot list resource "configmaps" in API group "" in the namespace "nodefence-system"';
    expect(words(new ApiStatusError(403, 'Forbidden', message))).toContain(
      'the right to list configmaps in namespace nodefence-system (API server 10.0.0.1:6443). Ask an administrator to bind nodefence-operator to you: kubectl -n nodefence-system create rolebinding NAME --role=nodefence-operator --user=YOU',
    );
  });

  it('says what to do without credentials, without definitions, and without an answer', () => {
    expect(words(new ApiStatusError(401, 'Unauthorized', 'list nodes: Unauthorized'))).toContain('log in again, or name another --context');
    expect(words(new ApiStatusError(404, 'NotFound', 'list nodefencestops: 404 page not found'))).toContain('kubectl apply -k config/crd');
    expect(words(new TransportError('unreachable', 'connect ECONNREFUSED'))).toBe(
      `no answer (API server ${AT}): connect ECONNREFUSED. Check the address in the kubeconfig, the network and --context`,
    );
  });

  it('obeys no control character of a server, and keeps its own exit codes', () => {
    expect(words(new ApiStatusError(500, 'InternalError', 'oops \u001b[2J'))).toContain('oops \\x1b[2J');
    expect(failureOf(new Error('x'), undefined)).toEqual({ words: 'x', exitCode: EXIT.failed });
    expect(failureOf(new CommandFailure('held', EXIT.held), AT)).toEqual({ words: 'held', exitCode: 3 });
  });
});
