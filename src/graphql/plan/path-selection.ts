import { writeJson } from '../../informer/codec/leaf-writer.ts'
import type { ObjectSelection, SelectedField } from '../../informer/codec/projection.ts'

/** Selects what stands at some paths, as an object in which it stands at the same paths; what is missing is null. */
export function selectionOfPaths(paths: readonly (readonly string[])[]): ObjectSelection {
  const byName = Map.groupBy(paths, ([name = '']) => name)
  return { fields: Array.from(byName, ([name, same]) => fieldOf(name, same)) }
}

function fieldOf(name: string, paths: readonly (readonly string[])[]): SelectedField {
  const rest = paths.map((path) => path.slice(1))
  // One that ends here has all that the others have.
  if (rest.some(({ length }) => length === 0)) {
    return { key: name, path: [name], value: { form: 'leaf', write: writeJson } }
  }
  const selection = selectionOfPaths(rest)
  return { key: name, path: [name], value: { form: 'object', selection, required: false } }
}
