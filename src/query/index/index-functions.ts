import type { IndexFunction } from '../../informer/store/store-view.ts'
import { type IndexDefinition, indexFunctionOf } from './index-definition.ts'

/** The functions of indexes by name, the built-in ones included; `undefined` for one that is not known here. */
export function indexFunctions(
  definitions: readonly IndexDefinition[],
): (name: string) => IndexFunction | undefined {
  const functions = new Map<string, IndexFunction | undefined>()
  const declared = (name: string): IndexFunction | undefined => {
    const definition = definitions.find((one) => one.name === name)
    return definition === undefined ? undefined : indexFunctionOf(definition)
  }
  return (name) => {
    if (!functions.has(name)) functions.set(name, builtIn[name] ?? declared(name))
    return functions.get(name)
  }
}

const builtIn: Readonly<Record<string, IndexFunction>> = {
  namespace: ({ metadata }) => present(metadata.namespace),
  name: ({ metadata }) => present(metadata.name),
  uid: ({ metadata }) => present(metadata.uid),
  ownerUid: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [],
}

function present(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value]
}
