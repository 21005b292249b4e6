import type { NodeFenceSpec } from '../../src/domain/node-fence.ts';

/** `is asked for by NodeFenceRemediation r-1 [to end in off|isolation] [by the methods a,b]`. */
export function requestIn(words: string): NodeFenceSpec {
  const [found, kind = '', uid = '', ending, names] =
    /^is asked for by (\S+) (\S+)(?: to end in (off|isolation))?(?: by the methods (\S+))?$/.exec(words) ?? [];
  if (found === undefined) throw new Error(`unknown: node ${words}`);
  return {
    node: 'a',
    requestedBy: { apiVersion: 'ha.k8s.io/v1', kind, name: 'a', uid },
    ...(ending === 'off' && { ending: 'off' as const }),
    ...(ending === 'isolation' && { lastStep: 'isolation' as const }),
    ...(names !== undefined && { methods: names.split(',') }),
  };
}
