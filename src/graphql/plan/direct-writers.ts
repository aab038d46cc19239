import type { FieldNode } from 'graphql'
import { directObject } from '../reads/direct/direct-reads.ts'
import type { PrinterColumn, SecretContents } from '../schema/read-context.ts'
import type { FieldArguments } from './field-arguments.ts'
import { plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { columnMembers } from './printer-columns-field.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `data` or `type` of a Secret, which the server reads from the API server. */
export function secretWriter(name: string, compiler: PlanCompiler): RowWriter {
  compiler.readsDirectly(name)
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    const contents = run.direct.secret(directObject(part, id), run.budget)
    return JSON.stringify(contents?.[name as keyof SecretContents] ?? null)
  }
}

/** Compiles `printerColumns` of a kind whose columns only the API server knows. */
export function serverColumnsWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  compiler.readsDirectly('printerColumns')
  const write = plainWriter<PrinterColumn>(
    'PrinterColumn',
    nodes,
    compiler,
    valueMembers(columnMembers),
  )
  return (run, part, id) => {
    const wide = run.argumentsOf(args)['wide'] === true
    const columns = run.direct.columns(directObject(part, id), wide)
    return columns ? run.list(columns, (column) => write(run, column)) : 'null'
  }
}
