import type { OrderedAction } from '../../domain/node-daemon/order.ts';
import type { OrderExecutor } from '../../ports/node-daemon.ts';
import { whyNothing } from '../checks/children.ts';
import type { Children, ChildResult } from '../checks/children.ts';
import { chooseUnit } from './order-units.ts';

export interface SystemdOrdersOptions {
  children: Pick<Children, 'run'>;
  /** As the admin names them; absent: the first that this machine has. */
  kubeletUnit?: string;
  containerRuntimeUnit?: string;
  systemctl?: string;
  deadlinesMs?: typeof DEADLINES_MS;
}

const KUBELETS = ['kubelet.service', 'k3s.service', 'k3s-agent.service', 'rke2-server.service', 'rke2-agent.service', 'snap.kubelet.daemon.service'];
const CONTAINER_RUNTIMES = ['containerd.service', 'crio.service', 'docker.service'];
/** A unit may take its time to stop; systemd goes on when nobody waits for it any more. */
const DEADLINES_MS = { look: 3_000, restart: 20_000, reboot: 10_000 };

type Answer = Awaited<ReturnType<OrderExecutor['execute']>>;

/** Carries orders out through systemd. Each call is a child process with a deadline; its parameters are fixed words and names of units. */
export class SystemdOrders implements OrderExecutor {
  readonly #options: SystemdOrdersOptions;

  constructor(options: SystemdOrdersOptions) {
    this.#options = options;
  }

  async execute(action: OrderedAction): Promise<Answer> {
    try {
      const { kubeletUnit, containerRuntimeUnit } = this.#options;
      if (action === 'restart-kubelet') return await this.#restart(kubeletUnit, { units: KUBELETS, what: 'the kubelet', flag: '--kubelet-unit' });
      if (action === 'restart-container-runtime')
        return await this.#restart(containerRuntimeUnit, {
          units: CONTAINER_RUNTIMES,
          what: 'the container runtime',
          flag: '--container-runtime-unit',
        });
      // Orderly: every service is stopped in its turn, this daemon among them, whose clean stop disarms the watchdog.
      return judged(await this.#systemctl(['reboot'], 'reboot'), 'systemd reboots the machine');
    } catch (error) {
      return { isDone: false, words: error instanceof Error ? error.message : String(error) };
    }
  }

  async #restart(named: string | undefined, { units, what, flag }: { units: readonly string[]; what: string; flag: string }): Promise<Answer> {
    const unit = named ?? (await this.#found(units));
    if (typeof unit === 'object') return unit;
    if (unit === undefined) return { isDone: false, words: `no unit of ${what} is loaded here (${units.join(', ')}): name it with ${flag}` };
    return judged(await this.#systemctl(['restart', unit], 'restart'), `${unit} was restarted`);
  }

  async #found(units: readonly string[]): Promise<string | undefined | Answer> {
    const shown = await this.#systemctl(['show', '--property=Id,LoadState,ActiveState', ...units], 'look');
    const failed = judged(shown, '');
    return failed.isDone && shown.kind === 'ended' ? chooseUnit(units, shown.output) : failed;
  }

  #systemctl(parameters: readonly string[], what: keyof typeof DEADLINES_MS): Promise<ChildResult> {
    const { children, systemctl = 'systemctl', deadlinesMs = DEADLINES_MS } = this.#options;
    return children.run('order', systemctl, ['--no-ask-password', '--no-pager', ...parameters], deadlinesMs[what]);
  }
}

function judged(result: ChildResult, done: string): Answer {
  const why = whyNothing('systemctl', result);
  if (result.kind === 'absent')
    return { isDone: false, words: 'systemctl is not installed here: a pod needs an image that has it, and part soft-fence of the DaemonSet' };
  if (why !== undefined || result.kind !== 'ended') return { isDone: false, words: why ?? 'systemctl said nothing' };
  if (result.code === 0) return { isDone: true, words: done };
  const said = (result.errors === '' ? result.output : result.errors).trim();
  return { isDone: false, words: `systemctl ended with code ${result.code ?? 'none'}: ${said}` };
}
