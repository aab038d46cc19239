import type { FieldNode } from 'graphql'
import { objectKey } from '../../kubernetes/object.ts'
import { objectByKey, objectByUid } from '../../query/page/lookup.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import type { KindPart } from '../operation/kind-part.ts'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { ObjectRef } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes an `ObjectRef`. */
export type ObjectRefWriter = (run: PlanRun, ref: ObjectRef) => string

const typeName = 'ObjectRef'

/** Compiles what is written of an `ObjectRef`. Throws {@link NotCoveredError}. */
export function objectRefWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): ObjectRefWriter {
  const members = Array.from(
    collectFields(selectionsOf(nodes), new Set([typeName]), compiler.collect),
    ([key, same]) => ({
      before: `${JSON.stringify(key)}:`,
      write: compiler.within(key, () => memberWriter(same, compiler)),
    }),
  )
  return (run, ref) => {
    run.budget.spend('fields', members.length)
    const texts = members.map(({ before, write }) => before + write(run, ref))
    const text = `{${texts.join(',')}}`
    run.budget.spend('bytes', text.length)
    return text
  }
}

function memberWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): ObjectRefWriter {
  const name = nodes[0]?.name.value ?? ''
  switch (name) {
    case '__typename':
      return () => JSON.stringify(typeName)
    case 'id':
      return (_run, ref) => JSON.stringify(idOfObjectRef(ref))
    case 'apiVersion':
    case 'kind':
    case 'namespace':
    case 'name':
      return (_run, ref) => JSON.stringify(ref[name])
    case 'object': {
      const write = anyRowWriter(selectionsOf(nodes), compiler)
      const { place } = compiler
      return (run, ref) => {
        run.budget.report?.at(place)
        const found = referenced(run, ref)
        if (found === undefined) return 'null'
        run.budget.spend('rows', 1)
        return write(run, found.part, found.id)
      }
    }
    default:
      throw new NotCoveredError(`${typeName}.${name}`)
  }
}

/** The object that is meant; `undefined` where there is none, or where its kind is not served. */
export function referenced(
  run: PlanRun,
  { cluster, group, kind: kindName, namespace, name, uid }: ObjectRef,
): { readonly part: KindPart; readonly id: ObjectId } | undefined {
  const kind = run.served.kindOf(group, kindName)
  if (kind === undefined || !run.served.clusters.has(cluster)) return undefined
  if (kind.uncached) throw new NotCoveredError('a live read')
  const key = objectKey({ namespace: namespace ?? '', name })
  const part = run.late(() => run.named({ cluster, kind }, [key]))
  if (part === undefined) return undefined
  const options = { ...part, budget: run.budget }
  const id = uid === null ? objectByKey(options, key) : objectByUid(options, uid)
  return id === undefined ? undefined : { part, id }
}
