import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { Child } from '../../src/drill/run/child.ts';
import { CONTROLLER_USER } from '../../src/drill/run/cluster-session.ts';
import { SecretsOfDrill } from '../../src/drill/run/credentials.ts';
import { DrillFolder } from '../../src/drill/run/drill-folder.ts';
import { install } from '../../src/drill/run/installation.ts';
import { writeKubeconfig } from '../../src/drill/run/kubeconfig.ts';
import { SHORT_SETTINGS } from '../../src/drill/run/options.ts';
import { drillProgram, ProcessHost } from '../../src/drill/run/process-host.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';
import { configMap, properties } from '../../src/drill/run/scene-configuration.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { CONFIG_MAPS, LEASES } from '../../src/ports/resources.ts';
import { connect } from '../../src/testbed/processes/connection.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { HOST_ADDRESS, HOST_NAME } from './recipe.ts';

const DAEMON_USER = `system:serviceaccount:${NAMESPACE}:nodefence-node`;
const KUBELET_USER = `system:node:${HOST_NAME}`;
const ACCOUNT_GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];
const SHIPPED = ['crd', 'rbac', 'node-daemon', 'node-daemon-controller'];
/** The embedded API server has no admission policies. */
const NOT_SERVED = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];
const IP_WITHIN_MS = 10_000;

/**
 * With the 10 s that are usual for the watchdog, an emulated processor on a busy computer was reset while its systemd looked through its units. It stays under
 * the 30 s after which systemd starts a daemon anew that stands still.
 */
export const MACHINE_TIMES = { grantMs: 15_000, watchdogMs: 25_000, isolationTimeoutMs: 40_000, podStopMaxMs: 40_000, resetTimeMs: 10_000 } as const;

export interface AttestedMachine {
  bootID: string;
  watchdog: { state: string; kind: string; isPausable: boolean; timeoutMs: number; device?: string };
}

/** What a node daemon needs of a cluster, on this side of the machine's cable: an API server, and one controller that grants. The node is never fenced. */
export class Plane {
  readonly folder = new DrillFolder();
  readonly tap = `nfm${String(process.pid % 1_000_000)}`;
  readonly #processes = new ProcessHost(this.folder, {});
  readonly #secrets = new SecretsOfDrill();
  #serving: { server: string; caPem: string } | undefined;
  #kubelet: Child | undefined;

  async start(): Promise<void> {
    ip(['tuntap', 'add', 'dev', this.tap, 'mode', 'tap']);
    ip(['addr', 'add', `${HOST_ADDRESS}/24`, 'dev', this.tap]);
    ip(['link', 'set', this.tap, 'up']);
    const masters = ['operator', KUBELET_USER].map((name) => ({ name, groups: ['system:masters'], token: this.#secrets.token(name) }));
    const accounts = [CONTROLLER_USER, DAEMON_USER].map((name) => ({ name, groups: ACCOUNT_GROUPS, token: this.#secrets.token(name) }));
    const users = [...masters, ...accounts];
    const { ready } = await this.#processes.program('api', 'api', { users, authorization: 'rbac', host: HOST_ADDRESS });
    this.#serving = { server: String(ready['url']), caPem: String(ready['caPem']) };
    const transport = connect(this.#access('operator'));
    const cluster = new ApiClient({ transport });
    await install({ transport, cluster }, () => sendShipped(transport, SHIPPED, NOT_SERVED));
    await cluster.create(CONFIG_MAPS, configMap('fence-cluster-config', { 'config.properties': properties({ ...SHORT_SETTINGS, ...written() }) }));
    const own = { 'config.properties': properties({ node_name: HOST_NAME, fence: 'never' }) };
    await cluster.create(CONFIG_MAPS, configMap(`fence-config-${HOST_NAME}`, own));
    const program = [process.execPath, '--import', pathToFileURL(drillProgram('ends-with-stdin')).href, programPath('main'), 'controller'];
    const flags = ['--mode', 'enforce', '--kubeconfig', this.kubeconfig('controller'), '--http-address', `${HOST_ADDRESS}:0`, '--log-format', 'json'];
    await this.#processes.start('controller', [...program, ...flags, '--node-daemons', '--daemon-address', `${HOST_ADDRESS}:7411`], false);
  }

  /** Of the account of the controllers, or of the daemons. */
  kubeconfig(whose: 'controller' | 'daemon'): string {
    const user = whose === 'controller' ? CONTROLLER_USER : DAEMON_USER;
    return writeKubeconfig(this.folder.in(`kubeconfig-${whose}`), user, this.#access(user));
  }

  /** A kubelet that speaks for this boot of the machine: the node is in the cluster, and Ready. */
  async startKubelet(bootID: string, systemUUID: string, address: string): Promise<void> {
    await this.#kubelet?.stop(0);
    const configuration = {
      ...{ ...this.#access(KUBELET_USER), node: HOST_NAME, systemUUID, address, disk: this.folder.in('disk') },
      ...{ bootDelayMs: 0, options: { renewMs: 2_000 }, trace: this.folder.trace('kubelet') },
    };
    const { child } = await this.#processes.program('machine', 'kubelet', configuration);
    child.tell({ command: 'boot', bootID });
    this.#kubelet = child;
  }

  /** What the daemon has told the API server last; undefined: nothing. */
  async attestation(): Promise<AttestedMachine | undefined> {
    const cluster = new ApiClient({ transport: connect(this.#access('operator')) });
    const lease = await cluster.get(LEASES, `nodefence-node-${HOST_NAME}`, NAMESPACE);
    const text = lease?.metadata.annotations?.['nodefence.ha.k8s.io/attestation'];
    return text === undefined ? undefined : (JSON.parse(text) as AttestedMachine);
  }

  async stop(): Promise<void> {
    await this.#processes.stop();
    try {
      ip(['link', 'del', this.tap]);
    } catch {
      // It was never made.
    }
    this.folder.remove();
  }

  #access(user: string): { server: string; caPem: string; token: string } {
    if (this.#serving === undefined) throw new Error('the API server was not started');
    return { ...this.#serving, token: this.#secrets.token(user) };
  }
}

function written(): Record<string, string> {
  const { grantMs, watchdogMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs } = MACHINE_TIMES;
  const times = { grant_validity: grantMs, watchdog_timeout: watchdogMs, isolation_timeout: isolationTimeoutMs, pod_stop_max: podStopMaxMs };
  return Object.fromEntries(Object.entries({ ...times, reset_time: resetTimeMs }).map(([key, ms]) => [key, `${String(ms)}ms`]));
}

function ip(words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'pipe', timeout: IP_WITHIN_MS });
}
