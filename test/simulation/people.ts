import { LEADER_LEASE } from '../../src/manager/composition.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { ApiClient } from '../../src/kube/client.ts';
import type { Node } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import type { ForeignMark, Word } from './scenario.ts';

const FOREIGN = 'somebody.example/works-here';

/** What people do by the API, each at one instant and without fault: only their timing is bad. */
export class People {
  readonly #admin: ApiClient;
  #words = 0;

  constructor(admin: ApiClient) {
    this.#admin = admin;
  }

  /** Returns what takes the stop away again. Two stops of one seed may overlap; the second says nothing new. */
  async stop(node: string | undefined): Promise<() => Promise<unknown>> {
    const name = node === undefined ? 'by-hand' : `by-hand-${node}`;
    const scope = node === undefined ? { all: true } : { node };
    if ((await this.#admin.get(NODE_FENCE_STOPS, name)) === undefined) {
      await this.#admin.create(NODE_FENCE_STOPS, { metadata: { name }, spec: { ...scope, reason: 'somebody works on it' } });
    }
    return () => this.#admin.remove(NODE_FENCE_STOPS, name);
  }

  deleteFence(node: string): Promise<unknown> {
    return this.#admin.remove(NODE_FENCES, fenceName(node));
  }

  /** By force: nothing of it is undone. */
  async removeFence(node: string): Promise<void> {
    if ((await this.#admin.get(NODE_FENCES, fenceName(node))) === undefined) return;
    await this.#admin.mergePatch(NODE_FENCES, fenceName(node), { metadata: { finalizers: null } });
    await this.#admin.remove(NODE_FENCES, fenceName(node));
  }

  deleteLease(): Promise<unknown> {
    return this.#admin.remove(LEASES, LEADER_LEASE, { namespace: FENCE_NAMESPACE });
  }

  deleteNode(node: string): Promise<unknown> {
    return this.#admin.remove(NODES, node);
  }

  /** Says that the node is down, of the fence as it stands now; without one there is nothing to speak of. */
  async acknowledge(node: string, word: Word): Promise<void> {
    const fence = await this.#admin.get(NODE_FENCES, fenceName(node));
    const status = fence?.status as Partial<NodeFenceStatus> | undefined;
    const uid = fence?.metadata.uid;
    if (status?.incident === undefined || uid === undefined) return;
    const { incident } = status;
    this.#words += 1;
    const bootID = status.frozen?.bootID;
    await this.#admin.create(NODE_FENCE_ACKNOWLEDGEMENTS, {
      metadata: { name: `word-${this.#words}` },
      spec: {
        node,
        nodeFenceUID: word === 'wrong-uid' ? '00000000-0000-4000-8000-000000000000' : uid,
        incident: word === 'wrong-incident' ? incident + 1 : incident,
        ...(word === 'wrong-boot' ? { bootID: 'another-boot' } : bootID === undefined ? {} : { bootID }),
        reason: `${word}, says the simulation`,
      },
    });
  }

  /** Before a machine is touched again what was said of it is taken back; `false`: its workload is just being let go on that word. */
  async takeBack(node: string): Promise<boolean> {
    for (const { metadata, spec } of await this.#admin.list(NODE_FENCE_ACKNOWLEDGEMENTS)) {
      if (spec.node === node) await this.#admin.remove(NODE_FENCE_ACKNOWLEDGEMENTS, metadata.name);
    }
    const status = (await this.#admin.get(NODE_FENCES, fenceName(node)))?.status as Partial<NodeFenceStatus> | undefined;
    const isOpen =
      status?.journal?.some(({ action, finishedAt }) => finishedAt === undefined && (action === 'acknowledge' || action === 'release')) === true;
    const counts = status?.evidence?.some(({ kind, voidedAt }) => kind === 'ack' && voidedAt === undefined) === true;
    const isLetGo = status?.released !== undefined || status?.state !== 'running';
    return !isOpen && (!counts || isLetGo);
  }

  /** Sets a mark of its own on a Node. Returns what takes it away again. */
  async mark(node: string, mark: ForeignMark): Promise<() => Promise<unknown>> {
    await this.#patch(node, (stored) => marked(stored, mark, true));
    return () => this.#patch(node, (stored) => marked(stored, mark, false));
  }

  async #patch(name: string, change: (node: Node) => object): Promise<void> {
    const node = await this.#admin.get(NODES, name);
    if (node !== undefined) await this.#admin.mergePatch(NODES, name, change(node));
  }
}

/** Taints are an atomic list: it is written whole, from a read of the same instant. */
function marked(node: Node, mark: ForeignMark, isSet: boolean): object {
  switch (mark) {
    case 'annotation':
      return { metadata: { annotations: { [FOREIGN]: isSet ? 'yes' : null } } };
    case 'cordon':
      return { spec: { unschedulable: isSet ? true : null } };
    case 'taint': {
      const others = (node.spec.taints ?? []).filter(({ key }) => key !== FOREIGN);
      return { spec: { taints: isSet ? [...others, { key: FOREIGN, value: 'yes', effect: 'NoSchedule' }] : others } };
    }
  }
}
