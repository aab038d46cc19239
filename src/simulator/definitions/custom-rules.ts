import type { Unstructured } from '../../kubernetes/object.ts'
import { equalJson, valueAt } from '../api/json.ts'
import type { ObjectRules, ScalePaths } from '../api/served-resource.ts'
import { schemaProblems } from '../schema/object-validation.ts'
import { defaulted, prunedObject } from '../schema/pruning-and-defaulting.ts'
import type { Path, StructuralSchema } from '../schema/structural-schema.ts'
import { type FieldProblem, invalidAt } from '../api/field-problem.ts'

/** The rules of one version of a custom kind: its schema and its replica counts. */
export function customRules(schema: StructuralSchema, scale: ScalePaths | undefined): ObjectRules {
  return {
    settle: (object, unknown) =>
      defaulted(prunedObject(object, schema, unknown), schema) as Unstructured,
    problems: (object, previous, part) => {
      const checked = part === 'status' ? statusProblems(object, schema) : undefined
      const found = checked ?? schemaProblems(object, schema)
      const prefix = part === 'status' ? ['status'] : []
      return [
        ...found
          .filter(({ node }) => !isUnchanged([...prefix, ...node], object, previous))
          .map(({ reason, message, field }) => ({ reason, message, field })),
        ...replicaProblems(object, scale),
      ]
    },
  }
}

/** A write to the status checks the status alone. The path of each problem starts at `status`. */
function statusProblems(
  object: Unstructured,
  schema: StructuralSchema,
): ReturnType<typeof schemaProblems> {
  const status = schema.properties?.['status']
  if (status === undefined || object['status'] === undefined) return []
  return schemaProblems(object['status'], status).map((problem) => ({
    ...problem,
    field: problem.field === '<nil>' ? problem.field : `status.${problem.field}`,
  }))
}

/**
 * Whether a value was already wrong before the update, which is then not refused. A change in a list counts for all its
 * items.
 */
function isUnchanged(
  node: Path,
  object: Unstructured,
  previous: Unstructured | undefined,
): boolean {
  if (previous === undefined) return false
  const list = node.findIndex((step) => typeof step === 'number')
  const path = list < 0 ? node : node.slice(0, list)
  const before = valueAt(previous, path)
  return before !== undefined && path.length > 0 && equalJson(before, valueAt(object, path))
}

function replicaProblems(
  object: Unstructured,
  scale: ScalePaths | undefined,
): readonly FieldProblem[] {
  if (scale === undefined) return []
  return [scale.specReplicas, scale.statusReplicas].flatMap((path): FieldProblem[] => {
    const value = valueAt(object, path)
    if (typeof value !== 'number' || value >= 0) return []
    return [invalidAt(`.${path}`, value, 'should be a non-negative integer')]
  })
}
