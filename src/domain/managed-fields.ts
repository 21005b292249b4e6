/** As the API server keeps it (metav1.ManagedFieldsEntry): `time` is when this manager last changed one of its fields. */
export interface ManagedEntry {
  manager?: string;
  time?: string;
  fieldsV1?: unknown;
}

/** Who set the field at `path` as it stands. */
export function managerOf(entries: readonly ManagedEntry[], path: readonly string[]): ManagedEntry | undefined {
  return entries.find(({ fieldsV1 }) => {
    let fields: unknown = fieldsV1;
    for (const name of path) fields = (fields as Record<string, unknown> | undefined)?.[`f:${name}`];
    return fields !== undefined;
  });
}
