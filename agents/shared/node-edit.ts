import { AgentError } from '../../src/ports/agents.ts';
import type { AgentContext, Target } from '../../src/ports/agents.ts';
import { ApiStatusError, TransportError } from '../../src/ports/api-transport.ts';
import type { Node } from '../../src/ports/objects.ts';
import { NODES } from '../../src/ports/resources.ts';

/** Conflicts with kubelet heartbeats are ordinary; each try starts from a fresh GET. */
const ATTEMPTS_MAX = 8;

/** What a merge patch changes; `undefined` when the Node is already as wanted. */
export interface NodePatch {
  annotations?: Readonly<Record<string, string | null>>;
  spec?: Readonly<Record<string, unknown>>;
}

export function nodeError(kind: AgentError['kind'], target: Target, asked: string, answered: string): AgentError {
  return new AgentError(kind, { device: 'Kubernetes API', plug: '', asked: `${asked} Node ${target.identity.node}`, answered });
}

function typed(error: unknown, target: Target, asked: string): unknown {
  if (error instanceof ApiStatusError) {
    const kind = error.status === 429 || error.status >= 500 ? 'Unreachable' : 'Refused';
    return Object.assign(nodeError(kind, target, asked, `${error.status} ${error.reason}: ${error.message}`), { cause: error });
  }
  if (error instanceof TransportError) return nodeError(error.kind === 'timeout' ? 'Timeout' : 'Unreachable', target, asked, error.message);
  return error;
}

/** Reads the Node consistently. A Node that is gone is `Refused`: there is nothing left to do for this method. */
export async function readNode(context: AgentContext, target: Target, asked: string): Promise<Node> {
  return existing(context.cluster.get(NODES, target.identity.node), target, asked);
}

async function existing(read: Promise<Node | undefined>, target: Target, asked: string): Promise<Node> {
  let node: Node | undefined;
  try {
    node = await read;
  } catch (error) {
    throw typed(error, target, asked);
  }
  if (node === undefined) throw nodeError('Refused', target, asked, 'there is no such Node');
  return node;
}

/** The Node as it is stored now: as the API server answered the write, or as it was read where nothing had to be changed. */
export interface Edited {
  node: Node;
  isChanged: boolean;
}

/**
 * Changes a Node by merge patch from a consistent read under its resourceVersion, because taints are an atomic list and others write too. A lost race starts
 * again from a GET, and ends where another Node has the name by then. What the server answers to a write is the object that it stored, after its webhooks:
 * nothing is read a second time (docs/adr/0024).
 */
export async function editNode(context: AgentContext, target: Target, asked: string, plan: (node: Node) => NodePatch | undefined): Promise<Edited> {
  let uid: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const ahead = attempt === 1 ? target.standing : undefined;
    const node = await (ahead === undefined ? readNode(context, target, asked) : existing(ahead, target, asked));
    const { nodeUID } = target.identity;
    if (nodeUID !== undefined && node.metadata.uid !== nodeUID) throw nodeError('NotSent', target, asked, 'another Node has its name');
    if (attempt > 1 && node.metadata.uid !== uid)
      throw nodeError('Refused', target, asked, 'there is no such Node any more: another one has its name');
    uid = node.metadata.uid;
    const patch = plan(node);
    if (patch === undefined) return { node, isChanged: false };
    if (target.signal.aborted) throw nodeError('NotSent', target, asked, 'the call was given up before anything was sent');
    const body = {
      metadata: { resourceVersion: node.metadata.resourceVersion, ...(patch.annotations === undefined ? {} : { annotations: patch.annotations }) },
      ...(patch.spec === undefined ? {} : { spec: patch.spec }),
    };
    try {
      const stored = await context.cluster.mergePatch(NODES, node.metadata.name, body, { beforeSend: () => target.beforeSend() });
      return { node: stored, isChanged: true };
    } catch (error) {
      const conflict = error instanceof ApiStatusError && error.status === 409;
      if (!conflict || attempt >= ATTEMPTS_MAX) throw typed(error, target, asked);
    }
  }
}
