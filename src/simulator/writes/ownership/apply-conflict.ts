import { Refusal } from '../../api/status-refusal.ts'
import { fieldPaths, type FieldSet } from './field-set.ts'
import type { Manager } from './managers.ts'

/** Fields that somebody else owns and an apply would change. */
export interface OwnershipConflict {
  readonly manager: Manager
  readonly fields: FieldSet
}

/** 409 with a cause for each field. */
export function applyConflict(conflicts: readonly OwnershipConflict[]): Refusal {
  const causes = conflicts.flatMap(({ manager, fields }) =>
    fieldPaths(fields).map((field) => ({ with: nameOf(manager), field })),
  )
  const [first] = causes
  const blocks = [...Map.groupBy(causes, (cause) => cause.with)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, own]) => [`conflicts with ${name}:`, ...own.map(({ field }) => `- ${field}`)])
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first?.with}: ${first?.field}`
      : `Apply failed with ${causes.length} conflicts: ${blocks.join('\n')}`
  return new Refusal(409, message, {
    reason: 'Conflict',
    details: {
      causes: causes.map((cause) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${cause.with}`,
        field: cause.field,
      })),
    },
  })
}

function nameOf({ name, operation, apiVersion, subresource }: Manager): string {
  const part = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
  const version = operation === 'Update' ? ` using ${apiVersion}` : ''
  return `${JSON.stringify(name)}${part}${version}`
}
