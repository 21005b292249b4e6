import type { ActionAgent, AgentContext, AgentDefinition, Parameters, Target } from '../../src/ports/agents.ts';
import type { Node, Taint } from '../../src/ports/objects.ts';
import { editNode, nodeError, readNode, type NodePatch } from '../shared/node-edit.ts';
import { checkParameters, describeParameters, parsed } from '../shared/parameter-schema.ts';
import { taintParameters, type TaintParameters } from './parameters.ts';

/** Annotation that lists the taints which fences set, `key=value:effect` separated by commas; a taint not listed is somebody else's (P8). */
export const TAINT_MARK = 'nodefence.ha.k8s.io/tainted';

function parse(parameters: Parameters, target: Target): TaintParameters {
  const result = parsed(taintParameters, parameters);
  if (!result.success) throw nodeError('Misconfigured', target, 'taint', result.error.issues.map((issue) => issue.message).join('; '));
  return result.data;
}

function entry(wanted: TaintParameters): string {
  return `${wanted.key}=${wanted.value}:${wanted.effect}`;
}

function marks(node: Node): string[] {
  return (node.metadata.annotations?.[TAINT_MARK] ?? '').split(',').filter((mark) => mark !== '');
}

function sameSlot(taint: Taint, wanted: TaintParameters): boolean {
  return taint.key === wanted.key && taint.effect === wanted.effect;
}

function find(node: Node, wanted: TaintParameters): Taint | undefined {
  return node.spec.taints?.find((taint) => sameSlot(taint, wanted));
}

function isPresent(node: Node, wanted: TaintParameters): boolean {
  const taint = find(node, wanted);
  return taint !== undefined && (taint.value ?? '') === wanted.value;
}

function addition(node: Node, wanted: TaintParameters, target: Target): NodePatch | undefined {
  const taint = find(node, wanted);
  if (taint !== undefined && (taint.value ?? '') !== wanted.value) {
    throw nodeError('Refused', target, `taint ${entry(wanted)}`, `somebody else's ${taint.key}=${taint.value ?? ''}:${taint.effect} stands there`);
  }
  if (taint !== undefined) return undefined;
  const added: Taint = { key: wanted.key, effect: wanted.effect, ...(wanted.value === '' ? {} : { value: wanted.value }) };
  return {
    annotations: { [TAINT_MARK]: [...marks(node).filter((mark) => mark !== entry(wanted)), entry(wanted)].join(',') },
    spec: { taints: [...(node.spec.taints ?? []), added] },
  };
}

function removal(node: Node, wanted: TaintParameters): NodePatch | undefined {
  if (!marks(node).includes(entry(wanted))) return undefined;
  const left = marks(node).filter((mark) => mark !== entry(wanted));
  const annotations = { [TAINT_MARK]: left.length === 0 ? null : left.join(',') };
  // A taint of another value took the place of ours since: it is not ours to remove.
  if (!isPresent(node, wanted)) return { annotations };
  const taints = (node.spec.taints ?? []).filter((taint) => !sameSlot(taint, wanted));
  return { annotations, spec: { taints: taints.length === 0 ? null : taints } };
}

function isDone(node: Node, wanted: TaintParameters): boolean {
  return wanted.state === 'present' ? isPresent(node, wanted) : !marks(node).includes(entry(wanted));
}

/** Sets a taint with our mark, or takes ours back; taints of others are never touched. */
function create(context: AgentContext): ActionAgent {
  return {
    kind: 'action',
    async run(target) {
      const wanted = parse(target.parameters, target);
      const asked = `taint ${entry(wanted)} ${wanted.state}`;
      const { node, isChanged } = await editNode(context, target, asked, (found) =>
        wanted.state === 'present' ? addition(found, wanted, target) : removal(found, wanted),
      );
      if (!isDone(node, wanted)) throw nodeError('Unreachable', target, asked, 'the Node does not show it as the API server stored it');
      return { result: 'accepted', detail: `${entry(wanted)} ${wanted.state}${isChanged ? '' : ', nothing of ours to change'}` };
    },
    async confirm(target) {
      const wanted = parse(target.parameters, target);
      return isDone(await readNode(context, target, 'taint'), wanted);
    },
  };
}

export const taint: AgentDefinition = {
  name: 'taint',
  aliases: [],
  kind: 'action',
  actions: ['run', 'on'],
  deviceMaxLatencyMs: 0,
  deviceKey: () => '',
  editsNode: true,
  describe: () => describeParameters(taintParameters),
  check: (parameters, withSecrets) => checkParameters(taintParameters, parameters, withSecrets),
  create: (context) => Promise.resolve(create(context)),
};
