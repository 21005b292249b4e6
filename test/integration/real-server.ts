import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ASSETS_VARIABLE, assetsOf, HOW_TO_GET_ASSETS } from '../../src/drill/control-plane/assets.ts';
import { SHORT_PACE } from '../../src/drill/control-plane/commands.ts';
import { ControlPlane } from '../../src/drill/control-plane/control-plane.ts';
import type { ApiEvent } from '../../src/drill/laws/trace.ts';
import { connect } from '../../src/drill/processes/connection.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';

/** Whether this machine has a real control plane. */
export const HAS_REAL_SERVER = (process.env[ASSETS_VARIABLE] ?? '') !== '';
/** For the name of a suite that needs one. */
export const NEEDS_REAL_SERVER = `needs ${ASSETS_VARIABLE}: ${HOW_TO_GET_ASSETS}`;
export const START_DEADLINE_MS = 150_000;
export const MANAGER = 'system:kube-controller-manager';

/** A real control plane of its own, with users that are known by tokens. */
export class RealServer {
  readonly plane: ControlPlane;
  /** For files of one test; removed with the server. */
  readonly folder: string;
  readonly #tokens: ReadonlyMap<string, string>;

  private constructor(plane: ControlPlane, folder: string, tokens: ReadonlyMap<string, string>) {
    this.plane = plane;
    this.folder = folder;
    this.#tokens = tokens;
  }

  /** `operator`, kube-controller-manager and `masters` may do anything, the fence controller what roles give it, `people` nothing yet. */
  static async start({ masters = [], people = [], audit }: RealServerOptions = {}): Promise<RealServer> {
    const assets = assetsOf(process.env, ['etcd', 'kube-apiserver', 'kube-controller-manager']);
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-integration-'));
    const users = [
      ...['operator', MANAGER, ...masters].map((name) => ({ name, groups: ['system:masters'] })),
      { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS },
      ...people.map((name) => ({ name, groups: [] })),
    ].map((user) => ({ ...user, token: randomBytes(18).toString('base64url') }));
    const plane = await ControlPlane.start({
      assets,
      folder: join(folder, 'control-plane'),
      users,
      controllerManagerUser: MANAGER,
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
}
