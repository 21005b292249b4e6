import { WorldApi } from './api.ts';
import { AttachDetach } from './attach-detach.ts';
import { CsiAttacher } from './csi-attacher.ts';
import { ClusterView } from './cluster-view.ts';
import type { Topic } from './cluster-view.ts';
import type { WorldDependencies } from './dependencies.ts';
import type { WorldNode } from './kinds.ts';
import { Loop } from './loop.ts';
import { NodeLifecycle } from './node-lifecycle.ts';
import type { ClusterOptions, ControllerName } from './options.ts';
import { PodGarbageCollector } from './pod-gc.ts';
import { Scheduler } from './scheduler.ts';
import { StatefulSetController } from './stateful-set.ts';
import { TaintEviction } from './taint-eviction.ts';
import { VolumeBinding } from './volume-binding.ts';

interface Controller {
  run(): Promise<number | undefined>;
}

/** What kube-controller-manager, kube-scheduler and a CSI attacher do, as far as a fence can tell. */
export class ClusterControllers {
  readonly #view: ClusterView;
  readonly #loops: Loop[] = [];

  constructor(dependencies: WorldDependencies, options: ClusterOptions) {
    const { transport, clock, random } = dependencies;
    const api = new WorldApi(transport);
    const view = new ClusterView(dependencies);
    this.#view = view;
    const lifecycle = new NodeLifecycle(api, clock, view, options);
    view.on(['leases'], (before, after) => {
      lifecycle.heardLease(before, after);
    });
    view.on(['nodes'], (before, after) => {
      lifecycle.heardNode(before, after);
    });
    const attachDetach = new AttachDetach(api, clock, view, options);
    view.on(['nodes'], (before, after) => {
      attachDetach.heardNode(before as WorldNode | undefined, after as WorldNode | undefined);
    });
    const add = (name: ControllerName, controller: Controller, topics: readonly Topic[]): void => {
      if (options.only?.includes(name) === false) return;
      const loop = new Loop(clock, random, () => (view.isSynced ? controller.run() : Promise.resolve(undefined)));
      this.#loops.push(loop);
      view.on(topics, () => {
        loop.poke();
      });
    };
    add('node-lifecycle', lifecycle, ['nodes']);
    add('taint-eviction', new TaintEviction(api, clock, view), ['nodes', 'pods']);
    add('pod-gc', new PodGarbageCollector(api, clock, view, options), ['nodes', 'pods']);
    add('attach-detach', attachDetach, ['nodes', 'pods', 'claims', 'attachments']);
    add('csi-attacher', new CsiAttacher(api, clock, view, options), ['attachments']);
    add('stateful-set', new StatefulSetController(api, view, options), ['sets', 'pods', 'claims']);
    add('volume-binding', new VolumeBinding(api, view), ['claims', 'volumes']);
    add('scheduler', new Scheduler(api, view), ['pods', 'nodes', 'claims']);
  }

  start(): void {
    this.#view.start();
  }

  stop(): void {
    this.#view.stop();
    for (const loop of this.#loops) loop.stop();
  }
}
