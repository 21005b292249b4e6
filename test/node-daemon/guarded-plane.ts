import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { findAssets, minorOf } from '../../src/testbed/control-plane/assets.ts';
import { SHORT_PACE } from '../../src/testbed/control-plane/commands.ts';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import type { TokenUser } from '../../src/testbed/control-plane/control-plane.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { connect } from '../connection.ts';

const assets = findAssets(process.env, ['etcd', 'kube-apiserver']);
/** ValidatingAdmissionPolicy is v1 from here on. */
const GUARDED_SINCE = 30;
export const CAN_BE_GUARDED = assets !== undefined && minorOf(assets) >= GUARDED_SINCE;
/** The minor version of Kubernetes that is there; 0: none is. */
export function assetsMinor(): number {
  return assets === undefined ? 0 : minorOf(assets);
}
export const NAMESPACE = 'nodefence-system';
/** The account of daemons, by a token of which nothing is known. */
export const UNKNOWN_DAEMON: TokenUser = { name: `system:serviceaccount:${NAMESPACE}:nodefence-node`, groups: [], token: randomUUID() };
/** None is a daemon's account, though each has a part of its name; they may do everything. */
export const NO_DAEMONS: readonly TokenUser[] = ['corp:nodefence-node', 'system:serviceaccount:default:other'].map((name) => ({
  name,
  groups: ['system:masters'],
  token: randomUUID(),
}));

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export interface Answer {
  status: number;
  body: {
    message?: string;
    metadata?: { name: string; uid: string; annotations?: Record<string, string> };
    spec?: { taints?: object[] };
    status?: { token?: string; conditions?: { type: string; status: string }[] };
  };
}

export async function call(
  transport: HttpsTransport,
  method: Method,
  path: string,
  body?: object,
  patchType = 'application/merge-patch+json',
): Promise<Answer> {
  const contentType = method === 'PATCH' ? { contentType: patchType } : {};
  return (await transport.request({ method, path, deadlineMs: 10_000, ...(body === undefined ? {} : { body }), ...contentType })) as Answer;
}

function podOn(node: string): object {
  const spec = { nodeName: node, serviceAccountName: 'nodefence-node', containers: [{ name: 'daemon', image: 'nodefence' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `daemon-${node}`, namespace: NAMESPACE }, spec };
}

/** A real API server with what is shipped for node daemons, and two nodes. */
export class GuardedPlane {
  readonly admin: HttpsTransport;
  readonly kubelet: HttpsTransport;
  readonly #plane: ControlPlane;
  readonly #folder: string;

  private constructor(plane: ControlPlane, folder: string, tokens: { admin: string; kubelet: string }) {
    this.#plane = plane;
    this.#folder = folder;
    this.admin = this.as(tokens.admin);
    this.kubelet = this.as(tokens.kubelet);
  }

  static async start(shipped: Parameters<typeof sendShipped>[1], people: readonly TokenUser[] = []): Promise<GuardedPlane> {
    const folder = mkdtempSync(join(tmpdir(), 'node-daemon-'));
    const tokens = { admin: randomUUID(), kubelet: randomUUID() };
    const users = [
      { name: 'admin', groups: ['system:masters'], token: tokens.admin },
      { name: 'system:node:worker-1', groups: ['system:nodes'], token: tokens.kubelet },
      ...people,
    ];
    const started = await ControlPlane.start({ assets: assets ?? '', folder, users, pace: SHORT_PACE, guardsNodes: true });
    const plane = new GuardedPlane(started, folder, tokens);
    await call(plane.admin, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    await sendShipped(plane.admin, shipped);
    for (const name of ['worker-1', 'worker-2']) await plane.made('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    return plane;
  }

  as(token: string): HttpsTransport {
    return connect({ server: this.#plane.url, caPem: this.#plane.caPem, token });
  }

  /** Of whoever has the token in that file. */
  kubeconfigWith(tokenFile: string): string {
    const cluster = { server: this.#plane.url, 'certificate-authority-data': Buffer.from(this.#plane.caPem).toString('base64') };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'plane', cluster }],
      users: [{ name: 'node', user: { tokenFile } }],
      contexts: [{ name: 'node', context: { cluster: 'plane', user: 'node' } }],
      'current-context': 'node',
    });
  }

  async made(path: string, object: object): Promise<Answer> {
    const answer = await call(this.admin, 'POST', path, object);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body.message ?? ''}`);
    return answer;
  }

  /** A token as the kubelet mounts it into the daemon's pod, or as an admin asks for one for systemd; without a node one that any program may have asked for. */
  async tokenFor(kind?: 'Node' | 'Pod', node = ''): Promise<string> {
    if (kind === 'Pod') await this.made(`/api/v1/namespaces/${NAMESPACE}/pods`, podOn(node));
    const found = kind === 'Pod' ? `/api/v1/namespaces/${NAMESPACE}/pods/daemon-${node}` : `/api/v1/nodes/${node}`;
    const { name, uid } = (await call(this.admin, 'GET', found)).body.metadata ?? { name: '', uid: '' };
    const bound = kind === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind, name, uid } };
    const spec = { audiences: ['https://control-plane.drill'], expirationSeconds: 3_600, ...bound };
    const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/nodefence-node/token`;
    const { body } = await this.made(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
    return body.status?.token ?? '';
  }

  /** Roles and policies take effect a moment after they are written. */
  async until(isSo: () => Promise<boolean>, what: string): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) {
      if (await isSo()) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(what);
  }

  async stop(): Promise<void> {
    await this.#plane.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
