import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DAEMON_USER, NOT_SERVED, OPERATOR, SHIPPED, usersOfDrill } from '../../../src/drill/daemons/cast.ts';
import { Child } from '../../../src/drill/run/child.ts';
import { CONTROLLER_USER } from '../../../src/drill/run/cluster-session.ts';
import { SecretsOfDrill } from '../../../src/drill/run/credentials.ts';
import { install } from '../../../src/drill/run/installation.ts';
import { writeKubeconfig } from '../../../src/drill/run/kubeconfig.ts';
import { ApiClient } from '../../../src/kube/client.ts';
import { NODE_LEASE_NAMESPACE } from '../../../src/ports/resources.ts';
import { freePorts } from '../../../src/testbed/control-plane/free-port.ts';
import { sendShipped } from '../../../src/testbed/shipped/send.ts';
import { connect } from '../../connection.ts';
import { Reader } from '../real/reader.ts';
import type { BenchMachine } from './machine.ts';

const API = fileURLToPath(new URL('../../../src/testbed/processes/api.ts', import.meta.url));
export const PROGRAM = fileURLToPath(new URL('../../../dist/src/main.js', import.meta.url));
export const RACK_LABEL = 'topology.kubernetes.io/rack';
const READY_MS = 30_000;
const RACKS = 3;

/** An API server with the rights that ship, and the compiled controller, which hears node daemons. */
export class DaemonPlane {
  readonly folder = mkdtempSync(join(tmpdir(), 'nodefence-bench-daemon-'));
  readonly #secrets = new SecretsOfDrill();
  #api: Child | undefined;
  #controller: Reader | undefined;
  #access: { server: string; caPem: string } | undefined;

  async start(machines: readonly BenchMachine[]): Promise<void> {
    const users = usersOfDrill((name) => this.#secrets.token(name));
    const file = join(this.folder, 'api.json');
    writeFileSync(file, JSON.stringify({ users, authorization: 'rbac' }), { mode: 0o600 });
    const command = [process.execPath, API, file];
    const { child, ready } = await Child.start({
      ...{ name: 'api', command, logFile: join(this.folder, 'api.log') },
      ...{ ready: true, readyDeadlineMs: READY_MS },
    });
    this.#api = child;
    this.#access = { server: String(ready['url']), caPem: String(ready['caPem']) };
    const transport = connect({ ...this.#access, token: this.#secrets.token(OPERATOR) });
    await install({ transport, cluster: new ApiClient({ transport }) }, () => sendShipped(transport, SHIPPED, NOT_SERVED));
    child.tell({ command: 'create', writes: machines.flatMap(writesOf) });
    child.tell({ command: 'renew', nodes: machines.map(({ name }) => name), perSecond: machines.length / 10 });
    await this.#startController();
  }

  /** As whom every daemon speaks to the API server. */
  daemonKubeconfig(): string {
    return this.#kubeconfig(DAEMON_USER);
  }

  async stop(): Promise<void> {
    await this.#controller?.end();
    await this.#api?.stop(READY_MS);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startController(): Promise<void> {
    const [http = 0, heard = 0] = await freePorts('127.0.0.1', 2);
    const daemons = ['--node-daemons', '--daemon-address', `127.0.0.1:${heard}`, '--daemon-topology-keys', RACK_LABEL];
    const flags = ['--mode', 'enforce', '--kubeconfig', this.#kubeconfig(CONTROLLER_USER), '--http-address', `127.0.0.1:${http}`];
    const controller = new Reader([PROGRAM, 'controller', ...flags, ...daemons], {}, join(this.folder, 'controller.log'));
    this.#controller = controller;
    const isReady = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${http}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await controller.untilReady(isReady, READY_MS);
  }

  #kubeconfig(user: string): string {
    if (this.#access === undefined) throw new Error('the API server was not started');
    const path = join(this.folder, `kubeconfig-${user.slice(user.lastIndexOf(':') + 1)}`);
    return writeKubeconfig(path, user, { ...this.#access, token: this.#secrets.token(user) });
  }
}

function writesOf({ name, bootID, systemUUID }: BenchMachine, index: number): { path: string; body: object }[] {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const at = renewTime.replace(/\.\d+Z$/, 'Z');
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastTransitionTime: at, lastHeartbeatTime: at };
  const labels = { 'kubernetes.io/hostname': name, [RACK_LABEL]: `rack-${index % RACKS}` };
  const lease = { metadata: { name, namespace: NODE_LEASE_NAMESPACE }, spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime } };
  return [
    {
      path: '/api/v1/nodes',
      body: { metadata: { name, labels }, spec: {}, status: { conditions: [condition], nodeInfo: { bootID, systemUUID, machineID: systemUUID } } },
    },
    { path: `/apis/coordination.k8s.io/v1/namespaces/${NODE_LEASE_NAMESPACE}/leases`, body: lease },
  ];
}
