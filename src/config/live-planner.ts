import type { Plan, PlanMethod } from '../domain/plan.ts';
import { AgentError } from '../ports/agents.ts';
import type { AgentRegistry, Parameters } from '../ports/agents.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { ConfigMap, Node, Secret } from '../ports/objects.ts';
import type { Planner } from '../ports/planner.ts';
import { SECRETS } from '../ports/resources.ts';
import { configurationOf } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import type { PlugOwners } from './plug-owners.ts';
import { decoded } from './manifests/decode.ts';
import { PlugIndex } from './plug-index.ts';
import { resolvePlan } from './resolve-plan.ts';
import { resolveParameters } from './resolve-parameters.ts';

export interface LivePlannerSources {
  cluster: Cluster;
  configMaps: Lister<ConfigMap>;
  /** Names and keys only. Undefined: who asks may not see Secrets, so that it is not known which exist. */
  secrets: Lister<Secret> | undefined;
  registry: AgentRegistry;
  namespace: string;
}

/** Plans from the ConfigMaps as they stand now. What is made of all of them is kept until one changes; Secrets are read at each run and kept nowhere. */
export class LivePlanner implements Planner {
  private readonly sources: LivePlannerSources;
  private readonly plugs = new PlugIndex();
  private known: { configuration: Configuration; owners: PlugOwners } | undefined;

  constructor(sources: LivePlannerSources) {
    this.sources = sources;
    sources.configMaps.onChange(() => {
      this.known = undefined;
    });
  }

  planFor(node: Node): Plan {
    const { configuration, owners } = this.configuration();
    const { metadata, spec, status } = node;
    const { secrets, namespace } = this.sources;
    return resolvePlan({
      node: {
        name: metadata.name,
        providerID: spec.providerID,
        systemUUID: status.nodeInfo?.systemUUID,
        labels: metadata.labels ?? {},
        annotations: metadata.annotations ?? {},
        addresses: status.addresses ?? [],
      },
      configuration,
      owners,
      secretKeys:
        secrets === undefined
          ? undefined
          : (name) => {
              const secret = secrets.get(`${namespace}/${name}`);
              return secret === undefined ? undefined : Object.keys(secret.data ?? {});
            },
    });
  }

  async parametersFor(node: string, method: PlanMethod): Promise<Parameters> {
    const { configuration } = this.configuration();
    const secret = method.secret === undefined ? undefined : await this.secret(method, method.secret);
    return resolveParameters({ node, method, configuration, secret });
  }

  private async secret(method: PlanMethod, name: string): Promise<Readonly<Record<string, string>>> {
    const found = await this.sources.cluster.get(SECRETS, name, this.sources.namespace);
    if (found === undefined) {
      const answered = `Secret ${name} is missing in namespace ${this.sources.namespace}: create it with the keys that method ${method.name} needs`;
      throw new AgentError('Misconfigured', { device: method.device, plug: method.plug, asked: `Secret ${name}`, answered });
    }
    return decoded(found);
  }

  private configuration(): { configuration: Configuration; owners: PlugOwners } {
    if (this.known === undefined) {
      const maps = [...this.sources.configMaps.all()].map((map) => ({ name: map.metadata.name, data: map.data ?? {} }));
      const configuration = configurationOf(maps, this.sources.registry);
      this.known = { configuration, owners: this.plugs.update(configuration) };
    }
    return this.known;
  }
}
