import type { Json } from '../apiserver/json.ts';
import type { ApiServer } from '../apiserver/server.ts';

/** A write that costs no connection: `POST` of an object to the path of its collection. */
export interface Write {
  path: string;
  body: Json;
}

const TICK_MS = 20;

/** What a bench asks of the process of the API server itself, so that its own requests are no load. */
export class Load {
  readonly #server: ApiServer;
  readonly #user: string;
  #renewal: NodeJS.Timeout | undefined;

  constructor(server: ApiServer, user: string) {
    this.#server = server;
    this.#user = user;
  }

  create(writes: readonly Write[]): void {
    for (const { path, body } of writes) this.#send('POST', path, body, undefined);
  }

  /** Leases of these nodes are renewed in turn, so many a second; none: no longer. */
  renew(nodes: readonly string[], perSecond: number): void {
    clearInterval(this.#renewal);
    if (nodes.length === 0) return;
    const beganMs = performance.now();
    let renewed = 0;
    this.#renewal = setInterval(() => {
      const due = ((performance.now() - beganMs) * perSecond) / 1_000;
      for (; renewed < due; renewed += 1) {
        const renewTime = new Date().toISOString().replace('Z', '000Z');
        const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodes[renewed % nodes.length] ?? ''}`;
        this.#send('PATCH', path, { spec: { renewTime } }, 'application/merge-patch+json');
      }
    }, TICK_MS);
  }

  #send(method: string, path: string, body: Json, contentType: string | undefined): void {
    const user = this.#server.userByName(this.#user);
    const { status, body: answer } = this.#server.handle({ method, path, query: {}, user, body, contentType });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer).slice(0, 500)}`);
  }
}
