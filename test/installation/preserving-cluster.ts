import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttps } from '../../src/testbed/apiserver/http-shell.ts';
import type { HttpShell } from '../../src/testbed/apiserver/http-shell.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { PRESERVER_ROLE } from '../../src/manifests/preservation-access.ts';
import { OPERATOR_ROLE } from '../../src/manifests/operator-access.ts';
import { MACHINES } from '../../src/ports/machines.ts';
import type { Machine } from '../../src/ports/machines.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { PACE } from '../scenarios/settings.ts';
import { Terminal } from '../scenarios/terminal.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';
import { World } from '../scenarios/world.ts';

const PERSON = 'olga';
const AUTHORIZATION = '/apis/rbac.authorization.k8s.io/v1';

/** A cluster with the shipped manifests, and of the optional ones what preservation takes; its controller and a person have their roles and no other right. */
export class PreservingCluster {
  readonly world: World;
  readonly #shell: HttpShell;
  readonly #tokens: Readonly<Record<string, string>>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'nodefence-preservation-'));
  readonly #terminals: Terminal[] = [];
  #isCutOff = false;

  private constructor(world: World, shell: HttpShell, tokens: Readonly<Record<string, string>>) {
    this.world = world;
    this.#shell = shell;
    this.#tokens = tokens;
  }

  /** `folders`: of config/. */
  static async start(nodes: readonly string[], folders: readonly string[]): Promise<PreservingCluster> {
    const tokens = Object.fromEntries([PERSON, CONTROLLER_USER].map((user) => [user, randomBytes(18).toString('base64url')]));
    const login = { username: 'fence', password: 'unused' };
    const { bootDelayMs, nodeGraceMs } = PACE;
    const world = await World.start({ nodes, login, bmcs: {}, secondBmcs: {}, bootDelayMs, nodeGraceMs }, tokens);
    const cluster = new PreservingCluster(world, await serveHttps({ server: world.server }), tokens);
    await sendShipped(world.transport, folders);
    await cluster.#bind('ClusterRole', PRESERVER_ROLE, undefined);
    await cluster.#bind('ClusterRole', OPERATOR_ROLE, undefined);
    await cluster.#bind('Role', OPERATOR_ROLE, NAMESPACE);
    return cluster;
  }

  /** A Running Machine, as somebody brings it who makes Machines; with its Node, where it has one. */
  async addMachine(name: string, node?: string): Promise<void> {
    const labels = { 'worker.gardener.cloud/pool': 'worker1', ...(node !== undefined && { node }) };
    await this.world.cluster.create(MACHINES, { metadata: { name, namespace: 'default', labels } });
  }

  async machine(name: string): Promise<Machine | undefined> {
    return this.world.cluster.get(MACHINES, name, 'default');
  }

  /** Of the controller's account; returns its path. */
  kubeconfig(): string {
    const cluster = { server: this.#shell.url, 'certificate-authority-data': Buffer.from(this.#shell.caPem).toString('base64') };
    const path = join(this.#folder, 'kubeconfig');
    const users = [{ name: 'controller', user: { token: this.#tokens[CONTROLLER_USER] } }];
    const contexts = [{ name: 'here', context: { cluster: 'here', user: 'controller' } }];
    const config = { apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'here', cluster }], users, contexts, 'current-context': 'here' };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }

  async terminal(): Promise<Terminal> {
    const terminal = await Terminal.open(this.world, PERSON, this.#tokens[PERSON] ?? '');
    this.#terminals.push(terminal);
    return terminal;
  }

  /** Its API server answers nobody any more. */
  async cutOff(): Promise<void> {
    if (!this.#isCutOff) await this.#shell.close();
    this.#isCutOff = true;
  }

  async end(): Promise<void> {
    for (const terminal of this.#terminals) await terminal.close();
    await this.cutOff();
    await this.world.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #bind(kind: string, name: string, namespace: string | undefined): Promise<void> {
    const apiGroup = 'rbac.authorization.k8s.io';
    const subjects = [{ kind: 'User', apiGroup, name: PERSON }];
    const metadata = { name: `${PERSON}-${name}`, ...(namespace !== undefined && { namespace }) };
    const binding = { kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding', metadata, roleRef: { apiGroup, kind, name }, subjects };
    await this.#post(binding);
  }

  async #post(object: KubeObject): Promise<void> {
    const { namespace } = object.metadata;
    const plural = `${(object.kind ?? '').toLowerCase()}s`;
    const place = namespace === undefined ? plural : `namespaces/${namespace}/${plural}`;
    const path = `${AUTHORIZATION}/${place}`;
    const response = await this.world.transport.request({ method: 'POST', path, body: object, deadlineMs: 10_000 });
    if (response.status >= 300) throw new Error(`${object.kind ?? ''} ${object.metadata.name}: ${JSON.stringify(response.body)}`);
  }
}
