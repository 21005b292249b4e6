import { execFile } from 'node:child_process';
import type { Clock } from '../../ports/clock.ts';
import { asFields } from '../status.ts';
import type { Credential, CredentialSource } from './credential-source.ts';

/** A person may have to answer a browser; a daemon's plugin answers in a second. */
const PLUGIN_DEADLINE_MS = 60_000;
const OUTPUT_MAX_BYTES = 1_048_576;
const LOOK = 'run it by hand to see why';
const API_VERSIONS: readonly string[] = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

export interface ExecPlugin {
  /** Names the field of the configuration, for errors. */
  where: string;
  apiVersion: string;
  command: string;
  arguments: readonly string[];
  environment: Readonly<Record<string, string>>;
  installHint: string;
  /** `spec.cluster` of the ExecCredential, when the plugin wants it. */
  cluster: object | undefined;
}

interface Held {
  credential: Credential;
  /** Wall clock, as the plugin says it; undefined: until the server refuses it. */
  expiresAtMs: number | undefined;
}

/** A client-go credential plugin (client.authentication.k8s.io). Its answer is kept until it expires; several askers share one run. */
export class ExecCredential implements CredentialSource {
  readonly #plugin: ExecPlugin;
  readonly #clock: Clock;
  readonly #inherited: Readonly<Record<string, string | undefined>>;
  #held: Held | undefined;
  #running: Promise<Credential> | undefined;

  constructor(plugin: ExecPlugin, clock: Clock, inherited: Readonly<Record<string, string | undefined>>) {
    if (!API_VERSIONS.includes(plugin.apiVersion)) {
      throw new Error(`${plugin.where}.apiVersion: "${plugin.apiVersion}" is not supported; use one of ${API_VERSIONS.join(', ')}`);
    }
    this.#plugin = plugin;
    this.#clock = clock;
    this.#inherited = inherited;
  }

  current(): Promise<Credential> {
    const held = this.#held;
    if (held !== undefined && (held.expiresAtMs === undefined || this.#clock.wallMs() < held.expiresAtMs)) {
      return Promise.resolve(held.credential);
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  rejected(): boolean {
    this.#held = undefined;
    return true;
  }

  async #run(): Promise<Credential> {
    const held = this.#parse(await this.#execute());
    this.#held = held;
    return held.credential;
  }

  #execute(): Promise<string> {
    const { where, apiVersion, command, environment, installHint, cluster } = this.#plugin;
    const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(cluster === undefined ? {} : { cluster }) } };
    const options = {
      maxBuffer: OUTPUT_MAX_BYTES,
      env: { ...this.#inherited, ...environment, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    };
    const failure = (why: string, hint: string): Error => new Error(`${where}: the credential plugin ${command} ${why}; ${hint}`);
    return new Promise((resolve, reject) => {
      const child = execFile(command, this.#plugin.arguments, options, (error, stdout, stderr) => {
        cancel();
        if (error === null) {
          resolve(stdout);
          return;
        }
        // Node's own message repeats the arguments and all of stderr.
        const message = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
        const hint = error.code === 'ENOENT' ? installHint || 'install it or correct the path' : LOOK;
        reject(failure(`failed (${String(error.code)})${message === '' ? '' : `: ${message}`}`, hint));
      });
      // Every request waits for this one run: neither a signal that it ignores nor a child of its own that holds its output may keep it.
      const cancel = this.#clock.after(PLUGIN_DEADLINE_MS, () => {
        child.kill('SIGKILL');
        child.stdout?.destroy();
        child.stderr?.destroy();
        reject(failure(`gave no answer within ${String(PLUGIN_DEADLINE_MS / 1000)} s`, LOOK));
      });
      child.stdin?.end();
    });
  }

  #parse(output: string): Held {
    const { where, apiVersion, command } = this.#plugin;
    const wrong = (what: string): Error => new Error(`${where}: the credential plugin ${command} answered ${what}`);
    let answer: unknown;
    try {
      answer = JSON.parse(output);
    } catch (error) {
      throw new Error(wrong('something that is not JSON').message, { cause: error instanceof SyntaxError ? 'syntax error' : error });
    }
    const fields = asFields(answer);
    if (fields?.['kind'] !== 'ExecCredential' || fields['apiVersion'] !== apiVersion) {
      throw wrong(`no ExecCredential of ${apiVersion}`);
    }
    const status = asFields(fields['status']);
    const { token, clientCertificateData: certificatePem, clientKeyData: keyPem, expirationTimestamp } = status ?? {};
    const hasPair = typeof certificatePem === 'string' && typeof keyPem === 'string';
    if (typeof token !== 'string' && !hasPair) {
      throw wrong('neither a token nor a client certificate with its key');
    }
    const expiresAtMs = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : undefined;
    if (expiresAtMs !== undefined && Number.isNaN(expiresAtMs)) {
      throw wrong('an expirationTimestamp that is not RFC 3339');
    }
    return { credential: { ...(typeof token === 'string' ? { token } : {}), ...(hasPair ? { certificatePem, keyPem } : {}) }, expiresAtMs };
  }
}
