import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CONTROLLER_USER } from '../../src/drill/run/cluster-session.ts';
import { SecretsOfDrill } from '../../src/drill/run/credentials.ts';
import type { DrillFolder } from '../../src/drill/run/drill-folder.ts';
import { writeKubeconfig } from '../../src/drill/run/kubeconfig.ts';
import { drillProgram, ProcessHost } from '../../src/drill/run/process-host.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';
import { configMap, properties } from '../../src/drill/run/scene-configuration.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../src/manifests/access.ts';
import { CONFIG_MAPS, LEASES } from '../../src/ports/resources.ts';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import { connect } from '../../src/testbed/processes/connection.ts';
import { boundToken } from '../../src/testbed/shipped/bound-token.ts';
import { HOST_ADDRESS, NODE_NAME } from './node-files.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const COMMAND_MS = 400_000;
const CLUSTER_CONTROLLERS = 'system:kube-controller-manager';
const OPERATOR = 'operator';
/** As a cluster has it that nobody has changed. */
const PACE = { nodeGraceMs: 50_000, nodeMonitorMs: 2_000, tolerationSeconds: 300 };

export type Account = 'kubelet' | 'kube-scheduler' | 'operator' | 'controller';
const USERS: Readonly<Record<Account, string>> = {
  kubelet: `system:node:${NODE_NAME}`,
  'kube-scheduler': 'system:kube-scheduler',
  operator: OPERATOR,
  controller: CONTROLLER_USER,
};

/** What a daemon attests of its node. */
export interface AttestedNode {
  bootID: string;
  watchdog: { state: string };
}

/** A real control plane that listens where the node reaches it, and one controller of nodefence beside it. */
export class KubeletPlane {
  readonly #folder: DrillFolder;
  readonly #processes: ProcessHost;
  readonly #secrets = new SecretsOfDrill();
  #control: ControlPlane | undefined;

  constructor(folder: DrillFolder) {
    this.#folder = folder;
    this.#processes = new ProcessHost(folder, {});
  }

  /** `assets`: of the control plane. */
  async start(assets: string): Promise<void> {
    const token = (name: string): string => this.#secrets.token(name);
    const users = [
      { name: OPERATOR, groups: ['system:masters'], token: token(OPERATOR) },
      { name: CLUSTER_CONTROLLERS, groups: ['system:masters'], token: token(CLUSTER_CONTROLLERS) },
      { name: USERS.kubelet, groups: ['system:nodes'], token: token(USERS.kubelet) },
      { name: USERS['kube-scheduler'], groups: [], token: token(USERS['kube-scheduler']) },
    ];
    const folder = this.#folder.in('control-plane');
    const common = { assets, folder, users, host: HOST_ADDRESS, guardsNodes: true, runsPods: true, pace: PACE };
    this.#control = await ControlPlane.start({ ...common, controllerManagerUser: CLUSTER_CONTROLLERS });
  }

  get server(): string {
    return this.#access(OPERATOR).server;
  }

  kubeconfig(whose: Account): string {
    return writeKubeconfig(this.#folder.in(`kubeconfig-${whose}`), USERS[whose], this.#access(USERS[whose]));
  }

  /** stdout of kubectl in a clone of the repository, as the administrator. */
  kubectl(words: string, withinMs = COMMAND_MS): Promise<string> {
    return this.#said(`kubectl ${words}`, 'sh', ['-c', `exec kubectl ${words}`], withinMs);
  }

  /** A node that nobody fences. */
  async configure(): Promise<void> {
    const cluster = new ApiClient({ transport: connect(this.#access(OPERATOR)) });
    const own = { 'config.properties': properties({ node_name: NODE_NAME, fence: 'never' }) };
    await cluster.create(CONFIG_MAPS, configMap(`fence-config-${NODE_NAME}`, own));
  }

  /** stdout of nodefence as the administrator. */
  nodefence(words: readonly string[]): Promise<string> {
    return this.#said(`nodefence ${words.join(' ')}`, process.execPath, [programPath('main'), ...words], COMMAND_MS);
  }

  /** A controller outside the node, as systemd would run it: with the rights and the token of its account. */
  async startController(flags: readonly string[]): Promise<void> {
    const transport = connect(this.#access(OPERATOR));
    this.#secrets.bind(CONTROLLER_USER, await boundToken(transport, NAMESPACE, CONTROLLER_ACCOUNT));
    const program = [
      process.execPath,
      '--import',
      pathToFileURL(drillProgram('ends-with-stdin')).href,
      programPath('main'),
      'controller',
      '--kubeconfig',
      this.kubeconfig('controller'),
    ];
    const common = ['--http-address', `${HOST_ADDRESS}:0`, '--log-format', 'json', '--node-daemons', '--daemon-address', `${HOST_ADDRESS}:7411`];
    await this.#processes.start('controller', [...program, ...common, ...flags], false);
  }

  async attestation(): Promise<AttestedNode | undefined> {
    const cluster = new ApiClient({ transport: connect(this.#access(OPERATOR)) });
    const lease = await cluster.get(LEASES, `nodefence-node-${NODE_NAME}`, NAMESPACE);
    const text = lease?.metadata.annotations?.['nodefence.ha.k8s.io/attestation'];
    return text === undefined ? undefined : (JSON.parse(text) as AttestedNode);
  }

  async stop(): Promise<void> {
    await this.#processes.stop();
    await this.#control?.stop();
  }

  #said(what: string, program: string, words: readonly string[], withinMs: number): Promise<string> {
    const env = {
      ...process.env,
      KUBECONFIG: this.kubeconfig('operator'),
      HOME: this.#folder.path,
    };
    return new Promise((resolve, reject) => {
      execFile(program, words, { cwd: ROOT, env, timeout: withinMs, maxBuffer: OUTPUT_BYTES_MAX }, (error, out, err) => {
        if (error === null) resolve(out);
        else reject(new Error(`${what}: ${err === '' ? error.message : err}${out}`));
      });
    });
  }

  #access(user: string): { server: string; caPem: string; token: string } {
    if (this.#control === undefined) throw new Error('the control plane was not started');
    return { server: this.#control.url, caPem: this.#control.caPem, token: this.#secrets.token(user) };
  }
}
