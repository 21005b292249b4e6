import { AgentError } from '../../ports/agents.ts';
import type { Cluster, WriteOptions } from '../../ports/cluster.ts';
import { Conflict } from './conflict.ts';

/**
 * The one place in which a controller ties its writes to the right to write: `ask` throws where it is lost, and is called in the turn in which the bytes
 * leave, after all reads and waits before it, ahead of what a write asks for itself. One and the same cluster stays one and the same.
 */
export function gatedWrites(ask: () => void): (cluster: Cluster) => Cluster {
  const known = new WeakMap<Cluster, Cluster>();
  return (cluster) => {
    const gated = known.get(cluster) ?? gatedCluster(cluster, ask);
    known.set(cluster, gated);
    return gated;
  };
}

/** A write that is held back counts as a conflict: whoever may write decides it again. */
export function conflictUnless(mayWrite: () => boolean): () => void {
  return () => {
    if (!mayWrite()) throw new Conflict('this replica may not write any more: nothing was sent');
  };
}

/** The same for what a fence writes: a run that is held back so was not sent, which is no failure of its step (P5). */
export function notSentUnless(mayWrite: () => boolean): () => void {
  return () => {
    if (mayWrite()) return;
    throw new AgentError('NotSent', { device: 'Kubernetes API', plug: '', asked: 'write', answered: 'the leader lease is not valid any more' });
  };
}

function gatedCluster(cluster: Cluster, ask: () => void): Cluster {
  const tied = <O extends WriteOptions>(options: O | undefined): O & WriteOptions => {
    const beforeSend = (): void => {
      ask();
      options?.beforeSend?.();
    };
    return { ...(options as O), beforeSend };
  };
  const podLog = cluster.podLog?.bind(cluster);
  return {
    get: (resource, name, namespace) => cluster.get(resource, name, namespace),
    list: (resource, options) => cluster.list(resource, options),
    create: (resource, object, options) => cluster.create(resource, object, tied(options)),
    replace: (resource, object, options) => cluster.replace(resource, object, tied(options)),
    replaceStatus: (resource, object, options) => cluster.replaceStatus(resource, object, tied(options)),
    mergePatch: (resource, name, patch, options) => cluster.mergePatch(resource, name, patch, tied(options)),
    remove: (resource, name, options) => cluster.remove(resource, name, tied(options)),
    evict: (name, namespace, options) => cluster.evict(name, namespace, tied(options)),
    ...(podLog !== undefined && { podLog }),
  };
}
