import { EXCHANGE_KEY_SECRET } from '../../domain/node-daemon/controllers.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { ExchangeKeyPairs } from '../../ports/node-daemon.ts';
import type { Secret } from '../../ports/objects.ts';
import { SECRETS } from '../../ports/resources.ts';
import { Conflict } from '../shared/conflict.ts';
import type { Action } from './actions.ts';

/** Whoever sets it to another text than before has the key changed. */
const CHANGE_KEY = 'nodefence.ha.k8s.io/change-key';
/** The text for which it was last changed. */
const CHANGED_FOR = 'nodefence.ha.k8s.io/key-changed-for';
const CURRENT = 'privateKey';
const PREVIOUS = 'previousPrivateKey';

export interface SharedSecretParts {
  cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch'>;
  namespace: string;
  pairs: Pick<ExchangeKeyPairs, 'generate'>;
}

/** What stands there: the private keys, the current one first, and what is to be done about them. */
export interface SecretRead {
  privateKeys: string[];
  action: Extract<Action, { kind: 'make-key' | 'change-key' }> | undefined;
}

/** The Secret of the controllers' key: made by the first leader, read by all. */
export class SharedSecret {
  readonly #parts: SharedSecretParts;
  #secret: Secret | undefined;

  constructor(parts: SharedSecretParts) {
    this.#parts = parts;
  }

  async read(): Promise<SecretRead> {
    const { cluster, namespace } = this.#parts;
    this.#secret = await cluster.get(SECRETS, EXCHANGE_KEY_SECRET, namespace);
    if (this.#secret === undefined) return { privateKeys: [], action: { kind: 'make-key' } };
    const { [CHANGE_KEY]: request = '', [CHANGED_FOR]: done = '' } = this.#secret.metadata.annotations ?? {};
    const privateKeys = [CURRENT, PREVIOUS].map((key) => this.#text(key)).filter((text) => text !== '');
    return { privateKeys, action: request === done ? undefined : { kind: 'change-key', request } };
  }

  /** Rejects with a conflict where another leader was first. */
  async make(): Promise<void> {
    const { cluster, namespace, pairs } = this.#parts;
    const data = { [CURRENT]: btoa(pairs.generate()) };
    await cluster.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: EXCHANGE_KEY_SECRET, namespace }, type: 'Opaque', data });
  }

  /** The current one stays beside the new one: nodes go on with it until they have read of the change. */
  async change(request: string): Promise<void> {
    const { cluster, namespace, pairs } = this.#parts;
    const { uid, resourceVersion } = this.#secret?.metadata ?? {};
    if (resourceVersion === undefined) throw new Conflict('the key is gone that was to be changed');
    const data = { [CURRENT]: btoa(pairs.generate()), [PREVIOUS]: btoa(this.#text(CURRENT)) };
    const patch = { metadata: { uid, resourceVersion, annotations: { [CHANGED_FOR]: request } }, data };
    await cluster.mergePatch(SECRETS, EXCHANGE_KEY_SECRET, patch, { namespace });
  }

  #text(key: string): string {
    return atob(this.#secret?.data?.[key] ?? '');
  }
}
