/** One thing that must be allowed. */
export interface Need {
  /** Absent: in the whole cluster. */
  namespace?: string;
  group: string;
  /** With its subresource: `pods/eviction`. */
  resource: string;
  verb: string;
  /** Absent: whatever it is called. */
  name?: string;
}

/** authorization.k8s.io/v1 ResourceRule. */
export interface ResourceRule {
  verbs?: readonly string[];
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
}

/** A role, as far as it grants something. */
export interface Granting {
  namespace?: string;
  rules: readonly { apiGroups: readonly string[]; resources: readonly string[]; verbs: readonly string[]; resourceNames?: readonly string[] }[];
}

/** Everything that roles grant, each thing by itself and once. */
export function needsOf(roles: readonly Granting[]): Need[] {
  const all = roles.flatMap(({ namespace, rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [undefined] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) =>
            resourceNames.map((name): Need => ({
              group,
              resource,
              verb,
              ...(namespace !== undefined && { namespace }),
              ...(name !== undefined && { name }),
            })),
          ),
        ),
      ),
    ),
  );
  return [...new Map(all.map((need) => [JSON.stringify(need), need])).values()];
}

/** Those of the needs that no rule grants. */
export function ungranted(needs: readonly Need[], rules: readonly ResourceRule[]): Need[] {
  return needs.filter((need) => !rules.some((rule) => grants(rule, need)));
}

function grants(rule: ResourceRule, { group, resource, verb, name }: Need): boolean {
  const has = (values: readonly string[] | undefined, wanted: string): boolean => values?.some((value) => value === '*' || value === wanted) === true;
  const [, subresource] = resource.split('/');
  const isNamed = (rule.resourceNames ?? []).length > 0;
  return (
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    (has(rule.resources, resource) || (subresource !== undefined && rule.resources?.includes(`*/${subresource}`) === true)) &&
    (!isNamed || (name !== undefined && rule.resourceNames?.includes(name) === true))
  );
}

/** `list and watch nodes`, `get secrets in namespace nodefence-system`: what is missing of one resource in one place is one thing. */
export function describeRight(needs: readonly Need[]): string[] {
  const places = new Map<string, string[]>();
  for (const { namespace, group, resource, verb, name } of needs) {
    const [plural = '', subresource] = resource.split('/');
    const full = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
    const place = `${full}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
    places.set(place, [...(places.get(place) ?? []), verb]);
  }
  return [...places].map(([place, verbs]) => `${verbs.join(', ')} ${place}`);
}
