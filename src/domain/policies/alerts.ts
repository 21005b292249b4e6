import type { AlertQuery, StormPolicy } from './policy.ts';
import { forAll, named, stormPolicy } from './scope.ts';
import type { CommonSettings } from './scope.ts';

export interface AlertsSettings extends CommonSettings {
  /** An empty address: there is nobody to ask, which is as good as no answer. */
  query: AlertQuery;
  /** A metrics server that does not answer often stands on the node that failed: by default that holds nobody. */
  whenUnreachable: 'hold' | 'ignore';
}

/** An alert fires that says: the network, the storage, the room, not the nodes. */
export function alerts(settings: AlertsSettings): StormPolicy {
  const { name, query, whenUnreachable } = settings;
  const policy = stormPolicy('alerts', settings, (view) => {
    const answer = view.alerts.get(name);
    if (answer === undefined) {
      if (whenUnreachable === 'ignore') return forAll(undefined);
      const message = `${query.url} does not say which alerts fire, and when_unreachable=hold: ends when it answers`;
      return forAll({ reason: 'alerts-unreachable', message });
    }
    const firing = query.names.length === 0 ? answer : answer.filter((alert) => query.names.includes(alert));
    if (firing.length === 0) return forAll(undefined);
    const message = `${firing.length === 1 ? 'alert' : 'alerts'} ${named(firing)} ${firing.length === 1 ? 'fires' : 'fire'}; ends when ${firing.length === 1 ? 'it does no more' : 'none of them does'}`;
    return forAll({ reason: 'alert-firing', message });
  });
  return query.url === '' ? policy : { ...policy, alertQuery: query };
}
