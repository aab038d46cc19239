import { builtInIndexers } from '../../informer/store/built-in-indexers.ts'
import type { IndexFunction } from '../../informer/store/store-view.ts'
import { type IndexDefinition, indexFunctionOf } from './index-definition.ts'

/** The functions of indexes by name, the built-in ones included; `undefined` for one that is not known here. */
export function indexFunctions(
  definitions: readonly IndexDefinition[],
): (name: string) => IndexFunction | undefined {
  const functions = new Map<string, IndexFunction | undefined>(Object.entries(builtInIndexers))
  const declared = (name: string): IndexFunction | undefined => {
    const definition = definitions.find((one) => one.name === name)
    return definition === undefined ? undefined : indexFunctionOf(definition)
  }
  return (name) => {
    if (!functions.has(name)) functions.set(name, declared(name))
    return functions.get(name)
  }
}
