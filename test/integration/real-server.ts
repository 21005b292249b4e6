import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assetsOf, findAssets, minorOf } from '../../src/testbed/control-plane/assets.ts';
import { SHORT_PACE } from '../../src/testbed/control-plane/commands.ts';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { hasKubectl } from '../../src/testbed/shipped/kubectl.ts';
import { boundToken } from '../../src/testbed/shipped/bound-token.ts';
import { connect } from '../connection.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../src/manifests/access.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';

/** Whether this machine has a real control plane. */
export const HAS_REAL_SERVER = findAssets(process.env) !== undefined;
/** Whether it can install what ships there. */
export const HAS_KUBECTL = await hasKubectl(tmpdir());
/** For the name of a suite that needs one. */
export const NEEDS_REAL_SERVER = 'needs a real control plane';
export const START_DEADLINE_MS = 150_000;
/** The out-of-service taint is answered from 1.26 on: 1.24 and 1.25 know it behind a feature gate only. */
const OUT_OF_SERVICE_SINCE = 26;
export function knowsOutOfService(): boolean {
  return minorOf(assetsOf(process.env)) >= OUT_OF_SERVICE_SINCE;
}
export const MANAGER = 'system:kube-controller-manager';

/** A real control plane of its own, with users that are known by tokens. */
export class RealServer {
  readonly plane: ControlPlane;
  /** For files of one test; removed with the server. */
  readonly folder: string;
  readonly #tokens: Map<string, string>;

  private constructor(plane: ControlPlane, folder: string, tokens: Map<string, string>) {
    this.plane = plane;
    this.folder = folder;
    this.#tokens = tokens;
  }

  /** `operator`, kube-controller-manager and `masters` may do anything, the fence controller what roles give it, `people` nothing yet. */
  static async start({ masters = [], people = [], audit, isAlone = false }: RealServerOptions = {}): Promise<RealServer> {
    const assets = assetsOf(process.env);
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-integration-'));
    const users = [
      ...['operator', MANAGER, ...masters].map((name) => ({ name, groups: ['system:masters'] })),
      ...people.map((name) => ({ name, groups: [] })),
    ].map((user) => ({ ...user, token: randomBytes(18).toString('base64url') }));
    const plane = await ControlPlane.start({
      assets,
      folder: join(folder, 'control-plane'),
      users,
      ...(isAlone ? {} : { controllerManagerUser: MANAGER }),
      pace: { ...SHORT_PACE, nodeMonitorMs: 500 },
      ...(audit === undefined ? {} : { audit }),
    });
    return new RealServer(plane, folder, new Map(users.map(({ name, token }) => [name, token])));
  }

  get secrets(): string[] {
    return [...this.#tokens.values()];
  }

  transport(user: string): ApiTransport {
    return connect({ server: this.plane.url, caPem: this.plane.caPem, token: this.#token(user) });
  }

  /** Writes a kubeconfig of this user; returns its path. */
  kubeconfig(user: string): string {
    const cluster = { server: this.plane.url, 'certificate-authority-data': Buffer.from(this.plane.caPem).toString('base64') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'real', cluster }],
      users: [{ name: user, user: { token: this.#token(user) } }],
      contexts: [{ name: 'real', context: { cluster: 'real', user } }],
      'current-context': 'real',
    };
    return this.file(`kubeconfig-${user.replaceAll(':', '-')}`, JSON.stringify(config));
  }

  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** From now on the fence controller comes with a token of the ServiceAccount that was installed. */
  async bindController(): Promise<void> {
    this.#tokens.set(CONTROLLER_USER, await boundToken(this.transport('operator'), NAMESPACE, CONTROLLER_ACCOUNT));
  }

  async end(): Promise<void> {
    await this.plane.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #token(user: string): string {
    const token = this.#tokens.get(user);
    if (token === undefined) throw new Error(`no user ${user}: there are ${[...this.#tokens.keys()].join(', ')}`);
    return token;
  }
}

interface RealServerOptions {
  masters?: readonly string[];
  people?: readonly string[];
  audit?: (event: ApiEvent) => void;
  /** Without kube-controller-manager. */
  isAlone?: boolean;
}
