import type { Kind } from '../model/kind.ts'
import type { ExtensionParent } from '../reads/direct/direct-reads.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import type { PlanField, RootWriter, RowWriter } from './plan-compiler.ts'
import { type PlanRun, plannedFields } from './plan-run.ts'
import { unanswered, valueWriter } from './value-writer.ts'

/** Compiles a field that a program adds to the type of a kind. */
export function extensionRowWriter(extension: ExtensionField, field: PlanField): RowWriter {
  const write = calledWriter(extension, field)
  return (run, part, id) => write(run, run.extensions.ofRow(part, id))
}

/** Compiles a field that a program adds to `Query`. */
export function extensionRoot(extension: ExtensionField, field: PlanField): RootWriter {
  const write = calledWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(undefined, undefined)) }
}

/** Compiles a field that a program adds to `Subscription`, as each event answers it. */
export function extensionEvent(extension: ExtensionField, field: PlanField): RootWriter {
  const write = calledWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(run.event, undefined)) }
}

/** Compiles a field with its resolver, whose value is written once it has been called. */
function calledWriter(
  extension: ExtensionField,
  field: PlanField,
): (run: PlanRun, parent: ExtensionParent) => string {
  const { args, nodes, compiler } = field
  // Resolvers know their caller. Rows of a subscription do not change with what they read.
  compiler.dependsOnViewer()
  if (!compiler.scope.isLive) {
    for (const kind of kindsNeeded(compiler.served.kinds.values(), extension)) compiler.reads(kind)
  }
  const write = valueWriter(field)
  return (run, parent) => {
    const { budget } = run
    budget.report?.called()
    budget.spend('fields', extension.weight * plannedFields)
    const answered = run.extensions.value(extension, run.argumentsOf(args), parent, nodes)
    return answered === undefined ? unanswered : write(run, answered.value, parent.cluster)
  }
}

/** The served kinds that an extension says it reads. */
function kindsNeeded(kinds: Iterable<Kind>, { needs }: ExtensionField): readonly Kind[] {
  if (needs.length === 0) return []
  return [...kinds].filter(
    ({ listField, typeName, uncached }) =>
      !uncached && (needs.includes(listField) || needs.includes(typeName)),
  )
}
