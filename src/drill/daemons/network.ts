import { execFileSync } from 'node:child_process';
import { userInfo } from 'node:os';

/** RFC 2544 sets this block aside for tests between networks. */
const NETWORK = '198.18';
const HOST_PART = 1;
const FIRST_PART = 10;
/** A station that no link has: what is sent to it is lost in silence, as on a cut path. */
const NOBODY = '02:00:00:00:00:01';
const WITHIN_MS = 10_000;

/** Network namespaces of this machine, each with one link to a common switch, whose paths are cut one by one. */
export class Network {
  readonly #prefix: string;
  readonly #subnet: string;
  readonly #names: readonly string[];

  private constructor(names: readonly string[]) {
    this.#prefix = `nf${String(process.pid)}`;
    this.#subnet = `${NETWORK}.${String(process.pid % 256)}`;
    this.#names = names;
  }

  /** Why this machine cannot have one; undefined: it can. */
  static problem(): string | undefined {
    if (process.platform !== 'linux') return 'network namespaces need Linux';
    if (userInfo().uid !== 0) return 'network namespaces need root';
    try {
      execFileSync('ip', ['netns', 'add', probeName()], { stdio: 'pipe', timeout: WITHIN_MS });
      execFileSync('ip', ['netns', 'del', probeName()], { stdio: 'pipe', timeout: WITHIN_MS });
      return undefined;
    } catch (error) {
      return `network namespaces need iproute2 and a kernel that allows them: apt-get install -y iproute2 (${String(error).slice(0, 200)})`;
    }
  }

  static create(names: readonly string[]): Network {
    const network = new Network(names);
    try {
      network.#build();
    } catch (error) {
      network.close();
      throw error;
    }
    return network;
  }

  address(name: string): string {
    const index = this.#names.indexOf(name);
    if (index < 0) throw new Error(`${name} is not in the network: there are ${this.#names.join(', ')}`);
    return `${this.#subnet}.${String(FIRST_PART + index)}`;
  }

  /** The same command, run there. */
  at(name: string, command: readonly string[]): string[] {
    // Not `ip netns exec`, which hides /sys/fs/cgroup.
    return ['nsenter', `--net=/run/netns/${this.#namespace(name)}`, ...command];
  }

  /** Nothing passes between the two any more, and neither is told. */
  cut(one: string, other: string): void {
    this.#lose(one, other);
    this.#lose(other, one);
  }

  heal(one: string, other: string): void {
    this.#find(one, other);
    this.#find(other, one);
  }

  /** Ends all of it; what is not there is passed over. */
  close(): void {
    for (const namespace of [this.#hub, ...this.#names.map((name) => this.#namespace(name))]) attempt(['netns', 'del', namespace]);
    attempt(['link', 'del', `${this.#prefix}h`]);
  }

  get #hub(): string {
    return `${this.#prefix}-hub`;
  }

  #namespace(name: string): string {
    return `${this.#prefix}-${name}`;
  }

  #build(): void {
    ip(['netns', 'add', this.#hub]);
    ip(['-n', this.#hub, 'link', 'add', 'switch', 'type', 'bridge']);
    ip(['-n', this.#hub, 'link', 'set', 'switch', 'up']);
    ip(['link', 'add', `${this.#prefix}h`, 'type', 'veth', 'peer', 'name', 'host', 'netns', this.#hub]);
    this.#plug('host');
    ip(['addr', 'add', `${this.#subnet}.${String(HOST_PART)}/24`, 'dev', `${this.#prefix}h`]);
    ip(['link', 'set', `${this.#prefix}h`, 'up']);
    for (const [index, name] of this.#names.entries()) {
      const namespace = this.#namespace(name);
      const port = `port${String(index)}`;
      ip(['netns', 'add', namespace]);
      ip(['-n', namespace, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', port, 'netns', this.#hub]);
      this.#plug(port);
      ip(['-n', namespace, 'addr', 'add', `${this.address(name)}/24`, 'dev', 'eth0']);
      for (const link of ['lo', 'eth0']) ip(['-n', namespace, 'link', 'set', link, 'up']);
    }
  }

  #plug(port: string): void {
    ip(['-n', this.#hub, 'link', 'set', port, 'master', 'switch']);
    ip(['-n', this.#hub, 'link', 'set', port, 'up']);
  }

  #lose(from: string, to: string): void {
    ip(['-n', this.#namespace(from), 'neigh', 'replace', this.address(to), 'lladdr', NOBODY, 'dev', 'eth0', 'nud', 'permanent']);
  }

  #find(from: string, to: string): void {
    ip(['-n', this.#namespace(from), 'neigh', 'del', this.address(to), 'dev', 'eth0']);
  }
}

function probeName(): string {
  return `nf${String(process.pid)}-probe`;
}

function ip(words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'pipe', timeout: WITHIN_MS });
}

function attempt(words: readonly string[]): void {
  try {
    ip(words);
  } catch {
    // It was never made, or is gone.
  }
}
